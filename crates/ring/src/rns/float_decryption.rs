//! Division by q and rounding modulo t by quotients t/q_i [BEHZ16, 3.5].

use sunzi_kernels::{Modulus, RoundedSum};

use super::{DecryptionForm, half_less};
use crate::options::Precision;
use crate::{Basis, RingError};

/// Error below which [`Precision::Automatic`] takes doubles: it costs less than 0.003 bits of noise.
const NEGLIGIBLE: f64 = 1.0 / 1024.0;

/// Computes ⌊Σ x_i·t/q_i⌉ mod t for x_i = |a·q_i/q|_{q_i}: multiples of q in Σ x_i·q/q_i become multiples of t.
///
/// The paper asks for t/q_i to 2ν + log2 k − log2 t bits, which makes the sum right to the last unit of x_i. Noise is
/// never that close to its limit: the relevant error is that relative to 1, and x_i·t/q_i < t in doubles has
/// t·2^-53 of it, however long q_i is.
pub(crate) struct FloatDecryption {
    sum: RoundedSum,
}

impl FloatDecryption {
    pub(crate) fn new(basis: &Basis, t: u64, precision: Precision) -> Result<Self, RingError> {
        let double = || RoundedSum::double(basis.isa(), basis.moduli(), t);
        let fixed = || RoundedSum::fixed(basis.isa(), basis.moduli(), t);
        let sum = match precision {
            Precision::Double => double()?,
            Precision::Fixed128 => fixed()?,
            Precision::Automatic => {
                let sum = double()?;
                if sum.error() <= NEGLIGIBLE { sum } else { fixed()? }
            }
        };
        if half_less(sum.error()) <= 0.0 {
            let expected = format_args!(
                "one small enough that {} quotients in this precision err by less than 1/2, not by {:.3e}",
                basis.len(),
                sum.error()
            );
            return Err(RingError::out_of_range("plaintext modulus", expected, t));
        }
        Ok(Self { sum })
    }
}

impl DecryptionForm for FloatDecryption {
    fn row_factor(&self, _: &Modulus, inverse: u64) -> u64 {
        inverse
    }

    /// The margin of decryption by quotients: 1/2 less the proven error of the sum.
    fn margin(&self) -> f64 {
        half_less(self.sum.error())
    }

    fn apply(&self, rows: &[&[u64]], message: &mut [u64]) -> Result<(), RingError> {
        Ok(self.sum.apply(rows, message)?)
    }
}
