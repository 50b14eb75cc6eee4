//! Automorphisms of ciphertexts: X → X^k, which rotate slots.

use std::collections::{BTreeMap, BTreeSet};

use rand_core::CryptoRng;
use sunzi_ring::{Evaluation, PolyRing, RingError};

use crate::key_switch;
use crate::{Ciphertext, KeyId, KeySwitchKey, NoiseTerm, RlweContext, RlweError, Scheme, SecretKey};

/// Key-switching keys from s(X^k) to s, by exponent k.
#[derive(Clone)]
pub struct GaloisKeys<R: PolyRing> {
    id: KeyId,
    index: u64,
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
        Self::generate_with(context, secret, exponents, rng, |_, _| {})
    }

    /// Makes the keys that rotate both rows of slots by these numbers of steps (left; right if negative).
    ///
    /// # Errors
    /// [`RlweError::Ring`] for a ring whose index is no power of two.
    pub fn for_rotations<G: CryptoRng + ?Sized>(
        context: &RlweContext<R>,
        secret: &SecretKey<R>,
        steps: impl IntoIterator<Item = i64>,
        rng: &mut G,
    ) -> Result<Self, RlweError> {
        let index = context.ring().index();
        let exponents: Result<Vec<u64>, _> =
            steps.into_iter().map(|steps| sunzi_math::rotation_exponent(steps, index)).collect();
        Self::generate(context, secret, exponents.map_err(RingError::from)?, rng)
    }

    /// [`generate`](Self::generate) that says how many keys are made and how many there will be, after each: many
    /// keys in a large ring take a while.
    ///
    /// # Errors
    /// As [`generate`](Self::generate).
    pub fn generate_with<G: CryptoRng + ?Sized>(
        context: &RlweContext<R>,
        secret: &SecretKey<R>,
        exponents: impl IntoIterator<Item = u64>,
        rng: &mut G,
        mut progress: impl FnMut(usize, usize),
    ) -> Result<Self, RlweError> {
        let exponents: BTreeSet<u64> = exponents.into_iter().filter(|&exponent| exponent != 1).collect();
        let mut keys = BTreeMap::new();
        for &exponent in &exponents {
            let source = zeroize::Zeroizing::new(context.ring().automorphism(secret.evaluation(), exponent)?);
            keys.insert(exponent, KeySwitchKey::generate(context, secret, &source, rng)?);
            progress(keys.len(), exponents.len());
        }
        Ok(Self { id: secret.id(), index: context.ring().index(), keys })
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
        self.keys.get(&exponent).ok_or_else(|| RlweError::MissingGaloisKey {
            exponent,
            index: self.index,
            present: self.exponents().collect(),
        })
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
