//! Tests of the multiplications of [KPZ21] at every level and for both sides, against exact integers.

use num_bigint::{BigInt, BigUint};
use rand_core::Rng;
use sunzi_math::{DEFAULT_PRIME_BOUND, primes_below, primes_with_bits};
use sunzi_ring::{Auxiliary, ModulusSwitching, Multiplication, Ring, RingError, Scaler, ScalerOptions, Side};

use crate::common::*;
use sunzi_ring::Storage;

const N: usize = 64;
const M: u64 = 2 * N as u64;

/// Returns scaler options for every multiplication but BEHZ's, with both modulus switches or both auxiliary
/// bases.
pub(crate) fn multiplications() -> Vec<ScalerOptions> {
    let mut all = Vec::new();
    for multiplication in [Multiplication::Hps, Multiplication::HpsOverQ, Multiplication::HpsOverQLeveled] {
        let plain = ScalerOptions { multiplication, ..ScalerOptions::default() };
        all.extend([plain, ScalerOptions { auxiliary: Auxiliary::LikeModulus, ..plain }]);
        if multiplication.switches_operands() {
            all.push(ScalerOptions { modulus_switching: ModulusSwitching::Approximate, ..plain });
        }
    }
    all
}

/// Returns rings with moduli of every length, of mixed lengths, few and many.
fn rings() -> Vec<Ring> {
    let bits = |bits, count| primes_with_bits(bits, M, count).unwrap();
    let lists = [
        bits(48, 1),
        bits(62, 1),
        primes_below(DEFAULT_PRIME_BOUND, M, 4).unwrap(),
        bits(30, 7),
        bits(55, 3),
        bits(61, 4),
        [bits(30, 2), bits(62, 1), bits(48, 2)].concat(),
        primes_below(DEFAULT_PRIME_BOUND, M, 24).unwrap(),
    ];
    lists.iter().map(|list| stored(Ring::new(M, list).unwrap(), Storage::Words)).collect()
}

/// Returns the lowest levels of a scaler, one between and the highest.
fn some_levels(scaler: &Scaler) -> Vec<usize> {
    let (low, top) = scaler.levels().into_inner();
    let mut levels = vec![low, (low + 1).min(top), (low + top) / 2, top.max(low + 1) - 1, top];
    levels.retain(|level| (low..=top).contains(level));
    levels.dedup();
    levels
}

/// Runs a law over rings, plaintext moduli and choices, over residues and over big integers.
macro_rules! for_every_product {
    ($law:ident) => {
        let mut count = 0;
        for ring in rings() {
            for t in [2, 65_536, (1 << 59) + 55] {
                for options in multiplications() {
                    match ring.scaler(t, &options) {
                        Ok(scaler) => {
                            count += 1;
                            $law(&ring, &scaler, t);
                            // Rings of integers have one modulus switch only.
                            if options.modulus_switching == ModulusSwitching::Exact && ring.level() < 20 {
                                let big = twin(&ring);
                                $law(&big, &big.scaler(t, &options).unwrap(), t);
                            }
                        }
                        Err(RingError::OutOfRange { .. } | RingError::NotCoprime { .. }) => {}
                        Err(other) => panic!("{options:?}: {other}"),
                    }
                }
            }
        }
        assert!(count > 100, "{count}");
    };
}

/// Returns coefficients modulo q whose multiples m/q are next to a half, next to an integer, and at the ends.
fn next_to_ties(q: &BigUint, m: &BigUint) -> Vec<BigInt> {
    let (q, m) = (int(q), int(m));
    let mut rng = rng("ties");
    let tie = |i: usize| {
        let j = BigInt::from(rng.next_u32() as usize + i);
        let at = (&q * (j * 2_u32 + i % 2)) / (&m * 2_u32);
        center(&(at + i % 5 - 2), &q)
    };
    (0..N).map(tie).collect()
}

fn extension_law(ring: &Ring, scaler: &Scaler, t: u64) {
    let (q, bounds) = (int(ring.modulus()), scaler.bounds());
    for level in some_levels(scaler) {
        let wide = scaler.wide(level).unwrap();
        let base = ring.at_level(level).unwrap().modulus().clone();
        for side in [Side::Left, Side::Right] {
            let target = match (bounds.switching, side) {
                (Some(_), Side::Left) => wide.modulus() / &base,
                _ => base.clone(),
            };
            let mut inputs = samples(&mut rng("sides"), N, ring.modulus());
            inputs.push(next_to_ties(ring.modulus(), &target));
            let target = int(&target);
            // One unit is added for the floor, and for q/2 that rounds up.
            let largest = scale_down(&target, (1.0 + bounds.overflow) / 2.0) + 1_u32;
            let error = match bounds.switching {
                Some(switching) if side == Side::Left || level < ring.level() => switching.error,
                _ => 0.0,
            };
            for a in inputs {
                let lifted = integers(&wide, scaler.extend(&evaluated(ring, &a), side, level).unwrap());
                assert!(norm(&lifted) <= largest, "{side:?} at {level}, t {t}");
                for (x, y) in a.iter().zip(&lifted) {
                    let found = distance(y, &(x * &target), &q, &target);
                    assert!(found <= error, "{side:?} at {level}, t {t}: {found}");
                }
            }
        }
    }
}

#[test]
fn operands_are_switched_and_lifted_within_their_errors() {
    for_every_product!(extension_law);
}

fn scaling_law(ring: &Ring, scaler: &Scaler, t: u64) {
    for level in some_levels(scaler) {
        let (wide, base) = (scaler.wide(level).unwrap(), ring.at_level(level).unwrap());
        let (q, d) = (int(base.modulus()), divisor(ring, scaler, level));
        // The bound without switches is as large as one product can be.
        let bound = match scaler.bounds().switching {
            Some(_) => wide.modulus().clone(),
            None => (&q * &q * (N as u64)).magnitude().clone(),
        };
        let ties: Vec<BigInt> = next_to_ties(&bound, &(&bound * t / d.magnitude()));
        let mut inputs = samples(&mut rng("products"), N, &bound);
        inputs.push(ties);
        for x in inputs {
            let wide_x = evaluated(&wide, &x);
            let scaled = base.to_integers(&scaler.scale(wide_x.clone(), level).unwrap()).unwrap();
            for (x, y) in x.iter().zip(&scaled) {
                let error = distance(y, &(x * t), &d, &q);
                assert!(error <= 0.5 + scaler.bounds().scale_error, "level {level}, t {t}: {error}");
            }
            let (rest, multiple) = scaler.scale_apart(wide_x, level).unwrap();
            let mut sum = base.to_evaluation(rest).unwrap();
            if let Some(multiple) = multiple {
                base.add_assign(&mut sum, &multiple).unwrap();
            }
            assert_eq!(integers(&base, sum), centered(&scaled, &q), "apart, level {level}, t {t}");
        }
    }
}

#[test]
fn products_are_scaled_within_the_error() {
    for_every_product!(scaling_law);
}

/// Checks that products of extreme operands, many of them summed, come back as the exact integers would.
fn tensor_law(ring: &Ring, scaler: &Scaler, t: u64) {
    const TERMS: u64 = 1 << 40;
    let q = int(ring.modulus());
    let ends = samples(&mut rng("tensor"), ring.degree(), ring.modulus());
    for level in some_levels(scaler) {
        let (wide, base) = (scaler.wide(level).unwrap(), ring.at_level(level).unwrap());
        let terms = TERMS.min(scaler.product_capacity()) / 2;
        for (a, b) in [(2, 2), (2, 3), (4, 5), (6, 7)] {
            let [a, b] = [&ends[a], &ends[b]].map(|x| evaluated(ring, x));
            let left = scaler.extend(&a, Side::Left, level).unwrap();
            let right = scaler.extend(&b, Side::Right, level).unwrap();
            let exact = product(&wide, &integers(&wide, left.clone()), &integers(&wide, right.clone()));
            let mut sum = left;
            wide.mul_assign(&mut sum, &right).unwrap();
            wide.mul_integer_assign(&mut sum, &terms.max(1).into()).unwrap();
            let scaled = base.to_integers(&scaler.scale(sum, level).unwrap()).unwrap();
            for (x, y) in exact.iter().zip(&scaled) {
                let d = divisor(ring, scaler, level);
                let error = distance(y, &(x * t * terms.max(1)), &d, &int(base.modulus()));
                assert!(error <= 0.5 + scaler.bounds().scale_error, "level {level}, t {t}: {error}, {q}");
            }
        }
    }
}

#[test]
fn sums_of_products_come_back() {
    for_every_product!(tensor_law);
}

/// Checks that a product in one go equals its steps: extension, tensor, scaling.
fn product_law(ring: &Ring, scaler: &Scaler, t: u64) {
    let mut rng = rng("product");
    let [a0, a1, b0, b1] = [(); 4].map(|()| ring.uniform(&mut rng));
    for level in some_levels(scaler) {
        let base = ring.at_level(level).unwrap();
        let extend = |part, side| scaler.extend(part, side, level).unwrap();
        let (left0, left1) = (extend(&a0, Side::Left), extend(&a1, Side::Left));
        let (right0, right1) = (extend(&b0, Side::Right), extend(&b1, Side::Right));
        let wide = scaler.wide(level).unwrap();
        let tensor = wide.tensor([&left0, &left1], [&right0, &right1], 1).unwrap();
        let steps = tensor.map(|part| base.to_integers(&scaler.scale(part, level).unwrap()).unwrap());
        for whole in [true, false] {
            let parts = scaler.multiply([&a0, &a1], [&b0, &b1], level, whole).unwrap();
            assert!(!whole || parts[2].1.is_none());
            for (k, ((rest, multiple), step)) in parts.into_iter().zip(&steps).enumerate() {
                let mut sum = base.to_evaluation(rest).unwrap();
                if let Some(multiple) = multiple {
                    base.add_assign(&mut sum, &multiple).unwrap();
                }
                assert_eq!(&integers(&base, sum), step, "part {k}, level {level}, t {t}, whole {whole}");
            }
        }
        let alien = base.at_level(1).unwrap().zero();
        assert!(ring.level() == 1 || scaler.multiply([&a0, &alien], [&b0, &b1], level, true).is_err());
    }
    assert!(scaler.multiply([&a0, &a1], [&b0, &b1], ring.level() + 1, true).is_err());
}

#[test]
fn a_product_in_one_go_is_its_steps() {
    for_every_product!(product_law);
}

#[test]
fn products_come_back_in_rings_of_any_index() {
    for ring in general_rings() {
        for multiplication in [
            Multiplication::Behz,
            Multiplication::Hps,
            Multiplication::HpsOverQ,
            Multiplication::HpsOverQLeveled,
        ] {
            let options = ScalerOptions { multiplication, ..ScalerOptions::default() };
            for t in [2, 65_537] {
                tensor_law(&ring, &ring.scaler(t, &options).unwrap(), t);
            }
        }
        let big = twin(&ring);
        tensor_law(&big, &big.scaler(2, &ScalerOptions::default()).unwrap(), 2);
    }
}

#[test]
fn levels_and_auxiliary_moduli_are_as_stated() {
    let ring = &rings()[2];
    let scaler = |multiplication, t| {
        ring.scaler(t, &ScalerOptions { multiplication, ..ScalerOptions::default() }).unwrap()
    };
    for multiplication in [Multiplication::Behz, Multiplication::Hps, Multiplication::HpsOverQ] {
        assert_eq!(scaler(multiplication, 65_537).levels(), 4..=4);
    }
    assert_eq!(scaler(Multiplication::Hps, 65_537).wide(4).unwrap().level(), 4 + 5);
    let leveled = scaler(Multiplication::HpsOverQLeveled, 65_537);
    assert_eq!(leveled.levels(), 1..=4);
    assert_eq!(leveled.product_capacity(), u64::MAX);
    for level in 1..=4 {
        assert_eq!(leveled.wide(level).unwrap().level(), 2 * level);
    }
    // Two moduli are needed where one is below 2t.
    assert_eq!(scaler(Multiplication::HpsOverQLeveled, 1 << 47).levels(), 2..=4);
    let a = ring.zero();
    for level in [0, 5, usize::MAX] {
        assert!(matches!(leveled.wide(level), Err(RingError::OutOfRange { .. })));
        assert!(leveled.extend(&a, Side::Left, level).is_err());
    }
    assert!(leveled.scale(leveled.wide(2).unwrap().zero(), 3).is_err());
    let big = twin(ring);
    let options = ScalerOptions::default();
    assert_eq!(big.scaler(1 << 47, &options).unwrap().levels(), 2..=4);
    assert!(big.scaler(65_537, &options).unwrap().wide(5).is_err());
    assert_eq!(multi_precision(ring).scaler(65_537, &options).unwrap().levels(), 4..=4);
}
