//! Tests with tables that are too short: every operation that needs the missing entry names it, and none leaves a
//! limb as it was.

use sunzi_big::MultiPrecision;
use sunzi_kernels::Modulus;
use sunzi_math::primes_below;
use sunzi_ring::internals::{
    Decryptor, Extension, RoundedDivision, block_of_multiplier, by_limbs, divide, inverse_scaled,
    matrix_product, scales, sums_by_blocks, without_last_transform, without_last_word,
};
use sunzi_ring::sampling::SeededRng;
use sunzi_ring::{
    Basis, Coefficient, Decryption, Evaluation, GadgetOptions, MTilde, ModulusSwitching, Poly, Ring,
    RingError, ScalerOptions,
};

use crate::common::*;

const M: u64 = 256;

fn whole() -> Ring {
    Ring::new(M, &primes_below(1 << 47, M, 4).unwrap()).unwrap()
}

/// Checks that the result is a fault that names the given table and limb.
#[track_caller]
fn names<T>(result: Result<T, RingError>, table: &str, limb: usize) {
    match result.err() {
        Some(RingError::MissingTable { table: named, limb: at }) => assert_eq!((named, at), (table, limb)),
        other => panic!("expected a missing {table} of limb {limb}, got {other:?}"),
    }
}

#[test]
fn the_message_says_what_is_missing_and_whose_fault_it_is() {
    let text = RingError::MissingTable { table: "transform", limb: 3 }.to_string();
    for part in ["no transform", "modulus number 3", "fault of the library", "report"] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn missing_transforms_are_named() {
    let whole = whole();
    let short = without_last_transform(&whole).unwrap();
    let a = random_values(&whole);
    let coefficients = whole.to_coefficient(a.clone()).unwrap();
    names(short.to_evaluation(coefficients.clone()), "transform", 3);
    names(short.to_coefficient(a.clone()), "transform", 3);
    names(short.mul_monomial_assign(&mut a.clone(), M / 4), "transform", 3);
    names(short.mod_switch(&a, 3), "transform of a divisor", 3);
    names(short.divide_by_factor(&a, 2, 1), "transform", 3);
    names(
        by_limbs(short.words().unwrap(), [&a, &a], Some(&coefficients), 4, &mut rng("masks")),
        "transform",
        3,
    );
    names(short.gadget(&GadgetOptions::default()).map(|_| ()), "transform", 3);
    let options = ScalerOptions::default();
    names(short.scaler(65_537, &options).map(|_| ()), "factor of an inverse transform", 3);
    let integers = MultiPrecision::over(&short);
    names(integers.scaler(65_537, &options).map(|_| ()), "factor of an inverse transform", 3);
    // The whole ring does all these operations.
    assert!(whole.mod_switch(&a, 3).is_ok() && whole.scaler(65_537, &options).is_ok());
}

fn random_values(ring: &Ring) -> Poly<Evaluation> {
    ring.uniform(&mut rng("faults"))
}

#[test]
fn missing_factors_are_named() {
    let ring = whole();
    for count in 0..4 {
        names(
            inverse_scaled(&ring, &mut random_values(&ring), &[1; 4][..count]),
            "factor of an inverse transform",
            count,
        );
        names(scales(&ring, &[1; 4][..count]), "factor of an inverse transform", count);
    }
    let mut a = random_values(&ring);
    let expected: Poly<Coefficient> = ring.to_coefficient(a.clone()).unwrap();
    inverse_scaled(&ring, &mut a, &[1; 4]).unwrap();
    assert_eq!((a.words(), scales(&ring, &[1; 4])), (expected.words(), Ok(4)));
}

#[test]
fn missing_groups_and_limbs_of_divisions_are_named() {
    let ring = whole();
    let (a, n) = (random_values(&ring), ring.degree());
    for level in [2, 3] {
        let mut out = vec![0; level * n];
        names(
            divide(&ring, level, vec![0..1, 1..level - 1], &mut out, a.words()),
            "group of targets",
            level - 1,
        );
        let groups = || vec![0..1, 1..level];
        names(divide(&ring, level, groups(), &mut out[n..], a.words()), "limb of a quotient", level - 1);
        // The divisor's moduli come last.
        names(divide(&ring, level, groups(), &mut out, &a.words()[..3 * n]), "limb of a dividend", 3);
        divide(&ring, level, groups(), &mut out, a.words()).unwrap();
        assert_eq!(out, ring.mod_switch(&a, level).unwrap().words());
    }
}

#[test]
fn missing_columns_and_moduli_of_conversions_are_named() {
    let [p, q, r] = [17, 19, 23].map(|q| Modulus::new(q).unwrap());
    let columns = [vec![1, 2], vec![3, 4]];
    assert!(matrix_product(&[p, q], &[q, r], &columns).is_ok());
    names(matrix_product(&[p, q], &[q, r], &columns[..1]).map(|_| ()), "column of a matrix", 1);
    names(matrix_product(&[p, q, r], &[q, r], &columns).map(|_| ()), "entry of a matrix", 2);
    let basis = Basis::new(&[17, 19]).unwrap();
    let mut digits = vec![1; 3 * 8];
    let extension = Extension::new(&basis, MTilde::None, &[r]).unwrap();
    names(extension.apply(&mut digits, &mut [0; 8], 8), "modulus", 2);
    let extension = Extension::new(&basis, MTilde::Bits8, &[r]).unwrap();
    names(extension.apply(&mut [], &mut [0; 8], 8), "limb that is centred", 0);
    let division = RoundedDivision::new(&basis, &[(r, 1)], ModulusSwitching::Approximate).unwrap();
    names(division.prepare(&mut digits, 8), "modulus", 2);
}

#[test]
fn missing_limbs_of_what_is_decrypted_are_named() {
    let basis = Basis::new(&[17, 19, 23]).unwrap();
    let all = [
        Decryption::Gamma { gamma: Some(101) },
        Decryption::PowerOfTwo { log2_gamma: Some(8) },
        Decryption::DigitDecomposition,
    ];
    for decryption in all {
        let decryptor = Decryptor::new(&basis, 5, decryption).unwrap();
        names(decryptor.apply(&[0; 2 * 8], 8), "limb of what is decrypted", 2);
        assert_eq!(decryptor.apply(&[0; 3 * 8], 8).unwrap(), [0; 8]);
    }
}

#[test]
fn missing_limbs_of_multipliers_are_named() {
    let ring = whole();
    let gadget = ring.gadget(&GadgetOptions::default()).unwrap();
    // One multiplier has values that repeat, so that fewer are stored, the other has not.
    let constant = evaluated(&ring, &[vec![5.into()], vec![0.into(); ring.degree() - 1]].concat());
    for a in [constant, random_values(&ring)] {
        let multiplier = gadget.multiplier(a.clone()).unwrap();
        let mut space = vec![1; ring.degree()];
        assert_eq!(block_of_multiplier(&multiplier, 3, 0, &mut space), Ok(a.limb(3).unwrap()));
        names(block_of_multiplier(&multiplier, 4, 0, &mut space), "limb of a multiplier", 4);
        let lists = [vec![(0, &multiplier)]];
        assert!(sums_by_blocks(&ring, &[[&a, &a]], &lists, &[0, 1, 2, 3]).is_ok());
        names(sums_by_blocks(&ring, &[[&a, &a]], &lists, &[0, 1, 2]), "place in a multiplier", 3);
        names(sums_by_blocks(&ring, &[[&a, &a]], &lists, &[0, 1, 2, 4]), "limb of a multiplier", 4);
    }
}

#[test]
fn missing_digits_are_named() {
    let ring = whole();
    let special = primes_below(1 << 48, M, 2).unwrap();
    for options in [GadgetOptions::default(), GadgetOptions { special_moduli: special, ..Default::default() }]
    {
        let gadget = ring.gadget(&options).unwrap();
        let uniform = |i| gadget.key_ring().uniform(&mut SeededRng::derive(&[7; 32], "key", i));
        let half: Vec<_> = (0..gadget.digit_count() as u64).map(uniform).collect();
        let key = kept(&gadget, &half).unwrap();
        let digits = gadget.decompose(&random_values(&ring)).unwrap();
        assert!(gadget.product(&digits, [&key, &key]).is_ok());
        let last = gadget.key_ring().words().unwrap().basis().len() - 1;
        names(
            gadget.product(&without_last_word(&digits).unwrap(), [&key, &key]).map(|_| ()),
            "block of digits",
            last,
        );
    }
}
