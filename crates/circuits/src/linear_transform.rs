//! Matrices of complex numbers times the slots of a CKKS ciphertext.

mod diagonals;
mod error;

pub use diagonals::Diagonals;
pub use error::LinearTransformError;
