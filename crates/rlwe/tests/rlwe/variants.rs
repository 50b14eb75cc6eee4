//! Tests that key switching by every kind of digits preserves the phase within its stated noise, not far above what is
//! measured.

#[cfg(test)]
use crate::storage::stored;
use chacha20::ChaCha20Rng;
use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive};
use rand_core::SeedableRng;
use sunzi_big::BigRing;
use sunzi_ring::{Coefficient, Evaluation, GadgetOptions, Poly, Ring, Storage};
use sunzi_rlwe::encryption::phase;
use sunzi_rlwe::{
    Ciphertext, GaloisKeys, NoiseBound, NoiseTerm, RelinearizationKey, RlweContext, RlweError, SecretKey,
    Security, galois, relinearization,
};

use crate::common::Bare;

const DEGREE: usize = 256;

fn options(radix_bits: Option<u32>, dropped_limbs: usize) -> GadgetOptions {
    GadgetOptions { radix_bits, dropped_limbs, ..GadgetOptions::default() }
}

fn context(ring: &Ring, options: &GadgetOptions) -> RlweContext {
    RlweContext::with_gadget(ring.clone(), Security::InsecureForResearchOnly, options).unwrap()
}

/// Returns log2 of the largest difference modulo q of two vectors of coefficients.
fn distance(ring: &Ring, a: &Poly<Coefficient>, b: &Poly<Coefficient>) -> f64 {
    let mut difference = a.clone();
    ring.sub_assign(&mut difference, b).unwrap();
    let largest = ring.to_integers(&difference).unwrap().iter().map(BigInt::abs).max().unwrap();
    largest.to_f64().unwrap().log2()
}

/// Checks that measured noise stays below the bounds, and above the deviation less `slack` bits in one sample of
/// `count`.
fn judge(name: &str, noise: NoiseTerm, measured: &[f64], slack: f64) {
    let bound = NoiseBound::none().plus(noise).bound(DEGREE).bits();
    let largest = measured.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    assert!(largest <= noise.worst.bits(), "{name}: {largest} above the worst case {:?}", noise.worst);
    assert!(largest <= bound, "{name}: {largest} above {bound}");
    // Lower limit: the largest of 256 Gaussian coefficients is about three deviations.
    let least = noise.deviation.bits() + 1.2 - slack;
    assert!(largest >= least, "{name}: {largest} is far below the deviation {:?}", noise.deviation);
}

/// Checks the noise of relinearisation and of an automorphism, on random ciphertexts.
fn law(ring: &Ring, options: &GadgetOptions, slack: f64) {
    let context = context(ring, options);
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let secret = SecretKey::generate(&context, &mut rng).unwrap();
    let key = RelinearizationKey::generate(&context, &secret, &mut rng).unwrap();
    let galois_keys = GaloisKeys::generate(&context, &secret, [3], &mut rng).unwrap();
    let mut random = |parts: usize| -> Ciphertext<Bare> {
        let parts: Vec<Poly<Evaluation>> = (0..parts).map(|_| ring.uniform(&mut rng)).collect();
        Ciphertext::from_parts(parts, (), NoiseBound::none(), secret.id()).unwrap()
    };
    let (mut switched, mut turned) = (Vec::new(), Vec::new());
    for _ in 0..4 {
        let before = random(3);
        let after = relinearization::relinearize(&context, &before, &key).unwrap();
        let [old, new] = [&before, &after].map(|c| phase(&context, c.parts(), &secret).unwrap());
        switched.push(distance(ring, &old, &new));
        let before = random(2);
        let after = galois::automorphism(&context, &before, 3, &galois_keys).unwrap();
        let [old, new] = [&before, &after].map(|c| phase(&context, c.parts(), &secret).unwrap());
        turned.push(distance(ring, &ring.automorphism(&old, 3).unwrap(), &new));
    }
    judge(&format!("relinearised, {options:?}"), relinearization::added_noise(&context), &switched, slack);
    judge(&format!("turned, {options:?}"), galois::added_noise(&context), &turned, slack);
}

fn ring(bits: u32, count: usize) -> Ring {
    Ring::new(512, &sunzi_math::primes_with_bits(bits, 512, count).unwrap()).unwrap()
}

#[test]
fn residue_digits_keep_the_phase_within_their_noise() {
    for ring in [ring(30, 5), ring(48, 4), ring(62, 4)] {
        for dropped in [0, 1, 2] {
            for radix_bits in [None, Some(2), Some(8), Some(20), Some(47), Some(61)] {
                law(&ring, &options(radix_bits, dropped), 0.5);
            }
        }
    }
    law(&ring(30, 2), &options(Some(1), 0), 0.5);
    // The moduli have lengths far apart: the longest digits alone make the noise.
    let mixed = [20, 62, 30, 48].map(|bits| sunzi_math::primes_with_bits(bits, 512, 1).unwrap()[0]);
    let mixed = Ring::new(512, &mixed).unwrap();
    for (radix_bits, dropped) in [(None, 0), (Some(15), 0), (None, 1), (Some(15), 1)] {
        law(&mixed, &options(radix_bits, dropped), 0.5);
    }
}

#[test]
fn digits_of_a_radix_keep_the_phase_within_their_noise() {
    let big = stored(BigRing::new(512, ring(48, 4).modulus()).unwrap(), Storage::Big);
    for radix_bits in [None, Some(16), Some(61)] {
        law(&big, &options(radix_bits, 0), 0.5);
        // The model counts dropped limbs as if they were always as large as they can be: √3 too much, and twice that
        // in s².
        for dropped in [1, 2] {
            law(&big, &options(radix_bits, dropped), 3.0);
        }
    }
}

/// Gadget options with d_num digits over as many special moduli of 48 bits, which are not among the moduli of the ring.
fn hybrid(digits: Option<usize>, special: usize) -> GadgetOptions {
    let special_moduli = sunzi_math::primes_with_bits(48, 512, 12).unwrap().split_off(12 - special);
    GadgetOptions { digits, special_moduli, ..GadgetOptions::default() }
}

#[test]
fn digits_over_special_moduli_keep_the_phase_within_their_noise() {
    for ring in [ring(48, 4), ring(48, 1), ring(30, 5)] {
        let k = ring.level();
        for (digits, special) in
            [(Some(1), k), (Some(2), 2), (None, 1), (None, 2), (Some(k), 1), (Some(1), 1)]
        {
            law(&ring, &hybrid(digits.map(|digits| digits.min(k)), special), 0.5);
        }
        let moduli: Vec<_> = ring.words().unwrap().basis().values().iter().map(|&q| q.into()).collect();
        law(
            &stored(BigRing::with_chain(512, &moduli).unwrap(), Storage::Big),
            &hybrid(Some(k.div_ceil(2)), 2),
            0.5,
        );
    }
}

/// Sizes of key-switching keys: [BEHZ16, B.2] i of k limbs less in every polynomial; [B.1] as many polynomials as
/// digits; 6 bytes a residue, and 64 a polynomial.
#[test]
fn keys_know_their_size() {
    let (n, k) = (DEGREE, 4);
    for (radix_bits, digits) in [(None, 1), (Some(12), 4), (Some(24), 2)] {
        for dropped in 0..k {
            let context = context(&ring(48, k), &options(radix_bits, dropped));
            let mut rng = ChaCha20Rng::seed_from_u64(2);
            let secret = SecretKey::generate(&context, &mut rng).unwrap();
            let expected = 2 * k * digits * ((k - dropped) * n * 6 + 64);
            let key = RelinearizationKey::generate(&context, &secret, &mut rng).unwrap();
            assert_eq!(key.byte_len(), expected);
            assert_eq!(key.key().digit_count(), k * digits);
            let keys = GaloisKeys::generate(&context, &secret, [3, 5, 9], &mut rng).unwrap();
            assert_eq!(keys.byte_len(), 3 * expected);
        }
    }
}

#[test]
fn a_key_of_other_digits_is_refused() {
    let ring = ring(48, 3);
    let (plain, cut) = (context(&ring, &options(None, 0)), context(&ring, &options(Some(12), 1)));
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let secret = SecretKey::generate(&plain, &mut rng).unwrap();
    let key = RelinearizationKey::generate(&cut, &secret, &mut rng).unwrap();
    let parts = (0..3).map(|_| ring.uniform(&mut rng)).collect();
    let three: Ciphertext<Bare> = Ciphertext::from_parts(parts, (), NoiseBound::none(), secret.id()).unwrap();
    let error = relinearization::relinearize(&plain, &three, &key).err().unwrap();
    assert!(matches!(error, RlweError::GadgetMismatch { .. }));
    let text = error.to_string();
    for part in ["radix 2^12", "1 limb dropped", "whole residues", "make the key"] {
        assert!(text.contains(part), "{part} is missing: {text}");
    }
}
