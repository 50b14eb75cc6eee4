//! Evaluation keys in one value.

use rand_core::CryptoRng;

use crate::{GaloisKeys, RelinearizationKey, RlweContext, RlweError, Rotation, SecretKey};

/// Relinearisation and Galois keys, none of which decrypts; BFV and BGV use the same.
///
/// ```
/// use sunzi_rlwe::{EvaluationKeys, RlweContext, Rotation, SecretKey, Security, randomness};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let index = 128;
/// # let ring = sunzi_ring::Ring::new(index, &sunzi_math::primes_below(1 << 47, index, 2)?)?;
/// # let context = RlweContext::new(ring, Security::InsecureForResearchOnly)?;
/// let mut rng = randomness::from_os()?;
/// let secret = SecretKey::generate(&context, &mut rng)?;
/// let rotations = [Rotation::Rows(1), Rotation::Columns];
/// let keys = EvaluationKeys::generate(&context, &secret, rotations, &mut rng)?;
/// assert!(keys.relinearization.is_some());
/// assert!(keys.has_exponent(Rotation::Columns.exponent(128)?));
/// assert!(!keys.has_exponent(Rotation::Rows(2).exponent(128)?));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct EvaluationKeys {
    /// Relinearisation key, which brings products back to two parts.
    pub relinearization: Option<RelinearizationKey>,
    /// Galois keys, which rotate slots.
    pub galois: Option<GaloisKeys>,
}

impl EvaluationKeys {
    /// Makes a relinearisation key, and Galois keys for these rotations.
    ///
    /// # Errors
    /// [`RlweError::Ring`] if the secret belongs to another ring; [`RlweError::NoRows`] for rotations in a ring without rows.
    pub fn generate(
        context: &RlweContext,
        secret: &SecretKey,
        rotations: impl IntoIterator<Item = Rotation>,
        rng: &mut dyn CryptoRng,
    ) -> Result<Self, RlweError> {
        let index = context.ring().index();
        let exponents: Result<Vec<u64>, _> =
            rotations.into_iter().map(|rotation| rotation.exponent(index)).collect();
        Self::for_exponents(context, secret, exponents?, rng)
    }

    /// Makes a relinearisation key, and Galois keys for X → X^k with these k.
    ///
    /// # Errors
    /// [`RlweError::Ring`] if the secret belongs to another ring, or for an exponent that is no automorphism of it.
    pub fn for_exponents(
        context: &RlweContext,
        secret: &SecretKey,
        exponents: impl IntoIterator<Item = u64>,
        rng: &mut dyn CryptoRng,
    ) -> Result<Self, RlweError> {
        Ok(Self {
            relinearization: Some(RelinearizationKey::generate(context, secret, rng)?),
            galois: Some(GaloisKeys::generate(context, secret, exponents, rng)?),
        })
    }

    /// Keeps sums of polynomials of the keys, by which key switches below the highest level take fewer transforms: see
    /// [`RelinearizationKey::with_merged_digits`].
    ///
    /// # Errors
    /// [`RlweError::GadgetMismatch`] for keys of other digits.
    pub fn with_merged_digits(self, context: &RlweContext) -> Result<Self, RlweError> {
        Ok(Self {
            relinearization: self.relinearization.map(|key| key.with_merged_digits(context)).transpose()?,
            galois: self.galois.map(|keys| keys.with_merged_digits(context)).transpose()?,
        })
    }

    /// Whether the keys have a Galois key for X → X^`exponent`, or none is needed.
    #[must_use]
    pub fn has_exponent(&self, exponent: u64) -> bool {
        exponent == 1 || self.galois.as_ref().is_some_and(|keys| keys.get(exponent).is_ok())
    }

    /// Number of bytes of the keys in memory.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        let relinearization = self.relinearization.as_ref().map_or(0, RelinearizationKey::byte_len);
        relinearization + self.galois.as_ref().map_or(0, GaloisKeys::byte_len)
    }
}
