//! What can go wrong with a linear transform.

use sunzi_ckks::CkksError;
use sunzi_ckks::encoder::EncoderError;

use crate::bootstrap::dft::{Direction, Packing};

/// An error of a linear transform: what was expected, what came, what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LinearTransformError {
    /// A size of matrices that is not possible.
    #[error("a matrix of size {got}: take a power of two up to 2^30 and pad with zeros")]
    Size {
        /// What was asked for.
        got: usize,
    },
    /// Values of a diagonal that do not repeat evenly.
    #[error("{got} values for diagonals of length {size}: give a number of values that divides it")]
    Period {
        /// Values given.
        got: usize,
        /// Length of a diagonal.
        size: usize,
    },
    /// A vector of the wrong length.
    #[error("a vector of length {got} for a matrix of size {expected}")]
    Length {
        /// Columns of the matrix.
        expected: usize,
        /// Length of the vector.
        got: usize,
    },
    /// More factors than a transform has steps, or none.
    #[error("a Fourier transform of {slots} slots in {got} levels: take 1 to {most}")]
    Budget {
        /// Slots of the transform.
        slots: usize,
        /// Levels asked for.
        got: usize,
        /// Levels that can be used.
        most: usize,
    },
    /// A plan was made for another matrix.
    #[error("the plan was made for another matrix: make one with Plan::new for this one")]
    PlanMismatch,
    /// A vector longer than the matrix.
    #[error("a vector of {got} slots for a matrix of size {size}: pad the matrix with zeros")]
    Slots {
        /// Columns of the matrix.
        size: usize,
        /// Slots of the vector.
        got: usize,
    },
    /// A plan for the other way.
    #[error("the plan is for {got:?}, wanted is {expected:?}: make it from the other constructor of Dft")]
    Direction {
        /// The way wanted.
        expected: Direction,
        /// The way of the plan.
        got: Direction,
    },
    /// Real and imaginary parts in one ciphertext where two belong, or the other way round.
    #[error("{got} ciphertext(s) for {packing:?} packing: give what CoeffsToSlots of the same slots gave")]
    Parts {
        /// The packing of the transform.
        packing: Packing,
        /// Ciphertexts given.
        got: usize,
    },
    /// An error of the encoder.
    #[error(transparent)]
    Encoder(#[from] EncoderError),
    /// An error of the scheme.
    #[error(transparent)]
    Ckks(#[from] CkksError),
}
