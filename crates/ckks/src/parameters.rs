//! Parameters of CKKS: plain, serialisable data.

mod key_switching;
mod levels;
mod real_subring;

pub(crate) use levels::{check_levels, check_scales};

use num_bigint::BigUint;
use num_traits::ToPrimitive;
use serde::{Deserialize, Serialize};
use sunzi_math::log2_product;
use sunzi_ring::{GadgetOptions, Ring, RingError, RnsDigits};
use sunzi_rlwe::chains::{limbs_of_level, longest_digit, words};
use sunzi_rlwe::{RingShape, SecretDistribution, Security, memory, moduli, security};

use crate::chain::{Chain, LevelRange, SCALE_BITS, special_moduli};
use crate::error::CkksError;

/// Range of log2 of the ring degrees that CKKS parameters may have.
const LOG2_DEGREES: std::ops::RangeInclusive<u32> = 6..=17;

/// Range of CKKS levels from `top` down that starts from the scale 2^`bits`.
///
/// ```
/// use sunzi_ckks::{LevelRange, Parameters, ScaleRange};
/// use sunzi_rlwe::Security;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let ranges = [LevelRange { levels: 2, scale_bits: 35 }, LevelRange { levels: 3, scale_bits: 45 }];
/// let parameters = Parameters::from_ranges(8, 50, &ranges, Security::InsecureForResearchOnly)?;
/// let expected = [ScaleRange { top: 5, bits: 45 }, ScaleRange { top: 2, bits: 35 }];
/// assert_eq!(parameters.scale_ranges(), expected);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScaleRange {
    /// Highest level of the range.
    pub top: usize,
    /// log2 of the scale at the highest level of the range.
    pub bits: u32,
}

/// A CKKS parameter set: ring degree, moduli, levels, scales, security.
///
/// A CKKS level l, with l rescalings left, has the modulus Q_l, the product of the first `levels[l]` moduli, or of any
/// others where [`rungs`](Self::rungs) are given; fresh ciphertexts have them all. A rescaling from l to l − 1 divides
/// by q_l = Q_l/Q_(l−1), which may be a product of several moduli or a quotient of such products.
///
/// Every CKKS level has one canonical scale Δ_l: 2^bits at the top of a range, and Δ_(l−1) = Δ_l²/q_l below it, the
/// scale that products of ciphertexts of level l have after rescaling.
///
/// A CKKS parameter set is plain data that anybody may have written: [`validate`](Self::validate) checks it, and
/// building a context from it does so too.
///
/// ```
/// use sunzi_ckks::Parameters;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let parameters = Parameters::builder().depth(2).precision(20).build()?;
/// assert_eq!((parameters.depth(), parameters.scales().len()), (2, 3));
/// assert!(parameters.predicted_precision()? >= 20.0);
/// parameters.validate()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct Parameters {
    log2_degree: u32,
    /// Whether the ring is the real one of this degree, with real slots.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    real_slots: bool,
    moduli: Vec<u64>,
    /// Moduli of every level of the ring, by their indices; none for the first 1, 2, 3, ….
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    rungs: Vec<Vec<usize>>,
    /// Levels of the ring for Q_0, Q_1, …, Q_L.
    levels: Vec<usize>,
    /// Ranges of scales, the highest first.
    scales: Vec<ScaleRange>,
    /// Bound on the slots of fresh ciphertexts, as log2.
    #[serde(default)]
    message_bits: u32,
    security: Security,
    #[serde(default)]
    secrets: SecretDistribution,
    #[serde(default)]
    key_switching: GadgetOptions,
}

impl Parameters {
    /// Makes a CKKS parameter set of its numbers, for messages of at most 1; nothing is checked. `levels` holds how
    /// many moduli Q_0, …, Q_L are made of, `scale_bits` is log2 of the scale of fresh ciphertexts.
    #[must_use]
    pub fn new(
        log2_degree: u32,
        moduli: Vec<u64>,
        levels: Vec<usize>,
        scale_bits: u32,
        security: Security,
    ) -> Self {
        let scales = vec![ScaleRange { top: levels.len().saturating_sub(1), bits: scale_bits }];
        let (secrets, key_switching) = <(SecretDistribution, GadgetOptions)>::default();
        let (rungs, real_slots) = (Vec::new(), false);
        Self {
            log2_degree,
            real_slots,
            moduli,
            rungs,
            levels,
            scales,
            message_bits: 0,
            security,
            secrets,
            key_switching,
        }
    }

    /// Chooses primes for a CKKS chain in a ring of degree 2^n, given by n, or of this shape: Q_0 of `first_bits`, and ranges of levels above it, the lowest first, each at
    /// a scale of its own. Canonical scales stay near what is asked; scales above 47 bits take two primes a level or
    /// more.
    ///
    /// # Errors
    /// [`CkksError::Request`] for scales and Q_0 out of range and for more than 256 levels; [`CkksError::NoPrimes`];
    /// [`CkksError::Degree`].
    pub fn from_ranges(
        ring: impl Into<RingShape>,
        first_bits: u32,
        ranges: &[LevelRange],
        security: Security,
    ) -> Result<Self, CkksError> {
        Self::from_chain(ring.into(), ranges, security, |order| Chain::new(order, first_bits, ranges))
    }

    /// Chooses primes for a CKKS chain whose levels are sets of moduli, of as few as hold their bits, whatever the
    /// scale: see [`with_rungs`](Self::with_rungs). Scales stay within 1/4 bit of what is asked.
    ///
    /// # Errors
    /// Every error of [`from_ranges`](Self::from_ranges).
    pub fn from_ranges_rational(
        ring: impl Into<RingShape>,
        first_bits: u32,
        ranges: &[LevelRange],
        security: Security,
    ) -> Result<Self, CkksError> {
        Self::from_chain(ring.into(), ranges, security, |order| Chain::rational(order, first_bits, ranges))
    }

    /// Makes CKKS parameters with the chain that `chain` makes for the order of roots of unity in the ring.
    fn from_chain(
        ring: RingShape,
        ranges: &[LevelRange],
        security: Security,
        chain: impl FnOnce(u64) -> Result<Chain, CkksError>,
    ) -> Result<Self, CkksError> {
        let (log2_degree, real_slots) = named(ring)?;
        let Chain { moduli, levels, rungs } = chain(ring.root_order())?;
        let mut scales = Vec::with_capacity(ranges.len());
        let mut top = 0;
        for range in ranges {
            // The moduli of a range lead from its levels down to the range below.
            top += range.levels;
            scales.push(ScaleRange { top, bits: range.scale_bits });
        }
        scales.reverse();
        let parameters = Self::new(log2_degree, moduli, levels, 0, security);
        Ok(Self { real_slots, ..parameters }.with_rungs(rungs).with_scales(scales))
    }

    /// Returns the CKKS parameters with `count` special moduli of together at least 2^`bits`, and digits as long as
    /// they have room for: for moduli of different lengths.
    ///
    /// # Errors
    /// [`CkksError::NoPrimes`]; [`CkksError::Request`] for more than 256.
    pub fn with_special(self, count: usize, bits: u32) -> Result<Self, CkksError> {
        let special_moduli = special_moduli(self.shape().root_order(), f64::from(bits), count, &self.moduli)?;
        Ok(self.with_key_switching(GadgetOptions { special_moduli, ..GadgetOptions::default() }))
    }

    /// Returns the CKKS parameters with at most `digits` digits for key switching, of lengths as equal as the moduli
    /// allow, and special moduli as large as the longest of them.
    ///
    /// # Errors
    /// [`CkksError::Request`] for more digits than moduli or none; [`CkksError::NoPrimes`].
    pub fn with_digits(self, digits: usize) -> Result<Self, CkksError> {
        if !(1..=self.moduli.len()).contains(&digits) {
            let expected = "it must be at least 1 and at most the number of moduli";
            return Err(CkksError::Request { what: "digits", got: digits.to_string(), expected });
        }
        let longest = longest_digit(&self.moduli, digits);
        let count = words(longest).max(1);
        let special_moduli = special_moduli(self.shape().root_order(), longest, count, &self.moduli)?;
        Ok(self.with_key_switching(GadgetOptions { special_moduli, ..GadgetOptions::default() }))
    }

    /// Returns the CKKS parameters with levels of the ring that are any sets of the moduli, given by ascending
    /// indices: `rungs[levels[l] − 1]` makes Q_l. Products ascend, and the last set has all moduli. Sets that no level
    /// has are for keys, which serve a level by any set that it is part of; the last set may be one.
    #[must_use]
    pub fn with_rungs(self, rungs: Vec<Vec<usize>>) -> Self {
        Self { rungs, ..self }
    }

    /// Returns the CKKS parameters with other ranges of scales, the highest range first; it must start at level L.
    #[must_use]
    pub fn with_scales(self, scales: Vec<ScaleRange>) -> Self {
        Self { scales, ..self }
    }

    /// Returns the CKKS parameters for messages with slots of at most 2^`message_bits`.
    #[must_use]
    pub fn with_message_bits(self, message_bits: u32) -> Self {
        Self { message_bits, ..self }
    }

    /// Returns the CKKS parameters for secrets of another distribution than the uniform ternary one.
    #[must_use]
    pub fn with_secrets(self, secrets: SecretDistribution) -> Self {
        Self { secrets, ..self }
    }

    /// Returns the CKKS parameters with real slots, n of them, in the real ring of degree n: moduli must be 1 modulo 4n.
    ///
    /// ```
    /// use sunzi_ckks::{LevelRange, Parameters};
    /// use sunzi_rlwe::{RingShape, Security};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (ranges, security) = ([LevelRange { levels: 2, scale_bits: 40 }], Security::InsecureForResearchOnly);
    /// let parameters = Parameters::from_ranges(RingShape::RealLog2Degree(8), 50, &ranges, security)?;
    /// assert!(parameters.has_real_slots());
    /// assert_eq!((parameters.degree(), parameters.max_slots()), (256, 256));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_real_slots(self) -> Self {
        Self { real_slots: true, ..self }
    }

    /// Returns the CKKS parameters with another choice of digits and special moduli for key switching.
    #[must_use]
    pub fn with_key_switching(self, key_switching: GadgetOptions) -> Self {
        Self { key_switching, ..self }
    }

    /// log2 of the ring degree n of CKKS parameters.
    #[must_use]
    pub fn log2_degree(&self) -> u32 {
        self.log2_degree
    }

    /// The ring degree n; 0 if 2^`log2_degree` is beyond the machine.
    #[must_use]
    pub fn degree(&self) -> usize {
        1_usize.checked_shl(self.log2_degree).unwrap_or(0)
    }

    /// The shape of the ring of CKKS parameters.
    #[must_use]
    pub fn shape(&self) -> RingShape {
        if self.real_slots {
            RingShape::RealLog2Degree(self.log2_degree)
        } else {
            RingShape::Log2Degree(self.log2_degree)
        }
    }

    /// Whether slots hold real numbers, in a real ring: twice as many, and none with an imaginary part.
    #[must_use]
    pub fn has_real_slots(&self) -> bool {
        self.real_slots
    }

    /// The most slots that a message can have: n/2, or n real ones.
    #[must_use]
    pub fn max_slots(&self) -> usize {
        slots_of(self.shape())
    }

    /// The ciphertext moduli of CKKS parameters, those of Q_0 first.
    #[must_use]
    pub fn moduli(&self) -> &[u64] {
        &self.moduli
    }

    /// The levels of the ring for Q_0, Q_1, …, Q_L: how many moduli they are made of, without [`rungs`](Self::rungs).
    #[must_use]
    pub fn levels(&self) -> &[usize] {
        &self.levels
    }

    /// The indices of the moduli of every level of the ring; none where level l has the first l.
    #[must_use]
    pub fn rungs(&self) -> &[Vec<usize>] {
        &self.rungs
    }

    /// The indices of the moduli of Q_l, ascending; none for a level that does not exist.
    #[must_use]
    pub fn limbs(&self, level: usize) -> Vec<usize> {
        self.levels.get(level).map_or_else(Vec::new, |&level| self.ring_limbs(level))
    }

    /// The indices of the moduli of a level of the ring, ascending.
    #[must_use]
    pub fn ring_limbs(&self, level: usize) -> Vec<usize> {
        limbs_of_level(&self.rungs, self.moduli.len(), level)
    }

    /// The level of the ring at which keys serve all levels up to this one, as [`Context::key_level`](crate::Context::key_level).
    #[must_use]
    pub fn key_level(&self, level: usize) -> usize {
        self.joint_level(&(0..=level))
    }

    /// The modulus Q_l of a CKKS level l.
    #[must_use]
    pub fn modulus(&self, level: usize) -> BigUint {
        self.limbs(level).iter().filter_map(|&limb| self.moduli.get(limb)).product()
    }

    /// Makes the ring R modulo Q_L, with the levels of CKKS parameters.
    ///
    /// # Errors
    /// [`CkksError::Ring`] for numbers that are no parameters.
    pub fn ring(&self) -> Result<Ring, CkksError> {
        match self.rungs.as_slice() {
            [] => Ok(Ring::new(self.shape(), &self.moduli)?),
            rungs => Ok(Ring::with_rungs(self.shape(), &self.moduli, rungs)?),
        }
    }

    /// The depth L of CKKS parameters: rescalings in a row, so multiplications in a row.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.levels.len().saturating_sub(1)
    }

    /// The ranges of levels, at the top of which scales start anew.
    #[must_use]
    pub fn scale_ranges(&self) -> &[ScaleRange] {
        &self.scales
    }

    /// The canonical scales Δ_0, Δ_1, …, Δ_L of the CKKS levels.
    #[must_use]
    pub fn scales(&self) -> Vec<f64> {
        let mut scales = Vec::with_capacity(self.levels.len());
        let (mut scale, mut dropped, mut modulus) = (0.0, 1.0, self.modulus(self.depth()));
        for level in (0..self.levels.len()).rev() {
            let start = self.scales.iter().find(|range| range.top == level);
            scale = start.map_or(scale * scale / dropped, |range| f64::from(range.bits).exp2());
            scales.push(scale);
            if let Some(below) = level.checked_sub(1) {
                let lower = self.modulus(below);
                dropped = ratio(&modulus, &lower);
                modulus = lower;
            }
        }
        scales.reverse();
        scales
    }

    /// Bound on the slots of fresh ciphertexts, as log2.
    #[must_use]
    pub fn message_bits(&self) -> u32 {
        self.message_bits
    }

    /// The largest absolute value of a slot of a fresh ciphertext: a power of two.
    #[must_use]
    pub fn message_bound(&self) -> f64 {
        f64::from(self.message_bits).exp2()
    }

    /// log2 of the modulus Q_L of fresh ciphertexts.
    #[must_use]
    pub fn log2_modulus(&self) -> f64 {
        log2_product(&self.moduli)
    }

    /// The size log2 of the modulus of keys, special moduli included, which security is judged by.
    #[must_use]
    pub fn log2_key_modulus(&self) -> f64 {
        self.log2_modulus() + log2_product(&self.key_switching.special_moduli)
    }

    /// The security that CKKS parameters must reach.
    #[must_use]
    pub fn security(&self) -> Security {
        self.security
    }

    /// The distribution of secrets under CKKS parameters.
    #[must_use]
    pub fn secrets(&self) -> SecretDistribution {
        self.secrets
    }

    /// The digits and special moduli of key switching under CKKS parameters.
    #[must_use]
    pub fn key_switching(&self) -> &GadgetOptions {
        &self.key_switching
    }

    /// Estimates the bytes of memory that the tables of a CKKS context take: transforms, the rings of all levels, and
    /// how keys switch at the highest.
    #[must_use]
    pub fn table_bytes(&self) -> u64 {
        let levels: Vec<Vec<usize>> = (0..self.levels.len()).map(|level| self.limbs(level)).collect();
        let all = [(0..self.moduli.len()).collect()];
        memory::table_bytes(self.shape(), &self.moduli, &self.key_switching, &levels, &all)
    }

    /// Checks that the numbers of a CKKS parameter set make one: ring, moduli, levels, scales, digits, security.
    ///
    /// # Errors
    /// [`CkksError::Degree`]; [`CkksError::Moduli`] for the moduli, special ones included; [`CkksError::LevelsUnusable`];
    /// [`CkksError::ScaleUnusable`]; [`CkksError::KeySwitching`]; [`CkksError::Rlwe`] above the security limit.
    pub fn validate(&self) -> Result<(), CkksError> {
        named(self.shape())?;
        let special = &self.key_switching.special_moduli;
        moduli::check_count(self.moduli.len(), special.len())?;
        self.check_chain()?;
        moduli::check(self.shape().root_order(), &self.moduli, special)?;
        let log2_modulus = |level| {
            let own = self.limbs(level).into_iter().filter_map(|limb| self.moduli.get(limb).copied());
            log2_product(&own.collect::<Vec<u64>>())
        };
        let log2_moduli: Vec<f64> = (0..self.levels.len()).map(log2_modulus).collect();
        check_scales(&self.scales(), &log2_moduli, f64::from(self.message_bits))?;
        RnsDigits::new(&self.key_switching, &self.moduli).map_err(CkksError::KeySwitching)?;
        Ok(security::check_of(self.secrets, self.degree(), self.log2_key_modulus(), self.security)?)
    }
}

/// The most slots that messages in a ring can have: n/2, or n real ones.
pub(crate) fn slots_of(ring: RingShape) -> usize {
    if ring.is_real() { ring.degree() } else { ring.degree() / 2 }
}

/// Returns log2 of the degree of a ring that CKKS has, and whether its slots are real.
pub(crate) fn named(ring: RingShape) -> Result<(u32, bool), CkksError> {
    let (log2_degree, real) = match ring {
        RingShape::Log2Degree(log2_degree) => (log2_degree, false),
        RingShape::RealLog2Degree(log2_degree) => (log2_degree, true),
        RingShape::RingIndex(index) => return Err(RingError::UnsupportedIndex { index }.into()),
    };
    if LOG2_DEGREES.contains(&log2_degree) {
        Ok((log2_degree, real))
    } else {
        Err(CkksError::Degree { log2_degree })
    }
}

/// The quotient a/b of two integers with a above b, to the last bit of a double or next to it.
pub(crate) fn ratio(a: &BigUint, b: &BigUint) -> f64 {
    let quotient = (a << 64_u32) / b;
    quotient.to_f64().unwrap_or(f64::INFINITY) / 64_f64.exp2()
}
