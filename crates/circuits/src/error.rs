//! Errors of circuits.

use sunzi_encoding::EncodingError;

use crate::Rotation;
use crate::statistics::StatisticsError;

/// An error of a circuit, or of the scheme `E` below: what was expected, what came, what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CircuitError<E: std::error::Error + 'static> {
    /// A circuit was given nothing where it needs an input.
    #[error("{what} needs at least one term")]
    Empty {
        /// Name of the circuit.
        what: &'static str,
    },
    /// Two lists should be equally long.
    #[error("lists of {left} and {right} ciphertexts: give each term a partner")]
    LengthsDiffer {
        /// Length of the first of two lists.
        left: usize,
        /// Length of the second of two lists.
        right: usize,
    },
    /// The circuit multiplies, and no relinearisation key was given.
    #[error("the circuit multiplies ciphertexts: give it a relinearisation key")]
    MissingRelinearizationKey,
    /// The circuit rotates, and no key was given for the rotation.
    #[error(
        "{rotation} has no Galois key: make keys for all of the circuit's required rotations, with \
         EvaluationKeys::generate"
    )]
    MissingRotation {
        /// First rotation of the circuit without a key.
        rotation: Rotation,
    },
    /// The circuit applies an automorphism, and no key was given for it.
    #[error(
        "X -> X^{exponent} has no Galois key: make keys for all exponents that the circuit lists, with \
         EvaluationKeys::for_exponents"
    )]
    MissingAutomorphism {
        /// First exponent of an automorphism without a key.
        exponent: u64,
    },
    /// A circuit on slots that must be elements of a field.
    #[error("{what} needs slots in a field, these are modulo {prime}^{exponent}: take exponent 1")]
    NoField {
        /// Name of the circuit.
        what: &'static str,
        /// Prime p of the slots, which are over Z_(p^r).
        prime: u64,
        /// Exponent r of the slots, above 1.
        exponent: u32,
    },
    /// Slots that do not exist, or elements that do not fit them.
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
        /// Number of rows of the matrix.
        rows: usize,
        /// Number of columns of the matrix.
        columns: usize,
        /// Number of slots in a row of the ciphertext.
        row_length: usize,
    },
    /// Entries do not make a matrix of rows.
    #[error("{entries} entries in rows of {columns} columns: give at least one row, and all of its columns")]
    MatrixRows {
        /// Number of columns of the matrix.
        columns: usize,
        /// Number of entries, or of ciphertexts, that were given.
        entries: usize,
    },
    /// A plan was made for other parameters.
    #[error("the plan is for {what} {expected}, the parameters have {got}: make a plan for these parameters")]
    PlanMismatch {
        /// Name of the property that differs.
        what: &'static str,
        /// Value of the property in the plan.
        expected: u64,
        /// Value of the property in the parameters.
        got: u64,
    },
    /// An error of the statistics circuit.
    #[error(transparent)]
    Statistics(#[from] StatisticsError),
    /// An error of the scheme that the circuit runs in.
    #[error(transparent)]
    Scheme(E),
}
