//! Automorphisms X → X^k of ciphertexts, which rotate slots, and their Galois keys.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use rand_core::CryptoRng;
use rayon::prelude::*;
use sunzi_ring::{Addends, Digits, Evaluation, Poly, RingError, SwitchInput};
use zeroize::Zeroizing;

use crate::{Ciphertext, KeyId, KeySwitchKey, NoiseTerm, RlweContext, RlweError, Scheme, SecretKey};
use crate::{key_switch, memory, randomness};

/// Galois keys: key-switching keys from s to s(X^(1/k)), by exponent k. X → X^k follows the key switch, so that digits
/// do not depend on k.
///
/// ```
/// use sunzi_rlwe::{GaloisKeys, RlweContext, SecretKey, Security, galois, randomness};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let index = 128;
/// # let ring = sunzi_ring::Ring::new(index, &sunzi_math::primes_below(1 << 47, index, 2)?)?;
/// # let context = RlweContext::new(ring, Security::InsecureForResearchOnly)?;
/// let mut rng = randomness::from_os()?;
/// let secret = SecretKey::generate(&context, &mut rng)?;
/// let keys = GaloisKeys::for_rotations(&context, &secret, [1, -2], &mut rng)?;
/// assert!(keys.get(galois::rotation_exponent(128, -2)?).is_ok());
/// let Err(error) = keys.get(galois::rotation_exponent(128, 3)?) else { panic!("there is no such key") };
/// assert!(error.to_string().contains("rotation by 3 slots"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct GaloisKeys {
    id: KeyId,
    index: u64,
    keys: BTreeMap<u64, KeySwitchKey>,
}

impl GaloisKeys {
    /// Makes one Galois key for each exponent; repetitions and the identity cost nothing.
    ///
    /// # Errors
    /// [`RlweError::Ring`] for an exponent that is no automorphism of the ring.
    pub fn generate(
        context: &RlweContext,
        secret: &SecretKey,
        exponents: impl IntoIterator<Item = u64>,
        rng: &mut dyn CryptoRng,
    ) -> Result<Self, RlweError> {
        Self::generate_at_level(context, secret, exponents, context.level(), rng)
    }

    /// Makes Galois keys for ciphertexts of at most `level` moduli, smaller than keys for all levels.
    ///
    /// # Errors
    /// Every error of [`generate`](Self::generate); [`RlweError::Ring`] for a level that is not there.
    pub fn generate_at_level(
        context: &RlweContext,
        secret: &SecretKey,
        exponents: impl IntoIterator<Item = u64>,
        level: usize,
        rng: &mut dyn CryptoRng,
    ) -> Result<Self, RlweError> {
        let exponents = exponents.into_iter().map(|exponent| (exponent, level));
        Self::generate_levels(context, secret, exponents, rng, |_, _| {})
    }

    /// Makes the Galois keys that rotate both rows of slots by the given numbers of steps (left; right if negative).
    ///
    /// # Errors
    /// [`RlweError::NoRows`] for a ring whose index is no power of two.
    pub fn for_rotations(
        context: &RlweContext,
        secret: &SecretKey,
        steps: impl IntoIterator<Item = i64>,
        rng: &mut dyn CryptoRng,
    ) -> Result<Self, RlweError> {
        let index = context.ring().index();
        let exponents: Result<Vec<u64>, _> =
            steps.into_iter().map(|steps| rotation_exponent(index, steps)).collect();
        Self::generate(context, secret, exponents?, rng)
    }

    /// Makes Galois keys as [`generate`](Self::generate) does, and reports after each how many are made and how many
    /// there will be: many keys in a large ring take a while.
    ///
    /// # Errors
    /// Every error of [`generate`](Self::generate).
    pub fn generate_with(
        context: &RlweContext,
        secret: &SecretKey,
        exponents: impl IntoIterator<Item = u64>,
        rng: &mut dyn CryptoRng,
        progress: impl FnMut(usize, usize) + Send,
    ) -> Result<Self, RlweError> {
        let exponents = exponents.into_iter().map(|exponent| (exponent, context.level()));
        Self::generate_levels(context, secret, exponents, rng, progress)
    }

    /// Makes one Galois key for each pair of an exponent and a level, for ciphertexts of at most that level: the higher
    /// level of an exponent listed twice. Keys are made in parallel, each from a stream of its own, so that they do not
    /// depend on the number of threads; `progress` is told after each how many there are and how many there will be.
    ///
    /// # Errors
    /// Every error of [`generate_at_level`](Self::generate_at_level).
    pub fn generate_levels(
        context: &RlweContext,
        secret: &SecretKey,
        exponents: impl IntoIterator<Item = (u64, usize)>,
        rng: &mut dyn CryptoRng,
        progress: impl FnMut(usize, usize) + Send,
    ) -> Result<Self, RlweError> {
        let no_seed = |_| None;
        let keys = generate_each(context, secret, exponents, no_seed, rng, progress)?;
        Ok(Self { id: secret.id(), index: context.ring().index(), keys })
    }

    /// Makes an empty set of Galois keys of a secret, enough for the identity alone.
    #[must_use]
    pub fn none(context: &RlweContext, id: KeyId) -> Self {
        Self { id, index: context.ring().index(), keys: BTreeMap::new() }
    }

    /// The name of the secret key to which the Galois keys belong.
    #[must_use]
    pub fn id(&self) -> KeyId {
        self.id
    }

    pub(crate) fn from_keys(id: KeyId, index: u64, keys: BTreeMap<u64, KeySwitchKey>) -> Self {
        Self { id, index, keys }
    }

    /// The pairs of an exponent and its Galois key, by ascending exponent.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &KeySwitchKey)> + '_ {
        self.keys.iter().map(|(&exponent, key)| (exponent, key))
    }

    /// The exponents k that have Galois keys, ascending.
    pub fn exponents(&self) -> impl Iterator<Item = u64> + '_ {
        self.keys.keys().copied()
    }

    /// Stores seeds instead of the uniform halves of Galois keys: half the memory, 1.5 to 1.8 times the time of a
    /// rotation.
    #[must_use]
    pub fn compact(mut self) -> Self {
        self.keys.values_mut().for_each(KeySwitchKey::compact);
        self
    }

    /// Keeps sums of the polynomials of all Galois keys, as [`RelinearizationKey::with_merged_digits`] does: for rotations
    /// that are not hoisted.
    ///
    /// [`RelinearizationKey::with_merged_digits`]: crate::RelinearizationKey::with_merged_digits
    ///
    /// # Errors
    /// [`RlweError::GadgetMismatch`] for keys of other digits.
    pub fn with_merged_digits(mut self, context: &RlweContext) -> Result<Self, RlweError> {
        self.keys.values_mut().try_for_each(|key| key.merge_digits(context, 1..context.level()))?;
        Ok(self)
    }

    /// Length of all Galois keys together in memory, in bytes.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.keys.values().map(KeySwitchKey::byte_len).sum()
    }

    /// The Galois key of the automorphism X → X^k.
    ///
    /// # Errors
    /// [`RlweError::MissingGaloisKey`] where there is no Galois key of the exponent.
    pub fn get(&self, exponent: u64) -> Result<&KeySwitchKey, RlweError> {
        self.keys.get(&exponent).ok_or_else(|| RlweError::MissingGaloisKey {
            exponent,
            index: self.index,
            present: self.exponents().collect(),
        })
    }
}

/// Returns the exponent k by which X → X^k rotates both rows of slots left by `steps`, in the ring of the given index.
///
/// # Errors
/// [`RlweError::NoRows`] unless the index is a power of two from 4 on.
pub fn rotation_exponent(index: u64, steps: i64) -> Result<u64, RlweError> {
    sunzi_math::rotation_exponent(steps, index).map_err(|_| RlweError::NoRows { index })
}

/// Returns the exponent k by which X → X^k swaps the two rows of slots.
///
/// # Errors
/// Every error of [`rotation_exponent`].
pub fn swap_exponent(index: u64) -> Result<u64, RlweError> {
    sunzi_math::conjugation_exponent(index).map_err(|_| RlweError::NoRows { index })
}

/// Makes the switching keys of [`GaloisKeys::generate_levels`], whose uniform halves follow from the seed of an exponent, or from one of their own.
pub(crate) fn generate_each(
    context: &RlweContext,
    secret: &SecretKey,
    exponents: impl IntoIterator<Item = (u64, usize)>,
    seed: impl Fn(u64) -> Option<[u8; 32]> + Sync,
    rng: &mut dyn CryptoRng,
    progress: impl FnMut(usize, usize) + Send,
) -> Result<BTreeMap<u64, KeySwitchKey>, RlweError> {
    let mut levels: BTreeMap<u64, usize> = BTreeMap::new();
    for (exponent, level) in exponents.into_iter().filter(|&(exponent, _)| exponent != 1) {
        let highest = levels.entry(exponent).or_default();
        *highest = level.max(*highest);
    }
    let needed = levels.values().try_fold(0_u64, |sum, &level| {
        Ok::<_, RlweError>(sum.saturating_add(context.switch_key_bytes(level)?))
    })?;
    if context.ring().stores_residues() {
        memory::require(needed)?;
    }
    let root = randomness::secret_root(rng);
    let reported = Mutex::new((0, progress));
    let generate = |(i, (&exponent, &level)): (usize, (&u64, &usize))| {
        let (ring, s) = (context.key_ring(), secret.evaluation());
        let target = Zeroizing::new(ring.automorphism(s, inverse(exponent, ring.index())?)?);
        let mut stream = randomness::secret_stream(&root, i as u64);
        let key = KeySwitchKey::generate_from(context, [&target, s], level, seed(exponent), &mut stream)?;
        let mut reported = reported.lock().unwrap_or_else(PoisonError::into_inner);
        reported.0 += 1;
        let done = reported.0;
        (reported.1)(done, levels.len());
        Ok((exponent, key))
    };
    let listed: Vec<(&u64, &usize)> = levels.iter().collect();
    listed.into_par_iter().enumerate().map(generate).collect()
}

/// Returns the inverse 1/k of an exponent modulo the ring index m.
fn inverse(exponent: u64, index: u64) -> Result<u64, RingError> {
    let none = RingError::NotAnAutomorphism { exponent, index };
    if exponent >= index { Err(none) } else { sunzi_math::mod_inv(exponent, index).map_err(|_| none) }
}

/// Returns the noise that an automorphism adds to a ciphertext of the highest level, where it adds most.
#[must_use]
pub fn added_noise(context: &RlweContext) -> NoiseTerm {
    // The highest level always exists.
    key_switch::added_noise(context, context.level(), 1).unwrap_or_else(|_| NoiseTerm::unbounded())
}

/// Returns the noise that an automorphism adds to a ciphertext of a level.
///
/// # Errors
/// [`RlweError::Ring`] for a level that does not exist.
pub fn added_noise_at(context: &RlweContext, level: usize) -> Result<NoiseTerm, RlweError> {
    key_switch::added_noise(context, level, 1)
}

/// Applies the automorphism X → X^k: returns a ciphertext of m(X^k) for one of m(X), of two parts and any level.
///
/// # Errors
/// [`RlweError::KeyMismatch`], [`RlweError::MissingGaloisKey`], [`RlweError::WrongPartCount`], [`RlweError::KeyLevel`].
pub fn automorphism<S: Scheme>(
    context: &RlweContext,
    ciphertext: &Ciphertext<S>,
    exponent: u64,
    keys: &GaloisKeys,
) -> Result<Ciphertext<S>, RlweError> {
    ciphertext.check_key(keys.id, "the Galois key set")?;
    let [c0, c1] = ciphertext.two_parts("an automorphism")?;
    if exponent == 1 {
        return Ok(ciphertext.clone());
    }
    let level = context.ring().level_of(c1)?;
    let (input, added) = (SwitchInput::Values(c1), Addends::Values([Some(c0), None]));
    let switched = keys.get(exponent)?.switch(context, [level, level], input, added, exponent)?;
    rotated(context, ciphertext, switched)
}

/// A hoisted ciphertext: its digits are cut once, for any number of automorphisms.
#[derive(Clone)]
pub struct Hoisted<'a, S: Scheme> {
    context: &'a RlweContext,
    ciphertext: &'a Ciphertext<S>,
    digits: Digits,
}

/// Hoists a ciphertext of two parts: cuts it into digits once. Of a key switch in evaluation form at level l with d
/// digits and k special moduli only the 2(k + l) transforms of the division are left.
///
/// # Errors
/// [`RlweError::WrongPartCount`] unless it has two parts; [`RlweError::Ring`] for a ciphertext of another ring.
pub fn hoist<'a, S: Scheme>(
    context: &'a RlweContext,
    ciphertext: &'a Ciphertext<S>,
) -> Result<Hoisted<'a, S>, RlweError> {
    let [_, c1] = ciphertext.two_parts("an automorphism")?;
    let digits = context.gadget_at(context.ring().level_of(c1)?)?.decompose(c1)?;
    Ok(Hoisted { context, ciphertext, digits })
}

impl<'a, S: Scheme> Hoisted<'a, S> {
    pub(crate) fn context(&self) -> &'a RlweContext {
        self.context
    }

    pub(crate) fn ciphertext(&self) -> &'a Ciphertext<S> {
        self.ciphertext
    }

    pub(crate) fn digits(&self) -> &Digits {
        &self.digits
    }

    /// Returns the ciphertext of m(X^k) from a hoisted ciphertext, with parts equal to the result of [`automorphism`].
    ///
    /// # Errors
    /// Every error of [`automorphism`].
    pub fn automorphism(&self, exponent: u64, keys: &GaloisKeys) -> Result<Ciphertext<S>, RlweError> {
        let Self { context, ciphertext, digits } = self;
        ciphertext.check_key(keys.id, "the Galois key set")?;
        let [c0, _] = ciphertext.two_parts("an automorphism")?;
        if exponent == 1 {
            return Ok((*ciphertext).clone());
        }
        let level = context.ring().level_of(c0)?;
        let (input, added) = (SwitchInput::Digits(digits), Addends::Values([Some(c0), None]));
        let switched = keys.get(exponent)?.switch(context, [level, level], input, added, exponent)?;
        rotated(context, ciphertext, switched)
    }
}

/// Makes the ciphertext of the two parts after a key switch to s(X^(1/k)) and the automorphism X → X^k.
fn rotated<S: Scheme>(
    context: &RlweContext,
    ciphertext: &Ciphertext<S>,
    parts: [Poly<Evaluation>; 2],
) -> Result<Ciphertext<S>, RlweError> {
    let level = context.ring().level_of(&parts[0])?;
    let noise = ciphertext.noise().plus(added_noise_at(context, level)?);
    Ciphertext::from_parts(parts.into(), ciphertext.metadata().clone(), noise, ciphertext.key())
}
