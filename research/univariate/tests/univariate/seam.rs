//! Rings with reductions modulo Φ_m as values: polynomials of another ring or storage are refused, and bytes
//! and keys keep what they belong to.

use num_bigint::BigInt;
use sunzi_math::primes_with_bits;
use sunzi_ring::{Coefficient, Evaluation, GadgetOptions, PackedPoly, Poly, Ring, RingError, ScalerOptions};
use sunzi_univariate::{Reduction, UnivariateRing};

use crate::common::*;

const REDUCTIONS: [Reduction; 4] =
    [Reduction::Barrett, Reduction::SparseBarrett, Reduction::Montgomery, Reduction::Mixed];

const M: u64 = 45;

fn ring(reduction: Reduction) -> Ring {
    // Primes of both rings: the transform of words needs 180th roots of unity at most.
    let order = UnivariateRing::root_order(M).unwrap() * M;
    Ring::of(UnivariateRing::new(M, &primes_with_bits(48, order, 3).unwrap(), reduction).unwrap())
}

fn words(ring: &Ring) -> Ring {
    Ring::new(M, univariate(ring).basis().values()).unwrap()
}

/// Checks that sums of products are packed reduced modulo Φ_m, at every level.
#[test]
fn polynomials_are_packed_reduced() {
    for reduction in REDUCTIONS {
        let top = ring(reduction);
        for level in 1..=3 {
            let ring = top.at_level(level).unwrap();
            let all = samples(&mut rng("packed"), ring.degree(), ring.modulus());
            for (a, b) in all.iter().zip(all.iter().skip(1)) {
                let mut product = evaluated(&ring, a);
                ring.mul_assign(&mut product, &evaluated(&ring, b)).unwrap();
                let (mut bytes, mut coefficients) = (Vec::new(), Vec::new());
                ring.pack(&product, &mut bytes).unwrap();
                let reduced = ring.to_coefficient(product).unwrap();
                ring.pack(&reduced, &mut coefficients).unwrap();
                assert_eq!((&bytes, bytes.len()), (&coefficients, ring.packed_len()));
                let values: Poly<Evaluation> = ring.unpack(&mut &bytes[..]).unwrap();
                assert_eq!(ring.to_coefficient(values).unwrap().words(), reduced.words());
                let read: Poly<Coefficient> = ring.unpack(&mut &bytes[..]).unwrap();
                assert_eq!(read.words(), reduced.words());
            }
        }
    }
}

/// Checks that words of a limb are N for values and n for coefficients, whatever the shape says.
#[test]
fn shapes_are_those_of_coefficients() {
    let ring = ring(Reduction::SparseBarrett);
    let (n, length) = (ring.degree(), UnivariateRing::root_order(M).unwrap() as usize);
    let (values, coefficients) = (ring.zero::<Evaluation>(), ring.zero::<Coefficient>());
    assert_eq!(values.shape(), coefficients.shape());
    assert_eq!((values.stride(), coefficients.stride()), (length, n));
    assert_eq!((values.limbs().count(), values.byte_len()), (3, 3 * 8 * length));
    assert_eq!(ring.restrict(&values, 2).unwrap().limb(1).unwrap().len(), length);
}

#[track_caller]
fn refused<T>(result: Result<T, RingError>) {
    match result.err() {
        Some(RingError::OtherModulus { .. } | RingError::OtherStorage | RingError::LengthMismatch { .. }) => {
        }
        other => panic!("expected a refusal, got {other:?}"),
    }
}

#[test]
fn residues_of_another_storage_are_refused() {
    for reduction in REDUCTIONS {
        let ring = ring(reduction);
        let words = words(&ring);
        assert!(words.storage::<UnivariateRing>().is_none());
        let [own, other] = [&ring, &words].map(|ring| ring.uniform(&mut rng("mixed")));
        refused(ring.add_assign(&mut own.clone(), &other));
        refused(words.add_assign(&mut other.clone(), &own));
        refused(ring.mul_assign(&mut own.clone(), &other));
        refused(words.mul_assign(&mut other.clone(), &own));
        refused(ring.to_coefficient(other.clone()));
        refused(words.to_coefficient(own.clone()));
        refused(ring.mod_switch(&other, 1));
        refused(words.mod_switch(&own, 1));
        refused(ring.automorphism(&other, 2));
        // Tables of one ring over the residues of the other.
        let tables = words.with_tables(univariate(&ring).clone());
        refused(tables.scaler(2, &ScalerOptions::default()));
        refused(tables.gadget(&GadgetOptions::default()));
        assert!(tables.description().is_empty());
        // Parts of keys and digits.
        let gadgets = [&ring, &words].map(|ring| ring.gadget(&GadgetOptions::default()).unwrap());
        let parts = [&ring, &words].map(|ring| ring.zero::<Evaluation>());
        let keys = [0, 1].map(|i| {
            (0..3)
                .map(|digit| gadgets[i].pack_part(parts[i].clone(), digit).unwrap())
                .collect::<Vec<PackedPoly>>()
        });
        let digits = [gadgets[0].decompose(&own).unwrap(), gadgets[1].decompose(&other).unwrap()];
        for i in 0..2 {
            assert!(gadgets[i].product(&digits[i], [&keys[i], &keys[i]]).is_ok());
            refused(gadgets[i].product(&digits[1 - i], [&keys[i], &keys[i]]));
            refused(gadgets[i].product(&digits[i], [&keys[1 - i], &keys[i]]));
            refused(gadgets[i].pack_part(parts[1 - i].clone(), 0));
            refused(gadgets[i].unpack_part(&keys[1 - i][0], 0));
            let multiplier = gadgets[i].multiplier(parts[i].clone()).unwrap();
            assert!(gadgets[i].multiplied(&multiplier).is_ok());
            refused(gadgets[1 - i].multiplied(&multiplier));
        }
    }
}

/// Checks that values of a polynomial named as coefficients, and the other way round, cause no panic and no result.
#[test]
fn residues_of_the_other_representation_are_refused() {
    for reduction in REDUCTIONS {
        let ring = ring(reduction);
        let a = ring.uniform(&mut rng("renamed"));
        let b = ring.to_coefficient(a.clone()).unwrap();
        let values: Poly<Evaluation> = b.clone().into_residues().into();
        let coefficients: Poly<Coefficient> = a.clone().into_residues().into();
        refused(ring.to_evaluation(coefficients.clone()));
        refused(ring.to_coefficient(values.clone()));
        refused(ring.to_integers(&coefficients));
        refused(ring.mul_assign(&mut a.clone(), &values));
        refused(ring.mul_add_assign(&mut a.clone(), &a, &values));
        refused(ring.tensor([&a, &values], [&a, &a], 1));
        refused(ring.mod_switch(&values, 1));
        refused(ring.scale_up(&values));
        refused(ring.automorphism(&values, 2));
        refused(ring.automorphism(&coefficients, 2));
        assert!(ring.add_assign(&mut a.clone(), &values).is_err());
        assert!(ring.add_assign(&mut b.clone(), &coefficients).is_err());
        let mut product = a.clone();
        ring.mul_assign(&mut product, &a).unwrap();
        assert!(ring.add_assign(&mut product, &values).is_err());
        let gadget = ring.gadget(&GadgetOptions::default()).unwrap();
        refused(gadget.decompose(&values));
        refused(gadget.pack_part(values.clone(), 0));
        let scaler = ring.scaler(2, &ScalerOptions::default()).unwrap();
        refused(scaler.decrypt(&coefficients));
        assert!(ring.pack(&values, &mut Vec::new()).is_err());
    }
}

/// Checks that stored parts of keys and multipliers come back, at the highest level and below.
#[test]
fn parts_of_keys_and_multipliers_are_kept() {
    let ring = ring(Reduction::Mixed);
    let gadget = ring.gadget(&GadgetOptions::default()).unwrap();
    let part = gadget.key_ring().uniform(&mut rng("kept"));
    let kept = gadget.pack_part(part.clone(), 0).unwrap();
    assert_eq!(gadget.unpack_part(&kept, 0).unwrap().words(), part.words());
    assert_eq!((kept.byte_len(), gadget.key_bytes().unwrap()), (part.byte_len(), 6 * part.byte_len()));
    let multiplier = gadget.multiplier(part.clone()).unwrap();
    assert_eq!(gadget.multiplied(&multiplier).unwrap().words(), part.words());
    // A product that is still to be reduced is still to be reduced at a lower level.
    let (key_ring, lower) = (gadget.key_ring(), gadget.at_level(2).unwrap());
    let mut product = part.clone();
    key_ring.mul_assign(&mut product, &part).unwrap();
    let restricted = integers(lower.key_ring(), lower.restrict_key(&product).unwrap());
    assert_eq!(restricted, centered(&integers(key_ring, product), &int(lower.key_ring().modulus())));
    assert!(matches!(gadget.pack_part(part, 3).err(), Some(RingError::OutOfRange { .. })));
}

/// Checks that the common code of key switching works with the unreduced products of this storage.
#[test]
fn sums_of_products_are_switched_as_reduced_ones() {
    for reduction in REDUCTIONS {
        let ring = ring(reduction);
        let a = samples(&mut rng("sums"), ring.degree(), ring.modulus());
        let [x, y] = [&a[6], &a[7]].map(|a| evaluated(&ring, a));
        let sums = ring.inner_products(&[vec![[&x, &y], [&y, &y]], vec![[&x, &x]]], 2).unwrap();
        let lower = ring.at_level(2).unwrap();
        for (sum, terms) in sums.into_iter().zip([vec![[&x, &y], [&y, &y]], vec![[&x, &x]]]) {
            let mut expected = lower.zero::<Evaluation>();
            for [a, b] in terms {
                let mut product: Poly<Evaluation> = ring.restrict(a, 2).unwrap();
                lower.mul_assign(&mut product, &ring.restrict(b, 2).unwrap()).unwrap();
                let reduced = lower.to_evaluation(lower.to_coefficient(product).unwrap()).unwrap();
                lower.add_assign(&mut expected, &reduced).unwrap();
            }
            assert_eq!(integers(&lower, sum), integers(&lower, expected));
        }
        let terms: [(&BigInt, &Poly<Evaluation>); 2] = [(&3.into(), &x), (&(-2).into(), &y)];
        let combined = integers(&ring, ring.linear_combination(&terms, 3).unwrap());
        let expected: Vec<BigInt> = a[6].iter().zip(&a[7]).map(|(x, y)| x * 3 - y * 2).collect();
        assert_eq!(combined, centered(&expected, &int(ring.modulus())));
    }
}
