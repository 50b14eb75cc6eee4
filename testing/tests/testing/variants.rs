//! Variants of all algorithms, which give equal messages: all decryptions, extensions, auxiliary bases and
//! relinearisations of [BEHZ16] against clear arithmetic and big integers, noise below both bounds.

use std::sync::atomic::{AtomicUsize, Ordering};
use sunzi_testing::storage::stored;

use chacha20::ChaCha20Rng;
use num_bigint::BigUint;
use rand::{Rng, RngExt};
use rand_core::SeedableRng;
use rayon::prelude::*;
use sunzi_bfv::{Algorithms, BfvError, Context};
use sunzi_big::{BigRing, MultiPrecision};
use sunzi_math::{is_prime, primes_below, primes_with_bits};
use sunzi_ring::{
    Auxiliary, Decryption, GadgetOptions, MTilde, ModulusSwitching, Multiplication, Precision, Ring,
    RingError, ScalerOptions, Storage,
};
use sunzi_rlwe::Security;
use sunzi_testing::{Circuit, NoiseMeter, Party, Tracked};

const INSECURE: Security = Security::InsecureForResearchOnly;

/// Ciphertext moduli and a plaintext modulus for a ring degree.
struct Shape {
    name: &'static str,
    moduli: Vec<u64>,
    t: u64,
}

impl Shape {
    fn ring(&self, degree: usize) -> Ring {
        Ring::new(2 * degree as u64, &self.moduli).unwrap()
    }

    fn context(&self, degree: usize, algorithms: &Algorithms) -> Result<Context, BfvError> {
        Context::with_algorithms(self.ring(degree), self.t, INSECURE, algorithms)
    }

    fn big_context(&self, degree: usize, algorithms: &Algorithms) -> Context {
        let moduli: Vec<BigUint> = self.moduli.iter().map(|&q| q.into()).collect();
        let big = stored(BigRing::with_chain(2 * degree as u64, &moduli).unwrap(), Storage::Big);
        Context::with_algorithms(big, self.t, INSECURE, algorithms).unwrap()
    }
}

/// Returns short, default and long moduli, mixed ones, and plaintext moduli of every kind.
fn shapes(degree: usize) -> Vec<Shape> {
    let m = 2 * degree as u64;
    let bits = |bits, count| primes_with_bits(bits, m, count).unwrap();
    let default = primes_below(sunzi_math::DEFAULT_PRIME_BOUND, m, 5).unwrap();
    let mixed = [bits(30, 1), bits(62, 1), bits(48, 3)].concat();
    vec![
        Shape { name: "5 of 48 bits", moduli: default.clone(), t: 65_537 },
        Shape { name: "8 of 30 bits", moduli: bits(30, 8), t: 257 },
        Shape { name: "4 of 62 bits", moduli: bits(62, 4), t: 65_537 },
        Shape { name: "mixed", moduli: mixed, t: 2 },
        Shape { name: "5 of 48 bits, t even", moduli: default, t: 1 << 20 },
    ]
}

/// Returns the smallest γ that leaves any margin: a prime above 2k.
fn smallest_gamma(k: usize) -> u64 {
    (2 * k as u64 + 1..).find(|&p| is_prime(p)).unwrap()
}

fn gadgets() -> [GadgetOptions; 4] {
    [(None, 0), (Some(13), 0), (None, 1), (Some(24), 2)].map(|(radix_bits, dropped_limbs)| GadgetOptions {
        radix_bits,
        dropped_limbs,
        ..GadgetOptions::default()
    })
}

/// Returns all 176 combinations for k ciphertext moduli: of BEHZ's algorithms, and of the other multiplications.
fn variants(k: usize) -> Vec<Algorithms> {
    let decryptions = [
        Decryption::Gamma { gamma: None },
        Decryption::Gamma { gamma: Some(smallest_gamma(k)) },
        Decryption::PowerOfTwo { log2_gamma: None },
        Decryption::FloatingPoint { precision: Precision::Double },
        Decryption::FloatingPoint { precision: Precision::Fixed128 },
    ];
    let mut all = Vec::new();
    for decryption in decryptions {
        for m_tilde in [MTilde::None, MTilde::Bits8, MTilde::Bits16] {
            for auxiliary in [Auxiliary::Standard, Auxiliary::LikeModulus] {
                let scaling = ScalerOptions { decryption, m_tilde, auxiliary, ..ScalerOptions::default() };
                all.extend(gadgets().map(|key_switching| Algorithms {
                    scaling,
                    key_switching,
                    ..Algorithms::default()
                }));
            }
        }
    }
    all.extend(multiplications());
    all
}

/// Returns the other multiplications, with every gadget; the leveled one also as low as it goes.
fn multiplications() -> Vec<Algorithms> {
    let (hps, over_q) = (Multiplication::Hps, Multiplication::HpsOverQ);
    let leveled = Multiplication::HpsOverQLeveled;
    let (exact, approximate) = (ModulusSwitching::Exact, ModulusSwitching::Approximate);
    let choices = [
        (hps, exact, 30),
        (over_q, exact, 30),
        (over_q, approximate, 30),
        (leveled, exact, 30),
        (leveled, approximate, 30),
        (leveled, exact, 0),
        (leveled, approximate, 2),
    ];
    let decryption = Decryption::DigitDecomposition;
    let mut all = Vec::new();
    for (multiplication, modulus_switching, cushion_bits) in choices {
        for auxiliary in [Auxiliary::Standard, Auxiliary::LikeModulus] {
            let scaling = ScalerOptions {
                decryption,
                multiplication,
                modulus_switching,
                auxiliary,
                ..ScalerOptions::default()
            };

            all.extend(gadgets().map(|key_switching| Algorithms { scaling, cushion_bits, key_switching }));
        }
    }
    all
}

/// Returns a message of a kind that finds mistakes, or a random one.
fn message(rng: &mut impl Rng, n: usize, t: u64) -> Vec<u64> {
    match rng.random_range(0..8) {
        0 => vec![t - 1; n],
        1 => vec![t / 2; n],
        2 => (0..n).map(|i| if i % 2 == 0 { t - 1 } else { 0 }).collect(),
        3 => {
            let spike = rng.random_range(0..n);
            (0..n).map(|i| if i == spike { t - 1 } else { 0 }).collect()
        }
        _ => (0..n).map(|_| rng.random_range(0..t)).collect(),
    }
}

fn draw(meter: &mut NoiseMeter, rng: &mut impl Rng) -> Tracked {
    let (n, t) = (meter.context.degree(), meter.context.plain_modulus());
    let public = rng.random();
    meter.encrypt(message(rng, n, t), public).unwrap()
}

/// Computes a few products and checks each: right, and its noise below both bounds.
fn products(context: Context, seed: u64) -> usize {
    let mut meter = NoiseMeter::new(context, seed, &[3]).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let (x, y) = (draw(&mut meter, &mut rng), draw(&mut meter, &mut rng));
    let product = meter.multiply(&x, &y).unwrap();
    meter.judge("x y", &product).unwrap();
    let turned = meter.automorphism(&product, 3).unwrap();
    meter.judge("x y, turned", &turned).unwrap();
    let wide = meter.multiply_unrelinearized(&x, &x).unwrap();
    let sum = meter.add(&wide, &turned).unwrap();
    let sum = meter.relinearize(&sum).unwrap();
    meter.judge("x^2 + x y, turned", &sum).unwrap();
    let again = meter.multiply(&sum, &y).unwrap();
    meter.judge("a second product", &again).unwrap();
    meter.gaps.len()
}

/// Whether the error says that precision does not suffice, which alone may keep a variant from a shape.
fn is_too_imprecise(error: &BfvError) -> bool {
    matches!(error, BfvError::Ring(RingError::OutOfRange { what: "plaintext modulus", .. }))
}

/// Makes the context of a variant on a shape, `None` where its precision does not suffice.
fn try_variant(shape: &Shape, degree: usize, algorithms: &Algorithms) -> Option<Context> {
    match shape.context(degree, algorithms) {
        Ok(context) => Some(context),
        Err(error) => {
            let double = Decryption::FloatingPoint { precision: Precision::Double };
            let expected = is_too_imprecise(&error) && algorithms.scaling.decryption == double;
            assert!(expected, "{}, {algorithms}: {error}", shape.name);
            None
        }
    }
}

/// Returns the contexts of all variants that a shape allows.
fn allowed(shape: &Shape, degree: usize) -> Vec<Context> {
    let all = variants(shape.moduli.len());
    all.iter().filter_map(|algorithms| try_variant(shape, degree, algorithms)).collect()
}

/// Returns every variant once, with shapes in alternation; the first shape allows them all.
fn in_turns(shapes: &[Shape]) -> Vec<(Algorithms, Context)> {
    let on = |shape: &Shape, i: usize| {
        let algorithms = variants(shape.moduli.len()).swap_remove(i);
        try_variant(shape, 64, &algorithms).map(|context| (algorithms, context))
    };
    let count = variants(1).len();
    assert_eq!(count, 176);
    (0..count).map(|i| on(&shapes[i % shapes.len()], i).or_else(|| on(&shapes[0], i)).unwrap()).collect()
}

#[test]
fn every_variant_gives_the_same_products() {
    let shapes = shapes(64);
    let contexts = in_turns(&shapes).into_par_iter().enumerate();
    let judged: usize = contexts.map(|(i, (_, context))| products(context, i as u64)).sum();
    assert_eq!(judged, 4 * 176);
    let big = shapes.par_iter().flat_map(|shape| {
        gadgets()
            .par_iter()
            .map(|key_switching| {
                let key_switching = key_switching.clone();
                let algorithms = Algorithms { key_switching, ..Algorithms::default() };
                products(shape.big_context(64, &algorithms), 1)
            })
            .collect::<Vec<_>>()
    });
    assert_eq!(big.sum::<usize>(), 4 * 4 * shapes.len());
    // The paper's baseline follows a radix.
    for shape in &shapes {
        let ring = stored(MultiPrecision::ring(128, &shape.moduli).unwrap(), Storage::MultiPrecision);
        for key_switching in &gadgets()[..2] {
            let algorithms = Algorithms { key_switching: key_switching.clone(), ..Algorithms::default() };
            let context = Context::with_algorithms(ring.clone(), shape.t, INSECURE, &algorithms).unwrap();
            assert_eq!(products(context, 1), 4);
        }
    }
}

/// Runs random circuits over slots, on both implementations.
fn circuits(context: Context, name: &str, seeds: std::ops::Range<u64>) -> usize {
    let (degree, t) = (context.degree(), context.plain_modulus());
    let party = Party::new(context, 1).unwrap();
    let mut checked = 0;
    for seed in seeds {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let circuit = Circuit::random(&mut rng, degree, t, 2, 9);
        let report = party.check(&circuit, seed).unwrap();
        assert!(report.wrong.is_empty(), "{name}, seed {seed}: wrong {:?}", report.wrong);
        assert!(report.above_worst.is_empty(), "{name}, seed {seed}: {:?}", report.above_worst);
        assert!(report.above_deviation.is_empty(), "{name}, seed {seed}: {:?}", report.above_deviation);
        checked += report.gaps.len();
    }
    checked
}

/// Runs `count` circuits for every variant, fewer over big integers.
fn run_circuits(count: u64) -> usize {
    let shapes = shapes(64);
    let shapes = &shapes[..3];
    let rns: usize = in_turns(shapes)
        .into_par_iter()
        .enumerate()
        .map(|(i, (algorithms, context))| {
            let first = i as u64 * 1000;
            circuits(context, &algorithms.to_string(), first..first + count)
        })
        .sum();
    let big: usize = gadgets()
        .par_iter()
        .map(|key_switching| {
            let key_switching = key_switching.clone();
            let algorithms = Algorithms { key_switching, ..Algorithms::default() };
            circuits(shapes[1].big_context(64, &algorithms), "big integers", 0..count)
        })
        .sum();
    rns + big
}

#[test]
fn every_variant_runs_random_circuits() {
    assert!(run_circuits(1) > 1000);
}

#[test]
#[ignore = "long: 4000 circuits over all variants"]
fn every_variant_runs_many_random_circuits() {
    assert!(run_circuits(32) > 30_000);
}

#[test]
#[ignore = "long: every variant at degrees up to 1024"]
fn every_variant_works_at_larger_degrees() {
    for degree in [256, 1024] {
        for shape in shapes(degree) {
            allowed(&shape, degree).into_par_iter().enumerate().for_each(|(i, context)| {
                products(context, i as u64);
            });
            gadgets().par_iter().for_each(|key_switching| {
                let key_switching = key_switching.clone();
                let algorithms = Algorithms { key_switching, ..Algorithms::default() };
                products(shape.big_context(degree, &algorithms), 2);
            });
        }
    }
}

#[test]
#[ignore = "long: 10^5 random products over all variants"]
fn no_product_of_a_hundred_thousand_is_wrong() {
    const PRODUCTS: usize = 100_000;
    let shapes = shapes(64);
    let cases: Vec<Context> = shapes.iter().flat_map(|shape| allowed(shape, 64)).collect();
    let each = PRODUCTS.div_ceil(cases.len());
    let right = AtomicUsize::new(0);
    cases.into_par_iter().enumerate().for_each(|(i, context)| {
        let mut meter = NoiseMeter::new(context, i as u64, &[]).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(i as u64);
        for _ in 0..each {
            let (x, y) = (draw(&mut meter, &mut rng), draw(&mut meter, &mut rng));
            let product = meter.multiply(&x, &y).unwrap();
            meter.judge("x y", &product).unwrap();
        }
        right.fetch_add(meter.gaps.len(), Ordering::Relaxed);
    });
    let right = right.into_inner();
    assert!(right >= PRODUCTS, "only {right} products were inside the noise capacity");
}
