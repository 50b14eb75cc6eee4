//! Circuits over encrypted numbers, for every scheme that has [`Arithmetic`].
//!
//! * [`product_tree`]: products of many ciphertexts at the least depth.
//! * [`polynomial`]: polynomials with clear coefficients at an encrypted point.
//! * [`inner_product`]: of lists of ciphertexts, and of the slots of two ciphertexts.
//! * [`matrix_vector`]: matrices, clear or encrypted, times encrypted vectors.
//! * [`unified`]: from BFV to BGV and back.
//! * [`statistics`]: columns and products of columns of a table, summed by group.
//!
//! A server needs ciphertexts and evaluation keys only. Each circuit says which rotations it needs, and a missing key
//! is an error before any work is done. [`Clear`] runs the same circuits over clear vectors and counts.
#![forbid(unsafe_code)]

mod arithmetic;
mod bfv;
mod bgv;
pub mod clear;
mod error;
mod exact;
pub mod inner_product;
mod keys;
pub mod matrix_vector;
pub mod polynomial;
pub mod product_tree;
pub mod statistics;
pub mod unified;

pub use arithmetic::{Arithmetic, Outcome, Rotation};
pub use clear::{Clear, ClearCiphertext, ClearError, ClearKeys};
pub use error::CircuitError;
pub use keys::EvaluationKeys;
