//! Tests of sparse secrets: their weight, their noise, keys between two secrets, and ModRaise under a sparse secret.

#[cfg(test)]
use crate::storage::stored;
use chacha20::ChaCha20Rng;
use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive};
use rand_core::SeedableRng;
use sunzi_big::BigRing;
use sunzi_math::primes_with_bits;
use sunzi_ring::{GadgetOptions, Ring, Storage};
use sunzi_rlwe::encryption::{Encryption, phase, zero_public};
use sunzi_rlwe::{
    Ciphertext, EncapsulationKeys, NoiseBound, NoiseModel, PublicKey, RaisingKeys, RaisingMap, RaisingTables,
    RaisingTerm, RelinearizationKey, RlweContext, RlweError, SecretDistribution, SecretKey, Security,
    SparseSecret, encapsulation, relinearization,
};

use crate::common::Bare;

const INDEX: u64 = 512;
const DEGREE: usize = 256;
const RESEARCH: Security = Security::InsecureForResearchOnly;

fn options(special: usize) -> GadgetOptions {
    let special_moduli = primes_with_bits(47, INDEX, special).unwrap();
    GadgetOptions { special_moduli, ..GadgetOptions::default() }
}

fn context(ring: &Ring, secret: SecretDistribution) -> RlweContext {
    let context = RlweContext::with_gadget(ring.clone(), RESEARCH, &options(2)).unwrap();
    context.with_secrets(secret).unwrap()
}

fn ring() -> Ring {
    Ring::new(INDEX, &primes_with_bits(40, INDEX, 5).unwrap()).unwrap()
}

fn big() -> Ring {
    let moduli: Vec<_> = ring().words().unwrap().basis().values().iter().map(|&q| q.into()).collect();
    stored(BigRing::with_chain(INDEX, &moduli).unwrap(), Storage::Big)
}

/// Returns the coefficients of a secret, as the phase c(s) of the ciphertext (0, 1).
fn coefficients(context: &RlweContext, secret: &SecretKey) -> Vec<BigInt> {
    let ring = context.ring();
    let mut one = vec![0; DEGREE];
    one[0] = 1;
    let one = ring.to_evaluation(ring.from_signed(&one).unwrap()).unwrap();
    ring.to_integers(&phase(context, &[ring.zero(), one], secret).unwrap()).unwrap()
}

#[test]
fn secrets_have_the_weight_asked_for() {
    fn law(ring: &Ring) {
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        for weight in [1, 7, 32, DEGREE] {
            let context = context(ring, SecretDistribution::FixedWeight(weight));
            let secret = SecretKey::generate(&context, &mut rng).unwrap();
            let s = coefficients(&context, &secret);
            assert_eq!(s.iter().filter(|c| c.abs() == 1.into()).count(), weight);
            assert_eq!(s.iter().filter(|c| **c == 0.into()).count(), DEGREE - weight);
            // The secret is unchanged in another ring, under its name.
            let low = RlweContext::with_gadget(ring.at_level(1).unwrap(), RESEARCH, &options(1)).unwrap();
            let moved = secret.in_context(&context, &low).unwrap();
            assert_eq!(coefficients(&low, &moved), s);
            assert_eq!(moved.id(), secret.id());
        }
        for weight in [0, DEGREE + 1, usize::MAX] {
            let context = RlweContext::new(ring.clone(), RESEARCH).unwrap();
            let refused = context.with_secrets(SecretDistribution::FixedWeight(weight));
            assert!(matches!(refused, Err(RlweError::Ring(_))));
        }
    }
    law(&ring());
    law(&big());
}

#[test]
fn security_is_that_of_the_distribution() {
    let ring = Ring::new(1 << 15, &primes_with_bits(35, 1 << 15, 10).unwrap()).unwrap();
    let context = RlweContext::new(ring, Security::Bits128).unwrap();
    assert_eq!(context.secrets(), SecretDistribution::Ternary);
    let sparse = |weight| context.clone().with_secrets(SecretDistribution::FixedWeight(weight));
    assert!(sparse(128).is_ok() && sparse(256).is_ok());
    let Err(RlweError::Insecure { secret, limit, .. }) = sparse(64) else { panic!("not in the table") };
    assert_eq!((secret, limit), (SecretDistribution::FixedWeight(64), None));
    let ring = Ring::new(1 << 15, &primes_with_bits(37, 1 << 15, 10).unwrap()).unwrap();
    let context = RlweContext::new(ring, Security::Bits128).unwrap();
    let refused = context.with_secrets(SecretDistribution::FixedWeight(128));
    assert!(matches!(refused, Err(RlweError::Insecure { limit: Some(359), .. })));
}

/// Returns log2 of the largest coefficient of a phase.
fn largest(a: &[BigInt]) -> f64 {
    a.iter().map(BigInt::abs).max().unwrap().to_f64().unwrap().log2()
}

#[test]
fn noise_follows_the_weight() {
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    for secrets in [SecretDistribution::Ternary, SecretDistribution::FixedWeight(4)] {
        let context = context(&ring(), secrets);
        let secret = SecretKey::generate(&context, &mut rng).unwrap();
        let public = PublicKey::generate(&context, &secret, &mut rng).unwrap();
        let key = RelinearizationKey::generate(&context, &secret, &mut rng).unwrap();
        let (mut fresh, mut switched) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
        for _ in 0..8 {
            let Encryption { parts, noise, .. } = zero_public(&context, &public, &mut rng).unwrap();
            let error =
                largest(&context.ring().to_integers(&phase(&context, &parts, &secret).unwrap()).unwrap());
            assert!(error <= noise.worst.bits() && error <= noise.bound(DEGREE).bits());
            fresh = fresh.max(error - noise.deviation.bits());
            let parts = (0..3).map(|_| context.ring().uniform(&mut rng)).collect();
            let before: Ciphertext<Bare> =
                Ciphertext::from_parts(parts, (), NoiseBound::none(), secret.id()).unwrap();
            let after = relinearization::relinearize(&context, &before, &key).unwrap();
            let [mut a, b] =
                [&before, &after].map(|c| (*phase(&context, c.parts(), &secret).unwrap()).clone());
            context.ring().sub_assign(&mut a, &b).unwrap();
            let error = largest(&context.ring().to_integers(&a).unwrap());
            assert!(error <= after.noise().worst.bits() && error <= after.noise().bound(DEGREE).bits());
            switched = switched.max(error - after.noise().deviation.bits());
        }
        // The largest of thousands of Gaussian samples lies between two and four and a half deviations: the deviation
        // is not far off.
        assert!((0.9..2.3).contains(&fresh) && (0.5..2.3).contains(&switched), "{fresh} {switched}");
    }
    let model = |secret| NoiseModel::new(1 << 16, secret).mod_switch(2);
    let (dense, sparse) = (model(SecretDistribution::Ternary), model(SecretDistribution::FixedWeight(32)));
    assert!(sparse.deviation.bits() < dense.deviation.bits() - 5.0);
    assert!(sparse.worst.bits() < dense.worst.bits() - 10.0 && sparse.peak.bits() < dense.peak.bits());
}

fn zeros(context: &RlweContext, secret: &SecretKey, level: usize, rng: &mut ChaCha20Rng) -> Ciphertext<Bare> {
    let public = PublicKey::generate(context, secret, rng).unwrap();
    let Encryption { parts, noise, .. } = zero_public(context, &public, rng).unwrap();
    let parts = parts.iter().map(|part| context.ring().restrict(part, level).unwrap()).collect();
    Ciphertext::from_parts(parts, (), noise, secret.id()).unwrap()
}

#[test]
fn mod_raise_adds_a_small_multiple_of_the_modulus() {
    fn law(ring: &Ring, low: usize, rank: usize) {
        let mut rng = ChaCha20Rng::seed_from_u64(3);
        let context = context(ring, SecretDistribution::Ternary);
        let secret = SecretKey::generate(&context, &mut rng).unwrap();
        let before = zeros(&context, &secret, low, &mut rng);
        let q = BigInt::from(context.ring_at(low).unwrap().modulus().clone());
        let weight = 16;
        let sparse = SparseSecret { weight, rank };
        let keys = EncapsulationKeys::generate(
            &context,
            &secret,
            sparse,
            [low, ring.level()],
            &primes_with_bits(46, INDEX, 1).unwrap(),
            &mut rng,
        )
        .unwrap();
        assert_eq!((keys.id(), keys.sparse()), (secret.id(), sparse));
        let plain = encapsulation::mod_raise(&context, &before, ring.level()).unwrap();
        let sparse = keys.mod_raise(&context, &before).unwrap();
        let norm = coefficients(&context, &secret).iter().filter(|c| **c != 0.into()).count();
        for (after, norm) in [(plain, norm), (sparse, weight)] {
            assert_eq!(ring.level_of(&after.parts()[0]).unwrap(), ring.level());
            assert_eq!(after.key(), secret.id());
            let value = ring.to_integers(&phase(&context, after.parts(), &secret).unwrap()).unwrap();
            let wraps: Vec<BigInt> = value
                .iter()
                .map(|x| {
                    let wrap = (x * 2_u32 + &q).div_euclid_by(&(&q * 2_u32));
                    let error = x - &wrap * &q;
                    assert!(largest(&[error]) <= after.noise().bound(DEGREE).bits());
                    wrap
                })
                .collect();
            assert!(wraps.iter().any(|wrap| *wrap != 0.into()), "nothing wrapped: the test shows nothing");
            assert!(wraps.iter().all(|wrap| wrap.abs() <= (norm / 2 + 1).into()));
        }
        let other = zeros(&context, &secret, ring.level(), &mut rng);
        assert!(keys.mod_raise(&context, &other).is_err());
        assert!(encapsulation::mod_raise(&context, &other, low).is_err());
        let stranger = SecretKey::generate(&context, &mut rng).unwrap();
        let stranger = zeros(&context, &stranger, low, &mut rng);
        assert!(matches!(keys.mod_raise(&context, &stranger), Err(RlweError::KeyMismatch { .. })));
    }
    for (low, rank) in [(1, 1), (2, 1), (1, 2), (2, 3)] {
        law(&ring(), low, rank);
    }
    law(&big(), 2, 1);
    law(&big(), 2, 2);
}

/// Returns a map with small integer factors, times the product of its special moduli.
fn map(level: usize, exponents: &[u64]) -> RaisingMap {
    let special_moduli = primes_with_bits(44, INDEX, 2).unwrap();
    let special: i128 = special_moduli.iter().map(|&p| i128::from(p)).product();
    let term = |(i, &exponent): (usize, &u64)| RaisingTerm {
        exponent,
        factor: (0..DEGREE)
            .map(|j| special * ((i + 3 * j) % 7 == 0) as i128 * if j % 2 == 0 { 1 } else { -2 })
            .collect(),
    };
    RaisingMap { level, special_moduli, terms: exponents.iter().enumerate().map(term).collect() }
}

#[test]
fn a_map_is_applied_while_the_modulus_is_raised() {
    fn law(ring: &Ring, low: usize, level: usize, rank: usize) {
        let mut rng = ChaCha20Rng::seed_from_u64(8);
        let context = context(ring, SecretDistribution::Ternary);
        let secret = SecretKey::generate(&context, &mut rng).unwrap();
        let before = zeros(&context, &secret, low, &mut rng);
        let sparse = SparseSecret { weight: 16, rank };
        let special = primes_with_bits(46, INDEX, 1).unwrap();
        let map = map(level, &[1, 5, 25, 511]);
        let tables = RaisingTables::new(&context, [low, low + 1], &map).unwrap();
        let keys = RaisingKeys::generate(&context, &secret, sparse, (low, &special), &map, &mut rng).unwrap();
        let error = RaisingTables::new(&context, [low, low], &map).err().unwrap();
        assert!(error.to_string().contains("without a secret"), "{error}");
        assert_eq!((keys.id(), keys.sparse(), keys.high().level()), (secret.id(), sparse, level));
        let map_bytes = 4 * rank * RaisingMap::bytes_of_key(&context, level, &map.special_moduli).unwrap();
        assert!((map_bytes + 1..2 * map_bytes).contains(&keys.byte_len()));
        let after = keys.mod_raise(&tables, &before).unwrap();
        assert_eq!(ring.level_of(&after.parts()[0]).unwrap(), level);

        // Multiples of Q_l are zero modulo Q_l, so that the map of the phase is left.
        let lowest = context.ring_at(low).unwrap();
        let own = phase(&context, before.parts(), &secret).unwrap();
        let own = lowest.to_evaluation((*own).clone()).unwrap();
        let special: i128 = map.special_moduli.iter().map(|&p| i128::from(p)).product();
        let (mut expected, mut norm) = (lowest.zero(), 0);
        for RaisingTerm { exponent, factor } in &map.terms {
            let factor: Vec<i128> = factor.iter().map(|c| c / special).collect();
            norm += factor.iter().map(|c| c.abs()).sum::<i128>();
            let factor = lowest.to_evaluation(lowest.from_signed_wide(&factor).unwrap()).unwrap();
            let turned =
                if *exponent == 1 { own.clone() } else { lowest.automorphism(&own, *exponent).unwrap() };
            lowest.mul_add_assign(&mut expected, &turned, &factor).unwrap();
        }
        let got = context.ring_at(level).unwrap();
        let value = got.to_integers(&phase(&context, after.parts(), &secret).unwrap()).unwrap();
        let expected = lowest.to_integers(&lowest.to_coefficient(expected).unwrap()).unwrap();
        let q = BigInt::from(lowest.modulus().clone());
        let half = &q / 2_u32;
        let distances = value.iter().zip(&expected).map(|(a, b)| {
            let rest = (a - b + &half).div_euclid_by(&q);
            a - b - rest * &q
        });
        let distances: Vec<BigInt> = distances.collect();
        let bound = after.noise().times_norm(norm as f64).plus(tables.added_noise(rank)).bound(DEGREE).bits();
        // The difference is noise: far below the modulus, and not above its bound.
        assert!(largest(&distances) <= bound && bound < 38.0 * low as f64, "{} {bound}", largest(&distances));
        assert!(value.iter().any(|x| x.abs() > q), "nothing wrapped: the test shows nothing");

        let other = RaisingTables::new(&context, [low, low + 1], &self::map(level, &[1, 5, 25, 3])).unwrap();
        assert!(matches!(keys.mod_raise(&other, &before), Err(RlweError::MapMismatch)));
        let mut shorter = map.clone();
        shorter.terms[0].factor[0] += 1 << 80;
        let shorter = RaisingTables::new(&context, [low, low + 1], &shorter).unwrap();
        assert!(matches!(keys.mod_raise(&shorter, &before), Err(RlweError::MapMismatch)));
        let stranger = SecretKey::generate(&context, &mut rng).unwrap();
        let stranger = zeros(&context, &stranger, low, &mut rng);
        assert!(matches!(keys.mod_raise(&tables, &stranger), Err(RlweError::KeyMismatch { .. })));
    }
    for (low, level, rank) in [(1, 5, 1), (2, 5, 1), (1, 4, 2), (2, 3, 3)] {
        law(&ring(), low, level, rank);
    }
    law(&big(), 1, 5, 1);
    law(&big(), 2, 4, 2);
}

#[test]
fn keys_of_a_map_are_checked_against_both_limits() {
    let (index, one) = (1 << 17, |bits| primes_with_bits(bits, 1 << 17, 2).unwrap()[1]);
    let ring = Ring::new(index, &primes_with_bits(45, index, 3).unwrap()).unwrap();
    let options = GadgetOptions { special_moduli: vec![one(46)], ..GadgetOptions::default() };
    let context = RlweContext::with_gadget(ring, Security::Bits128, &options).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(4);
    let secret = SecretKey::generate(&context, &mut rng).unwrap();
    let sparse = SparseSecret { weight: 32, rank: 1 };
    let mut keys = |low, special_moduli: Vec<u64>| {
        let terms = vec![RaisingTerm { exponent: 5, factor: vec![1 << 47; 1 << 16] }];
        let map = RaisingMap { level: 3, special_moduli, terms };
        RaisingKeys::generate(&context, &secret, sparse, (low, &[one(48)]), &map, &mut rng)
    };
    // Only the switch to the sparse secret is under it, at the lowest level: 121 bits at most.
    let made = keys(1, vec![one(47)]).unwrap();
    assert!(
        made.low().log2_key_modulus() <= 121.0 && made.low().secrets() == SecretDistribution::FixedWeight(32)
    );
    assert_eq!(made.high().secrets(), SecretDistribution::Ternary);
    assert!(matches!(keys(2, vec![one(47)]), Err(RlweError::Insecure { limit: Some(121), .. })));
    // Keys of the map are modulo Q_j·P', under the main secret.
    let many = primes_with_bits(47, index, 36).unwrap();
    let error = keys(1, many).err().unwrap();
    assert!(matches!(error, RlweError::Insecure { limit: Some(1746), .. }), "{error}");
}

trait Floor {
    fn div_euclid_by(&self, d: &BigInt) -> BigInt;
}

impl Floor for BigInt {
    fn div_euclid_by(&self, d: &BigInt) -> BigInt {
        let (quotient, remainder) = (self / d, self % d);
        if remainder.is_negative() { quotient - 1_u32 } else { quotient }
    }
}

#[test]
fn encapsulation_is_checked_against_its_own_limit() {
    let moduli = primes_with_bits(45, 1 << 17, 3).unwrap();
    let ring = Ring::new(1 << 17, &moduli).unwrap();
    let options = GadgetOptions {
        special_moduli: primes_with_bits(46, 1 << 17, 1).unwrap(),
        ..GadgetOptions::default()
    };
    let context = RlweContext::with_gadget(ring, Security::Bits128, &options).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(4);
    let secret = SecretKey::generate(&context, &mut rng).unwrap();
    let mut keys = |low, bits: u32, weight| {
        let special = primes_with_bits(bits, 1 << 17, 2).unwrap()[1];
        let sparse = SparseSecret { weight, rank: 1 };
        EncapsulationKeys::generate(&context, &secret, sparse, [low, 3], &[special], &mut rng)
    };
    assert!(keys(1, 48, 32).is_ok());
    assert!(matches!(keys(2, 48, 32), Err(RlweError::Insecure { limit: Some(121), .. })));
    assert!(matches!(keys(1, 48, 31), Err(RlweError::Insecure { limit: None, .. })));
}

#[test]
fn a_vector_of_polynomials_is_judged_by_its_dimension() {
    let moduli = primes_with_bits(45, 1 << 16, 3).unwrap();
    let ring = Ring::new(1 << 16, &moduli).unwrap();
    let options = GadgetOptions {
        special_moduli: primes_with_bits(46, 1 << 16, 1).unwrap(),
        ..GadgetOptions::default()
    };
    let context = RlweContext::with_gadget(ring, Security::Bits128, &options).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(4);
    let secret = SecretKey::generate(&context, &mut rng).unwrap();
    let special = primes_with_bits(48, 1 << 16, 2).unwrap();
    let mut keys = |low, special: &[u64], weight, rank| {
        let sparse = SparseSecret { weight, rank };
        EncapsulationKeys::generate(&context, &secret, sparse, [low, 3], special, &mut rng)
    };
    // The table has no weight 32 at 2^15, and 121 bits for it at 2^16.
    assert!(matches!(keys(1, &special[..1], 32, 1), Err(RlweError::Insecure { limit: None, .. })));
    assert!(keys(1, &special[..1], 32, 2).is_ok());
    assert!(matches!(keys(2, &special[..1], 32, 2), Err(RlweError::Insecure { limit: Some(121), .. })));
    assert!(matches!(keys(1, &special[..1], 31, 2), Err(RlweError::Insecure { limit: None, .. })));
    assert!(matches!(keys(1, &special[..1], 32, 0), Err(RlweError::Ring(_))));
}
