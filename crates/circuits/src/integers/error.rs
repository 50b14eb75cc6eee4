//! Errors of encrypted integers.

use sunzi_ckks::CkksError;

use super::IntegerKind;
use crate::bootstrap::BootstrapError;

/// An error of encrypted integers: what was expected, what came, what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IntegerError {
    /// A clear integer is outside of the bounds of its kind, or of those declared.
    #[error("integer {place} is {got}: it must be from {low} to {high}")]
    Value {
        /// Place of the integer in the batch.
        place: usize,
        /// Value of the integer.
        got: i128,
        /// Least possible value.
        low: i128,
        /// Largest possible value.
        high: i128,
    },
    /// A result may be outside of its kind, where that is refused.
    #[error(
        "{operation} may give any integer from {low} to {high}, which {kind} does not hold: declare tighter bounds when encrypting, take a wider \
         kind, or compute with Overflow::Wrap"
    )]
    Overflow {
        /// Name of the operation.
        operation: &'static str,
        /// Least possible result.
        low: i128,
        /// Largest possible result.
        high: i128,
        /// Kind of the operands.
        kind: IntegerKind,
    },
    /// Two operands differ in what they must have in common.
    #[error("{operation} of {left} and of {right}: {advice}")]
    Mismatch {
        /// Name of the operation.
        operation: &'static str,
        /// Description of the left operand.
        left: String,
        /// Description of the right operand.
        right: String,
        /// Advice: what the caller may give instead.
        advice: &'static str,
    },
    /// A clear number is out of range.
    #[error("{what} is {got}: it must be {expected}")]
    Operand {
        /// Name of the number.
        what: &'static str,
        /// Value of the number.
        got: i128,
        /// Values that are possible.
        expected: String,
    },
    /// An error of a look-up.
    #[error(transparent)]
    Bootstrap(Box<BootstrapError>),
    /// An error of the CKKS scheme.
    #[error(transparent)]
    Ckks(Box<CkksError>),
}

impl IntegerError {
    /// Error of look-ups with another number of results than they have functions.
    pub(super) fn results(expected: usize, got: usize) -> Self {
        Self::Operand {
            what: "the number of results of look-ups",
            got: got as i128,
            expected: expected.to_string(),
        }
    }
}

impl From<BootstrapError> for IntegerError {
    fn from(error: BootstrapError) -> Self {
        Self::Bootstrap(Box::new(error))
    }
}

impl From<CkksError> for IntegerError {
    fn from(error: CkksError) -> Self {
        Self::Ckks(Box::new(error))
    }
}
