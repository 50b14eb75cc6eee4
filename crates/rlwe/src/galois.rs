//! Automorphisms of ciphertexts: X → X^k, which rotate slots.

use std::collections::BTreeMap;

use rand_core::CryptoRng;
use sunzi_ring::{Evaluation, PolyRing};

use crate::key_switch;
use crate::{Ciphertext, KeyId, KeySwitchKey, NoiseTerm, RlweContext, RlweError, Scheme, SecretKey};

/// Key-switching keys from s(X^k) to s, by exponent k.
#[derive(Clone)]
pub struct GaloisKeys<R: PolyRing> {
    id: KeyId,
    keys: BTreeMap<u64, KeySwitchKey<R>>,
}

impl<R: PolyRing> GaloisKeys<R> {
    /// Makes one key for each exponent; repetitions and the identity cost nothing.
    ///
    /// # Errors
    /// [`RlweError::Ring`] for an exponent that is no automorphism of the ring.
    pub fn generate<G: CryptoRng + ?Sized>(
        context: &RlweContext<R>,
        secret: &SecretKey<R>,
        exponents: impl IntoIterator<Item = u64>,
        rng: &mut G,
    ) -> Result<Self, RlweError> {
        let mut keys = BTreeMap::new();
        for exponent in exponents {
            if exponent != 1 && !keys.contains_key(&exponent) {
                let source =
                    zeroize::Zeroizing::new(context.ring().automorphism(secret.evaluation(), exponent)?);
                keys.insert(exponent, KeySwitchKey::generate(context, secret, &source, rng)?);
            }
        }
        Ok(Self { id: secret.id(), keys })
    }

    /// The name of the secret key these belong to.
    #[must_use]
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// The exponents at hand, ascending.
    pub fn exponents(&self) -> impl Iterator<Item = u64> + '_ {
        self.keys.keys().copied()
    }

    /// Bytes in memory, all keys together.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.keys.values().map(KeySwitchKey::byte_len).sum()
    }

    /// The key of X → X^k.
    ///
    /// # Errors
    /// [`RlweError::MissingGaloisKey`].
    pub fn get(&self, exponent: u64) -> Result<&KeySwitchKey<R>, RlweError> {
        self.keys
            .get(&exponent)
            .ok_or_else(|| RlweError::MissingGaloisKey { exponent, present: self.exponents().collect() })
    }
}

/// What an automorphism adds to the noise.
#[must_use]
pub fn added_noise<R: PolyRing>(context: &RlweContext<R>) -> NoiseTerm {
    key_switch::added_noise(context, 1)
}

/// The ciphertext of m(X^k) for a ciphertext of m(X), of two parts.
///
/// # Errors
/// [`RlweError::KeyMismatch`], [`RlweError::MissingGaloisKey`], [`RlweError::WrongPartCount`].
pub fn automorphism<S: Scheme, R: PolyRing>(
    context: &RlweContext<R>,
    ciphertext: &Ciphertext<S, R>,
    exponent: u64,
    keys: &GaloisKeys<R>,
) -> Result<Ciphertext<S, R>, RlweError> {
    ciphertext.check_key(keys.id, "the Galois key set")?;
    let [c0, c1] = ciphertext.two_parts("an automorphism")?;
    if exponent == 1 {
        return Ok(ciphertext.clone());
    }
    let ring = context.ring();
    let key = keys.get(exponent)?;
    let rotated: R::Poly<Evaluation> = ring.automorphism(c1, exponent)?;
    let [mut d0, d1] = key.switch(context, &ring.to_coefficient(rotated)?)?;
    ring.add_assign(&mut d0, &ring.automorphism(c0, exponent)?)?;
    let noise = ciphertext.noise().plus(added_noise(context));
    Ciphertext::from_parts(vec![d0, d1], ciphertext.metadata().clone(), noise, ciphertext.key())
}
