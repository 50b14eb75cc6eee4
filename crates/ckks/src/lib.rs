//! CKKS: approximate arithmetic on vectors of complex numbers.
//!
//! A ciphertext of level l stands modulo Q_l and holds an integer polynomial m whose values at the roots of unity are
//! the slots times a scale: ct(s) = m + e (mod Q_l). Every level has one exact canonical scale, so that results of the
//! same level always fit each other: [`Evaluator::multiply`] relinearises and rescales at once, and operands of
//! different levels are brought together without drift. Beside that stands the explicit mode: products, rescaling
//! and changes of level one by one, at any scale.
//!
//! Decryption returns values that carry the error of the ciphertext, and that error depends on the secret key: never
//! hand decrypted slots to whoever made or chose the ciphertext (Li, Micciancio 2021). IND-CPA security only:
//! see `SECURITY.md`.
#![forbid(unsafe_code)]

mod builder;
mod chain;
mod ciphertext;
mod context;
mod decrypt;
pub mod encoder;
mod encrypt;
mod error;
mod evaluator;
mod explain;
mod parameters;
mod plaintext;
pub mod precision;
pub mod rotation;

pub use builder::{ParametersBuilder, Request};
pub use chain::LevelRange;
pub use ciphertext::{Ciphertext, Ckks, Metadata};
pub use context::{Context, Settings};
pub use encoder::{Encoder, EncoderError};
pub use error::CkksError;
pub use evaluator::{Evaluator, Hoisted};
pub use explain::{Candidate, Explanation, NothingFits, Refusal, Verdict};
pub use parameters::{Parameters, ScaleRange};
pub use plaintext::Plaintext;
pub use precision::Precision;
