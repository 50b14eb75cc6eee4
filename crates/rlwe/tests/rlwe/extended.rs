//! Tests that sums of products modulo QP equal sums of products modulo Q, within the noise of a key switch.

#[cfg(test)]
use crate::storage::stored;
use chacha20::ChaCha20Rng;
use num_bigint::{BigInt, BigUint};
use num_traits::{Signed, ToPrimitive};
use rand_core::SeedableRng;
use sunzi_big::{BigRing, MultiPrecision};
use sunzi_math::primes_below;
use sunzi_ring::{Evaluation, GadgetOptions, Poly, Ring, Storage};
use sunzi_rlwe::encryption::phase;
use sunzi_rlwe::{
    Ciphertext, ExtendedCiphertext, GaloisKeys, NoiseBound, RlweContext, RlweError, SecretKey, Security,
    extended, galois,
};

use crate::common::Bare;

const INDEX: u64 = 256;
const EXPONENTS: [u64; 3] = [1, 5, 255];

fn moduli() -> Vec<u64> {
    primes_below(1 << 40, INDEX, 6).unwrap()
}

fn hybrid() -> GadgetOptions {
    GadgetOptions { digits: Some(2), special_moduli: moduli().split_off(4), ..GadgetOptions::default() }
}

fn context(ring: Ring, options: &GadgetOptions) -> RlweContext {
    RlweContext::with_gadget(ring, Security::InsecureForResearchOnly, options).unwrap()
}

fn small(ring: &Ring, seed: i64) -> Poly<Evaluation> {
    let coefficients: Vec<i64> = (0..ring.degree() as i64).map(|i| (i * i * 7 + seed * i) % 5 - 2).collect();
    ring.to_evaluation(ring.from_signed(&coefficients).unwrap()).unwrap()
}

/// Returns the linear map φ_7(Σ m_i·φ_i(x)) + Σ m_(i+1)·φ_i(x) of a plain polynomial x.
fn in_the_clear(ring: &Ring, x: &Poly<Evaluation>) -> Poly<Evaluation> {
    let mut sums = [ring.zero(), ring.zero()];
    for (i, exponent) in EXPONENTS.into_iter().enumerate() {
        let turned = ring.automorphism(x, exponent).unwrap();
        for (sum, shift) in sums.iter_mut().zip(0..) {
            ring.mul_add_assign(sum, &turned, &small(ring, i as i64 + shift)).unwrap();
        }
    }
    let mut sum = ring.automorphism(&sums[0], 7).unwrap();
    ring.add_assign(&mut sum, &sums[1]).unwrap();
    sum
}

/// Returns log2 of the largest error of the phase after double hoisting at a level and a switch to a lower level.
fn error(ring: Ring, options: &GadgetOptions, level: usize, lower: usize) -> f64 {
    let context = context(ring, options);
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let secret = SecretKey::generate(&context, &mut rng).unwrap();
    let keys = GaloisKeys::generate(&context, &secret, [5, 255, 7], &mut rng).unwrap();
    let own = context.ring_at(level).unwrap();
    let parts = vec![own.uniform(&mut rng), own.uniform(&mut rng)];
    let ciphertext = Ciphertext::<Bare>::from_parts(parts, (), NoiseBound::none(), secret.id()).unwrap();

    // The multipliers have the highest level, whatever that of the ciphertext.
    let (gadget, wide) = (context.gadget(), context.key_ring());
    let kept: Vec<_> = (0..4).map(|seed| gadget.multiplier(small(wide, seed)).unwrap()).collect();
    let terms = |shift| (0..3).map(|i| (i, &kept[i + shift])).collect::<Vec<_>>();
    let steps = vec![(7, terms(0)), (1, terms(1))];
    let sum = extended::linear_map(&context, &ciphertext, &EXPONENTS, steps, &keys).unwrap().unwrap();
    let got: Ciphertext<Bare> = sum.mod_down(&context, lower, (), NoiseBound::none()).unwrap();

    let phase_of = |parts: &[Poly<Evaluation>], ring: &Ring| {
        ring.to_evaluation((*phase(&context, parts, &secret).unwrap()).clone()).unwrap()
    };
    let expected = in_the_clear(&own, &phase_of(ciphertext.parts(), &own));
    let target = context.ring_at(lower).unwrap();
    let mut difference = own.mod_switch(&expected, lower).unwrap();
    target.sub_assign(&mut difference, &phase_of(got.parts(), &target)).unwrap();
    let difference = target.to_integers(&target.to_coefficient(difference).unwrap()).unwrap();
    let largest = difference.iter().map(BigInt::abs).max().unwrap();
    largest.to_f64().unwrap().max(1.0).log2()
}

#[test]
fn double_hoisting_keeps_the_phase_within_the_noise() {
    let moduli = moduli();
    let chain: Vec<BigUint> = moduli[..4].iter().map(|&q| q.into()).collect();
    let radix = GadgetOptions { radix_bits: Some(16), ..GadgetOptions::default() };
    let rns = || Ring::new(INDEX, &moduli[..4]).unwrap();
    for (level, lower) in [(4, 4), (4, 3), (3, 1), (1, 1)] {
        let errors = [
            error(rns(), &hybrid(), level, lower),
            error(
                stored(MultiPrecision::ring(INDEX, &moduli[..4]).unwrap(), Storage::MultiPrecision),
                &radix,
                level,
                lower,
            ),
            error(stored(BigRing::with_chain(INDEX, &chain).unwrap(), Storage::Big), &radix, level, lower),
        ];
        // The bounds are for six products by polynomials of 1-norm 150, of errors below 2^9, or 2^24 where nothing is
        // divided by P.
        for (error, bits) in errors.into_iter().zip([14.0, 34.0, 34.0]) {
            let bits = if level == lower { bits } else { 8.0 };
            assert!(error < bits, "{error} bits, {level} to {lower}");
        }
    }
}

/// Each giant step of a linear map equals an automorphism, to the last bit.
#[test]
fn steps_are_those_of_an_automorphism() {
    for options in [hybrid(), GadgetOptions { digits: Some(4), ..hybrid() }, GadgetOptions::default()] {
        let context = context(Ring::new(INDEX, &moduli()[..4]).unwrap(), &options);
        let mut rng = ChaCha20Rng::seed_from_u64(5);
        let secret = SecretKey::generate(&context, &mut rng).unwrap();
        let keys = GaloisKeys::generate(&context, &secret, [3, 255], &mut rng).unwrap();
        for level in 1..=4 {
            let ring = context.ring_at(level).unwrap();
            let parts = vec![ring.uniform(&mut rng), ring.uniform(&mut rng)];
            let c = Ciphertext::<Bare>::from_parts(parts, (), NoiseBound::none(), secret.id()).unwrap();
            let hoisted = galois::hoist(&context, &c).unwrap();
            let once = hoisted.extended(1, &keys).unwrap();
            for exponent in [1, 3, 255] {
                let plain = galois::automorphism(&context, &c, exponent, &keys).unwrap();
                let direct = once.automorphism(&context, exponent, &keys).unwrap();
                for found in [hoisted.extended(exponent, &keys).unwrap(), direct] {
                    let down: Ciphertext<Bare> =
                        found.mod_down(&context, level, (), NoiseBound::none()).unwrap();
                    for (a, b) in plain.parts().iter().zip(down.parts()) {
                        assert!(a.words() == b.words(), "{options}, level {level}, exponent {exponent}");
                    }
                }
            }
        }
    }
}

#[test]
fn missing_keys_and_strangers_are_refused() {
    let context = context(Ring::new(INDEX, &moduli()[..4]).unwrap(), &hybrid());
    let mut rng = ChaCha20Rng::seed_from_u64(4);
    let [secret, other] = [0, 1].map(|_| SecretKey::generate(&context, &mut rng).unwrap());
    let keys = GaloisKeys::generate(&context, &secret, [5], &mut rng).unwrap();
    let strange = GaloisKeys::generate(&context, &other, [5], &mut rng).unwrap();
    let parts = vec![context.ring().zero(), context.ring().zero()];
    let ciphertext =
        |key| Ciphertext::<Bare>::from_parts(parts.clone(), (), NoiseBound::none(), key).unwrap();
    let own = ciphertext(secret.id());
    let hoisted = galois::hoist(&context, &own).unwrap();
    assert!(matches!(hoisted.extended(9, &keys), Err(RlweError::MissingGaloisKey { exponent: 9, .. })));
    assert!(matches!(hoisted.extended(5, &strange), Err(RlweError::KeyMismatch { .. })));
    let turned = hoisted.extended(5, &keys).unwrap();
    assert!(matches!(turned.automorphism(&context, 5, &strange), Err(RlweError::KeyMismatch { .. })));
    assert!(turned.automorphism(&context, 9, &keys).is_err());
    let foreign = ciphertext(other.id());
    let foreign = galois::hoist(&context, &foreign).unwrap().extended(5, &strange).unwrap();
    let mixed = ExtendedCiphertext::sum(&context, &[turned.clone(), foreign]);
    assert!(matches!(mixed, Err(RlweError::KeyMismatch { .. })));
    let sums = |exponents: &[u64], keys, lists: &[Vec<_>]| {
        extended::sums_of_products(&context, &own, exponents, keys, lists).map(|sums| sums.len())
    };
    assert!(matches!(sums(&[1], &strange, &[]), Err(RlweError::KeyMismatch { .. })));
    assert!(matches!(sums(&[1, 9], &keys, &[]), Err(RlweError::MissingGaloisKey { .. })));
    assert_eq!(sums(&[1, 5], &keys, &[]).unwrap(), 0);
    let one = context.gadget().multiplier(small(context.key_ring(), 1)).unwrap();
    assert!(sums(&[1, 5], &keys, &[vec![(2, &one)]]).is_err());
    assert_eq!(sums(&[1, 5], &keys, &[vec![(1, &one)], vec![]]).unwrap(), 2);
    // A ciphertext that is not rotated needs no key.
    let none = GaloisKeys::none(&context, secret.id());
    assert_eq!(sums(&[1], &none, &[vec![(0, &one)]]).unwrap(), 1);
    let map = |steps, keys| extended::linear_map(&context, &own, &[1], steps, keys).map(|sum| sum.is_some());
    assert!(!map(vec![], &none).unwrap() && map(vec![(1, vec![(0, &one)])], &none).unwrap());
    assert!(matches!(map(vec![(9, vec![])], &keys), Err(RlweError::MissingGaloisKey { exponent: 9, .. })));
    assert!(turned.mod_down::<Bare>(&context, 5, (), NoiseBound::none()).is_err());
}
#[test]
fn keys_have_their_own_levels_and_do_not_depend_on_threads() {
    let context = context(Ring::new(INDEX, &moduli()[..4]).unwrap(), &hybrid());
    let secret = SecretKey::generate(&context, &mut ChaCha20Rng::seed_from_u64(5)).unwrap();
    let wanted = [(5, 2), (7, 4), (5, 3), (1, 4), (255, 1)];
    let generate = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(6);
        let mut reports = Vec::new();
        let report = |done, all| reports.push((done, all));
        let keys = pool.install(|| GaloisKeys::generate_levels(&context, &secret, wanted, &mut rng, report));
        assert_eq!(reports, [(1, 3), (2, 3), (3, 3)]);
        keys.unwrap()
    };
    let (one, many) = (generate(1), generate(3));
    for (exponent, level) in [(5, 3), (7, 4), (255, 1)] {
        let [a, b] = [&one, &many].map(|keys| keys.get(exponent).unwrap());
        assert_eq!((a.level(), a.seed()), (level, b.seed()));
    }
    assert!(one.get(1).is_err());
    assert!(
        GaloisKeys::generate_levels(
            &context,
            &secret,
            [(5, 5)],
            &mut ChaCha20Rng::seed_from_u64(6),
            |_, _| {}
        )
        .is_err()
    );
}
