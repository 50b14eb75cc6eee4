//! BFV in full RNS: exact arithmetic on encrypted integers.
//!
//! The BFV variant of Bajard, Eynard, Hasan and Zucca, "A Full RNS Variant of FV like Somewhat
//! Homomorphic Encryption Schemes" (SAC 2016, `BEHZ16`): decryption by γ-correction (Alg. 1),
//! multiplication with Montgomery-reduced base extension (Alg. 2) and Shenoy–Kumaresan
//! conversion (Alg. 3), relinearisation by RNS digits (4.5). Parameters come from
//! [`Parameters::builder`]; [`Context`] holds their tables, [`Evaluator`] computes.
//!
//! BFV gives IND-CPA security only: see `SECURITY.md`.
#![forbid(unsafe_code)]

mod algorithms;
mod builder;
mod ciphertext;
mod context;
#[cfg(feature = "danger")]
pub mod danger;
mod decrypt;
mod encrypt;
mod error;
mod evaluator;
pub mod explain;
mod fermat;
mod joint;
pub mod noise;
pub mod operators;
mod parameters;
mod reencryption;
mod refusal;
mod request;
mod tables;
mod wire;

pub use algorithms::Algorithms;
pub use builder::ParametersBuilder;
pub use ciphertext::{Bfv, Ciphertext};
pub use context::{Context, CrtContext};
pub use error::BfvError;
pub use evaluator::{
    Evaluator, Extended, GiantStep, Hoisted, PlainMatrix, PreparedMatrix, PreparedMultiplier,
    PreparedPlaintext, ProductSum,
};
pub use explain::{Choice, Explanation};
pub use fermat::FermatParameters;
pub use operators::{OperatorError, Value, WithKeys};
pub use parameters::{CrtParameters, OnePlainModulus, ParameterSet, Parameters, SeveralPlainModuli};
pub use refusal::{NothingFits, Relaxation};
pub use request::{KeySwitching, Request};
pub use sunzi_encoding::{
    BatchEncoder, CoefficientEncoder, CrtEncoder, Encoder, EncodingError, PlainRequest, Plaintext,
    row_rotation_exponent, row_swap_exponent, slot_sum_exponents,
};
pub use sunzi_ring::Side;
