//! Tests that key switching preserves the phase within its stated noise, and that mix-ups of keys are typed errors.

#[cfg(test)]
use crate::storage::stored;
use chacha20::ChaCha20Rng;
use num_bigint::{BigInt, BigUint};
use rand_core::SeedableRng;
use sunzi_big::BigRing;
use sunzi_ring::{Evaluation, Poly, Storage};
use sunzi_rlwe::encryption::{Encryption, phase, zero_public, zero_secret};
use sunzi_rlwe::{
    Ciphertext, GaloisKeys, NoiseBound, NoiseTerm, PublicKey, RelinearizationKey, RlweContext, RlweError,
    SecretKey, Security, galois, relinearization,
};

use crate::common::{Bare, distance};

struct Fixture {
    context: RlweContext,
    secret: SecretKey,
    rng: ChaCha20Rng,
}

impl Fixture {
    fn new(seed: u64) -> Self {
        let ring =
            stored(BigRing::new(128, &((BigUint::from(1_u8) << 150_u32) - 3_u8)).unwrap(), Storage::Big);
        let context = RlweContext::new(ring, Security::InsecureForResearchOnly).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let secret = SecretKey::generate(&context, &mut rng).unwrap();
        Self { context, secret, rng }
    }

    fn random(&mut self, parts: usize) -> Ciphertext<Bare> {
        let parts = (0..parts).map(|_| self.context.ring().uniform(&mut self.rng)).collect();
        Ciphertext::from_parts(parts, (), NoiseBound::none(), self.secret.id()).unwrap()
    }

    fn phase(&self, parts: &[Poly<Evaluation>]) -> Vec<BigInt> {
        self.context.ring().to_integers(&phase(&self.context, parts, &self.secret).unwrap()).unwrap()
    }
}

#[test]
fn relinearization_keeps_the_phase_within_its_noise() {
    let mut f = Fixture::new(1);
    let key = RelinearizationKey::generate(&f.context, &f.secret, &mut f.rng).unwrap();
    let NoiseTerm { worst, deviation, .. } = relinearization::added_noise(&f.context);
    for _ in 0..20 {
        let before = f.random(3);
        let after = relinearization::relinearize(&f.context, &before, &key).unwrap();
        assert_eq!(after.parts().len(), 2);
        let error = distance(&f.phase(before.parts()), &f.phase(after.parts()), f.context.ring().modulus());
        assert!(error <= worst.bits() && error <= deviation.bits() + 4.0, "{error} bits");
        assert!(error > deviation.bits() - 2.0, "the deviation is far too pessimistic: {error} bits");
    }
}

#[test]
fn an_automorphism_of_the_ciphertext_is_one_of_the_phase() {
    let mut f = Fixture::new(2);
    let keys = GaloisKeys::generate(&f.context, &f.secret, [3, 127, 5, 3, 1], &mut f.rng).unwrap();
    assert_eq!(keys.exponents().collect::<Vec<_>>(), [3, 5, 127]);
    let worst = galois::added_noise(&f.context).worst;
    for exponent in [1, 3, 5, 127] {
        let before = f.random(2);
        let after = galois::automorphism(&f.context, &before, exponent, &keys).unwrap();
        let ring = f.context.ring();
        let clear = phase(&f.context, before.parts(), &f.secret).unwrap();
        let clear = ring.to_integers(&ring.automorphism(&clear, exponent).unwrap()).unwrap();
        let error = distance(&clear, &f.phase(after.parts()), ring.modulus());
        assert!(error <= worst.bits(), "{error} bits at exponent {exponent}");
    }
}

#[test]
fn fresh_zeros_stay_within_both_bounds() {
    let mut f = Fixture::new(3);
    let public = PublicKey::generate(&f.context, &f.secret, &mut f.rng).unwrap();
    let zeros = vec![BigInt::from(0); 64];
    for _ in 0..50 {
        for Encryption { parts, noise, .. } in [
            zero_public(&f.context, &public, &mut f.rng).unwrap(),
            zero_secret(&f.context, &f.secret, f.context.level(), &mut f.rng).unwrap(),
        ] {
            let error = distance(&f.phase(&parts), &zeros, f.context.ring().modulus());
            assert!(error <= noise.worst.bits() && error <= noise.bound(64).bits());
            assert!(error > noise.deviation.bits() - 1.0);
        }
    }
}

#[test]
fn keys_for_rotations_are_named_by_steps_and_counted() {
    let mut f = Fixture::new(4);
    let keys = GaloisKeys::for_rotations(&f.context, &f.secret, [1, -1, 0, 1], &mut f.rng).unwrap();
    assert_eq!(keys.exponents().count(), 2);
    let Err(error) = keys.get(9) else { panic!("there is no key for two steps") };
    let message = error.to_string();
    assert!(message.contains("a rotation by 2 slots"), "{message}");
    assert!(
        message.contains("rotations by 1, −1 slots") && message.contains("with 2 among the steps"),
        "{message}"
    );
    let mut heard = Vec::new();
    GaloisKeys::generate_with(&f.context, &f.secret, [3, 9, 1, 3], &mut f.rng, |done, all| {
        heard.push((done, all));
    })
    .unwrap();
    assert_eq!(heard, [(1, 2), (2, 2)]);
}

#[test]
fn mix_ups_are_typed_errors() {
    let (mut f, mut other) = (Fixture::new(4), Fixture::new(5));
    let key = RelinearizationKey::generate(&other.context, &other.secret, &mut other.rng).unwrap();
    let galois_keys = GaloisKeys::generate(&f.context, &f.secret, [3], &mut f.rng).unwrap();
    let (two, three, four) = (f.random(2), f.random(3), f.random(4));
    assert!(matches!(
        relinearization::relinearize(&f.context, &three, &key),
        Err(RlweError::KeyMismatch { .. })
    ));
    assert!(matches!(
        galois::automorphism(&f.context, &two, 5, &galois_keys),
        Err(RlweError::MissingGaloisKey { exponent: 5, .. })
    ));
    assert!(matches!(
        galois::automorphism(&f.context, &three, 3, &galois_keys),
        Err(RlweError::WrongPartCount { got: 3, .. })
    ));
    let own = RelinearizationKey::generate(&f.context, &f.secret, &mut f.rng).unwrap();
    assert!(matches!(
        relinearization::relinearize(&f.context, &four, &own),
        Err(RlweError::WrongPartCount { got: 4, .. })
    ));
    assert!(GaloisKeys::generate(&f.context, &f.secret, [2], &mut f.rng).is_err());
    let insecure = stored(BigRing::new(2048, &(BigUint::from(1_u8) << 27_u32)).unwrap(), Storage::Big);
    assert!(matches!(RlweContext::new(insecure, Security::Bits128), Err(RlweError::Insecure { .. })));
}
