//! The multi-precision ring against the oracle: equal integers, bit for bit.

mod rounding;
mod words;

use num_bigint::BigInt;
use num_traits::{One, Zero};
use rand_core::Rng;
use sunzi_big::MultiPrecision;
use sunzi_math::{DEFAULT_PRIME_BOUND, primes_below, primes_with_bits};
use sunzi_ring::{Evaluation, GadgetOptions, Poly, Ring, RingError, ScalerOptions, Storage};

use crate::common::*;

/// Returns multi-precision test rings of mixed widths in several orders, with more limbs than one sum of
/// products holds, and moduli that are grouped.
fn rings(n: usize) -> Vec<Ring> {
    let m = 2 * n as u64;
    let bits = |bits, count| primes_with_bits(bits, m, count).unwrap();
    let lists = [
        [bits(30, 3), bits(48, 2), bits(62, 2)].concat(),
        [bits(62, 1), bits(30, 2), bits(48, 1), bits(30, 4)[2..].to_vec()].concat(),
        [bits(31, 3), bits(20, 4)].concat(),
        bits(62, 65),
        bits(61, 62),
        bits(30, 53),
        bits(62, 1),
    ];
    lists.iter().map(|list| stored(MultiPrecision::ring(m, list).unwrap(), Storage::MultiPrecision)).collect()
}

/// Returns a multi-precision ring for every arithmetic that was built in.
fn arithmetics(ring: Ring) -> Vec<Ring> {
    let divides = MultiPrecision::over_by_division(&ring);
    #[cfg(feature = "gmp")]
    return vec![ring.clone(), divides, MultiPrecision::over_with_gmp(&ring)];
    #[cfg(not(feature = "gmp"))]
    vec![ring, divides]
}

/// Returns test integers in [−Q/2, Q/2): both ends, random ones, and those for which t·x/q is as close to a
/// half or to an integer as can be.
fn inputs(n: usize, t: u64, q: &BigInt, wide: &BigInt) -> Vec<Vec<BigInt>> {
    let mut rng = rng("multi-precision");
    let random = random_poly(&mut rng, n, wide.magnitude());
    let ends = (0..n).map(|i| if i % 2 == 0 { -(wide / 2_u32) + i / 2 } else { (wide - 1) / 2_u32 - i / 2 });
    let largest: BigInt = wide * t / q;
    let near = (0..n).map(|i| {
        let j = center(&int(&random_below(&mut rng, largest.magnitude())), &largest);
        round(&(q * (j * 2 + i % 2)), &BigInt::from(2 * t)) + i / 2 % 5 - 2
    });
    vec![random, centered(&ends.collect::<Vec<_>>(), wide), centered(&near.collect::<Vec<_>>(), wide)]
}

#[test]
fn every_result_is_the_exact_one() {
    for ring in rings(64).into_iter().flat_map(arithmetics) {
        let (n, q) = (ring.degree(), int(ring.modulus()));
        for t in [2_u64, 3, 1 << 10, 65_537, (1 << 59) + 55, (1 << 60) - 1] {
            let scaler = ring.scaler(t, &ScalerOptions::default()).unwrap();
            let wide = &scaler.wide_top();
            for x in inputs(n, t, &q, &int(wide.modulus())) {
                let scaled = ring.to_integers(&scaler.scale_top(evaluated(wide, &x)).unwrap()).unwrap();
                let exact: Vec<BigInt> = x.iter().map(|x| round(&(x * t), &q)).collect();
                assert_eq!(scaled, centered(&exact, &q), "t {t}");
            }
            for x in inputs(n, t, &q, &q) {
                let lifted = integers(wide, scaler.lift(&evaluated(&ring, &x)).unwrap());
                assert_eq!(lifted, x, "t {t}");
                let big = twin(&ring);
                let oracle = big.scaler(t, &ScalerOptions::default()).unwrap();
                let expected = oracle.decrypt(&big.from_integers(&x).unwrap()).unwrap();
                assert_eq!(scaler.decrypt(&ring.from_integers(&x).unwrap()).unwrap(), expected, "t {t}");
            }
        }
    }
}

#[test]
fn digits_of_any_radix_recompose() {
    let one = [vec![BigInt::one()], vec![BigInt::zero(); 63]].concat();
    for ring in &rings(64)[..3] {
        let (n, q) = (ring.degree(), int(ring.modulus()));
        for bits in [1, 2, 7, 30, 32, 48, 59, 60, 61, 62] {
            let options =
                GadgetOptions { radix_bits: Some(bits), dropped_limbs: 0, ..GadgetOptions::default() };
            let gadget = ring.gadget(&options).unwrap();
            let digits = gadget.digit_count();
            assert_eq!(digits as u64, ring.modulus().bits().div_ceil(u64::from(bits)));
            assert_eq!((gadget.options(), gadget.log2_truncation()), (&options, f64::NEG_INFINITY));
            assert!(gadget.digit_bounds().iter().all(|bound| bound.log2_bound <= f64::from(bits - 1)));
            for c in samples(&mut rng("radix"), n, ring.modulus()) {
                let zeros = || [ring.zero(), ring.zero()];
                let part = |i| gadget.key_part(zeros(), &evaluated(ring, &c), i).unwrap();
                let key: Vec<_> = (0..digits).map(|i| part(i)[0].clone()).collect();
                let poly = ring.from_integers(&c).unwrap();
                let [square, _] = switched(ring, &gadget, &poly, [&key, &key]).unwrap();
                assert_eq!(integers(ring, square), centered(&negacyclic(&c, &c), &q));
                // Σ d_i·ω^i is c itself, not only modulo q, and every digit is centred.
                let mut sum = vec![BigInt::zero(); n];
                for i in 0..digits {
                    let pick = |j| if i == j { evaluated(ring, &one) } else { ring.zero() };
                    let key: Vec<_> = (0..digits).map(pick).collect();
                    let [digit, _] = switched(ring, &gadget, &poly, [&key, &key]).unwrap();
                    let digit = integers(ring, digit);
                    assert!(norm(&digit) <= BigInt::one() << (bits - 1));
                    sum.iter_mut().zip(digit).for_each(|(sum, d)| *sum += d << (i * bits as usize));
                }
                assert_eq!(sum, c, "radix 2^{bits}");
            }
        }
    }
}

#[test]
fn radices_follow_the_width_of_the_moduli() {
    for (bits, radix) in [(20, 32_u32), (30, 32), (48, 48), (49, 62), (62, 62)] {
        let ring = MultiPrecision::ring(128, &primes_with_bits(bits, 128, 3).unwrap()).unwrap();
        let gadget = ring.gadget(&GadgetOptions::default()).unwrap();
        assert!(gadget.digit_bounds().iter().all(|bound| bound.log2_bound <= f64::from(radix) - 1.0));
        assert_eq!(gadget.digit_count() as u64, (3 * u64::from(bits)).div_ceil(u64::from(radix)));
    }
}

#[test]
fn hostile_arguments_are_refused() {
    let ring = &rings(64)[0];
    for radix_bits in [0, 63, 64, u32::MAX] {
        let options =
            GadgetOptions { radix_bits: Some(radix_bits), dropped_limbs: 0, ..GadgetOptions::default() };
        assert!(matches!(ring.gadget(&options), Err(RingError::OutOfRange { .. })));
    }
    for dropped_limbs in [1, usize::MAX] {
        let options = GadgetOptions { radix_bits: None, dropped_limbs, ..GadgetOptions::default() };
        assert!(matches!(ring.gadget(&options), Err(RingError::OutOfRange { .. })));
    }
    for t in [0, 1, 1 << 60, u64::MAX] {
        assert!(matches!(ring.scaler(t, &ScalerOptions::default()), Err(RingError::OutOfRange { .. })));
    }
    let tiny = MultiPrecision::ring(128, &[257]).unwrap();
    assert!(matches!(tiny.scaler(129, &ScalerOptions::default()), Err(RingError::OutOfRange { .. })));
    for t in [2, 128] {
        let scaler = tiny.scaler(t, &ScalerOptions::default()).unwrap();
        let all: Vec<i64> = (0..64).map(|i| i * 4 - 128).collect();
        let expected: Vec<u64> = all
            .iter()
            .map(|x| (2 * x * t as i64 + 257).div_euclid(514).rem_euclid(t as i64) as u64)
            .collect();
        assert_eq!(scaler.decrypt(&tiny.from_signed(&all).unwrap()).unwrap(), expected);
    }
    // A modulus that divides t: only the residue ring needs them coprime.
    let q = ring.words().unwrap().basis().values()[0];
    assert!(ring.scaler(2 * q, &ScalerOptions::default()).is_ok());
    let scaler = ring.scaler(3, &ScalerOptions::default()).unwrap();
    let gadget = ring.gadget(&GadgetOptions::default()).unwrap();
    for alien in [&rings(64)[1], &rings(128)[0]] {
        assert!(scaler.decrypt(&alien.zero()).is_err() && scaler.lift(&alien.zero()).is_err());
        assert!(scaler.scale_top(alien.zero()).is_err());
        assert!(gadget.key_part([ring.zero(), alien.zero()], &ring.zero(), 0).is_err());
        assert!(gadget.key_part([ring.zero(), ring.zero()], &alien.zero(), 0).is_err());
        assert!(gadget.key_part([alien.zero(), ring.zero()], &ring.zero(), 0).is_err());
        let key = vec![alien.zero(); gadget.digit_count()];
        assert!(switched(ring, &gadget, &ring.zero(), [&key, &key]).is_err());
    }
    for i in [gadget.digit_count(), usize::MAX] {
        assert!(gadget.key_part([ring.zero(), ring.zero()], &ring.zero(), i).is_err());
    }
    assert!(switched(ring, &gadget, &ring.zero(), [&[], &[]]).is_err());
}

#[test]
fn one_and_two_threads_agree() {
    let m = 1 << 12;
    let ring = Ring::new(m, &primes_below(DEFAULT_PRIME_BOUND, m, 17).unwrap()).unwrap();
    let ring = MultiPrecision::over(&ring);
    let everything = || {
        let mut rng = rng("multi-precision threads");
        let t = 1000 + rng.next_u64() % 2;
        let scaler = ring.scaler(t, &ScalerOptions::default()).unwrap();
        let gadget = ring.gadget(&GadgetOptions::default()).unwrap();
        let extended = scaler.lift(&ring.uniform(&mut rng)).unwrap();
        let scaled = scaler.scale_top(extended.clone()).unwrap();
        let message = scaler.decrypt(&scaled).unwrap();
        let key: Vec<Poly<Evaluation>> = (0..gadget.digit_count()).map(|_| ring.uniform(&mut rng)).collect();
        let [first, second] = switched(&ring, &gadget, &scaled, [&key, &key]).unwrap();
        [extended.words(), scaled.words(), &message, first.words(), second.words()].map(<[u64]>::to_vec)
    };
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(everything)
    };
    assert!(run(1) == run(2));
}
