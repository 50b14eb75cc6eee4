//! Complex numbers that are erased when dropped.

use std::ops::{Deref, DerefMut};

use num_complex::Complex64;
use zeroize::Zeroize;

/// A list of numbers that may be secret, erased when dropped.
pub(super) struct Erased(Vec<Complex64>);

impl Erased {
    pub(super) fn from_real(values: &[f64]) -> Self {
        Self(values.iter().map(|&value| value.into()).collect())
    }

    /// Gives the list of numbers to its owner, without erasing it.
    pub(super) fn into_inner(mut self) -> Vec<Complex64> {
        std::mem::take(&mut self.0)
    }
}

impl From<Vec<Complex64>> for Erased {
    fn from(values: Vec<Complex64>) -> Self {
        Self(values)
    }
}

impl Deref for Erased {
    type Target = [Complex64];

    fn deref(&self) -> &[Complex64] {
        &self.0
    }
}

impl DerefMut for Erased {
    fn deref_mut(&mut self) -> &mut [Complex64] {
        &mut self.0
    }
}

impl Drop for Erased {
    fn drop(&mut self) {
        for Complex64 { re, im } in &mut self.0 {
            re.zeroize();
            im.zeroize();
        }
    }
}
