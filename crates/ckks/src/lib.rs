//! CKKS: approximate arithmetic on vectors of complex numbers.
//!
//! A ciphertext of level l stands modulo Q_l and holds an integer polynomial m whose values at the roots of unity are
//! the slots times a scale: ct(s) = m + e (mod Q_l). Every level has one exact canonical scale, so that results of the
//! same level always fit each other: [`Evaluator::multiply`] relinearises and rescales at once, and operands of
//! different levels are brought together without drift. Beside that stands the explicit mode: products, rescaling
//! and changes of level one by one, at any scale.
//!
//! ```
//! use sunzi_ckks::{Context, Encoder, Evaluator, Parameters};
//! use sunzi_rlwe::{PublicKey, RelinearizationKey, SecretKey, randomness};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Two products in a row, results right to 20 bits behind the binary point, numbers of at most 2.
//! let parameters = Parameters::builder().depth(2).precision(20).message_bits(1).build()?;
//! let context = Context::new(&parameters)?;
//! let mut rng = randomness::from_os()?;
//! let secret = SecretKey::generate(context.rlwe(), &mut rng)?;
//! let public = PublicKey::generate(context.rlwe(), &secret, &mut rng)?;
//! let relinearization = RelinearizationKey::generate(context.rlwe(), &secret, &mut rng)?;
//!
//! let encoder = Encoder::new(&context, 4)?;
//! let x = context.encrypt(&encoder.encode_real(&[0.5, 1.0, -1.5, 2.0])?, &public, &mut rng)?;
//!
//! let evaluator = Evaluator::new(&context);
//! let square = evaluator.square(&x, &relinearization)?;
//! let half = evaluator.multiply_constant(&square, 0.5)?;
//! // x has two levels more than x²/2: it is brought to the same level and scale.
//! let sum = evaluator.add(&half, &x)?;
//!
//! // The ciphertext knows its precision; the key holder sees the numbers.
//! assert!(sum.metadata().precision.bits() > 20.0);
//! let opened = encoder.decode_real(&context.decrypt(&sum, &secret)?)?;
//! for (got, expected) in opened.iter().zip([0.625, 1.5, -0.375, 4.0]) {
//!     assert!((got - expected).abs() < 1e-5);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # What a ciphertext tells about itself
//!
//! Level, scale, slots, and a [`Precision`]: a bound on the slots, which starts from the *declared* bound of messages and
//! never from the message, and the estimated deviation of their errors. Beside it stand the sound bounds of
//! [`NoiseBound`](sunzi_rlwe::NoiseBound) on the coefficients.
//!
//! # Security
//!
//! Decryption returns values that carry the error of the ciphertext, and that error depends on the secret key: never
//! hand decrypted slots to whoever made or chose the ciphertext (Li, Micciancio 2021). IND-CPA security only: see
//! `SECURITY.md`.
#![forbid(unsafe_code)]

mod builder;
mod chain;
mod ciphertext;
mod context;
#[cfg(feature = "danger")]
pub mod danger;
mod decrypt;
pub mod encoder;
mod encrypt;
mod error;
mod evaluator;
mod explain;
mod joint;
pub mod operators;
mod parameters;
mod plaintext;
pub mod precision;
mod refusal;
mod request;
pub mod rotation;
mod wire;

pub use num_complex::Complex64;

pub use builder::ParametersBuilder;
pub use chain::LevelRange;
pub use ciphertext::{Ciphertext, Ckks, Metadata};
pub use context::{Context, Settings};
pub use encoder::{Encoder, EncoderError};
pub use error::CkksError;
pub use evaluator::{Evaluator, Hoisted, PlainMatrix};
pub use explain::{Candidate, Explanation};
pub use joint::{AdditiveShare, SharedMessage, SharedRest};
pub use operators::{OperatorError, Value, WithKeys};
pub use parameters::{Parameters, ScaleRange};
pub use plaintext::Plaintext;
pub use precision::Precision;
pub use refusal::{NothingFits, Refusal, Verdict};
pub use request::Request;
pub use sunzi_ring::Parallelism;
