//! Tests of levels: rings modulo the first moduli of a chain, and the ways between them.

use num_bigint::BigInt;
use num_traits::Signed;
use sunzi_ring::{Ring, RingError};

use crate::common::*;

/// Returns polynomials with extreme and random coefficients, and with coefficients whose quotients by d are
/// next to a half.
fn polynomials(ring: &Ring, d: &BigInt) -> Vec<Vec<BigInt>> {
    let (n, q) = (ring.degree(), int(ring.modulus()));
    let mut all = samples(&mut rng("levels"), n, ring.modulus());
    let half: BigInt = (d - 1_u32) / 2_u32;
    let ties = (0..n).map(|i| center(&(d * ((i as i64 - 7) * 12_345) + &half + (i % 2)), &q));
    all.push(ties.collect());
    all
}

fn laws(ring: &Ring) {
    let (top, q) = (ring.level(), int(ring.modulus()));
    for level in 1..=top {
        let lower = ring.at_level(level).unwrap();
        assert_eq!((lower.level(), lower.degree()), (level, ring.degree()));
        let small = int(lower.modulus());
        let d = &q / &small;
        for a in polynomials(ring, &d) {
            let poly = ring.from_integers(&a).unwrap();
            let restricted = ring.restrict(&poly, level).unwrap();
            assert_eq!(ring.level_of(&restricted).unwrap(), level);
            assert_eq!(lower.to_integers(&restricted).unwrap(), centered(&a, &small));

            let values = ring.to_evaluation(poly.clone()).unwrap();
            let switched = integers(&lower, ring.mod_switch(&values, level).unwrap());
            let exact: Vec<BigInt> = a.iter().map(|x| round(x, &d)).collect();
            if top - level > 1 {
                // The result is off by one only next to a half.
                for ((x, found), exact) in a.iter().zip(&switched).zip(&exact) {
                    let error: BigInt = center(&(found - exact), &small) * &d + exact * &d - x;
                    assert!((error.abs() - &d / 2_u32) << 40_u32 <= d, "{error} of {d}");
                }
            } else {
                assert_eq!(switched, centered(&exact, &small));
            }
            // The operand is a sum of two parts, in two forms.
            let b: Vec<BigInt> = a.iter().rev().map(|x| x * 3_u32 + 1_u32).collect();
            let rest: Vec<BigInt> = a.iter().zip(&b).map(|(x, y)| x - y).collect();
            let (rest, b) = (evaluated(ring, &rest), ring.from_integers(&b).unwrap());
            assert_eq!(integers(&lower, ring.mod_switch_sum(&rest, &b, level).unwrap()), switched);

            let mut product = lower.to_evaluation(restricted.clone()).unwrap();
            let own = product.clone();
            let mut expected = product.clone();
            lower.mul_assign(&mut expected, &product).unwrap();
            ring.mul_restricted_assign(&mut product, &values).unwrap();
            // Each operand has its own level.
            let mut sum = expected.clone();
            lower.add_assign(&mut sum, &lower.to_evaluation(restricted.clone()).unwrap()).unwrap();
            let sum = integers(&lower, sum);
            for [a, b, c] in [[&values, &own, &values], [&own, &values, &own], [&values; 3], [&own; 3]] {
                let found = ring.mul_add_restricted(a, b, c, level).unwrap();
                assert_eq!(integers(&lower, found), sum);
            }
            assert_eq!(integers(&lower, product), integers(&lower, expected));

            let up = ring.scale_up(&lower.to_evaluation(restricted).unwrap()).unwrap();
            let expected: Vec<BigInt> = a.iter().map(|x| x * &d).collect();
            assert_eq!(integers(ring, up), centered(&expected, &q));
        }
    }
}

#[test]
fn switching_rounds_and_scaling_up_multiplies() {
    for ring in residue_rings(64) {
        laws(&ring);
        laws(&multi_precision(&ring));
        laws(&twin(&ring));
    }
}

/// Checks that switching from a level in the middle equals switching from a ring that ends there.
#[test]
fn polynomials_of_a_lower_level_are_switched_as_well() {
    let ring = &residue_rings(64)[1];
    let lower = ring.at_level(3).unwrap();
    let alone = Ring::new(ring.index(), &ring.words().unwrap().basis().values()[..3]).unwrap();
    let a = lower.uniform(&mut rng("middle"));
    for level in 1..=3 {
        let [x, y, z] = [ring, &lower, &alone].map(|ring| ring.mod_switch(&a, level).unwrap());
        assert!(x.words() == y.words() && x.words() == z.words());
        let [x, y] = [ring, &alone].map(|ring| ring.restrict(&a, level).unwrap());
        assert!(x.words() == y.words());
    }
    assert!(lower.mod_switch(&a, 3).unwrap().words() == a.words());
}

#[test]
fn what_is_not_there_is_refused() {
    fn law(ring: &Ring, alien: &Ring) {
        let top = ring.level();
        for level in [0, top + 1, usize::MAX] {
            assert!(matches!(ring.at_level(level), Err(RingError::NoSuchLevel { .. })), "{level}");
            assert!(matches!(
                ring.mod_switch(&ring.zero(), level),
                Err(RingError::NoSuchLevel { highest, .. }) if highest == top
            ));
        }
        let low = ring.at_level(top - 1).unwrap().zero();
        assert!(matches!(ring.mod_switch(&low, top), Err(RingError::NoSuchLevel { .. })));
        assert!(matches!(
            ring.restrict(&low, top),
            Err(RingError::NoSuchLevel { highest, .. }) if highest == top - 1
        ));
        assert!(ring.mul_restricted_assign(&mut ring.zero(), &low).is_err());
        assert!(ring.mul_add_restricted(&ring.zero(), &low, &ring.zero(), top).is_err());
        assert!(ring.mul_add_restricted(&low, &low, &alien.zero(), 1).is_err());
        assert!(ring.mod_switch_sum(&low, &ring.zero(), 1).is_err());
        assert!(ring.level_of(&alien.zero::<sunzi_ring::Evaluation>()).is_err());
        assert!(ring.mod_switch(&alien.zero(), 1).is_err());
        assert!(ring.scale_up(&alien.zero()).is_err());
        assert!(ring.at_level(1).unwrap().scale_up(&low).is_err() || top == 2);
    }
    let rings = residue_rings(64);
    for (ring, alien) in [(&rings[1], &rings[3]), (&rings[3], &rings[7])] {
        law(ring, alien);
        law(&twin(ring), &twin(alien));
    }
}

/// Checks levels with several primes in the last word: losing one is an exact division with rounding modulo
/// the remaining ones.
#[test]
fn a_word_of_several_primes_loses_one_at_a_time() {
    let (first, parts) = (1_152_921_504_606_844_417_u64, [786_433_u64, 1_179_649, 12_289]);
    let word = parts.iter().product::<u64>();
    let ring = Ring::new(128, &[first, 7_681, word]).unwrap();
    let big = twin(&ring);
    let mut rng = rng("factors");
    let a = ring.uniform(&mut rng);
    let integers_of = |ring: &Ring, a: &sunzi_ring::Poly<sunzi_ring::Evaluation>| {
        ring.to_integers(&ring.to_coefficient(a.clone()).unwrap()).unwrap()
    };
    let mut value = integers_of(&ring, &a);
    let (mut current, mut rest, mut left) = (a, word, parts.to_vec());
    let mut own = ring.clone();
    let mut big_current =
        big.to_evaluation(big.from_integers(&integers_of(&ring, &current)).unwrap()).unwrap();
    while let Some(d) = left.pop() {
        rest /= d;
        current = own.divide_by_factor(&current, d, rest).unwrap();
        big_current = big.divide_by_factor(&big_current, d, rest).unwrap();
        own = ring.at_level(ring.level_of(&current).unwrap()).unwrap();
        let modulus: BigInt = BigInt::from(first) * 7_681 * rest;
        value = value.iter().map(|x| round(x, &d.into())).collect();
        let found: Vec<BigInt> = integers_of(&own, &current);
        assert_eq!(centered(&found, &modulus), centered(&value, &modulus), "{d}");
        let level = big.level_of(&big_current).unwrap();
        let lower = big.at_level(level).unwrap();
        let found = lower.to_integers(&lower.to_coefficient(big_current.clone()).unwrap()).unwrap();
        assert_eq!(centered(&found, &modulus), centered(&value, &modulus), "{d} in big integers");
        // Residues that are no longer right modulo the word must not count: the next step starts from the right ones.
        value = centered(&value, &modulus);
    }
    assert_eq!(own.level(), 2);
    let a = ring.uniform(&mut rng);
    for (d, rest) in [(0, 1), (1, 1), (5, 1), (12_289, 5), (word, 2), (u64::MAX, u64::MAX)] {
        assert!(ring.divide_by_factor(&a, d, rest).is_err(), "{d} {rest}");
    }
    let one = ring.at_level(1).unwrap();
    assert!(one.divide_by_factor(&one.uniform(&mut rng), first, 1).is_err());
}
