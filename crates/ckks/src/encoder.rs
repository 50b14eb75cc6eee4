//! CKKS encoder: encodes complex and real numbers as polynomials, and decodes them.
//!
//! A CKKS message of s < n/2 slots is in the subring of X^(n/2s): its vector repeats n/2s times over all slots, and
//! rotations act on it modulo s. In a real ring n real slots take the place of n/2.

mod double_double;
mod embedding;
mod erased;
mod error;
mod roots;

pub use embedding::Embedding;
pub use error::EncoderError;
pub use sunzi_math::bit_reverse;

use num_complex::Complex64;

use crate::{CkksError, Context, Plaintext};
use erased::Erased;

/// Encoder: turns vectors of at most s complex numbers into CKKS plaintexts.
///
/// Encoding and decoding each cost a few units in the last place of a double of the largest number, and encoding a
/// rounding of coefficients: an error of √(s/6)/scale in every slot, standard deviation.
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
/// let plaintext = encoder.encode_real(&[0.25, 2.0_f64.sqrt()])?;
/// let decoded = encoder.decode_real(&plaintext)?;
/// assert!((decoded[0] - 0.25).abs() < 1e-9 && (decoded[1] - 2.0_f64.sqrt()).abs() < 1e-9);
/// // There are four slots; those without a number hold 0.
/// assert_eq!(decoded.len(), 4);
/// assert!(decoded[3].abs() < 1e-9);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Encoder {
    context: Context,
    embedding: Embedding,
}

impl Encoder {
    /// Makes an encoder of s slots.
    ///
    /// # Errors
    /// [`EncoderError::Slots`] unless s is a power of two up to [`max_slots`](Context::max_slots).
    pub fn new(context: &Context, slots: usize) -> Result<Self, CkksError> {
        context.check_slots(slots)?;
        Ok(Self { context: context.clone(), embedding: Embedding::new(slots)? })
    }

    /// The number s of slots of an encoder.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.embedding.slots()
    }

    /// Encodes complex numbers at the highest level and its canonical scale; missing ones count as zero.
    ///
    /// # Errors
    /// [`EncoderError::TooManyValues`]; [`EncoderError::NotFinite`]; [`EncoderError::NotReal`]; [`EncoderError::TooLarge`];
    /// [`CkksError::MessageTooLarge`] for numbers that do not fit the level at this scale.
    pub fn encode(&self, values: &[Complex64]) -> Result<Plaintext, CkksError> {
        let level = self.context.depth();
        self.encode_at(values, level, self.context.scale(level)?)
    }

    /// Encodes real numbers at the highest level and its canonical scale; missing ones count as zero.
    ///
    /// # Errors
    /// Every error of [`encode`](Self::encode).
    pub fn encode_real(&self, values: &[f64]) -> Result<Plaintext, CkksError> {
        self.encode(&Erased::from_real(values))
    }

    /// Encodes complex numbers at a given level and scale; missing ones count as zero.
    ///
    /// # Errors
    /// Every error of [`encode`](Self::encode); [`CkksError::NoSuchLevel`]; [`EncoderError::Scale`] or [`CkksError::Value`] for a scale that
    /// no plaintext has.
    pub fn encode_at(&self, values: &[Complex64], level: usize, scale: f64) -> Result<Plaintext, CkksError> {
        let magnitude = values.iter().map(|value| value.norm()).fold(0.0, f64::max);
        let coefficients = self.embedding.encode_in(self.context.ring().ring_index(), values, scale)?;
        Plaintext::from_coefficients(&self.context, &coefficients, level, scale, self.slots(), magnitude)
    }

    /// Encodes real numbers at a given level and scale, as [`encode_at`](Self::encode_at) does complex ones.
    ///
    /// # Errors
    /// Every error of [`encode_at`](Self::encode_at).
    pub fn encode_real_at(&self, values: &[f64], level: usize, scale: f64) -> Result<Plaintext, CkksError> {
        self.encode_at(&Erased::from_real(values), level, scale)
    }

    /// Decodes a CKKS plaintext of up to s slots to complex numbers.
    ///
    /// # Errors
    /// [`EncoderError::PlaintextSlots`] for more; [`CkksError::LevelMismatch`] or [`CkksError::Ring`] for a plaintext of another
    /// context.
    pub fn decode(&self, plaintext: &Plaintext) -> Result<Vec<Complex64>, CkksError> {
        let (slots, got) = (self.slots(), plaintext.slots());
        if got > slots {
            return Err(EncoderError::PlaintextSlots { slots, got }.into());
        }
        let coefficients = plaintext.to_coefficients(&self.context)?;
        let ring = self.context.ring().ring_index();
        Ok(self.embedding.decode_in(ring, &coefficients, plaintext.scale())?)
    }

    /// Decodes a plaintext to the real parts of its numbers.
    ///
    /// # Errors
    /// Every error of [`decode`](Self::decode).
    pub fn decode_real(&self, plaintext: &Plaintext) -> Result<Vec<f64>, CkksError> {
        Ok(Erased::from(self.decode(plaintext)?).iter().map(|value| value.re).collect())
    }
}

#[cfg(test)]
mod tests;
