//! Tests of levels: 2^g − 1 without its largest factors.

use num_bigint::BigInt;
use num_traits::One;
use sunzi_fermat::FermatRing;
use sunzi_ring::{Coefficient, Evaluation, Ring, RingError};

use crate::common::*;

#[test]
fn a_level_is_half_the_bits() {
    let ring = Ring::of(FermatRing::new(128, 1024).unwrap());
    assert_eq!(ring.level(), 5);
    for level in 1..=5 {
        let lower = ring.at_level(level).unwrap();
        assert_eq!(int(lower.modulus()), (BigInt::one() << (32 << level)) - 1);
        assert_eq!((lower.level(), lower.degree(), lower.index()), (level, 64, 128));
        let alone = Ring::of(FermatRing::new(128, 32 << level).unwrap());
        assert_eq!(alone.level_of(&lower.zero::<Evaluation>()).unwrap(), level);
        for a in samples(&mut rng("levels"), 64, ring.modulus()) {
            let (q, p) = (int(ring.modulus()), int(lower.modulus()));
            let poly = evaluated(&ring, &a);
            let restricted = ring.restrict(&poly, level).unwrap();
            assert_eq!(integers(&lower, restricted.clone()), centered(&a, &p));
            assert_eq!(ring.level_of(&restricted).unwrap(), level);
            let switched = integers(&lower, ring.mod_switch(&poly, level).unwrap());
            for (x, y) in a.iter().zip(&switched) {
                assert!(distance(y, &(x * &p), &q, &p) <= 0.5 + 1e-12);
            }
            let sum = ring.mod_switch_sum(&poly, &ring.zero::<Coefficient>(), level).unwrap();
            assert_eq!(integers(&lower, sum), switched);
            let up: Vec<BigInt> =
                integers(&lower, restricted.clone()).iter().map(|x| x * (&q / &p)).collect();
            assert_eq!(integers(&ring, ring.scale_up(&restricted).unwrap()), centered(&up, &q));
            let mut product = restricted.clone();
            ring.mul_restricted_assign(&mut product, &poly).unwrap();
            let mut expected = restricted.clone();
            lower.mul_assign(&mut expected, &restricted).unwrap();
            assert_eq!(integers(&lower, product), integers(&lower, expected));
        }
    }
    for level in [0, 6, usize::MAX] {
        assert!(matches!(ring.at_level(level), Err(RingError::NoSuchLevel { highest: 5, .. })));
        assert!(ring.restrict(&ring.zero::<Evaluation>(), level).is_err());
        assert!(ring.mod_switch(&ring.zero(), level).is_err());
    }
    let lower = ring.at_level(2).unwrap();
    assert!(ring.restrict(&lower.zero::<Evaluation>(), 3).is_err());
    assert!(lower.level_of(&ring.zero::<Evaluation>()).is_err());
    assert!(matches!(ring.divide_by_factor(&ring.zero(), 3, 1), Err(RingError::OutOfRange { .. })));
}

#[test]
fn what_makes_no_ring_is_refused() {
    for m in [0, 1, 64, 127, 129, 384, 1 << 19, u64::MAX] {
        assert!(matches!(FermatRing::new(m, 128), Err(RingError::OutOfRange { .. })), "{m}");
    }
    for bits in [0, 32, 100, 32768] {
        assert!(matches!(FermatRing::new(128, bits), Err(RingError::OutOfRange { .. })), "{bits}");
    }
}
