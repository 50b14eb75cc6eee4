//! Transforms, base conversions, divisions by moduli and key switches of words against big integers, a million coefficients of each.

use num_bigint::{BigInt, BigUint, Sign};
use num_traits::{Signed, Zero};
use rand::RngExt;
use rand_core::Rng;
use sunzi_ring::sampling::{SeededRng, ternary};
use sunzi_ring::{
    Addends, Coefficient, Evaluation, GadgetOptions, Poly, Ring, ScalerOptions, Side, SwitchInput,
};
use sunzi_testing::Figure;

const ALL: usize = 1_000_000;

/// Returns x modulo q in [−q/2, q/2).
fn center(x: &BigInt, q: &BigInt) -> BigInt {
    let rest = ((x % q) + q) % q;
    if &rest * 2 >= *q { rest - q } else { rest }
}

/// Returns products modulo X^n + 1 and q by Kronecker substitution: one product of integers.
fn product(a: &[BigInt], b: &[BigInt], q: &BigInt) -> Vec<BigInt> {
    let n = a.len();
    let width = (2 * q.bits() + u64::from(n.ilog2()) + 1).div_ceil(8) as usize;
    let pack = |a: &[BigInt]| {
        let mut bytes = vec![0; width * n];
        for (to, x) in bytes.chunks_mut(width).zip(a) {
            let (_, word) = (((x % q) + q) % q).to_bytes_le();
            to[..word.len()].copy_from_slice(&word);
        }
        BigUint::from_bytes_le(&bytes)
    };
    let mut bytes = (pack(a) * pack(b)).to_bytes_le();
    bytes.resize(2 * width * n, 0);
    let at = |i: usize| BigInt::from_bytes_le(Sign::Plus, &bytes[i * width..(i + 1) * width]);
    (0..n).map(|i| center(&(at(i) - at(i + n)), q)).collect()
}

/// Returns coefficients that cause carries, wraps and ties, then random ones. `d` is the divisor to come.
fn sample(kind: usize, n: usize, q: &BigInt, d: &BigInt, rng: &mut SeededRng) -> Vec<BigInt> {
    let half: BigInt = q / 2;
    let random = |rng: &mut SeededRng| {
        let bytes: Vec<u8> = (0..q.bits().div_ceil(8) + 8).map(|_| rng.next_u32() as u8).collect();
        center(&BigInt::from_bytes_le(Sign::Plus, &bytes), q)
    };
    let tie = |i: usize| d * (i as i64 * 12_345 - 77) + d / 2 + (i % 2);
    (0..n)
        .map(|i| match kind {
            0 => -BigInt::from(1),
            1 => half.clone() - 1,
            2 if i % 2 == 0 => -&half,
            2 => half.clone() - 1,
            3 => center(&tie(i), q),
            4 if i == rng.random_range(0..n) => -&half,
            4 => BigInt::zero(),
            _ => random(rng),
        })
        .collect()
}

/// Returns rings with moduli as they are used, short, long and few.
fn rings() -> Vec<Ring> {
    [(10, 48, 6), (8, 36, 5), (8, 60, 3), (9, 47, 4), (7, 25, 8)]
        .map(|(log_n, bits, count)| {
            let index = 2 << log_n;
            Ring::new(index, &sunzi_math::primes_with_bits(bits, index, count).unwrap()).unwrap()
        })
        .into()
}

fn modulus(ring: &Ring) -> BigInt {
    ring.modulus().clone().into()
}

fn evaluated(ring: &Ring, a: &[BigInt]) -> Poly<Evaluation> {
    ring.to_evaluation(ring.from_integers(a).unwrap()).unwrap()
}

fn integers(ring: &Ring, a: Poly<Evaluation>) -> Vec<BigInt> {
    let coefficients: Poly<Coefficient> = ring.to_coefficient(a).unwrap();
    ring.to_integers(&coefficients).unwrap()
}

/// Runs a law on every ring and kind of coefficients until `cases` coefficients were checked.
fn run(what: &str, cases: usize, law: impl Fn(&Ring, &[BigInt], &mut SeededRng)) {
    let mut rng = SeededRng::derive(&[2; 32], what, 0);
    let rings = rings();
    let mut done = 0;
    for kind in (0..10).cycle() {
        for ring in &rings {
            let (n, q) = (ring.degree(), modulus(ring));
            let d = &q / BigInt::from(ring.at_level(1).unwrap().modulus().clone());
            law(ring, &sample(kind, n, &q, &d, &mut rng), &mut rng);
            done += n;
        }
        if done >= cases && kind == 9 {
            break;
        }
    }
    Figure::new(2, format!("coefficients of {what} that differ")).cases(done, ALL).none_wrong(0);
}

/// Checks the transform and its inverse, and products of values.
fn transforms(ring: &Ring, a: &[BigInt], rng: &mut SeededRng) {
    let q = modulus(ring);
    let b = sample(rng.random_range(0..8), ring.degree(), &q, &q, rng);
    let mut value = evaluated(ring, a);
    assert_eq!(integers(ring, value.clone()), a);
    ring.mul_assign(&mut value, &evaluated(ring, &b)).unwrap();
    assert_eq!(integers(ring, value), product(a, &b, &q));
}

/// Checks base conversions: results are congruent, and no further from 0 than stated.
fn conversions(ring: &Ring, a: &[BigInt], rng: &mut SeededRng) {
    let level = rng.random_range(1..ring.level());
    let lower = ring.at_level(level).unwrap();
    let small = modulus(&lower);
    let cut: Vec<BigInt> = a.iter().map(|x| center(x, &small)).collect();
    let raised = integers(ring, ring.mod_raise(&evaluated(&lower, &cut)).unwrap());
    // (1/2 + 2^-40)·Q_l
    let bound = (&small / 2) + (&small >> 40_u32) + 1;
    for (x, raised) in cut.iter().zip(&raised) {
        assert!(center(&(x - raised), &small).is_zero() && raised.abs() <= bound, "{x} became {raised}");
    }
    let scaler = ring.scaler(65_537, &ScalerOptions::default()).unwrap();
    let (top, q) = (*scaler.levels().end(), modulus(ring));
    let extended =
        integers(&scaler.wide(top).unwrap(), scaler.extend(&evaluated(ring, a), Side::Right, top).unwrap());
    let overflow = (scaler.bounds().overflow * 40_f64.exp2()).ceil() as u64;
    let bound = &q / 2 + ((&q * overflow) >> 41_u32) + 2;
    for (x, extended) in a.iter().zip(&extended) {
        assert!(center(&(x - extended), &q).is_zero() && extended.abs() <= bound);
    }
}

/// Checks quotients by one modulus exactly, by several within 2^-40 of a half either way.
fn divisions(ring: &Ring, a: &[BigInt], rng: &mut SeededRng) {
    let level = rng.random_range(1..ring.level());
    let lower = ring.at_level(level).unwrap();
    let small = modulus(&lower);
    let d = modulus(ring) / &small;
    let found = integers(&lower, ring.mod_switch(&evaluated(ring, a), level).unwrap());
    let tolerance: BigInt = if ring.level() - level == 1 { BigInt::zero() } else { &d >> 40_u32 };
    for (x, found) in a.iter().zip(&found) {
        // d·found − x, up to multiples of d·Q_l.
        let error = center(&(found * &d - x), &(&small * &d));
        assert!(error.abs() <= &d / 2 + &tolerance, "{x} over {d} became {found}");
    }
}

/// Checks c_0 + c_1·s = c·s′ up to the rounding, under a key without errors.
fn key_switches(ring: &Ring, c: &[BigInt], rng: &mut SeededRng) {
    let (n, q) = (ring.degree(), modulus(ring));
    let small = |rng: &mut SeededRng| -> Vec<BigInt> {
        ternary(n, rng).unwrap().iter().map(|&x| BigInt::from(x)).collect()
    };
    let (s, source) = (small(rng), small(rng));
    let special = sunzi_math::primes_with_bits(50, ring.index(), 4).unwrap();
    let special_moduli =
        special.into_iter().filter(|p| !ring.words().unwrap().basis().values().contains(p)).collect();
    let hybrid = GadgetOptions { special_moduli, digits: Some(2), ..GadgetOptions::default() };
    for options in [hybrid, GadgetOptions::default()] {
        let gadget = ring.gadget(&options).unwrap();
        let wide = gadget.key_ring();
        let part = |i| {
            let a = wide.uniform(rng);
            let mut masked = evaluated(wide, &s);
            wide.mul_assign(&mut masked, &a).unwrap();
            wide.neg_assign(&mut masked).unwrap();
            let [b, a] = gadget.key_part([masked, a], &evaluated(wide, &source), i).unwrap();
            (gadget.pack_part(b, i).unwrap(), gadget.pack_part(a, i).unwrap())
        };
        let (b, a): (Vec<_>, Vec<_>) = (0..gadget.digit_count()).map(part).unzip();
        let [first, second] = gadget
            .switch(SwitchInput::Values(&evaluated(ring, c)), Addends::NONE, [&b, &a], ring.level(), 1)
            .unwrap();
        let masked = product(&integers(ring, second), &s, &q);
        let expected = product(c, &source, &q);
        let bound = BigInt::from(if gadget.log2_special() > 0.0 { n / 2 + 2 } else { 0 });
        for ((first, masked), expected) in integers(ring, first).iter().zip(masked).zip(expected) {
            let error = center(&(first + masked - expected), &q).abs();
            assert!(error <= bound, "an error of {error}, at most {bound} expected");
        }
    }
}

fn everything(cases: usize) {
    run("transforms and products", cases, transforms);
    run("base conversions", cases, conversions);
    run("divisions by moduli", cases, divisions);
    run("key switches", cases, key_switches);
}

#[test]
fn words_agree_with_integers() {
    everything(20_000);
}

#[test]
#[ignore = "long: a million coefficients of each"]
fn a_million_words_agree_with_integers() {
    everything(ALL);
}
