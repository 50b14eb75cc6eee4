//! Noise bounds as stored in files.

use super::{Log2, NoiseBound};
use crate::wire::{FieldReader, Fields, WireError};

/// Length of a noise bound in files, in bytes.
pub(crate) const STORED_LEN: usize = 8 * 8;
/// Logarithm log2 that no noise bound reaches: the largest modulus has 2^14 bits.
const LARGEST: f64 = (1 << 20) as f64;

impl NoiseBound {
    /// Writes all fields of noise bounds.
    pub(crate) fn put(&self, fields: &mut Fields) -> Result<(), WireError> {
        for bound in [self.worst, self.deviation, self.peak, self.heavy.0, self.heavy.1] {
            fields.f64(checked(bound)?.bits());
        }
        fields.u64(self.secret_degree.into());
        fields.option(self.origin);
        Ok(())
    }

    /// Reads noise bounds: what their writer claims, never a reason to trust.
    pub(crate) fn get(fields: &mut FieldReader<'_>) -> Result<Self, WireError> {
        let mut bound = || checked(Log2::from_bits(fields.f64()?));
        let [worst, deviation, peak] = [bound()?, bound()?, bound()?];
        let heavy = (bound()?, bound()?);
        let secret_degree = fields.usize_in("products behind a noise bound", 0..=u32::MAX as usize)? as u32;
        let origin = fields.option("tag of a fresh encryption")?;
        Ok(Self { worst, deviation, peak, secret_degree, origin, heavy })
    }
}

/// Reads a noise bound from a file, and checks that it is zero or has a possible logarithm.
fn checked(bound: Log2) -> Result<Log2, WireError> {
    if bound == Log2::ZERO || bound.bits().abs() <= LARGEST {
        Ok(bound)
    } else {
        Err(WireError::value("log2 of a noise bound", "-inf, or at most 2^20", bound.bits()))
    }
}
