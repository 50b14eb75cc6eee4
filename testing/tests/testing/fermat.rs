//! BFV over q = 2^g − 1: random circuits against clear slots and both noise bounds, and a deep one against word-size RNS.

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sunzi_bfv::{Algorithms, Context};
use sunzi_circuits::Arithmetic;
use sunzi_fermat::{FermatModulus, FermatRing, Products, Shortcuts};
use sunzi_ring::{GadgetOptions, Ring, Storage};
use sunzi_rlwe::Security;
use sunzi_testing::storage::stored;
use sunzi_testing::{Circuit, Party};

const SECURITY: Security = Security::InsecureForResearchOnly;

fn context(ring: Ring, t: u64, radix_bits: Option<u32>) -> Context {
    let key_switching = GadgetOptions { radix_bits, ..GadgetOptions::default() };
    let algorithms = Algorithms { key_switching, ..Algorithms::default() };
    Context::with_algorithms(ring, t, SECURITY, &algorithms).unwrap()
}

#[test]
fn random_circuits_agree_and_respect_both_noise_bounds() {
    let mut checked = 0;
    // Components of one word, two words, whole digits of half the bits; the paper's baseline.
    for (bits, degree, t, radix, depth) in [
        (128, 64, 769, Some(20), 2),
        (256, 64, 769, Some(40), 3),
        (256, 64, 786_433, None, 2),
        (512, 128, 786_433, None, 3),
        (512, 64, 1_099_511_619_841, Some(61), 3),
    ] {
        let ring = FermatRing::new(2 * degree as u64, bits).unwrap();
        let baseline = ring.with_shortcuts(Shortcuts { multiplication: false, reduction: false });
        for ring in [ring, baseline.with_products(Products::Kronecker)].map(Ring::of) {
            let ring = stored(ring, Storage::Fermat);
            let party = Party::new(context(ring, t, radix), 1).unwrap();
            for seed in 0..6 {
                let mut rng = ChaCha20Rng::seed_from_u64(seed << 8 | bits as u64);
                let circuit = Circuit::random(&mut rng, degree, t, depth, 9);
                let report = party.check(&circuit, seed).unwrap();
                assert!(report.wrong.is_empty(), "g = {bits}, seed {seed}: wrong {:?}", report.wrong);
                assert!(report.above_worst.is_empty(), "g = {bits}, {seed}: {:?}", report.above_worst);
                assert!(
                    report.above_deviation.is_empty(),
                    "g = {bits}, {seed}: {:?}",
                    report.above_deviation
                );
                checked += report.gaps.len();
            }
        }
    }
    assert!(checked > 300, "only {checked} values were inside the noise capacity");
}

/// Computes x ← x·y_i + z_i, `depth` times, with operands that change.
fn deep(context: Context, depth: usize) -> Vec<Vec<u64>> {
    let (n, t) = (context.degree() as u64, context.plain_modulus());
    let party = Party::with_rotations(context, 5, &[]).unwrap();
    let slots = |i: u64| -> Vec<u64> { (0..n).map(|j| (i * 7919 + j * j * 104_729 + 1) % t).collect() };
    let mut x = party.encrypt(&slots(0), 0).unwrap();
    let mut seen = Vec::new();
    for i in 1..=depth as u64 {
        let y = party.encrypt(&slots(i), i).unwrap();
        x = Arithmetic::multiply(&party.evaluator, &x, &y, &party.keys).unwrap();
        x = party.evaluator.add_plain(&x, &party.encode(&slots(i + 100)).unwrap()).unwrap();
        assert!(party.evaluator.bits_left(&x) > 0.0, "no noise budget left at depth {i}");
        seen.push(party.decrypt(&x).unwrap());
    }
    seen
}

#[test]
fn depth_twenty_equals_word_size_bfv() {
    let (index, t) = (128, 769);
    let moduli = sunzi_math::primes_below(sunzi_math::DEFAULT_PRIME_BOUND, index, 21).unwrap();
    let words = Context::with_ring(Ring::new(index, &moduli).unwrap(), t, SECURITY).unwrap();
    let expected = deep(words, 20);
    // Equal numbers of bits, and the additional bits that whole digits of half the modulus cost.
    for (bits, radix) in [(1024, Some(32)), (1024, Some(61)), (2048, None)] {
        assert_eq!(
            deep(
                context(stored(Ring::of(FermatRing::new(index, bits).unwrap()), Storage::Fermat), t, radix),
                20
            ),
            expected,
            "g = {bits}"
        );
    }
}

/// Checks 128 bits of security: 2^1024 − 1, and as many bits in primes of one word, both at n = 2^16.
#[test]
#[ignore = "long: twenty products twice at n = 2^16, minutes and 4 GiB"]
fn depth_twenty_equals_word_size_bfv_at_128_bits() {
    let (index, t) = (1 << 17, FermatModulus::BATCHING);
    let begin = std::time::Instant::now();
    let key_switching = GadgetOptions { radix_bits: Some(60), ..GadgetOptions::default() };
    let algorithms = Algorithms { key_switching, ..Algorithms::default() };
    let ring = stored(Ring::of(FermatRing::new(index, 1024).unwrap()), Storage::Fermat);
    let context = Context::with_algorithms(ring, t, Security::Bits128, &algorithms).unwrap();
    let seen = deep(context, 20);
    println!("2^1024 - 1: {:.1} s", begin.elapsed().as_secs_f64());
    let begin = std::time::Instant::now();
    let primes = sunzi_math::primes_below(sunzi_math::DEFAULT_PRIME_BOUND, index, 29).unwrap();
    let (moduli, special) = primes.split_at(21);
    let key_switching =
        GadgetOptions { digits: Some(3), special_moduli: special.to_vec(), ..GadgetOptions::default() };
    let algorithms = Algorithms { key_switching, ..Algorithms::default() };
    let ring = Ring::new(index, moduli).unwrap();
    let context = Context::with_algorithms(ring, t, Security::Bits128, &algorithms).unwrap();
    let expected = deep(context, 20);
    println!("21 primes: {:.1} s", begin.elapsed().as_secs_f64());
    assert!(seen == expected, "the circuits differ");
}

/// Checks that the chosen g decrypts at its depth, and that the bounds of the context allow it.
#[test]
fn a_depth_gets_the_bits_it_takes() {
    for (n, t, depth, radix) in [
        (64, 769, 0, None),
        (64, 769, 1, None),
        (64, 769, 3, Some(32)),
        (64, 786_433, 6, Some(61)),
        (128, 769, 6, None),
    ] {
        let modulus = FermatModulus::for_depth(n, t, depth, radix).unwrap();
        let ring = stored(Ring::of(FermatRing::new(2 * n as u64, modulus.bits()).unwrap()), Storage::Fermat);
        deep(context(ring, t, radix), depth);
    }
    assert!(FermatModulus::for_depth(1 << 14, 786_433, 10_000, None).is_err());
    assert!(FermatModulus::for_depth(100, 786_433, 1, None).is_err());
    assert!(FermatModulus::for_depth(64, 65_537, 1, None).is_err());
}
