//! Tests that extension, scaling and decryption of both rings stay within the bounds they state.

use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use num_traits::{Signed, ToPrimitive};
use rand_core::Rng;
use sunzi_math::{DEFAULT_PRIME_BOUND, primes_below, primes_with_bits};
use sunzi_ring::{Multiplication, Ring, RingError, Scaler, ScalerOptions};

use crate::common::*;
use sunzi_ring::Storage;

/// Returns plaintext moduli: small, even, prime, an auxiliary prime, near 2^60.
fn plain_moduli(n: usize) -> Vec<u64> {
    let auxiliary = primes_below(DEFAULT_PRIME_BOUND, 2 * n as u64, 6).unwrap();
    vec![2, 3, 1 << 16, 65_537, 1_000_000, auxiliary[5], (1 << 59) + 55, (1 << 60) - 1]
}

/// Returns the rings of every law, rings of forty moduli for the errors that grow with k, and a ring with one
/// modulus of 61 bits.
fn scaled_rings(n: usize) -> Vec<Ring> {
    let m = 2 * n as u64;
    let mut rings = residue_rings(n);
    for moduli in [
        primes_below(DEFAULT_PRIME_BOUND, m, 40).unwrap(),
        primes_with_bits(20, m, 40).unwrap(),
        primes_with_bits(62, m, 20).unwrap(),
        primes_with_bits(61, m, 1).unwrap(),
    ] {
        rings.push(stored(Ring::new(m, &moduli).unwrap(), Storage::Words));
    }
    rings
}

/// Returns the common plaintext moduli, and those for which q is as little above 2t as can be.
fn plain_moduli_of(ring: &Ring) -> Vec<u64> {
    let mut all = plain_moduli(ring.degree());
    if let Some(q) = ring.modulus().to_u64() {
        all.extend([(q - 1) / 2, (q - 1) / 2 - 1, q / 3]);
    }
    all
}

/// Runs a law over every (ring, scaler) that exists, over residues, through integers and over big integers.
macro_rules! for_every_scaler {
    ($n:expr, $law:ident) => {
        let mut scalers = 0;
        for ring in scaled_rings($n) {
            for t in plain_moduli_of(&ring) {
                let big = twin(&ring);
                match ring.scaler(t, &ScalerOptions::default()) {
                    Ok(scaler) => {
                        scalers += 1;
                        $law(&ring, &scaler, t);
                        $law(&big, &big.scaler(t, &ScalerOptions::default()).unwrap(), t);
                        let mp = multi_precision(&ring);
                        $law(&mp, &mp.scaler(t, &ScalerOptions::default()).unwrap(), t);
                    }
                    Err(RingError::NotCoprime { .. }) => {
                        assert!(ring.words().unwrap().basis().values().iter().any(|q| t % q == 0));
                    }
                    Err(RingError::OutOfRange { .. }) => {
                        assert!(*ring.modulus() <= BigUint::from(2 * t) || t >> 60 != 0);
                    }
                    Err(other) => panic!("{other}"),
                }
            }
        }
        assert!(scalers > 40, "{scalers}");
    };
}

/// Returns the bound (q/2)(1 + ρ) of a lift, rounded down.
pub(crate) fn lift_bound(ring: &Ring, scaler: &Scaler) -> BigInt {
    let q = int(ring.modulus());
    scale_down(&q, (1.0 + scaler.bounds().overflow) / 2.0)
}

pub(crate) fn extension_law(ring: &Ring, scaler: &Scaler, t: u64) {
    let samples = samples(&mut rng("extend"), ring.degree(), ring.modulus());
    lifts_are_bounded(ring, scaler, t, &samples);
}

pub(crate) fn lifts_are_bounded(ring: &Ring, scaler: &Scaler, t: u64, inputs: &[Vec<BigInt>]) {
    let q = int(ring.modulus());
    // One unit is added for the floor.
    let bound = lift_bound(ring, scaler) + 1_u32;
    for a in inputs {
        let lifted = integers(&scaler.wide_top(), scaler.lift(&evaluated(ring, a)).unwrap());
        assert_eq!(centered(&lifted, &q), *a);
        assert!(norm(&lifted) <= bound, "t {t}");
    }
}

#[test]
fn extensions_lift_within_the_overflow() {
    for_every_scaler!(64, extension_law);
}

fn scaling_law(ring: &Ring, scaler: &Scaler, t: u64) {
    // The number of products is 256 for two ciphertexts, the largest that is promised.
    scaling_law_for(ring, scaler, t, 256, &[]);
}

/// Scales integers as large as sums of so many products can be, among them some ≡ each of `residues` modulo q.
pub(crate) fn scaling_law_for(ring: &Ring, scaler: &Scaler, t: u64, products: u64, residues: &[BigInt]) {
    let (n, q) = (ring.degree(), int(ring.modulus()));
    let wide = &scaler.wide_top();
    let lift = lift_bound(ring, scaler);
    let bound: BigInt = &lift * &lift * 2_u32 * n * products;
    let top = bound.magnitude() * 2_u32 + 1_u32;
    let mut rng = rng("scale");
    let extreme = |i: usize| match i % 4 {
        0 => bound.clone(),
        1 => -&bound,
        2 => BigInt::from(i) - 8,
        _ => round(&(&q * (2 * i + 1)), &BigInt::from(2 * t)) - i % 3,
    };
    let extremes: Vec<BigInt> = (0..n).map(extreme).collect();
    let hard = (0..n).map(|i| {
        let residue = residues.get(i % residues.len().max(1)).unwrap_or(&q);
        let top = if i % 2 == 0 { &bound } else { &q };
        top - (top - residue).mod_floor(&q)
    });
    let hard = hard.collect();
    let randoms = (0..n).map(|_| int(&random_below(&mut rng, &top)) - &bound).collect();
    for x in [extremes, hard, randoms] {
        let scaled = ring.to_integers(&scaler.scale_top(evaluated(wide, &x)).unwrap()).unwrap();
        for (x, y) in x.iter().zip(&scaled) {
            let error = distance(y, &(x * t), &divisor(ring, scaler, scaler.top()), &q);
            assert!(error <= 0.5 + scaler.bounds().scale_error, "t {t}: {error}");
        }
    }
}

#[test]
fn scaling_is_within_the_error_up_to_the_bound() {
    for_every_scaler!(64, scaling_law);
}

fn tensor_law(ring: &Ring, scaler: &Scaler, t: u64) {
    let (n, q) = (ring.degree(), int(ring.modulus()));
    let wide = &scaler.wide_top();
    // Every coefficient stands at the end of the range, with equal signs in all summands of the product's last
    // coefficient.
    let low = vec![-(&q / 2_u32); n];
    let lifted = scaler.lift(&evaluated(ring, &low)).unwrap();
    let as_integers = integers(wide, lifted.clone());
    let product = negacyclic(&as_integers, &as_integers);
    let mut sum = lifted.clone();
    wide.mul_assign(&mut sum, &lifted).unwrap();
    wide.mul_integer_assign(&mut sum, &512.into()).unwrap();
    let scaled = ring.to_integers(&scaler.scale_top(sum).unwrap()).unwrap();
    for (x, y) in product.iter().zip(&scaled) {
        let error = distance(y, &(x * t * 512_u32), &divisor(ring, scaler, scaler.top()), &q);
        assert!(error <= 0.5 + scaler.bounds().scale_error, "t {t}: {error}");
    }
}

#[test]
fn sums_of_tensor_products_do_not_wrap() {
    for_every_scaler!(64, tensor_law);
}

/// Checks that sums of as many products as the tables allow, each as large as can be, scale rightly.
#[test]
fn the_stated_number_of_products_does_not_wrap() {
    let mut limited = 0;
    for ring in scaled_rings(64) {
        for (t, multiplication) in [2, 65_536, (1 << 60) - 1].into_iter().flat_map(|t| {
            [Multiplication::Behz, Multiplication::Hps].map(|multiplication| (t, multiplication))
        }) {
            let options = ScalerOptions { multiplication, ..ScalerOptions::default() };
            let Ok(scaler) = ring.scaler(t, &options) else { continue };
            let (wide, q) = (&scaler.wide_top(), int(ring.modulus()));
            let capacity = BigInt::from(scaler.product_capacity());
            limited += usize::from(capacity < BigInt::from(1_u64 << 30));
            let lifted = scaler.lift(&evaluated(&ring, &vec![-(&q / 2_u32); 64])).unwrap();
            let product = negacyclic(&integers(wide, lifted.clone()), &integers(wide, lifted.clone()));
            let mut sum = lifted.clone();
            wide.mul_assign(&mut sum, &lifted).unwrap();
            wide.mul_integer_assign(&mut sum, &(&capacity * 2_u32)).unwrap();
            let scaled = ring.to_integers(&scaler.scale_top(sum).unwrap()).unwrap();
            for (x, y) in product.iter().zip(&scaled) {
                let error = distance(y, &(x * t * 2_u32 * &capacity), &q, &q);
                assert!(error <= 0.5 + scaler.bounds().scale_error, "t {t}: {error}");
            }
        }
    }
    assert!(limited > 0, "some capacity is small enough to matter");
}

pub(crate) fn decryption_law(ring: &Ring, scaler: &Scaler, t: u64) {
    let (n, q) = (ring.degree(), int(ring.modulus()));
    let mut rng = rng("decrypt");
    // The condition |t·a − M·q| ≤ margin·q decides; a steps in units of t.
    let margin = scale_down(&q, scaler.bounds().decryption_margin);
    let mut messages = Vec::new();
    let mut coefficients = Vec::new();
    for i in 0..n {
        let message = if i % 3 == 0 { i as u64 / 3 % t } else { rng.next_u64() % t };
        let offset = match i % 5 {
            0 => margin.clone(),
            1 => -&margin,
            2 => BigInt::from(0),
            _ => int(&random_below(&mut rng, &(margin.magnitude() * 2_u32 + 1_u32))) - &margin,
        };
        // The target is rounded towards M·q/t, so that the distance does not grow.
        let target = &q * message + &offset;
        let a = if offset.is_negative() { -(-target / t) } else { target / t };
        let distance: BigInt = &a * t - &q * message;
        if distance.abs() <= margin {
            coefficients.push(a);
            messages.push(message);
        } else {
            coefficients.push(BigInt::from(0));
            messages.push(0);
        }
    }
    let a = ring.from_integers(&coefficients).unwrap();
    assert_eq!(scaler.decrypt(&a).unwrap(), messages, "t {t}");
    let values = ring.to_evaluation(a).unwrap();
    assert_eq!(scaler.decrypt_values(ring, values.into()).unwrap(), messages, "t {t}, of values");
}

#[test]
fn decryption_is_right_up_to_the_margin() {
    for_every_scaler!(64, decryption_law);
}

#[test]
fn laws_hold_at_a_larger_degree() {
    let rings = residue_rings(1024);
    for (ring, t) in [(&rings[1], 65_537), (&rings[6], 2)] {
        let (scaler, big) = (ring.scaler(t, &ScalerOptions::default()).unwrap(), twin(ring));
        let exact = big.scaler(t, &ScalerOptions::default()).unwrap();
        extension_law(ring, &scaler, t);
        scaling_law(ring, &scaler, t);
        decryption_law(ring, &scaler, t);
        scaling_law(&big, &exact, t);
        decryption_law(&big, &exact, t);
    }
}

#[test]
fn scalers_are_refused_where_none_exists() {
    let ring = &residue_rings(64)[2];
    for t in [0, 1, 1 << 60, u64::MAX] {
        assert!(matches!(ring.scaler(t, &ScalerOptions::default()), Err(RingError::OutOfRange { .. })));
        assert!(matches!(twin(ring).scaler(t, &ScalerOptions::default()), Err(RingError::OutOfRange { .. })));
    }
    let q = ring.words().unwrap().basis().values()[1];
    assert!(matches!(ring.scaler(2 * q, &ScalerOptions::default()), Err(RingError::NotCoprime { .. })));
    let tiny = Ring::new(128, &[257]).unwrap();
    assert!(matches!(tiny.scaler(129, &ScalerOptions::default()), Err(RingError::OutOfRange { .. })));
    assert!(tiny.scaler(2, &ScalerOptions::default()).is_ok());
}

#[test]
fn constants_are_those_of_the_paper() {
    for ring in residue_rings(64) {
        let options = ScalerOptions { multiplication: Multiplication::Behz, ..ScalerOptions::default() };
        let Ok(scaler) = ring.scaler(65_536, &options) else { continue };
        let k = ring.words().unwrap().basis().len() as f64;
        // Lemma: m̃ρ ≤ 2τ + 1 with m̃ = 2^16 and τ = k; the margin costs less than 0.01 bit.
        assert!(scaler.bounds().overflow * 65_536.0 <= 2.0 * k + 1.0);
        assert_eq!(scaler.bounds().scale_error, k);
        assert!(scaler.bounds().decryption_margin < 0.5 && scaler.bounds().decryption_margin.log2() > -1.01);
        assert!(scaler.product_capacity() >= 256);
    }
}
