//! Encodes complex and real numbers as polynomials, and decodes them.
//!
//! Messages of s < n/2 slots live in the subring of X^(n/2s): their vector repeats n/2s times over all slots, and rotations act
//! on it modulo s.

mod double_double;
mod embedding;
mod erased;
mod error;
mod roots;

pub use embedding::{Embedding, bit_reverse};
pub use error::EncoderError;

use num_complex::Complex64;
use zeroize::Zeroizing;

use crate::{CkksError, Context, Plaintext};
use erased::Erased;

/// Turns vectors of at most s complex numbers into plaintexts.
///
/// Encoding and decoding each cost a few units in the last place of a double of the largest number, and encoding a rounding of
/// coefficients: an error of √(s/6)/scale in every slot, standard deviation.
#[derive(Clone, Debug)]
pub struct Encoder {
    context: Context,
    embedding: Embedding,
}

impl Encoder {
    /// An encoder of s slots.
    ///
    /// # Errors
    /// [`EncoderError::Slots`] unless s is a power of two up to n/2.
    pub fn new(context: &Context, slots: usize) -> Result<Self, CkksError> {
        context.check_slots(slots)?;
        Ok(Self { context: context.clone(), embedding: Embedding::new(slots)? })
    }

    /// The number of slots s.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.embedding.slots()
    }

    /// The plaintext of these numbers at the highest level and its canonical scale; missing ones count as zero.
    ///
    /// # Errors
    /// [`EncoderError::TooManyValues`]; [`EncoderError::NotFinite`]; [`EncoderError::TooLarge`];
    /// [`CkksError::MessageTooLarge`] for numbers that do not fit the level at this scale.
    pub fn encode(&self, values: &[Complex64]) -> Result<Plaintext, CkksError> {
        let level = self.context.depth();
        self.encode_at(values, level, self.context.scale(level)?)
    }

    /// The plaintext of these real numbers at the highest level and its canonical scale; missing ones count as
    /// zero.
    ///
    /// # Errors
    /// Every error of [`encode`](Self::encode).
    pub fn encode_real(&self, values: &[f64]) -> Result<Plaintext, CkksError> {
        self.encode(&Erased::from_real(values))
    }

    /// The plaintext of these numbers at this level and scale; missing ones count as zero.
    ///
    /// # Errors
    /// Every error of [`encode`](Self::encode); [`CkksError::NoSuchLevel`]; [`EncoderError::Scale`] or [`CkksError::Value`] for a scale that
    /// no plaintext has.
    pub fn encode_at(&self, values: &[Complex64], level: usize, scale: f64) -> Result<Plaintext, CkksError> {
        let magnitude = values.iter().map(|value| value.norm()).fold(0.0, f64::max);
        let coefficients = self.embedding.encode(values, scale)?;
        let gap = self.gap();
        let mut spread = Zeroizing::new(vec![0_i128; self.context.degree()]);
        spread.iter_mut().step_by(gap).zip(coefficients.iter()).for_each(|(to, from)| *to = *from);
        Plaintext::from_coefficients(&self.context, &spread, level, scale, self.slots(), magnitude)
    }

    /// [`encode_at`](Self::encode_at) for real numbers.
    ///
    /// # Errors
    /// Every error of [`encode_at`](Self::encode_at).
    pub fn encode_real_at(&self, values: &[f64], level: usize, scale: f64) -> Result<Plaintext, CkksError> {
        self.encode_at(&Erased::from_real(values), level, scale)
    }

    /// The numbers of a plaintext of up to s slots.
    ///
    /// # Errors
    /// [`EncoderError::PlaintextSlots`] for more; [`CkksError::LevelMismatch`] or [`CkksError::Ring`] for a plaintext of another
    /// context.
    pub fn decode(&self, plaintext: &Plaintext) -> Result<Vec<Complex64>, CkksError> {
        let (slots, got) = (self.slots(), plaintext.slots());
        if got > slots {
            return Err(EncoderError::PlaintextSlots { slots, got }.into());
        }
        let all = plaintext.to_coefficients(&self.context)?;
        let coefficients: Zeroizing<Vec<f64>> =
            Zeroizing::new(all.iter().step_by(self.gap()).copied().collect());
        Ok(self.embedding.decode(&coefficients, plaintext.scale())?)
    }

    /// The real parts of the numbers of a plaintext.
    ///
    /// # Errors
    /// Every error of [`decode`](Self::decode).
    pub fn decode_real(&self, plaintext: &Plaintext) -> Result<Vec<f64>, CkksError> {
        Ok(Erased::from(self.decode(plaintext)?).iter().map(|value| value.re).collect())
    }

    /// The gap n/2s: the vector repeats that often over all slots.
    fn gap(&self) -> usize {
        self.context.max_slots() / self.slots()
    }
}

#[cfg(test)]
mod tests;
