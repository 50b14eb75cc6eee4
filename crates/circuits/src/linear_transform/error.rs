//! Errors of linear transforms.

use sunzi_ckks::CkksError;
use sunzi_ckks::encoder::EncoderError;
use sunzi_rlwe::words::counted;

use crate::bootstrap::dft::{Direction, Packing};

/// An error of a linear transform: what was expected, what came, what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LinearTransformError {
    /// The size of a matrix is not possible.
    #[error("a matrix of size {got}: take a power of two up to 2^30 and pad with zeros")]
    Size {
        /// Size of matrix requested.
        got: usize,
    },
    /// The values of a diagonal do not repeat evenly.
    #[error("{got} values for diagonals of length {size}: give a number of values that divides it")]
    Period {
        /// Number of values given for the diagonal.
        got: usize,
        /// Length of a diagonal of the matrix.
        size: usize,
    },
    /// A vector has the wrong length.
    #[error("a vector of length {got} for a matrix of size {expected}")]
    Length {
        /// Number of columns of the matrix.
        expected: usize,
        /// Length of the vector.
        got: usize,
    },
    /// The number of factors of a transform is zero or exceeds the number of steps.
    #[error("a Fourier transform of {slots} slots in {got} levels: take 1 to {most}")]
    Budget {
        /// Number of slots of the transform.
        slots: usize,
        /// Number of levels requested for the factors.
        got: usize,
        /// Largest usable number of levels, one for each step.
        most: usize,
    },
    /// The plan of a transform was made for another matrix.
    #[error("the plan was made for another matrix: make one with Plan::new for this one")]
    PlanMismatch,
    /// The vector is longer than the matrix has columns.
    #[error("a vector of {got} slots for a matrix of size {size}: pad the matrix with zeros")]
    Slots {
        /// Number of columns of the matrix.
        size: usize,
        /// Number of slots of the vector.
        got: usize,
    },
    /// The plan is for the other direction of the transform.
    #[error("the plan is for {got:?}, wanted is {expected:?}: make it from the other constructor of Dft")]
    Direction {
        /// Direction expected of the plan.
        expected: Direction,
        /// Direction of the plan.
        got: Direction,
    },
    /// Real and imaginary parts are in one ciphertext where two belong, or the other way round.
    #[error("{} for {packing:?} packing: give what CoeffsToSlots of the same slots gave", counted(*got, "ciphertext", "ciphertexts"))]
    Parts {
        /// Packing of the transform's parts.
        packing: Packing,
        /// Number of ciphertexts given as parts.
        got: usize,
    },
    /// An error of the CKKS encoder.
    #[error(transparent)]
    Encoder(#[from] EncoderError),
    /// An error of the CKKS scheme.
    #[error(transparent)]
    Ckks(#[from] CkksError),
}
