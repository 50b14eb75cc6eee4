//! Determinism: one seed gives one result, for any number of threads and for every kernel table.

use std::hash::{DefaultHasher, Hash, Hasher};

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sunzi_bfv::{Ciphertext, Context, Encoder, Evaluator};
use sunzi_ring::Ring;
use sunzi_rlwe::Security;
use sunzi_testing::process::again;
use sunzi_testing::{Figure, Party};

/// Shapes (degree, limbs): the last is large enough for every loop to be split among threads.
const SHAPES: [(usize, usize); 3] = [(64, 2), (1024, 3), (8192, 6)];
const PLAIN_MODULUS: u64 = 65537;

fn absorb(hasher: &mut DefaultHasher, ciphertext: &Ciphertext) {
    for part in ciphertext.parts() {
        part.words().hash(hasher);
    }
}

/// Returns a digest of keys and ciphertexts after every kind of operation.
fn digest() -> u64 {
    let mut hasher = DefaultHasher::new();
    for (degree, limbs) in SHAPES {
        let index = 2 * degree as u64;
        let moduli = sunzi_math::primes_below(sunzi_math::DEFAULT_PRIME_BOUND, index, limbs).unwrap();
        let ring = Ring::new(index, &moduli).unwrap();
        let context = Context::with_ring(ring, PLAIN_MODULUS, Security::InsecureForResearchOnly).unwrap();
        assert_eq!(context.ring().degree(), degree);
        let party = Party::with_rotations(context, 7, &[1]).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(11);
        let message: Vec<u64> = (0..degree as u64).map(|i| i * i % PLAIN_MODULUS).collect();
        let message = party.encoder.encode(&message).unwrap();
        let a = party.context.encrypt(&message, &party.public, &mut rng).unwrap();
        let b = party.context.encrypt_secret(&message, &party.secret, &mut rng).unwrap();
        let evaluator = Evaluator::new(&party.context);
        let product = evaluator.multiply(&a, &b, party.keys.relinearization.as_ref().unwrap()).unwrap();
        let rotated = evaluator.rotate_rows(&product, 1, party.keys.galois.as_ref().unwrap()).unwrap();
        let shifted = evaluator.multiply_plain(&rotated, &message).unwrap();
        for ciphertext in [&a, &b, &product, &rotated, &shifted] {
            absorb(&mut hasher, ciphertext);
        }
        let sum = evaluator.add(&product, &rotated).unwrap();
        party.context.decrypt(&sum, &party.secret).unwrap().coefficients().hash(&mut hasher);
    }
    hasher.finish()
}

fn digest_with_threads(threads: usize) -> u64 {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(digest)
}

/// Prints a digest in processes of its own, started by the test below, since a process chooses its table once.
#[test]
fn child_prints_its_digest() {
    println!("digest={:016x}", digest());
}

#[test]
fn threads_do_not_change_a_bit() {
    let one = digest_with_threads(1);
    let different = (2..=8).filter(|&threads| digest_with_threads(threads) != one).count();
    Figure::new(17, "numbers of threads, 1 to 8, with other bits").cases(8, 8).none_wrong(different);
}

/// Computes with eight threads on one context, one set of keys and tables that the first of them makes; returns the number of runs that differ.
fn stress(runs: usize) -> usize {
    let index = 2 << 8;
    let moduli = sunzi_math::primes_below(sunzi_math::DEFAULT_PRIME_BOUND, index, 4).unwrap();
    let shared = || {
        let ring = Ring::new(index, &moduli).unwrap();
        let context = Context::with_ring(ring, 7681, Security::InsecureForResearchOnly).unwrap();
        Party::with_rotations(context, 3, &[1, 2]).unwrap()
    };
    let compute = |party: &Party<Context>| {
        let mut hasher = DefaultHasher::new();
        let a = party.encrypt(&vec![5; 256], 1).unwrap();
        let evaluator = Evaluator::new(&party.context);
        let product = evaluator.multiply(&a, &a, party.keys.relinearization.as_ref().unwrap()).unwrap();
        for steps in [1, 2] {
            let turned = evaluator.rotate_rows(&product, steps, party.keys.galois.as_ref().unwrap()).unwrap();
            absorb(&mut hasher, &turned);
        }
        party.decrypt(&product).unwrap().hash(&mut hasher);
        hasher.finish()
    };
    let expected = compute(&shared());
    let run = |_| {
        let party = shared();
        let threads = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| compute(&party))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        usize::from(threads.iter().any(|&digest| digest != expected))
    };
    (0..runs).map(run).sum()
}

fn record_stress(runs: usize) {
    let different = stress(runs);
    Figure::new(17, "runs of eight threads sharing a context with other bits")
        .cases(runs, 1000)
        .none_wrong(different);
}

#[test]
fn sharing_a_context_does_not_change_a_bit() {
    record_stress(50);
}

#[test]
#[ignore = "long: 1000 runs of eight threads"]
fn sharing_a_context_a_thousand_times_does_not_change_a_bit() {
    record_stress(1000);
}

#[test]
fn tables_do_not_change_a_bit() {
    let child = |isa: &str| {
        let output =
            again("identical::child_prints_its_digest").unwrap().env("SUNZI_ISA", isa).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let digest = text.split("digest=").nth(1).map(|rest| rest[..16].to_owned());
        assert_eq!(output.status.success(), digest.is_some(), "{text}");
        // Only an absent table may give no digest.
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(digest.is_some() || errors.contains("UnavailableIsa"), "{isa}: {errors}");
        digest
    };
    let portable = child("portable").expect("the portable table is always there");
    for isa in ["avx512ifma", "avx512dq", "avx2", "neon"] {
        match child(isa) {
            Some(digest) => {
                Figure::new(17, format!("other bits by {isa} than by portable code"))
                    .none_wrong(usize::from(digest != portable));
            }
            None => println!("no {isa} on this machine"),
        }
    }
    assert_eq!(portable, format!("{:016x}", digest()), "the default table");
}
