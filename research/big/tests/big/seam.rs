//! Rings over big integers as storages: residues, keys and digits of another storage are errors, names and
//! bytes are their own.

use sunzi_big::{BigRing, MultiPrecision};
use sunzi_math::{DEFAULT_PRIME_BOUND, primes_below};
use sunzi_ring::{
    Coefficient, Evaluation, GadgetOptions, Poly, Ring, RingError, ScalerOptions, Storage, describe,
};

use crate::common::*;

const M: u64 = 128;

fn words() -> Ring {
    Ring::new(M, &primes_below(DEFAULT_PRIME_BOUND, M, 3).unwrap()).unwrap()
}

/// Checks that a storage refuses a polynomial of another ring at once, not only when it is read.
#[track_caller]
fn is_of_another_ring<T>(result: Result<T, RingError>) {
    let error = result.err();
    assert!(
        matches!(error, Some(RingError::ShapeMismatch { .. } | RingError::OtherModulus { .. })),
        "{error:?}"
    );
}

#[test]
fn residues_of_another_storage_are_of_another_ring() {
    let words = words();
    // As many bits as the other ring has limbs: only the tags differ.
    let three_bits = BigRing::new(M, &7_u32.into()).unwrap();
    let big = twin(&words);
    for big in [&big, &three_bits] {
        for (own, alien) in [(big, &words), (&words, big)] {
            let (a, mut b): (Poly<Evaluation>, Poly<Evaluation>) = (alien.zero(), own.zero());
            is_of_another_ring(own.add_assign(&mut b, &a));
            is_of_another_ring(own.mul_assign(&mut b, &a));
            is_of_another_ring(own.automorphism(&a, 3));
            is_of_another_ring(own.level_of(&a));
            is_of_another_ring(own.to_integers(&alien.zero()));
        }
    }
    assert_eq!(big.zero::<Coefficient>().byte_len(), 64 * big.modulus().bits().div_ceil(8) as usize);
}

#[test]
fn keys_of_another_storage_are_refused() {
    let words = words();
    let rings = [twin(&words), MultiPrecision::over(&words), words];
    let gadgets = rings.each_ref().map(|ring| ring.gadget(&GadgetOptions::default()).unwrap());
    for (i, own) in gadgets.iter().enumerate() {
        let key: Vec<_> =
            (0..own.digit_count()).map(|j| own.pack_part(rings[i].zero(), j).unwrap()).collect();
        assert!(own.product(&own.decompose(&rings[i].zero()).unwrap(), [&key, &key]).is_ok());
        for (j, other) in gadgets.iter().enumerate().filter(|(j, _)| *j != i) {
            assert!(other.product(&own.decompose(&rings[i].zero()).unwrap(), [&key, &key]).is_err());
            let digits = other.decompose(&rings[j].zero()).unwrap();
            assert!(other.product(&digits, [&key, &key]).is_err());
        }
    }
}

#[test]
fn tables_need_their_storage() {
    let big = twin(&words());
    let mixed = MultiPrecision::over(&big);
    assert!(matches!(mixed.scaler(17, &ScalerOptions::default()), Err(RingError::OtherStorage)));
    assert!(matches!(mixed.gadget(&GadgetOptions::default()), Err(RingError::OtherStorage)));
    assert!(mixed.description().is_empty());
}

/// Checks that derived rings keep the tables of multi-precision, and that their polynomials are those in words.
#[test]
fn multi_precision_changes_names_and_tables_alone() {
    let words = words();
    let ring = MultiPrecision::over(&words);
    let values: Vec<u64> = words.words().unwrap().basis().values().to_vec();
    for level in 1..=3 {
        let at = ring.at_level(level).unwrap();
        assert_eq!(at.description(), describe(Storage::MultiPrecision, M, &values[..level]));
        assert_eq!(at.modulus(), words.at_level(level).unwrap().modulus());
    }
    let a = ring.uniform(&mut rng("names"));
    let mut b = words.clone().restrict(&a, 3).unwrap();
    words.add_assign(&mut b, &a).unwrap();
    let mut twice = a.clone();
    ring.mul_integer_assign(&mut twice, &2.into()).unwrap();
    assert_eq!(b.words(), twice.words());
    let gadget = ring.gadget(&GadgetOptions::default()).unwrap();
    assert_eq!(gadget.key_ring().description()[0], Storage::MultiPrecision as u8);
    let wide = ring.scaler(17, &ScalerOptions::default()).unwrap().wide(3).unwrap();
    assert_eq!(wide.description()[0], Storage::MultiPrecision as u8);
}

#[test]
fn big_polynomials_come_back_from_bytes() {
    let big = twin(&words());
    let a = big.uniform(&mut rng("bytes"));
    let mut bytes = Vec::new();
    big.pack(&a, &mut bytes).unwrap();
    assert_eq!(bytes.len(), big.packed_len());
    let back: Poly<Evaluation> = big.unpack(&mut &bytes[..]).unwrap();
    assert_eq!(integers(&big, back), integers(&big, a));
    assert!(big.unpack::<Evaluation>(&mut &vec![255; bytes.len()][..]).is_err());
    assert!(big.unpack::<Evaluation>(&mut &bytes[1..]).is_err());
}
