//! Precision of CKKS ciphertexts: how large and how wrong the slots are, known without the secret key.
//!
//! Two figures travel with a ciphertext. The **magnitude** is a bound on every |slot|. The **deviation** is an estimate
//! of √E|e|² for the error e of a slot, under the usual model: fresh errors, roundings and key switches are independent
//! Gaussians, slots are as large as their bound. Errors of operands that share an encryption add linearly, those of
//! others as variances. The sound bounds of [`NoiseBound`](sunzi_rlwe::NoiseBound) stand beside it.

use sunzi_rlwe::sharing::Flooding;
use sunzi_rlwe::wire::{FieldReader, Fields, WireError};

/// Bytes that a precision takes in files.
pub(crate) const STORED_LEN: usize = (2 + WORDS) * 8;
/// Number of words that the bits of an ancestry take.
const WORDS: usize = 4;

/// The fresh encryptions that a ciphertext came from: one random bit of 256 for each. Two ciphertexts without a common
/// bit are independent; with one they may not be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Ancestry([u64; WORDS]);

impl Ancestry {
    fn of(tag: u64) -> Self {
        let (word, bit) = ((tag >> 6) as usize % WORDS, tag & 63);
        let mut bits = [0; WORDS];
        bits.iter_mut().skip(word).take(1).for_each(|bits| *bits = 1 << bit);
        Self(bits)
    }

    fn meets(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }

    fn union(mut self, other: &Self) -> Self {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
        self
    }
}

/// Precision of CKKS slots: a bound on the slots and an estimate of their errors.
///
/// ```
/// use sunzi_ckks::Precision;
///
/// let precision = Precision::plain(1.0, 2.0_f64.powi(-20));
/// assert_eq!((precision.magnitude(), precision.bits()), (1.0, 20.0));
/// // Whoever knows that all slots are at most 1/2 says so.
/// assert_eq!(precision.with_magnitude(0.5).magnitude(), 0.5);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precision {
    magnitude: f64,
    deviation: f64,
    ancestry: Ancestry,
}

impl Precision {
    /// The precision of a fresh encryption with a random tag: two with different tags are independent.
    #[must_use]
    pub fn fresh(magnitude: f64, deviation: f64, tag: u64) -> Self {
        Self { magnitude, deviation, ancestry: Ancestry::of(tag) }
    }

    /// The precision of a plaintext, which depends on no encryption.
    #[must_use]
    pub fn plain(magnitude: f64, deviation: f64) -> Self {
        Self { magnitude, deviation, ancestry: Ancestry::default() }
    }

    /// The magnitude: a bound on the absolute value of every slot.
    #[must_use]
    pub fn magnitude(&self) -> f64 {
        self.magnitude
    }

    /// The deviation √E|e|² for the error e of a slot.
    #[must_use]
    pub fn deviation(&self) -> f64 {
        self.deviation
    }

    /// The precision in bits behind the binary point that are right: −log2 of the deviation. About a third of the
    /// slots have a larger error.
    #[must_use]
    pub fn bits(&self) -> f64 {
        -self.deviation.log2()
    }

    /// Returns the precision of slots with another bound on them, known to whoever computes.
    #[must_use]
    pub fn with_magnitude(self, magnitude: f64) -> Self {
        Self { magnitude, ..self }
    }

    /// Returns the precision of slots with another deviation of their errors.
    #[must_use]
    pub fn with_deviation(self, deviation: f64) -> Self {
        Self { deviation, ..self }
    }

    /// The precision of a sum or difference of two ciphertexts.
    #[must_use]
    pub fn sum(&self, other: &Self) -> Self {
        Self {
            magnitude: self.magnitude + other.magnitude,
            deviation: self.join(other, self.deviation, other.deviation),
            ancestry: self.ancestry.union(&other.ancestry),
        }
    }

    /// The precision of a product of two ciphertexts, slot by slot; `spread` is √(n/2 / slots): the part of both
    /// errors outside the subring of a sparse message comes back into it when they meet.
    #[must_use]
    pub fn product(&self, other: &Self, spread: f64) -> Self {
        let crossed = self.join(other, self.deviation * other.magnitude, other.deviation * self.magnitude);
        Self {
            magnitude: self.magnitude * other.magnitude,
            deviation: crossed.hypot(self.deviation * other.deviation * spread),
            ancestry: self.ancestry.union(&other.ancestry),
        }
    }

    /// The precision of slots that are multiplied by a number.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        let factor = factor.abs();
        Self {
            magnitude: self.magnitude * factor,
            deviation: self.deviation * factor,
            ancestry: self.ancestry,
        }
    }

    /// Returns the precision of slots after a further independent error of a given deviation.
    #[must_use]
    pub fn plus_error(&self, deviation: f64) -> Self {
        Self { deviation: self.deviation.hypot(deviation), ..*self }
    }

    /// Returns the precision of slots after a further error of a given deviation that may depend on the errors before.
    #[must_use]
    pub fn plus_dependent_error(&self, deviation: f64) -> Self {
        Self { deviation: self.deviation + deviation, ..*self }
    }

    /// Writes a precision to fields of a file.
    pub(crate) fn put(&self, fields: &mut Fields) {
        fields.f64(self.magnitude);
        fields.f64(self.deviation);
        self.ancestry.0.iter().for_each(|&word| fields.u64(word));
    }

    /// Reads a precision from fields of a file, as its writer claims it.
    pub(crate) fn get(fields: &mut FieldReader<'_>) -> Result<Self, WireError> {
        let magnitude = fields.f64_in("bound on slots", 0.0..=f64::MAX)?;
        let deviation = fields.f64_in("deviation of slots", 0.0..=f64::MAX)?;
        let ancestry = Ancestry([fields.u64()?, fields.u64()?, fields.u64()?, fields.u64()?]);
        Ok(Self { magnitude, deviation, ancestry })
    }

    fn join(&self, other: &Self, a: f64, b: f64) -> f64 {
        if self.ancestry.meets(&other.ancestry) { a + b } else { a.hypot(b) }
    }
}

/// The deviation of the error in a slot that the flooding noise of several parties makes.
#[must_use]
pub fn flooding_error(flooding: &Flooding, parties: u32, slots: usize, scale: f64) -> f64 {
    slot_error(flooding.log2_deviation().exp2() * f64::from(parties).sqrt(), slots, scale)
}

/// The error in a slot that an error of deviation σ in every coefficient makes: √(2·slots)·σ/scale, as only the
/// coefficients of a sparse message's subring count.
#[must_use]
pub fn slot_error(coefficient: f64, slots: usize, scale: f64) -> f64 {
    coefficient * (2.0 * slots as f64).sqrt() / scale
}
