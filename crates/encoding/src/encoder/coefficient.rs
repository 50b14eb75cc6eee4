//! Encoder of one number per coefficient, for any plaintext modulus.

use crate::plaintext::{check_length, check_plain_modulus};
use crate::{EncodingError, Plaintext};

use super::{Encoder, check_values};

/// Encodes number `i` as the coefficient of X^i: sums act number by number, products convolve
/// modulo X^n + 1. Works for every t with 2 ≤ t < 2^60.
///
/// ```
/// use sunzi_encoding::{CoefficientEncoder, Encoder};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let encoder = CoefficientEncoder::new(64, 10)?;
/// let plaintext = encoder.encode(&[3, 1, 4])?;
/// assert_eq!(plaintext.coefficients()[..4], [3, 1, 4, 0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct CoefficientEncoder {
    degree: usize,
    plain_modulus: u64,
}

impl CoefficientEncoder {
    /// Makes the encoder for ring degree n and plaintext modulus t.
    ///
    /// # Errors
    /// [`EncodingError::PlainModulusOutOfRange`]; [`EncodingError::DegreeOutOfRange`] for n = 0 or above 2^17.
    pub fn new(degree: usize, plain_modulus: u64) -> Result<Self, EncodingError> {
        check_plain_modulus(plain_modulus)?;
        check_length(degree)?;
        Ok(Self { degree, plain_modulus })
    }
}

impl Encoder for CoefficientEncoder {
    fn degree(&self) -> usize {
        self.degree
    }

    fn plain_modulus(&self) -> u64 {
        self.plain_modulus
    }

    fn slots(&self) -> usize {
        self.degree
    }

    fn encode(&self, values: &[u64]) -> Result<Plaintext, EncodingError> {
        check_values(values, self.degree, self.plain_modulus)?;
        let mut coefficients = values.to_vec();
        coefficients.resize(self.degree, 0);
        Plaintext::new(coefficients, self.plain_modulus)
    }

    fn decode(&self, plaintext: &Plaintext) -> Result<Vec<u64>, EncodingError> {
        plaintext.check(self.degree, self.plain_modulus)?;
        Ok(plaintext.coefficients().to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_modulus_round_trips() {
        for t in [2_u64, 3, 4, 6, 1 << 16, 65537, (1 << 60) - 1] {
            let encoder = CoefficientEncoder::new(10, t).unwrap();
            let values = [0, 1, t - 1, t / 2];
            let plaintext = encoder.encode(&values).unwrap();
            let back = encoder.decode(&plaintext).unwrap();
            assert_eq!(back[..4], values);
            assert_eq!(back[4..], [0; 6]);
            let signed = [0_i64, -1, -((t / 2) as i64), t.div_ceil(2) as i64 - 1];
            let plaintext = encoder.encode_signed(&signed).unwrap();
            assert_eq!(encoder.decode_signed(&plaintext).unwrap()[..4], signed);
        }
    }

    #[test]
    fn misuse_is_an_error() {
        let encoder = CoefficientEncoder::new(4, 7).unwrap();
        assert!(matches!(encoder.encode(&[0; 5]), Err(EncodingError::TooManyValues { got: 5, slots: 4 })));
        assert!(matches!(encoder.encode(&[1, 7]), Err(EncodingError::ValueOutOfRange { index: 1, .. })));
        assert!(matches!(
            encoder.encode_signed(&[1, 4]),
            Err(EncodingError::ValueOutOfRange { index: 1, .. })
        ));
        let other = CoefficientEncoder::new(4, 8).unwrap().encode(&[1]).unwrap();
        assert!(matches!(encoder.decode(&other), Err(EncodingError::PlaintextMismatch { .. })));
        assert!(CoefficientEncoder::new(0, 7).is_err());
        assert!(CoefficientEncoder::new(4, 1).is_err());
        assert!(CoefficientEncoder::new(4, 1 << 60).is_err());
    }
}
