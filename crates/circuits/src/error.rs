//! What can go wrong in a circuit.

use sunzi_encoding::EncodingError;

use crate::Rotation;
use crate::statistics::StatisticsError;

/// An error of a circuit, or of the scheme `E` below: what was expected, what came, what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CircuitError<E: std::error::Error + 'static> {
    /// Nothing was given where something is needed.
    #[error("{what} needs at least one term")]
    Empty {
        /// The circuit.
        what: &'static str,
    },
    /// Two lists should be equally long.
    #[error("lists of {left} and {right} ciphertexts: give each term a partner")]
    LengthsDiffer {
        /// Length of the first list.
        left: usize,
        /// Length of the second list.
        right: usize,
    },
    /// The circuit multiplies, and there is no relinearisation key.
    #[error("the circuit multiplies ciphertexts: give it a relinearisation key")]
    MissingRelinearizationKey,
    /// The circuit rotates, and there is no key to do it.
    #[error(
        "{rotation} has no Galois key: make keys for all of the circuit's required rotations, with \
         EvaluationKeys::generate"
    )]
    MissingRotation {
        /// The first rotation without a key.
        rotation: Rotation,
    },
    /// The circuit applies an automorphism, and there is no key to do it.
    #[error(
        "X -> X^{exponent} has no Galois key: make keys for all exponents that the circuit lists, with \
         EvaluationKeys::for_exponents"
    )]
    MissingAutomorphism {
        /// The first exponent without a key.
        exponent: u64,
    },
    /// A circuit on slots that must be elements of a field.
    #[error("{what} needs slots in a field, these are modulo {prime}^{exponent}: take exponent 1")]
    NoField {
        /// The circuit.
        what: &'static str,
        /// p.
        prime: u64,
        /// r.
        exponent: u32,
    },
    /// Slots that are not there, or elements that do not fit them.
    #[error(transparent)]
    Encoding(#[from] EncodingError),
    /// A segment of slots has an impossible length.
    #[error(transparent)]
    Segment(EncodingError),
    /// A matrix does not fit a row of slots.
    #[error(
        "a matrix of {rows} x {columns} for rows of {row_length} slots: both sides must be at least 1 and at \
         most that; take a larger ring or cut the matrix into blocks"
    )]
    MatrixShape {
        /// Rows of the matrix.
        rows: usize,
        /// Columns of the matrix.
        columns: usize,
        /// Slots in a row of the ciphertext.
        row_length: usize,
    },
    /// A plan was made for other parameters.
    #[error("the plan is for {what} {expected}, the parameters have {got}: make a plan for these parameters")]
    PlanMismatch {
        /// What differs.
        what: &'static str,
        /// The plan's.
        expected: u64,
        /// The parameters'.
        got: u64,
    },
    /// An error of the statistics circuit.
    #[error(transparent)]
    Statistics(#[from] StatisticsError),
    /// An error of the scheme.
    #[error(transparent)]
    Scheme(E),
}
