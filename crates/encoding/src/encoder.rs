//! Encoders: numbers to plaintexts and back.
//!
//! * [`BatchEncoder`]: n slots, products act slot by slot; t prime, t ≡ 1 (mod 2n).
//! * [`CoefficientEncoder`]: one number per coefficient, products convolve; any t.
//! * [`GaloisEncoder`]: elements of GF(p^d) or GR(p^r, d), products act slot by slot; any ring index, t = p^r.
//! * [`CrtEncoder`]: integers wider than one t, spread over several plaintexts.

mod batch;
mod coefficient;
mod crt;
mod galois;

pub use batch::BatchEncoder;
pub use batch::is_batchable;
pub use coefficient::CoefficientEncoder;
pub use crt::CrtEncoder;
pub use crt::check_pairwise_coprime;
pub use galois::{DimensionRotation, GaloisEncoder, WrappedRotation};

use zeroize::Zeroizing;

use crate::plaintext::to_signed;
use crate::{EncodingError, Plaintext};

/// An encoder: a placement of numbers modulo t in a plaintext.
///
/// ```
/// use sunzi_encoding::{BatchEncoder, CoefficientEncoder, Encoder, EncodingError};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// /// Works with numbers in slots and in coefficients.
/// fn doubled(encoder: &impl Encoder, values: &[u64]) -> Result<Vec<u64>, EncodingError> {
///     let twice: Vec<u64> = values.iter().map(|x| 2 * x % encoder.plain_modulus()).collect();
///     encoder.decode(&encoder.encode(&twice)?)
/// }
///
/// assert_eq!(doubled(&BatchEncoder::new(64, 257)?, &[1, 200])?[..2], [2, 143]);
/// assert_eq!(doubled(&CoefficientEncoder::new(64, 10)?, &[1, 7])?[..2], [2, 4]);
/// # Ok(())
/// # }
/// ```
pub trait Encoder {
    /// Ring degree n of the plaintexts.
    fn degree(&self) -> usize;
    /// Plaintext modulus t of the encoder.
    fn plain_modulus(&self) -> u64;
    /// Number of numbers in one plaintext.
    fn slots(&self) -> usize;

    /// Encodes numbers in [0, t); missing ones count as zero.
    ///
    /// # Errors
    /// [`EncodingError::TooManyValues`]; [`EncodingError::ValueOutOfRange`].
    fn encode(&self, values: &[u64]) -> Result<Plaintext, EncodingError>;

    /// Returns all numbers of a plaintext, in [0, t).
    ///
    /// # Errors
    /// [`EncodingError::PlaintextMismatch`] for a plaintext of another degree or modulus.
    fn decode(&self, plaintext: &Plaintext) -> Result<Vec<u64>, EncodingError>;

    /// Encodes numbers in [-⌊t/2⌋, ⌈t/2⌉ − 1]; missing ones count as zero.
    ///
    /// # Errors
    /// [`EncodingError::TooManyValues`]; [`EncodingError::ValueOutOfRange`].
    fn encode_signed(&self, values: &[i64]) -> Result<Plaintext, EncodingError> {
        let t = self.plain_modulus();
        let mut reduced = Zeroizing::new(Vec::with_capacity(values.len()));
        for (index, &value) in values.iter().enumerate() {
            reduced.push(from_signed(value, t, index)?);
        }
        self.encode(&reduced)
    }

    /// Returns all numbers of a plaintext, in [-⌊t/2⌋, ⌈t/2⌉ − 1].
    ///
    /// # Errors
    /// [`EncodingError::PlaintextMismatch`] for a plaintext of another degree or modulus.
    fn decode_signed(&self, plaintext: &Plaintext) -> Result<Vec<i64>, EncodingError> {
        let t = self.plain_modulus();
        Ok(self.decode(plaintext)?.into_iter().map(|value| to_signed(value, t)).collect())
    }
}

/// Returns the residue in [0, t) of `value`, which lies in [-⌊t/2⌋, ⌈t/2⌉ − 1].
fn from_signed(value: i64, t: u64, index: usize) -> Result<u64, EncodingError> {
    let fits = if value < 0 { value.unsigned_abs() <= t / 2 } else { value.unsigned_abs() < t.div_ceil(2) };
    match (fits, value < 0) {
        (true, true) => Ok(t - value.unsigned_abs()),
        (true, false) => Ok(value.unsigned_abs()),
        (false, _) => Err(EncodingError::signed_out_of_range(index, t)),
    }
}

/// Checks the number and range of values of [`Encoder::encode`].
fn check_values(values: &[u64], slots: usize, t: u64) -> Result<(), EncodingError> {
    if values.len() > slots {
        return Err(EncodingError::TooManyValues { got: values.len(), slots });
    }
    match values.iter().position(|&value| value >= t) {
        Some(index) => Err(EncodingError::unsigned_out_of_range(index, t)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signed_residues_cover_the_centred_range_and_no_more() {
        for t in [2_u64, 3, 4, 5, 257, 1 << 20, (1 << 60) - 1, (1 << 60) - 2] {
            let low = -((t / 2) as i64);
            let high = t.div_ceil(2) as i64 - 1;
            for value in [low, low + 1, -1, 0, high - 1, high] {
                if (low..=high).contains(&value) {
                    let residue = from_signed(value, t, 0).unwrap();
                    assert!(residue < t);
                    assert_eq!(to_signed(residue, t), value, "t = {t}");
                }
            }
            for value in [low - 1, high + 1, i64::MIN, i64::MAX] {
                let error = from_signed(value, t, 9).unwrap_err();
                assert!(error.to_string().contains(&format!("[{low}, {high}]")), "{error}");
            }
        }
    }
}
