//! Tests that extension, scaling and decryption are within the bounds they state.

use num_bigint::BigInt;
use num_traits::Signed;
use sunzi_fermat::{FermatRing, FermatScaler, Shortcuts};
use sunzi_ring::{Decryption, MTilde, Ring, RingError, Scaler, ScalerOptions};

use crate::common::*;

/// Plaintext moduli of the scaler's tests: small, even, of batching, long.
const PLAIN: [u64; 5] = [2, 4096, 786_433, (1 << 40) + 15, (1 << 59) + 55];

fn options(m_tilde: MTilde) -> ScalerOptions {
    ScalerOptions { m_tilde, ..ScalerOptions::default() }
}

/// Runs a law of scalers for every version, m̃ and plaintext modulus, at few bits and at many.
fn for_every_scaler(law: impl Fn(&Ring, &Scaler, u64)) {
    let mut count = 0;
    for bits in [64, 128, 256, 512, 1024, 4096] {
        let ring = FermatRing::new(128, bits).unwrap();
        for (i, &t) in PLAIN.iter().enumerate() {
            for (j, shortcuts) in Shortcuts::ALL.into_iter().enumerate() {
                if bits > 512 && (i != 2 || j % 3 != 0) {
                    continue;
                }
                let ring = Ring::of(ring.with_shortcuts(shortcuts));
                for m_tilde in [MTilde::Bits8, MTilde::Bits16] {
                    let scaler = match ring.scaler(t, &options(m_tilde)) {
                        Ok(scaler) => scaler,
                        Err(RingError::NotCoprime { left, .. }) if left == t => continue,
                        Err(other) => panic!("{other}"),
                    };
                    count += 1;
                    law(&ring, &scaler, t);
                }
            }
        }
    }
    assert!(count > 60, "{count}");
}

#[test]
fn lifts_are_right_and_bounded() {
    for_every_scaler(|ring, scaler, t| {
        let (q, wide) = (int(ring.modulus()), scaler.wide_top());
        let bound = scale_down(&q, (1.0 + scaler.bounds().overflow) / 2.0) + 1_u32;
        for a in samples(&mut rng("extend"), 64, ring.modulus()) {
            let lifted = integers(&wide, scaler.lift(&evaluated(ring, &a)).unwrap());
            assert_eq!(centered(&lifted, &q), a, "t {t}");
            assert!(norm(&lifted) <= bound, "t {t}");
        }
    });
}

#[test]
fn products_are_scaled_within_the_error() {
    for_every_scaler(|ring, scaler, t| {
        let (q, wide) = (int(ring.modulus()), scaler.wide_top());
        // Bound of sums of 256 products, each of two terms.
        let rho =
            BigInt::from(1_u32 << 20) + scale_down(&BigInt::from(1_u32 << 20), scaler.bounds().overflow);
        let bound = (&q * &q * 64_u32 * scaler.product_capacity().min(256) * &rho * &rho) >> 41_u32;
        let ties = |i: usize| (&q * (2 * i as u64 + 1)) / (2 * t) + (i % 3) - 1;
        let mut inputs = samples(&mut rng("scale"), 64, bound.magnitude());
        inputs.push((0..64).map(ties).collect());
        for x in inputs {
            let scaled = ring.to_integers(&scaler.scale_top(evaluated(&wide, &x)).unwrap()).unwrap();
            for (x, y) in x.iter().zip(&scaled) {
                let error = distance(y, &(x * t), &q, &q);
                assert!(error <= 0.5 + scaler.bounds().scale_error, "t {t}: {error}");
            }
        }
    });
}

#[test]
fn decryption_is_right_up_to_its_margin() {
    for_every_scaler(|ring, scaler, t| {
        let q = int(ring.modulus());
        let margin = scaler.bounds().decryption_margin;
        assert!(margin > 0.49);
        let largest: BigInt = scale_down(&(&q / t), margin) - 1_u32;
        let message: Vec<u64> = (0..64).map(|i| [0, 1, t - 1, t / 2, t.div_ceil(2) % t][i % 5]).collect();
        let noise = |i: usize| match i % 3 {
            0 if largest.is_positive() => largest.clone(),
            1 if largest.is_positive() => -&largest,
            _ => BigInt::ZERO,
        };
        let noisy: Vec<BigInt> =
            message.iter().enumerate().map(|(i, &m)| round(&(&q * m), &t.into()) + noise(i)).collect();
        let decrypted = scaler.decrypt(&ring.from_integers(&noisy).unwrap()).unwrap();
        assert_eq!(decrypted, message, "t {t}");
    });
}

#[test]
fn conversions_are_fast_base_conversions() {
    let ring = Ring::of(FermatRing::new(128, 512).unwrap());
    let scaler = ring.scaler(786_433, &ScalerOptions::default()).unwrap();
    let scaler = scaler.tables::<FermatScaler>().unwrap();
    for a in samples(&mut rng("conversions"), 64, ring.modulus()) {
        let poly = ring.from_integers(&a).unwrap();
        let q = int(ring.modulus());
        let multiples = |x: &BigInt, p: u64| -> Vec<u64> {
            let x = if x.is_negative() { x + &q } else { x.clone() };
            (0..4).map(|u| u64::try_from((&x + &q * u) % p).unwrap()).collect()
        };
        let limbs = scaler.convert_to_auxiliary(&poly).unwrap();
        for (limb, &p) in limbs.chunks(64).zip(scaler.auxiliary_moduli()) {
            for (x, y) in a.iter().zip(limb) {
                assert!(multiples(x, p).contains(y));
            }
        }
        let [plain, _] = scaler.convert_to_plain(&poly).unwrap();
        for (x, y) in a.iter().zip(&plain) {
            assert!(multiples(x, 786_433).contains(y));
        }
    }
}

/// Checks automorphisms in rings of products: limbs modulo primes hold values, residues modulo the components coefficients, and both go through integers together.
#[test]
fn rings_of_products_have_automorphisms() {
    let ring = Ring::of(FermatRing::new(128, 256).unwrap());
    let wide = ring.scaler(786_433, &ScalerOptions::default()).unwrap().wide_top();
    for a in samples(&mut rng("automorphism"), 64, wide.modulus()) {
        for k in [1, 3, 65, 127] {
            let mut image = vec![BigInt::ZERO; 64];
            for (i, x) in a.iter().enumerate() {
                let at = i * k % 128;
                image[at % 64] = if at < 64 { x.clone() } else { -x };
            }
            let expected = centered(&image, &int(wide.modulus()));
            let values = wide.automorphism(&evaluated(&wide, &a), k as u64).unwrap();
            assert_eq!(integers(&wide, values), expected, "X^{k}");
            let coefficients = wide.automorphism(&wide.from_integers(&a).unwrap(), k as u64).unwrap();
            assert_eq!(wide.to_integers(&coefficients).unwrap(), expected, "X^{k}");
        }
    }
}

#[test]
fn moduli_that_share_factors_are_named() {
    let ring = Ring::of(FermatRing::new(128, 256).unwrap());
    let scaler = |t, gamma| {
        let decryption = Decryption::Gamma { gamma };
        ring.scaler(t, &ScalerOptions { decryption, ..ScalerOptions::default() })
    };
    for t in [3, 257, 65_537, 641 * 2, 274_177] {
        assert!(matches!(scaler(t, None), Err(RingError::NotCoprime { left, .. }) if left == t), "{t}");
    }
    for t in [0, 1, 1 << 60] {
        assert!(matches!(scaler(t, None), Err(RingError::OutOfRange { .. })));
    }
    assert!(scaler(786_433, Some(101)).is_ok());
    for gamma in [0, 6, 1 << 62] {
        assert!(matches!(scaler(786_433, Some(gamma)), Err(RingError::OutOfRange { .. })));
    }
    for gamma in [257, 65_537, 786_433] {
        assert!(
            matches!(scaler(786_433, Some(gamma)), Err(RingError::NotCoprime { left, .. }) if left == gamma)
        );
    }
    // q = 2^64 − 1 is above 2t for every t below 2^60.
    let small = Ring::of(FermatRing::new(128, 64).unwrap());
    let scaler = small.scaler((1 << 60) - 4, &ScalerOptions::default());
    assert!(scaler.is_err() || scaler.unwrap().levels() == (1..=1));
}
