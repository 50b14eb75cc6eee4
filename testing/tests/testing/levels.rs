//! Leveled products against those modulo all of q [KPZ21, 3.2 and app. D]: the noise that a level costs, measured and by
//! the bounds.

use std::collections::HashMap;
use sunzi_testing::storage::stored;

use chacha20::ChaCha20Rng;
use num_bigint::BigUint;
use rand::RngExt;
use rand_core::SeedableRng;
use sunzi_bfv::{Algorithms, Context, Evaluator};
use sunzi_big::BigRing;
use sunzi_math::{DEFAULT_PRIME_BOUND, primes_below};
use sunzi_ring::{ModulusSwitching, Multiplication, Ring, ScalerOptions, Storage};
use sunzi_rlwe::Security;
use sunzi_testing::{NoiseMeter, Tracked};

const DEGREE: usize = 256;
const INSECURE: Security = Security::InsecureForResearchOnly;

fn algorithms(
    multiplication: Multiplication,
    modulus_switching: ModulusSwitching,
    cushion_bits: u32,
) -> Algorithms {
    let scaling = ScalerOptions { multiplication, modulus_switching, ..ScalerOptions::default() };
    Algorithms { scaling, cushion_bits, ..Algorithms::default() }
}

fn moduli(limbs: usize) -> Vec<u64> {
    primes_below(DEFAULT_PRIME_BOUND, 2 * DEGREE as u64, limbs).unwrap()
}

fn context(limbs: usize, t: u64, algorithms: &Algorithms) -> Context {
    let ring = Ring::new(2 * DEGREE as u64, &moduli(limbs)).unwrap();
    Context::with_algorithms(ring, t, INSECURE, algorithms).unwrap()
}

/// Noise and both bounds at a depth.
#[derive(Clone, Copy, Debug)]
struct Measured {
    noise: f64,
    bound: f64,
    worst: f64,
}

/// Multiplies 2^depth fresh ciphertexts in a tree; returns the largest noise of each depth, and the lowest level used.
fn tree(context: Context, depth: usize) -> (Vec<Measured>, usize) {
    let (n, t) = (context.degree(), context.plain_modulus());
    let evaluator = Evaluator::new(&context);
    let mut meter = NoiseMeter::new(context, 7, &[]).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(7);
    let mut values: Vec<Tracked> = (0..1 << depth)
        .map(|_| meter.encrypt((0..n).map(|_| rng.random_range(0..t)).collect(), true).unwrap())
        .collect();
    let (mut all, mut lowest) = (Vec::new(), usize::MAX);
    for step in 1..=depth {
        values = values
            .chunks_exact(2)
            .map(|pair| {
                let level = evaluator.product_level(&pair[0].ciphertext, &pair[1].ciphertext);
                lowest = lowest.min(level);
                meter.multiply(&pair[0], &pair[1]).unwrap()
            })
            .collect();
        meter.gaps.clear();
        let mut largest = Measured { noise: 0.0, bound: 0.0, worst: 0.0 };
        for value in values.iter().take(8) {
            meter.judge(&format!("depth {step}"), value).unwrap();
            let (_, gap, worst_gap) = meter.gaps.last().unwrap();
            let bound = value.ciphertext.noise().bound(n).bits();
            let worst = value.ciphertext.noise().worst.bits();
            assert!((worst - worst_gap - (bound - gap)).abs() < 1e-6);
            largest.noise = largest.noise.max(bound - gap);
            largest.bound = largest.bound.max(bound);
            largest.worst = largest.worst.max(worst);
        }
        all.push(largest);
    }
    (all, lowest)
}

fn compare(
    limbs: usize,
    t: u64,
    depth: usize,
    switching: ModulusSwitching,
    cushions: &[u32],
) -> HashMap<u32, [f64; 3]> {
    let plain = algorithms(Multiplication::Hps, switching, 0);
    let (reference, _) = tree(context(limbs, t, &plain), depth);
    let mut losses = HashMap::new();
    for &cushion in cushions {
        let leveled = algorithms(Multiplication::HpsOverQLeveled, switching, cushion);
        let (found, lowest) = tree(context(limbs, t, &leveled), depth);
        let loss = |get: fn(&Measured) -> f64| {
            found.iter().zip(&reference).map(|(a, b)| get(a) - get(b)).fold(f64::MIN, f64::max)
        };
        let loss = [loss(|m| m.noise), loss(|m| m.bound), loss(|m| m.worst)];
        let last = found.last().unwrap();
        println!(
            "t {t} {switching:?} cushion {cushion}: noise, bound, worst case up by {loss:.2?}, lowest level {lowest} of {limbs}, last {last:.1?}"
        );
        losses.insert(cushion, loss);
    }
    losses
}

#[test]
#[ignore = "long: trees of 1024 leaves with nine cushions"]
fn cushions_and_what_they_cost() {
    for (t, limbs) in [(65_537, 8), (2, 4), ((1 << 30) - (1 << 18) + 1, 12)] {
        for switching in [ModulusSwitching::Exact, ModulusSwitching::Approximate] {
            compare(limbs, t, 10, switching, &[0, 3, 6, 10, 15, 20, 25, 30, 40]);
        }
    }
}

#[test]
fn leveled_products_cost_hardly_any_noise() {
    let cushion = Algorithms::default().cushion_bits;
    for switching in [ModulusSwitching::Exact, ModulusSwitching::Approximate] {
        let [noise, bound, worst] = compare(6, 65_537, 7, switching, &[cushion])[&cushion];
        assert!(noise < 1.0 && bound < 0.7 && worst < 1.0, "{switching:?} {noise} {bound} {worst}");
    }
}

/// Checks that messages are right and bounds hold for any cushion, over residues and over integers.
#[test]
fn bounds_hold_at_every_level() {
    for cushion in [0, 1, 30] {
        for switching in [ModulusSwitching::Exact, ModulusSwitching::Approximate] {
            let leveled = algorithms(Multiplication::HpsOverQLeveled, switching, cushion);
            let (_, lowest) = tree(context(6, 65_537, &leveled), 6);
            assert!(lowest < 6, "no product ran at a lower level: {lowest}");
            let moduli: Vec<BigUint> = moduli(6).into_iter().map(BigUint::from).collect();
            let big = stored(BigRing::with_chain(2 * DEGREE as u64, &moduli).unwrap(), Storage::Big);
            let big = Context::with_algorithms(big, 65_537, INSECURE, &leveled).unwrap();
            let (_, lowest) = tree(big, 4);
            assert!(cushion == 30 || lowest < 6, "no product ran at a lower level: {lowest}");
        }
    }
}
