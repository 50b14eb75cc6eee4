//! Complex and real numbers to polynomials and back.

mod double_double;
mod embedding;
mod error;
mod roots;

pub use embedding::{Embedding, bit_reverse};
pub use error::EncoderError;
