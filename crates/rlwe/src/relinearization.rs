//! Relinearisation of ciphertexts: from three parts to two.

use rand_core::CryptoRng;
use sunzi_ring::{Addends, Coefficient, Evaluation, Poly, SwitchInput};

use crate::key_switch;
use crate::{Ciphertext, KeyId, KeySwitchKey, Log2, NoiseTerm, RlweContext, RlweError, Scheme, SecretKey};

/// A relinearisation key: a key-switching key from s² to s, which brings c_2·s² to two parts.
///
/// ```
/// use sunzi_rlwe::{RelinearizationKey, RlweContext, SecretKey, Security, randomness};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let index = 128;
/// # let ring = sunzi_ring::Ring::new(index, &sunzi_math::primes_below(1 << 47, index, 2)?)?;
/// # let context = RlweContext::new(ring, Security::InsecureForResearchOnly)?;
/// let mut rng = randomness::from_os()?;
/// let secret = SecretKey::generate(&context, &mut rng)?;
/// let key = RelinearizationKey::generate(&context, &secret, &mut rng)?;
/// assert_eq!(key.id(), secret.id());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct RelinearizationKey {
    id: KeyId,
    key: KeySwitchKey,
}

impl RelinearizationKey {
    /// Makes a relinearisation key of the secret key `secret`.
    ///
    /// # Errors
    /// [`RlweError::Ring`] if the secret belongs to another ring.
    pub fn generate(
        context: &RlweContext,
        secret: &SecretKey,
        rng: &mut dyn CryptoRng,
    ) -> Result<Self, RlweError> {
        Self::generate_at_level(context, secret, context.level(), rng)
    }

    /// Makes a relinearisation key for ciphertexts of at most `level` moduli, smaller than a key for all levels.
    ///
    /// # Errors
    /// Every error of [`generate`](Self::generate); [`RlweError::Ring`] for a level that is not there.
    pub fn generate_at_level(
        context: &RlweContext,
        secret: &SecretKey,
        level: usize,
        rng: &mut dyn CryptoRng,
    ) -> Result<Self, RlweError> {
        let secret_poly = secret.evaluation();
        let mut square = zeroize::Zeroizing::new(secret_poly.clone());
        context.key_ring().mul_assign(&mut square, secret_poly)?;
        let key = KeySwitchKey::generate(context, secret_poly, &square, level, rng)?;
        Ok(Self { id: secret.id(), key })
    }

    pub(crate) fn from_key(id: KeyId, key: KeySwitchKey) -> Self {
        Self { id, key }
    }

    /// The name of the secret key to which the relinearisation key belongs.
    #[must_use]
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// The key-switching key from s² to s of a relinearisation key.
    #[must_use]
    pub fn key(&self) -> &KeySwitchKey {
        &self.key
    }

    /// Stores the seed instead of the uniform halves of the key: half the memory, 1.5 to 1.8 times the time of a
    /// relinearisation.
    #[must_use]
    pub fn compact(mut self) -> Self {
        self.key.compact();
        self
    }

    /// Keeps sums of the key's polynomials, by which relinearisation below the highest level takes fewer transforms where
    /// several digits are dropped: for 10 + 1 moduli in ten digits 0.67 to 0.82 of the work at levels 4 to 9. They take
    /// at most as much memory as the key, follow from it, and are not written to files. Noise bounds are the same.
    ///
    /// ```
    /// # use sunzi_rlwe::{RelinearizationKey, RlweContext, RlweError};
    /// fn faster(context: &RlweContext, key: RelinearizationKey) -> Result<RelinearizationKey, RlweError> {
    ///     key.with_merged_digits(context)
    /// }
    /// ```
    ///
    /// # Errors
    /// [`RlweError::GadgetMismatch`] for a key of other digits.
    pub fn with_merged_digits(self, context: &RlweContext) -> Result<Self, RlweError> {
        self.with_merged_digits_at(context, 1..context.level())
    }

    /// Keeps the sums of [`with_merged_digits`](Self::with_merged_digits) for relinearisations at these levels of the ring alone,
    /// beside those that are kept already.
    ///
    /// # Errors
    /// [`RlweError::GadgetMismatch`] for a key of other digits; [`RlweError::Ring`] for a level that does not exist.
    pub fn with_merged_digits_at(
        mut self,
        context: &RlweContext,
        levels: impl IntoIterator<Item = usize>,
    ) -> Result<Self, RlweError> {
        self.key.merge_digits(context, levels)?;
        Ok(self)
    }

    /// Length of the relinearisation key in memory, in bytes.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.key.byte_len()
    }

    /// Relinearises: adds c_2·s² to (c_0, c_1), in coefficient form at any level as scaling leaves them, and returns
    /// the two parts `[BEHZ16, 4.5]`.
    ///
    /// # Errors
    /// [`RlweError::Ring`] if a part belongs to another ring; [`RlweError::KeyLevel`] for a key of a lower level.
    pub fn apply_to_coefficients(
        &self,
        context: &RlweContext,
        parts: [Poly<Coefficient>; 3],
    ) -> Result<[Poly<Evaluation>; 2], RlweError> {
        let [c0, c1, c2] = &parts;
        let level = context.ring().level_of(c2)?;
        let (input, added) = (SwitchInput::Coefficients(c2), Addends::Coefficients([c0, c1]));
        self.key.switch(context, [level, level], input, added, 1)
    }

    /// Returns (c_0 + c_1·s + c_2·s²)·Q_j/Q_l in two parts of level j, for parts of level l ≥ j: relinearisation and
    /// modulus switch with one rounding.
    ///
    /// # Errors
    /// [`RlweError::Ring`] if a part belongs to another ring or the level does not exist; [`RlweError::KeyLevel`] for
    /// a key of a lower level.
    pub fn apply(
        &self,
        context: &RlweContext,
        parts: [&Poly<Evaluation>; 3],
        level: usize,
    ) -> Result<[Poly<Evaluation>; 2], RlweError> {
        let [c0, c1, c2] = parts;
        let from = context.ring().level_of(c2)?;
        let (input, added) = (SwitchInput::Values(c2), Addends::Values([Some(c0), Some(c1)]));
        self.key.switch(context, [from, level], input, added, 1)
    }
}

/// Returns the noise that relinearisation adds to a ciphertext of the highest level, where it adds most.
#[must_use]
pub fn added_noise(context: &RlweContext) -> NoiseTerm {
    // The highest level always exists.
    key_switch::added_noise(context, context.level(), 2).unwrap_or_else(|_| NoiseTerm::unbounded())
}

/// Returns the noise that relinearisation adds to a ciphertext of a level.
///
/// # Errors
/// [`RlweError::Ring`] for a level that does not exist.
pub fn added_noise_at(context: &RlweContext, level: usize) -> Result<NoiseTerm, RlweError> {
    key_switch::added_noise(context, level, 2)
}

/// Relinearises a ciphertext of three parts to two; returns a ciphertext of two parts unchanged.
///
/// # Errors
/// [`RlweError::KeyMismatch`]; [`RlweError::WrongPartCount`] for more than three parts.
pub fn relinearize<S: Scheme>(
    context: &RlweContext,
    ciphertext: &Ciphertext<S>,
    key: &RelinearizationKey,
) -> Result<Ciphertext<S>, RlweError> {
    let level = ciphertext.parts().first().map(|part| context.ring().level_of(part));
    relinearize_to(context, ciphertext, key, level.unwrap_or(Ok(context.level()))?)
}

/// Relinearises a ciphertext and switches it to a level, with one rounding and fewer transforms than one after the
/// other.
///
/// # Errors
/// Every error of [`relinearize`]; [`RlweError::Ring`] for a level above that of the ciphertext.
pub fn relinearize_to<S: Scheme>(
    context: &RlweContext,
    ciphertext: &Ciphertext<S>,
    key: &RelinearizationKey,
    level: usize,
) -> Result<Ciphertext<S>, RlweError> {
    ciphertext.check_key(key.id, "the relinearisation key")?;
    let (ring, model) = (context.ring(), context.noise_model());
    let from = ciphertext.parts().first().map_or(Ok(0), |part| ring.level_of(part))?;
    let ratio = || -> Result<Log2, RlweError> {
        Ok(Log2::from_bits(context.log2_modulus_at(level)? - context.log2_modulus_at(from)?))
    };
    let (parts, noise) = match ciphertext.parts() {
        [_, _] if level == from => return Ok(ciphertext.clone()),
        [c0, c1] => {
            let noise = ciphertext.noise().scaled(ratio()?).plus_own(model.mod_switch(2));
            ([ring.mod_switch(c0, level)?, ring.mod_switch(c1, level)?], noise)
        }
        [c0, c1, c2] => {
            let noise = ciphertext.noise().plus(key_switch::added_noise(context, from, 2)?);
            let switched = || Ok::<_, RlweError>(noise.scaled(ratio()?).plus(model.mod_switch(2)));
            let noise = if level == from { noise } else { switched()? };
            (key.apply(context, [c0, c1, c2], level)?, noise)
        }
        parts => {
            return Err(RlweError::WrongPartCount {
                operation: "relinearization",
                expected: "two or three",
                got: parts.len(),
                remedy: "relinearize after every product",
            });
        }
    };
    Ciphertext::from_parts(parts.into(), ciphertext.metadata().clone(), noise, ciphertext.key())
}
