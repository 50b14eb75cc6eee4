//! Thousands of random operations through the public interface: none is wrong, and memory stays flat.

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sunzi_bfv::{Context, Parameters};
use sunzi_rlwe::Security;
use sunzi_testing::process::alone;
use sunzi_testing::{Circuit, Figure, Party};

use crate::MEMORY;

const ALL: usize = 8_000;
const STEPS: usize = 20;
/// Number of bytes that allocators and stores of buffers may grow by, of 8000 operations on megabytes.
const FLAT: f64 = 65_536.0;

fn run(operations: usize) {
    let moduli = sunzi_math::primes_with_bits(45, 1 << 9, 4).unwrap();
    let parameters = Parameters::new(8, moduli, 7681, Security::InsecureForResearchOnly);
    let party = Party::new(Context::new(&parameters).unwrap(), 1).unwrap();
    let circuit = |seed: u64| {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let circuit = Circuit::random(&mut rng, 256, 7681, 2, STEPS);
        let report = party.check(&circuit, seed).unwrap();
        (circuit.operations.len(), report.wrong.len(), report.gaps.len())
    };
    // Tables and buffers of the first use exist now.
    let rounds = (operations / STEPS) as u64;
    for seed in 0..rounds / 8 + 5 {
        circuit(seed);
    }
    let before = MEMORY.current_usage();
    let (mut done, mut wrong, mut judged) = (0, 0, 0);
    for seed in 0..rounds {
        let report = circuit(1000 + seed);
        (done, wrong, judged) = (done + report.0, wrong + report.1, judged + report.2);
    }
    assert!(judged * 10 > done * 9, "{judged} of {done} values were inside the noise capacity");
    let more = MEMORY.current_usage().saturating_sub(before);
    Figure::new(20, "wrong values of random operations").cases(done, ALL).none_wrong(wrong);
    Figure::new(20, "bytes of memory more after them").cases(done, ALL).at_most(more as f64, FLAT);
}

#[test]
fn operations_leave_memory_flat() {
    alone("soak::operations_leave_memory_flat", || {
        run(1_000);
    });
}

#[test]
#[ignore = "long: 8000 operations"]
fn thousands_of_operations_leave_memory_flat() {
    alone("soak::thousands_of_operations_leave_memory_flat", || {
        run(ALL);
    });
}
