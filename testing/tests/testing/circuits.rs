//! Random circuits: clear slots, word-size RNS and big integers agree, and no noise exceeds its bounds.

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use rayon::prelude::*;
use sunzi_bfv::Context;
use sunzi_big::BigRing;
use sunzi_ring::{Ring, Storage};
use sunzi_rlwe::Security;
use sunzi_testing::storage::stored;
use sunzi_testing::{Circuit, Figure, Party, Report};

/// A small, insecure parameter set: degree, ciphertext primes, plaintext modulus, depth.
struct Set {
    degree: usize,
    prime_bound: u64,
    limbs: usize,
    plain_modulus: u64,
    depth: usize,
}

const DEFAULT: u64 = sunzi_math::DEFAULT_PRIME_BOUND;

/// Parameter sets: smallest t, a middling one, one above 32 bits, 30-bit limbs, 60-bit limbs, one limb.
const SETS: [Set; 6] = [
    Set { degree: 64, prime_bound: DEFAULT, limbs: 3, plain_modulus: 257, depth: 3 },
    Set { degree: 64, prime_bound: DEFAULT, limbs: 4, plain_modulus: 65537, depth: 3 },
    Set { degree: 128, prime_bound: DEFAULT, limbs: 5, plain_modulus: 1_099_511_619_841, depth: 2 },
    Set { degree: 64, prime_bound: 1 << 30, limbs: 6, plain_modulus: 257, depth: 2 },
    Set { degree: 64, prime_bound: 1 << 61, limbs: 3, plain_modulus: 65537, depth: 2 },
    Set { degree: 64, prime_bound: DEFAULT, limbs: 1, plain_modulus: 257, depth: 0 },
];

fn contexts(set: &Set) -> (Context, Context) {
    let index = 2 * set.degree as u64;
    let moduli = sunzi_math::primes_below(set.prime_bound, index, set.limbs).unwrap();
    let ring = Ring::new(index, &moduli).unwrap();
    let big = stored(BigRing::new(index, ring.modulus()).unwrap(), Storage::Big);
    let security = Security::InsecureForResearchOnly;
    (
        Context::with_ring(ring, set.plain_modulus, security).unwrap(),
        Context::with_ring(big, set.plain_modulus, security).unwrap(),
    )
}

fn assert_clean(report: &Report, name: &str, set: usize, seed: u64) {
    assert!(report.wrong.is_empty(), "{name}, set {set}, seed {seed}: wrong {:?}", report.wrong);
    assert!(
        report.above_worst.is_empty(),
        "{name}, set {set}, seed {seed}: worst case exceeded by {:?}",
        report.above_worst
    );
    assert!(
        report.above_deviation.is_empty(),
        "{name}, set {set}, seed {seed}: deviation bound exceeded by {:?}",
        report.above_deviation
    );
}

/// Runs `count` circuits on each set; returns the number of values checked and the gaps between bound and noise.
fn run(count: u64, big_every: u64) -> (usize, Vec<f64>) {
    let mut checked = 0;
    let mut gaps = Vec::new();
    for (number, set) in SETS.iter().enumerate() {
        let (rns, big) = contexts(set);
        let rns = Party::new(rns, 1).unwrap();
        let big = Party::new(big, 2).unwrap();
        let reports: Vec<Report> = (0..count)
            .into_par_iter()
            .flat_map_iter(|seed| {
                let mut rng = ChaCha20Rng::seed_from_u64(seed << 8 | number as u64);
                let circuit = Circuit::random(&mut rng, set.degree, set.plain_modulus, set.depth, 9);
                let report = rns.check(&circuit, seed).unwrap();
                assert_clean(&report, "RNS", number, seed);
                let mut reports = vec![report];
                if seed % big_every == 0 {
                    let report = big.check(&circuit, seed).unwrap();
                    assert_clean(&report, "big integers", number, seed);
                    reports.push(report);
                }
                reports
            })
            .collect();
        checked += reports.iter().map(|report| report.gaps.len()).sum::<usize>();
        gaps.extend(reports.into_iter().flat_map(|report| report.gaps));
    }
    gaps.sort_by(f64::total_cmp);
    (checked, gaps)
}

#[test]
fn random_circuits_agree_and_respect_both_noise_bounds() {
    let (checked, gaps) = run(40, 4);
    assert!(checked > 2000, "only {checked} values were inside the noise capacity");
    record(40, &gaps);
}

/// Records figures. Wrong answers and broken bounds have ended the test by now.
fn record(circuits: u64, gaps: &[f64]) {
    let circuits = circuits as usize * SETS.len();
    let figure = |what: &str| Figure::new(5, format!("{what}, BFV")).cases(circuits, 10_000);
    figure("values of random circuits above a bound or wrong").none_wrong(0);
    figure("bits between noise and the variance bound, median").at_most(gaps[gaps.len() / 2], 3.0);
}

#[test]
#[ignore = "long: 10^4 circuits on both implementations"]
fn ten_thousand_random_circuits_agree() {
    let circuits = 10_000_u64.div_ceil(SETS.len() as u64);
    let (checked, gaps) = run(circuits, 1);
    assert!(checked > 100_000);
    record(circuits, &gaps);
}
