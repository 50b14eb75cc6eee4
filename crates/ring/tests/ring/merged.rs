//! Tests of merged digits: key switches by sums of keys are exact where keys have no errors, and no noisier than those
//! by the level's own digits where keys have the worst.

use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive, Zero};
use sunzi_math::{DEFAULT_PRIME_BOUND, primes_below};
use sunzi_ring::{
    Addends, Coefficient, Evaluation, Gadget, GadgetOptions, PackedPoly, Poly, Ring, SwitchInput,
};

use crate::common::*;

const N: usize = 64;

/// Returns a ring of `limbs` moduli and a gadget with special moduli for digits of `special` moduli each.
fn ring_and_gadget(limbs: usize, special: usize, rungs: &[Vec<usize>]) -> (Ring, Gadget) {
    let mut special_moduli = primes_below(DEFAULT_PRIME_BOUND, 2 * N as u64, limbs + special).unwrap();
    let moduli = special_moduli.split_off(special);
    let ring = if rungs.is_empty() {
        Ring::new(2 * N as u64, &moduli).unwrap()
    } else {
        Ring::with_rungs(2 * N as u64, &moduli, rungs).unwrap()
    };
    let options = GadgetOptions { special_moduli, ..GadgetOptions::default() };
    let gadget = ring.gadget(&options).unwrap();
    (ring, gadget)
}

/// Returns both halves of a key from s′ with errors of absolute value `error`, whose uniform half is zero.
fn key(gadget: &Gadget, s: &[BigInt], error: i64) -> [Vec<Poly<Evaluation>>; 2] {
    let ring = gadget.key_ring();
    let mut rng = rng("merged digits");
    let source = evaluated(ring, s);
    let signs = |rng: &mut _| random_poly(rng, N, &2_u32.into());
    let part = |i| {
        let errors: Vec<BigInt> =
            signs(&mut rng).iter().map(|sign| if sign.is_zero() { -error } else { error }.into()).collect();
        let [b, a] = gadget.key_part([evaluated(ring, &errors), ring.zero()], &source, i).unwrap();
        (b, a)
    };
    let (first, second) = (0..gadget.digit_count()).map(part).unzip();
    [first, second]
}

/// Returns the packed key of merged digits: sums of polynomials of a key.
fn sums(top: &Gadget, merged: &Gadget, key: &[Vec<Poly<Evaluation>>; 2]) -> [Vec<PackedPoly>; 2] {
    key.each_ref().map(|half| {
        let sum = |block: std::ops::Range<usize>| {
            let mut sum = top.key_ring().zero();
            half[block].iter().for_each(|part| top.key_ring().add_assign(&mut sum, part).unwrap());
            top.pack_part(sum, 0).unwrap()
        };
        merged.key_digits().into_iter().map(sum).collect()
    })
}

/// Returns the largest distance, in units of 1, of a key switch by merged digits from the exact c_0 + c·s′.
fn distance(ring: &Ring, gadget: &Gadget, level: usize, error: i64) -> Option<(f64, usize)> {
    let merged = gadget.at_level(level).unwrap().merged(level).unwrap()?;
    let lower = ring.at_level(level).unwrap();
    let q = int(lower.modulus());
    let all = samples(&mut rng("merged values"), N, lower.modulus());
    let (s, c0) = (&samples(&mut rng("secret"), N, &3_u32.into())[5], &all[5]);
    let halves = sums(gadget, &merged, &key(gadget, s, error));
    let keys = [&halves[0][..], &halves[1]];
    let mut largest = 0.0_f64;
    for c in &all {
        let values = evaluated(&lower, c);
        let coefficients: Poly<Coefficient> = lower.to_coefficient(values.clone()).unwrap();
        let added = evaluated(&lower, c0);
        let mut expected = lower.from_integers(&product(&lower, c, s)).unwrap();
        lower.add_assign(&mut expected, &lower.from_integers(c0).unwrap()).unwrap();
        let expected = lower.to_integers(&expected).unwrap();
        let inputs = [SwitchInput::Values(&values), SwitchInput::Coefficients(&coefficients)];
        let mut found = inputs.map(|input| {
            let added = Addends::Values([Some(&added), None]);
            let [first, second] = merged.switch(input, added, keys, level, 1).unwrap();
            assert!(integers(&lower, second).iter().all(Zero::is_zero));
            integers(&lower, first)
        });
        assert_eq!(found[0], found[1]);
        for (x, y) in found[0].iter_mut().zip(&expected) {
            largest = largest.max(center(&(&*x - y), &q).abs().to_f64().unwrap());
        }
    }
    Some((largest, merged.digit_count()))
}

/// Tests key switches at every level of chains and of sets of moduli, by keys without errors and with the worst.
#[test]
fn merged_switches_are_exact_and_no_noisier() {
    let gaps = [vec![0], vec![0, 2], vec![0, 1, 3], vec![0, 1, 2, 3], (0..6).collect(), (0..8).collect()];
    for (limbs, special, rungs) in [(9, 1, &[][..]), (12, 2, &[]), (8, 1, &gaps)] {
        let (ring, gadget) = ring_and_gadget(limbs, special, rungs);
        let mut merged = 0;
        for level in 1..ring.level() {
            let Some((exact, digits)) = distance(&ring, &gadget, level, 0) else { continue };
            let own = gadget.at_level(level).unwrap();
            assert!(digits < own.digit_count());
            assert_eq!(exact, 0.0, "level {level} of {limbs} + {special}");
            let error = 1 << 20;
            let (noise, _) = distance(&ring, &gadget, level, error).unwrap();
            let bounds = own.digit_bounds();
            let sum: f64 = bounds.iter().map(|bound| (bound.log2_bound - own.log2_special()).exp2()).sum();
            let bound = sum * N as f64 * error as f64 + 0.51;
            assert!(noise > 0.0 && noise <= bound, "level {level}: {noise} above {bound}");
            merged += 1;
        }
        assert!(merged >= 2, "{merged} levels merge digits");
    }
}

/// Tests that a switch to a lower level and to X^k by merged digits is that of its steps: digits, their products with
/// keys, the division by P and further moduli, the automorphism.
#[test]
fn merged_switches_are_those_of_their_steps() {
    let (ring, top) = ring_and_gadget(9, 1, &[]);
    let gadget = top.at_level(6).unwrap().merged(6).unwrap().unwrap();
    let lower = ring.at_level(6).unwrap();
    let mut rng = rng("steps of merged digits");
    let (c, rest) = (lower.uniform(&mut rng), lower.uniform(&mut rng));
    let mut half = || (0..top.digit_count()).map(|_| top.key_ring().uniform(&mut rng)).collect::<Vec<_>>();
    let halves = sums(&top, &gadget, &[half(), half()]);
    let keys = [&halves[0][..], &halves[1]];
    let digits = gadget.decompose(&c).unwrap();
    let products = gadget.product(&digits, keys).unwrap();
    let key_ring = gadget.key_ring();
    for (level, exponent) in [(6, 1), (6, 5), (5, 1), (4, 2 * N as u64 - 1)] {
        let added = Addends::Values([Some(&rest), None]);
        let mut sums = products.clone();
        key_ring.add_assign(&mut sums[0], &key_ring.scale_up(&rest).unwrap()).unwrap();
        let expected = sums.map(|sum| {
            let divided = gadget.mod_down(&sum, level).unwrap();
            key_ring.at_level(level).unwrap().automorphism(&divided, exponent).unwrap()
        });
        for input in [SwitchInput::Values(&c), SwitchInput::Digits(&digits)] {
            let found = gadget.switch(input, added, keys, level, exponent).unwrap();
            assert!(found.iter().zip(&expected).all(|(found, expected)| found.words() == expected.words()));
        }
    }
    // Keys of the level's own digits are refused, and so are digits of theirs.
    let own = top.at_level(6).unwrap();
    let whole = [(); 2].map(|()| (0..9).map(|_| top.pack_part(top.key_ring().zero(), 0).unwrap()).collect());
    let [first, second]: [Vec<PackedPoly>; 2] = whole;
    assert!(gadget.switch(SwitchInput::Values(&c), Addends::NONE, [&first, &second], 6, 1).is_err());
    let others = own.decompose(&c).unwrap();
    assert!(gadget.switch(SwitchInput::Digits(&others), Addends::NONE, keys, 6, 1).is_err());
}
