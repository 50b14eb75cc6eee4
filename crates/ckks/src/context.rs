//! The CKKS context: ring, keys, levels and scales of one parameter set.

use std::ops::RangeInclusive;
use std::sync::Arc;

use num_bigint::BigInt;
use num_traits::ToPrimitive;
use sunzi_ring::{Evaluation, GadgetOptions, Parallelism, Poly, Ring};
use sunzi_rlwe::{RlweContext, SecretDistribution, Security, memory};

use crate::encoder::EncoderError;
use crate::parameters::{check_levels, check_scales, ratio};
use crate::{Ciphertext, CkksError, Parameters};

/// Ring, levels and scales of CKKS. Cheap to clone.
///
/// The [`Ring`] of a CKKS context stores residues in words unless the context was made with another one.
///
/// ```
/// use sunzi_ckks::{Context, Encoder, LevelRange, Parameters};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let ranges = [LevelRange { levels: 2, scale_bits: 40 }];
/// # let security = sunzi_rlwe::Security::InsecureForResearchOnly;
/// # let context = Context::new(&Parameters::from_ranges(8, 50, &ranges, security)?.with_digits(3)?)?;
/// # let mut rng = sunzi_rlwe::randomness::from_os()?;
/// # let secret = sunzi_rlwe::SecretKey::generate(context.rlwe(), &mut rng)?;
/// # let encoder = Encoder::new(&context, 4)?;
/// # let a = context.encrypt_secret(&encoder.encode_real(&[0.5, -1.0])?, &secret, &mut rng)?;
/// assert_eq!((context.degree(), context.max_slots(), context.depth()), (256, 128, 2));
/// let opened = encoder.decode_real(&context.decrypt(&a, &secret)?)?;
/// assert!((opened[1] + 1.0).abs() < 1e-6);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Context {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    rlwe: RlweContext,
    levels: Vec<Level>,
    message_bound: f64,
}

#[derive(Clone, Debug)]
struct Level {
    ring: Ring,
    log2_modulus: f64,
    scale: f64,
    /// Modulus q_l that a rescaling from the level divides by; Q_0 at level 0.
    dropped: f64,
}

/// Settings of a CKKS context over an existing ring.
///
/// ```
/// use sunzi_ckks::{Context, Parameters, Settings};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let parameters = Parameters::builder().depth(1).build()?;
/// let settings = Settings::from(&parameters);
/// let context = Context::with_ring(parameters.ring()?, &settings)?;
/// assert_eq!(context.depth() + 1, settings.levels.len());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Settings {
    /// Levels of the ring whose moduli are Q_0, Q_1, …, Q_L: how many moduli each has, where levels of the ring are
    /// its first moduli.
    pub levels: Vec<usize>,
    /// Canonical scales Δ_0, Δ_1, …, Δ_L of the levels.
    pub scales: Vec<f64>,
    /// Bound on the slots of fresh ciphertexts, as log2.
    pub message_bits: u32,
    /// Digits and special moduli of key switching.
    pub key_switching: GadgetOptions,
    /// Security that the context must reach.
    pub security: Security,
    /// Distribution of secrets.
    pub secrets: SecretDistribution,
}

impl From<&Parameters> for Settings {
    fn from(parameters: &Parameters) -> Self {
        Self {
            levels: parameters.levels().to_vec(),
            scales: parameters.scales(),
            message_bits: parameters.message_bits(),
            key_switching: parameters.key_switching().clone(),
            security: parameters.security(),
            secrets: parameters.secrets(),
        }
    }
}

impl Context {
    /// Builds the CKKS context of `parameters`.
    ///
    /// # Errors
    /// Every error of [`Parameters::validate`]; [`CkksError::Ring`] for moduli the ring cannot use;
    /// [`RlweError::Memory`](sunzi_rlwe::RlweError::Memory) in a [`CkksError::Rlwe`], before any work, where the
    /// machine cannot hold the tables.
    pub fn new(parameters: &Parameters) -> Result<Self, CkksError> {
        Self::with_parallelism(parameters, Parallelism::default())
    }

    /// Builds the CKKS context of `parameters` with a choice of what threads share `[AS19, 4]`: results are equal, to
    /// the last bit.
    ///
    /// # Errors
    /// Every error of [`new`](Self::new).
    pub fn with_parallelism(parameters: &Parameters, parallelism: Parallelism) -> Result<Self, CkksError> {
        parameters.validate()?;
        memory::require(parameters.table_bytes())?;
        Self::with_ring(parameters.ring()?.with_parallelism(parallelism), &Settings::from(parameters))
    }
}

impl Context {
    /// Builds a CKKS context over an existing ring.
    ///
    /// # Errors
    /// [`CkksError::Rlwe`] above the security limit; [`CkksError::LevelsUnusable`] and [`CkksError::ScaleUnusable`] for levels
    /// that do not fit the ring.
    pub fn with_ring(ring: Ring, settings: &Settings) -> Result<Self, CkksError> {
        check_levels(&settings.levels, 1, ring.level())?;
        let rlwe = RlweContext::with_gadget(ring, settings.security, &settings.key_switching)?;
        let rlwe = rlwe.with_secrets(settings.secrets)?;
        let mut levels: Vec<Level> = Vec::with_capacity(settings.levels.len());
        for (level, &limbs) in settings.levels.iter().enumerate() {
            let ring = rlwe.ring_at(limbs)?;
            let dropped = match levels.last() {
                Some(below) => ratio(ring.modulus(), below.ring.modulus()),
                None => ring.modulus().to_f64().unwrap_or(f64::INFINITY),
            };
            let scale = settings.scales.get(level).copied().unwrap_or(f64::NAN);
            levels.push(Level { log2_modulus: sunzi_math::log2(ring.modulus()), ring, scale, dropped });
        }
        let log2_moduli: Vec<f64> = levels.iter().map(|level| level.log2_modulus).collect();
        let scales: Vec<f64> = levels.iter().map(|level| level.scale).collect();
        check_scales(&scales, &log2_moduli, f64::from(settings.message_bits))?;
        let message_bound = f64::from(settings.message_bits).exp2();
        Ok(Self { inner: Arc::new(Inner { rlwe, levels, message_bound }) })
    }

    /// Makes the context of some levels, with special moduli of its own. Ciphertexts of these levels belong to
    /// both contexts; keys belong to one, and a secret key reaches the other by [`SecretKey::in_context`](sunzi_rlwe::SecretKey::in_context).
    /// Levels below have the numbers that they have in the whole context, and keys serve them if all of their moduli are among those of these levels.
    ///
    /// Low levels need smaller special moduli than the highest: see [`Parameters::special_moduli_for`](crate::Parameters::special_moduli_for).
    ///
    /// # Errors
    /// [`CkksError::NoSuchLevel`]; [`CkksError::Rlwe`] above the security limit and for special moduli that the ring cannot have.
    pub fn for_levels(
        &self,
        levels: RangeInclusive<usize>,
        special_moduli: &[u64],
    ) -> Result<Self, CkksError> {
        let highest = *levels.end();
        let rlwe = self.rlwe().up_to(self.joint_level(levels)?, special_moduli)?;
        let levels = self.inner.levels.get(..=highest).unwrap_or_default().to_vec();
        Ok(Self { inner: Arc::new(Inner { rlwe, levels, message_bound: self.message_bound() }) })
    }

    /// The RLWE context: ring, key switching and security.
    #[must_use]
    pub fn rlwe(&self) -> &RlweContext {
        &self.inner.rlwe
    }

    /// The ring of fresh CKKS ciphertexts.
    #[must_use]
    pub fn ring(&self) -> &Ring {
        self.inner.rlwe.ring()
    }

    /// The ring degree n of a CKKS context.
    #[must_use]
    pub fn degree(&self) -> usize {
        self.ring().degree()
    }

    /// The most slots that a message can have: n/2, or n real ones.
    #[must_use]
    pub fn max_slots(&self) -> usize {
        // One for each automorphism that rotates them.
        (self.ring().index() / 4) as usize
    }

    /// Whether slots hold real numbers, in a real ring.
    #[must_use]
    pub fn has_real_slots(&self) -> bool {
        self.ring().ring_index().is_real()
    }

    /// The depth L of a CKKS context: multiplications in a row, and the level of fresh ciphertexts.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.inner.levels.len().saturating_sub(1)
    }

    /// The largest absolute value of a slot of a fresh CKKS ciphertext.
    #[must_use]
    pub fn message_bound(&self) -> f64 {
        self.inner.message_bound
    }

    fn level(&self, level: usize) -> Result<&Level, CkksError> {
        self.inner.levels.get(level).ok_or(CkksError::NoSuchLevel { level, depth: self.depth() })
    }

    /// Number of moduli and canonical scale of every level, level 0 first.
    pub(crate) fn level_scales(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.inner.levels.iter().map(|level| (level.ring.level(), level.scale))
    }

    /// The ring R modulo Q_l of level l.
    ///
    /// # Errors
    /// [`CkksError::NoSuchLevel`].
    pub fn ring_at(&self, level: usize) -> Result<&Ring, CkksError> {
        Ok(&self.level(level)?.ring)
    }

    /// The level of the ring that belongs to a CKKS level, by which keys and rings count: how many moduli it has,
    /// where levels of the ring are its first moduli.
    ///
    /// # Errors
    /// [`CkksError::NoSuchLevel`].
    pub fn limbs(&self, level: usize) -> Result<usize, CkksError> {
        Ok(self.ring_at(level)?.level())
    }

    /// The level of the ring at which keys serve all CKKS levels up to this one: its own, unless a lower one has
    /// moduli that it lacks.
    ///
    /// # Errors
    /// [`CkksError::NoSuchLevel`].
    pub fn key_level(&self, level: usize) -> Result<usize, CkksError> {
        self.joint_level(0..=level)
    }

    /// The lowest level of the ring that has the moduli of all these levels; the highest where none has.
    fn joint_level(&self, levels: RangeInclusive<usize>) -> Result<usize, CkksError> {
        let (own, ring) = (self.limbs(*levels.end())?, self.ring());
        let serves = |&key: &usize| {
            ring.is_nested(key, ring.level()) && levels.clone().all(|level| self.is_nested(level, key))
        };
        Ok((own..ring.level()).find(serves).unwrap_or(ring.level()))
    }

    /// The lowest level above `low` whose moduli are all among those of level `high`: low + 1, unless that has moduli
    /// that `high` lacks. A ciphertext of level `high` is reduced to it without a rounding.
    ///
    /// # Errors
    /// [`CkksError::NoSuchLevel`].
    pub(crate) fn level_between(&self, low: usize, high: usize) -> Result<usize, CkksError> {
        let limbs = self.limbs(high)?;
        let is_nested = |&level: &usize| self.is_nested(level, limbs);
        Ok((low + 1..high).find(is_nested).unwrap_or(high))
    }

    /// Whether all moduli of a CKKS level are moduli of a level of the ring.
    pub(crate) fn is_nested(&self, level: usize, limbs: usize) -> bool {
        self.limbs(level).is_ok_and(|level| self.ring().is_nested(level, limbs))
    }

    /// The quotient Q_high/Q_low of the moduli of two levels.
    pub(crate) fn ratio(&self, high: usize, low: usize) -> Result<f64, CkksError> {
        if high == low + 1 {
            return self.divisor(high);
        }
        Ok(ratio(self.ring_at(high)?.modulus(), self.ring_at(low)?.modulus()))
    }

    /// The canonical scale Δ_l of a level.
    ///
    /// # Errors
    /// [`CkksError::NoSuchLevel`].
    pub fn scale(&self, level: usize) -> Result<f64, CkksError> {
        Ok(self.level(level)?.scale)
    }

    /// The divisor q_l of a rescaling from level l.
    ///
    /// # Errors
    /// [`CkksError::NoSuchLevel`]; [`CkksError::LevelExhausted`] for level 0.
    pub fn divisor(&self, level: usize) -> Result<f64, CkksError> {
        if level == 0 {
            return Err(CkksError::LevelExhausted { operation: "a rescaling", needed: 1, level });
        }
        Ok(self.level(level)?.dropped)
    }

    /// log2 of the modulus Q_l of a level.
    ///
    /// # Errors
    /// [`CkksError::NoSuchLevel`].
    pub fn log2_modulus_at(&self, level: usize) -> Result<f64, CkksError> {
        Ok(self.level(level)?.log2_modulus)
    }

    /// Fails unless messages may have `slots` slots: a power of two up to the [most](Self::max_slots).
    ///
    /// # Errors
    /// [`EncoderError::Slots`].
    pub fn check_slots(&self, slots: usize) -> Result<(), CkksError> {
        let most = self.max_slots();
        if slots.is_power_of_two() && slots <= most {
            return Ok(());
        }
        Err(EncoderError::Slots { got: slots, most }.into())
    }

    /// Fails unless a CKKS ciphertext belongs to the context.
    ///
    /// # Errors
    /// [`CkksError::LevelMismatch`] or [`CkksError::Ring`].
    pub fn check(&self, ciphertext: &Ciphertext) -> Result<(), CkksError> {
        let part = ciphertext.parts().first().ok_or(CkksError::Empty { what: "a ciphertext" })?;
        self.check_poly(part, ciphertext.metadata().level)
    }

    /// Fails unless a polynomial belongs to a level of the context.
    pub(crate) fn check_poly(&self, poly: &Poly<Evaluation>, level: usize) -> Result<(), CkksError> {
        let limbs = self.ring().level_of(poly)?;
        if self.limbs(level).is_ok_and(|expected| expected == limbs) {
            Ok(())
        } else {
            Err(CkksError::LevelMismatch { level, limbs })
        }
    }

    /// Replaces a scale that differs from the canonical one of a level by a few roundings only by the canonical scale.
    ///
    /// # Errors
    /// [`CkksError::NoSuchLevel`].
    pub fn snapped(&self, level: usize, scale: f64) -> Result<f64, CkksError> {
        let canonical = self.scale(level)?;
        Ok(if same_scale(scale, canonical) { canonical } else { scale })
    }

    /// Ends a CKKS operation: fails if its result might not fit its modulus, else notes in the result what made it.
    ///
    /// # Errors
    /// [`CkksError::MessageTooLarge`].
    pub fn finish(
        &self,
        result: Ciphertext,
        operation: &'static str,
        operands: &[&sunzi_rlwe::Trace],
    ) -> Result<Ciphertext, CkksError> {
        sunzi_rlwe::evaluator::finish(self, result, operation, operands)
    }

    /// Fails unless slots of a magnitude fit a level at a scale: magnitude·scale < Q_l/2.
    pub(crate) fn check_magnitude(
        &self,
        operation: &'static str,
        magnitude: f64,
        level: usize,
        scale: f64,
    ) -> Result<(), CkksError> {
        let (magnitude, limit) = (magnitude.log2(), self.log2_modulus_at(level)? - 1.0 - scale.log2());
        if magnitude <= limit {
            return Ok(());
        }
        Err(CkksError::MessageTooLarge { operation, magnitude, level, limit })
    }
}

/// Whether two scales are equal but for a few roundings of doubles.
pub(crate) fn same_scale(a: f64, b: f64) -> bool {
    (a / b - 1.0).abs() <= 1.0 / (1_u64 << 48) as f64
}

/// Converts a float to the nearest integer.
pub(crate) fn integer(value: f64) -> Result<BigInt, CkksError> {
    num_traits::FromPrimitive::from_f64(value.round()).ok_or(CkksError::Value {
        what: "a constant times its scale",
        got: value,
        expected: "give finite numbers",
    })
}
