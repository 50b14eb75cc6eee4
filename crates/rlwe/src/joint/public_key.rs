//! Public key of a joint secret.

use rand_core::CryptoRng;
use sunzi_ring::{Evaluation, Poly};

use super::{Reference, check_count, check_reference};
use crate::keys::zero_sample;
use crate::uniform_half::UniformHalf;
use crate::{KeyId, PublicKey, RlweContext, RlweError, SecretKey, randomness};

const KIND: &str = "sunzi joint public key";

/// A party's share −(a·s_i + e_i) of the public key of a joint secret.
///
/// ```
/// use sunzi_rlwe::joint::{PublicKeyShare, Reference};
/// use sunzi_rlwe::{RlweContext, SecretDistribution, SecretKey, Security, randomness};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let index = 128;
/// # let ring = sunzi_ring::Ring::new(index, &sunzi_math::primes_below(1 << 47, index, 2)?)?;
/// # let context = RlweContext::new(ring, Security::InsecureForResearchOnly)?;
/// let context = context.with_secrets(SecretDistribution::Joint(2))?;
/// let (reference, mut rng) = (Reference::new([7; 32]), randomness::from_os()?);
/// let mut shares = Vec::new();
/// for _party in 0..2 {
///     let secret = SecretKey::generate_share(&context, &mut rng)?;
///     shares.push(PublicKeyShare::new(&context, &secret, &reference, &mut rng)?);
/// }
/// let public = PublicKeyShare::combine(&context, &reference, &shares)?;
/// assert_eq!(public.id(), reference.key_id());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct PublicKeyShare {
    pub(crate) key: KeyId,
    pub(crate) body: Poly<Evaluation>,
}

impl PublicKeyShare {
    /// Makes the share of the party that holds `secret`.
    ///
    /// # Errors
    /// [`RlweError::Ring`] if the secret belongs to another ring.
    pub fn new(
        context: &RlweContext,
        secret: &SecretKey,
        reference: &Reference,
        rng: &mut dyn CryptoRng,
    ) -> Result<Self, RlweError> {
        context.check_security()?;
        let ring = context.encryption_ring()?;
        let s = secret.at_level(context, ring.level())?;
        let a = ring.uniform(&mut randomness::public_stream(&reference.seed(KIND, 0), 0));
        let [body, _] = zero_sample(&ring, &s, a, rng)?;
        Ok(Self { key: reference.key_id(), body })
    }

    /// The name of the joint secret.
    #[must_use]
    pub fn key(&self) -> KeyId {
        self.key
    }

    /// Returns the public key of the joint secret from the shares of all parties, in any order.
    ///
    /// # Errors
    /// [`RlweError::Shares`] unless there are as many shares as the context has parties, for this reference; [`RlweError::Ring`] for shares of another
    /// ring.
    pub fn combine<'a>(
        context: &RlweContext,
        reference: &Reference,
        shares: impl IntoIterator<Item = &'a Self, IntoIter: ExactSizeIterator>,
    ) -> Result<PublicKey, RlweError> {
        let shares: Vec<&Self> = shares.into_iter().collect();
        check_count(context, shares.len())?;
        check_reference(reference, shares.iter().map(|share| share.key))?;
        let ring = context.encryption_ring()?;
        let body = ring.sum(shares.into_iter().map(|share| &share.body))?;
        let (id, seed) = (reference.key_id(), reference.seed(KIND, 0));
        Ok(PublicKey { id, seed, body, uniform: UniformHalf::new() })
    }
}
