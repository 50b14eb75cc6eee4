//! Tests of levels that are any sets of moduli: the laws of levels, whether or not they are nested.

use num_bigint::{BigInt, BigUint};
use num_traits::Signed;
use sunzi_big::BigRing;
use sunzi_math::primes_with_bits;
use sunzi_ring::{Addends, Evaluation, GadgetOptions, Ring, RingError, RnsDigits, SwitchInput};

use crate::common::*;
use sunzi_ring::Storage;

const INDEX: u64 = 128;

/// Returns a few short moduli that come and go between levels, and long ones that stay.
fn moduli() -> Vec<u64> {
    [24, 36, 20]
        .into_iter()
        .flat_map(|bits| primes_with_bits(bits, INDEX, 1).unwrap())
        .chain(primes_with_bits(47, INDEX, 5).unwrap())
        .collect()
}

/// Returns the levels of 47, 60, 118, 177 and 235 bits, those with the last short modulus, and one with all
/// moduli.
fn rungs() -> Vec<Vec<usize>> {
    [
        &[3][..],
        &[0, 1],
        &[0, 3, 4],
        &[1, 3, 4, 5],
        &[3, 4, 5, 6, 7],
        &[2, 3, 4, 5, 6, 7],
        &[0, 1, 2, 3, 4, 5, 6, 7],
    ]
    .map(<[usize]>::to_vec)
    .into()
}

fn ladder() -> Ring {
    stored(Ring::with_rungs(INDEX, &moduli(), &rungs()).unwrap(), Storage::Words)
}

fn big_ladder() -> Ring {
    let moduli: Vec<BigUint> = moduli().into_iter().map(BigUint::from).collect();
    stored(BigRing::with_rungs(INDEX, &moduli, &rungs()).unwrap(), Storage::Big)
}

/// Returns polynomials with extreme and random coefficients, and with coefficients whose quotients are next
/// to a half.
fn polynomials(from: &Ring, to: &BigInt) -> Vec<Vec<BigInt>> {
    let q = int(from.modulus());
    let mut all = samples(&mut rng("ladders"), from.degree(), from.modulus());
    let ties = (0..from.degree())
        .map(|i| center(&((&q * (2 * i as i64 - 63)) / (to * 2_u32) + (i as i64 % 3 - 1)), &q));
    all.push(ties.collect());
    all
}

fn laws(ring: &Ring) {
    for (from, own) in (1..).zip(rungs()) {
        let upper = ring.at_level(from).unwrap();
        let q = int(upper.modulus());
        for (level, other) in (1..from).zip(rungs()) {
            let lower = ring.at_level(level).unwrap();
            let small = int(lower.modulus());
            let nested = other.iter().all(|limb| own.contains(limb));
            assert_eq!(ring.is_nested(level, from), nested);
            assert!(!ring.is_nested(from, level) && !ring.is_nested(0, level));
            for a in polynomials(&upper, &small) {
                let poly = upper.from_integers(&a).unwrap();
                assert_eq!(ring.level_of(&poly).unwrap(), from);
                let values = upper.to_evaluation(poly.clone()).unwrap();
                let switched = integers(&lower, ring.mod_switch(&values, level).unwrap());
                for (x, y) in a.iter().zip(&switched) {
                    let exact = round(&(x * &small), &q);
                    let wrong = center(&(y - &exact), &small) * &q + exact * &q - x * &small;
                    assert!((wrong.abs() - &q / 2_u32) << 40_u32 <= q, "{wrong} of {q}");
                }
                let b: Vec<BigInt> = a.iter().rev().map(|x| x * 3_u32 + 1_u32).collect();
                let rest: Vec<BigInt> = a.iter().zip(&b).map(|(x, y)| x - y).collect();
                let (rest, b) = (evaluated(&upper, &rest), upper.from_integers(&b).unwrap());
                assert_eq!(integers(&lower, ring.mod_switch_sum(&rest, &b, level).unwrap()), switched);
                // Coefficients at the ends of the range may be lifted to either end.
                let raised = integers(&upper, upper.mod_raise(&evaluated(&lower, &switched)).unwrap());
                for (x, y) in switched.iter().zip(&raised) {
                    assert!(center(&(x - y), &small) == BigInt::ZERO);
                    assert!((y.abs() - &small / 2_u32) << 40_u32 <= small, "{y} modulo {small}");
                }

                let factor = BigInt::from(-3);
                let terms = [(&factor, &poly)];
                if !nested {
                    refused(ring.restrict(&poly, level).err());
                    refused(ring.linear_combination(&terms, level).err());
                    refused(ring.tensor_at([&values; 2], [&values; 2], 1, level).err());
                    let mut product = lower.zero();
                    refused(ring.mul_restricted_assign(&mut product, &values).err());
                    refused(ring.mul_add_restricted(&values, &values, &values, level).err());
                    continue;
                }
                let restricted = ring.restrict(&poly, level).unwrap();
                assert_eq!(lower.to_integers(&restricted).unwrap(), centered(&a, &small));
                let own = lower.to_evaluation(restricted.clone()).unwrap();
                let sum = ring.linear_combination(&terms, level).unwrap();
                let expected: Vec<BigInt> = a.iter().map(|x| x * &factor).collect();
                assert_eq!(lower.to_integers(&sum).unwrap(), centered(&expected, &small));
                let mut square = own.clone();
                lower.mul_assign(&mut square, &own).unwrap();
                let square = integers(&lower, square);
                let mut product = own.clone();
                ring.mul_restricted_assign(&mut product, &values).unwrap();
                assert_eq!(integers(&lower, product), square);
                let sum = ring.mul_add_restricted(&values, &own, &lower.zero(), level).unwrap();
                let [first, ..] = ring.tensor_at([&values, &own], [&own, &values], 1, level).unwrap();
                assert!(integers(&lower, sum) == square && integers(&lower, first) == square);
                let up = upper.scale_up(&own).unwrap();
                let expected: Vec<BigInt> = a.iter().map(|x| x * (&q / &small)).collect();
                assert_eq!(integers(&upper, up), centered(&expected, &q));
            }
        }
    }
}

fn refused(error: Option<RingError>) {
    assert!(matches!(error, Some(RingError::NotNested { .. })), "{error:?}");
}

#[test]
fn levels_of_any_moduli_follow_the_laws() {
    laws(&ladder());
    laws(&big_ladder());
}

/// Checks that keys without errors switch exactly from every level to every lower one, in word-size residues
/// and in big integers.
#[test]
fn one_key_serves_every_level() {
    fn law(ring: &Ring) -> Vec<Vec<BigInt>> {
        let mut all = Vec::new();
        for (special, digits) in [(3, Some(3)), (4, None), (2, Some(8)), (2, Some(4))] {
            let special_moduli = primes_with_bits(48, INDEX, special).unwrap();
            let options = GadgetOptions { special_moduli, digits, ..GadgetOptions::default() };
            let gadget = ring.gadget(&options).unwrap();
            let mut rng = rng("ladder keys");
            let s = random_poly(&mut rng, ring.degree(), &BigUint::from(3_u8));
            for key_level in [ring.level(), ring.level() - 1] {
                let of_key = gadget.at_level(key_level).unwrap();
                let source = evaluated(of_key.key_ring(), &s);
                let zero = || of_key.key_ring().zero::<Evaluation>();
                let parts =
                    (0..of_key.digit_count()).map(|i| of_key.key_part([zero(), zero()], &source, i).unwrap());
                let (first, second): (Vec<_>, Vec<_>) = parts.map(|[b, a]| (b, a)).unzip();
                let [first, second] = [first, second].map(|half| kept(&of_key, &half).unwrap());
                for from in 1..=key_level {
                    let at = gadget.at_level(from).unwrap();
                    let own = ring.at_level(from).unwrap();
                    let c = random_poly(&mut rng, ring.degree(), own.modulus());
                    let rest = random_poly(&mut rng, ring.degree(), own.modulus());
                    let (value, added) = (evaluated(&own, &c), evaluated(&own, &rest));
                    for level in 1..=from {
                        let keys = [&first[..], &second[..]];
                        let found = at.switch(
                            SwitchInput::Values(&value),
                            Addends::Values([Some(&added), None]),
                            keys,
                            level,
                            1,
                        );
                        if !ring.is_nested(from, key_level) {
                            assert!(found.is_err());
                            continue;
                        }
                        let lower = ring.at_level(level).unwrap();
                        let [found, none] = found.unwrap();
                        assert!(integers(&lower, none).iter().all(|x| *x == BigInt::ZERO));
                        let mut expected = product(&own, &c, &s);
                        expected.iter_mut().zip(&rest).for_each(|(x, y)| *x += y);
                        let (q, small) = (int(own.modulus()), int(lower.modulus()));
                        let expected: Vec<BigInt> =
                            centered(&expected, &q).iter().map(|x| round(&(x * &small), &q)).collect();
                        let found = integers(&lower, found);
                        assert_eq!(found, centered(&expected, &small), "{options}: {from} to {level}");
                        all.push(found);
                    }
                }
            }
        }
        all
    }
    assert_eq!(law(&ladder()), law(&big_ladder()));
}

/// Checks that the bounds of digits depend on the moduli of the level alone.
#[test]
fn digits_of_a_level_are_those_of_its_moduli() {
    let special_moduli = primes_with_bits(48, INDEX, 3).unwrap();
    let options = GadgetOptions { special_moduli, digits: Some(3), ..GadgetOptions::default() };
    let digits = RnsDigits::new(&options, &moduli()).unwrap();
    assert_eq!(digits.limbs_of(&[3, 4, 5, 6, 7]), [3, 2]);
    assert_eq!(digits.limbs_of(&[0, 1]), [2]);
    let bounds = digits.bounds_of(&[1, 3, 7]);
    for (bound, bits) in bounds.iter().zip([35.0, 46.0, 46.0]) {
        assert!((bound.log2_bound - bits).abs() < 1e-3, "{bounds:?}");
    }
    let gadget = ladder().gadget(&options).unwrap();
    for (level, rung) in (1..).zip(rungs()) {
        let at = gadget.at_level(level).unwrap();
        assert_eq!(at.digit_count(), digits.limbs_of(&rung).len());
        assert_eq!(at.digit_bounds(), digits.bounds_of(&rung));
    }
}

#[test]
fn rungs_that_are_none_are_refused() {
    let moduli = moduli();
    let all: Vec<usize> = (0..8).collect();
    let big: Vec<BigUint> = moduli.iter().map(|&q| q.into()).collect();
    for rungs in [
        vec![],
        vec![vec![]],
        vec![vec![], all.clone()],
        vec![vec![0, 1]],
        vec![vec![1, 0], all.clone()],
        vec![vec![0, 0], all.clone()],
        vec![vec![0, 8], all.clone()],
        vec![vec![usize::MAX], all.clone()],
        vec![vec![3], vec![0], all.clone()],
        vec![vec![3], vec![3], all.clone()],
        vec![all.clone(), all.clone()],
        vec![all.clone(), vec![3]],
    ] {
        assert!(
            matches!(Ring::with_rungs(INDEX, &moduli, &rungs), Err(RingError::OutOfRange { .. })),
            "{rungs:?}"
        );
        assert!(matches!(BigRing::with_rungs(INDEX, &big, &rungs), Err(RingError::OutOfRange { .. })));
    }
    let ring = ladder();
    assert!(ring.scaler(2, &sunzi_ring::ScalerOptions::default()).is_err());
    let a = ring.uniform(&mut rng("factor"));
    assert!(ring.divide_by_factor(&a, moduli[7], 1).is_err());
}
