//! Tests that the noise of encryption lies within both noise bounds, modulo Q and modulo Qp, under public and secret
//! keys.

use crate::storage::stored;
use chacha20::ChaCha20Rng;
use num_bigint::{BigInt, BigUint};
use num_traits::{Signed, ToPrimitive};
use rand_core::SeedableRng;
use sunzi_big::{BigRing, MultiPrecision};
use sunzi_ring::{GadgetOptions, Ring, Storage};
use sunzi_rlwe::encryption::{Encryption, encrypt_public, encrypt_secret, phase};
use sunzi_rlwe::{NoiseModel, PublicKey, RlweContext, RlweError, SecretDistribution, SecretKey, Security};

const DEGREE: usize = 64;
const INDEX: u64 = 2 * DEGREE as u64;

/// Primes for three ciphertext moduli and two special moduli.
fn moduli() -> Vec<u64> {
    sunzi_math::primes_below(1 << 36, INDEX, 5).unwrap()
}

fn options(special: usize) -> GadgetOptions {
    let special_moduli = moduli()[3..3 + special].to_vec();
    GadgetOptions { special_moduli, ..GadgetOptions::default() }
}

struct Party {
    context: RlweContext,
    secret: SecretKey,
    public: PublicKey,
    rng: ChaCha20Rng,
}

impl Party {
    fn new(ring: &Ring, special: usize) -> Self {
        let security = Security::InsecureForResearchOnly;
        let context = RlweContext::with_gadget(ring.clone(), security, &options(special)).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(special as u64);
        let secret = SecretKey::generate(&context, &mut rng).unwrap();
        let public = PublicKey::generate(&context, &secret, &mut rng).unwrap();
        Self { context, secret, public, rng }
    }

    fn encrypt(&mut self, message: &[u64], t: u64) -> Result<Encryption, RlweError> {
        encrypt_public(&self.context, &self.public, message, t, &mut self.rng)
    }

    /// Returns log2 of the noise of a ciphertext, the largest |c(s) − (Q/t)·m|.
    fn noise(&self, encryption: &Encryption, message: &[u64], t: u64) -> f64 {
        let ring = self.context.ring();
        let phase =
            ring.to_integers(&phase(&self.context, &encryption.parts, &self.secret).unwrap()).unwrap();
        let q = BigInt::from(ring.modulus().clone());
        let period = &q * t;
        let distance = |(c, &m): (&BigInt, &u64)| {
            let d: BigInt = (((c * t - &q * m) % &period) + &period) % &period;
            if &d * 2 > period { &period - d } else { d }.abs()
        };
        let largest = phase.iter().zip(message).map(distance).max().unwrap();
        largest.to_f64().unwrap().log2() - (t as f64).log2()
    }
}

/// Returns the largest noise of many encryptions under the public key, all within the bounds.
fn law(ring: &Ring, special: usize, rounds: usize) -> f64 {
    let mut party = Party::new(ring, special);
    assert_eq!(party.context.encryption_ring().unwrap().level(), 3 + special.min(1));
    let mut largest = f64::NEG_INFINITY;
    for t in [2, 65_537, 1 << 16, (1 << 59) + 1] {
        for round in 0..rounds as u64 {
            let message: Vec<u64> = match round {
                0 => vec![0; DEGREE],
                1 => vec![t - 1; DEGREE],
                _ => (1..=DEGREE as u64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15 ^ round) % t).collect(),
            };
            let encryption = party.encrypt(&message, t).unwrap();
            let measured = party.noise(&encryption, &message, t);
            let (bound, worst) = (encryption.noise.bound(DEGREE).bits(), encryption.noise.worst.bits());
            assert!(measured <= bound && measured <= worst, "{measured} of {bound}, {worst}");
            largest = largest.max(measured);
            let own = encrypt_secret(&party.context, &party.secret, &message, t, &mut party.rng).unwrap();
            let measured = party.noise(&own, &message, t);
            assert!(measured <= own.noise.worst.bits() && measured <= own.noise.bound(DEGREE).bits());
        }
    }
    let model = NoiseModel::new(DEGREE, SecretDistribution::Ternary);
    let deviation = model.public_encryption(if special > 0 { 36.0 } else { 0.0 }).deviation;
    assert!(largest > deviation.bits() + 1.0, "the deviation is far too pessimistic");
    largest
}

#[test]
fn a_special_modulus_leaves_little_more_than_a_rounding() {
    let ring = Ring::new(INDEX, &moduli()[..3]).unwrap();
    let plain = law(&ring, 0, 40);
    for special in [1, 2] {
        let switched = law(&ring, special, 40);
        // The deviations are √(10.5·(1 + 4n/3)) = 30 and √((1 + 2n/3)/12) = 1.9.
        assert!(switched < plain - 3.0, "{switched} bits with {special}, {plain} without");
    }
}

#[test]
fn every_ring_encrypts_alike() {
    let chain: Vec<BigUint> = moduli()[..3].iter().map(|&q| BigUint::from(q)).collect();
    law(&stored(BigRing::with_chain(INDEX, &chain).unwrap(), Storage::Big), 1, 3);
    law(&stored(BigRing::with_chain(INDEX, &chain).unwrap(), Storage::Big), 0, 3);
    law(&stored(MultiPrecision::ring(INDEX, &moduli()[..3]).unwrap(), Storage::MultiPrecision), 0, 3);
}

#[test]
fn what_does_not_fit_is_refused() {
    let ring = Ring::new(INDEX, &moduli()[..3]).unwrap();
    let (mut with, without) = (Party::new(&ring, 1), Party::new(&ring, 0));
    for (message, t) in [(vec![0; DEGREE - 1], 17), (vec![17; DEGREE], 17), (vec![0; DEGREE], 1)] {
        assert!(matches!(with.encrypt(&message, t), Err(RlweError::Ring(_))));
    }
    with.public = without.public;
    assert!(matches!(with.encrypt(&[0; DEGREE], 17), Err(RlweError::Ring(_))));
}
