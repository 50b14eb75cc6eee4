//! Rotations of the slots of the exact schemes.

use std::fmt;

use crate::{RlweError, galois};

/// A movement of the 2 × n/2 slots of a plaintext.
///
/// ```
/// use sunzi_rlwe::Rotation;
///
/// assert_eq!(Rotation::Rows(-1).reduced(32), Some(Rotation::Rows(31)));
/// assert_eq!(Rotation::Rows(32).reduced(32), None);
/// assert_eq!(Rotation::Columns.exponent(128)?, 127);
/// # Ok::<(), sunzi_rlwe::RlweError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rotation {
    /// Turns both rows left by a number of slots, right if negative: slot i + steps moves to slot i.
    Rows(i64),
    /// Swaps the two rows of slots.
    Columns,
}

impl Rotation {
    /// Returns the exponent k of the automorphism X → X^k that moves slots by the rotation, in the ring of an index.
    ///
    /// # Errors
    /// [`RlweError::NoRows`] unless the index is a power of two from 4 on.
    pub fn exponent(self, index: u64) -> Result<u64, RlweError> {
        match self {
            Self::Rows(steps) => galois::rotation_exponent(index, steps),
            Self::Columns => galois::swap_exponent(index),
        }
    }

    /// Returns the rotation with 0 ≤ steps < `row_length`; none if it moves nothing.
    #[must_use]
    pub fn reduced(self, row_length: usize) -> Option<Self> {
        match self {
            Self::Columns => Some(self),
            Self::Rows(steps) => match steps.checked_rem_euclid(row_length as i64) {
                None | Some(0) => None,
                Some(steps) => Some(Self::Rows(steps)),
            },
        }
    }
}

impl fmt::Display for Rotation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rows(steps @ (1 | -1)) => write!(f, "the rotation of rows by {steps} slot"),
            Self::Rows(steps) => write!(f, "the rotation of rows by {steps} slots"),
            Self::Columns => f.write_str("the swap of rows"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Rotation;

    #[test]
    fn rotations_reduce_modulo_the_row() {
        assert_eq!(Rotation::Rows(-1).reduced(32), Some(Rotation::Rows(31)));
        assert_eq!(Rotation::Rows(64).reduced(32), None);
        assert_eq!(Rotation::Rows(i64::MIN).reduced(1), None);
        assert_eq!(Rotation::Rows(5).reduced(0), None);
        assert_eq!(Rotation::Columns.reduced(1), Some(Rotation::Columns));
    }
}
