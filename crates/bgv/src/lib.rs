//! BGV: exact arithmetic on encrypted integers without noise bookkeeping by the user.
//!
//! The variant of Kim, Polyakov and Zucca, "Revisiting Homomorphic Encryption Schemes for Finite Fields"
//! (ASIACRYPT 2021, `KPZ21`, section 4): the moduli follow from what is declared of a computation, a small and
//! constant level of noise is kept by modulus switches right before each multiplication, and all ciphertexts of a
//! level share one scaling factor. [`Parameters::builder`] takes the declaration, [`Context`] holds the tables,
//! [`Evaluator`] computes; what goes beyond the declaration is an error that says what to declare.
//!
//! A ciphertext is kept as u = c/t for the paper's c = m + t·v: as what BFV calls a ciphertext of −Q^-1·m
//! `[KPZ21, Remark 3.1 and app. A]`. Keys, encryption, key switching and modulus switching are therefore those of
//! BFV and do not depend on t. With u(s) = (Q/t)·m′ + v the noise v is the paper's plus m/t, and a product
//! t·u·u′ has exactly the noise t·v·v′.
//!
//! BGV gives IND-CPA security only: see `SECURITY.md`.
#![forbid(unsafe_code)]

mod budget;
mod builder;
mod ciphertext;
mod context;
#[cfg(feature = "danger")]
pub mod danger;
mod decrypt;
mod encrypt;
mod error;
mod evaluator;
mod explain;
mod joint;
pub mod noise;
pub mod operators;
pub mod paper;
mod parameters;
mod reencryption;
mod refusal;
mod request;
mod unified;
mod wire;

pub use budget::{Budget, Excess, Operations, Usage};
pub use builder::ParametersBuilder;
pub use ciphertext::{Bgv, Ciphertext, Metadata};
pub use context::{Context, CrtContext, Settings};
pub use error::BgvError;
pub use evaluator::{
    Evaluator, GiantStep, Hoisted, PlainMatrix, PreparedMatrix, PreparedMultiplier, PreparedPlaintext,
};
pub use explain::{Candidate, Explanation};
pub use operators::{OperatorError, Value, WithKeys};
pub use parameters::Parameters;
pub use refusal::{NothingFits, Refusal, Verdict};
pub use request::{NoiseModel, Request};
pub use sunzi_encoding::{
    BatchEncoder, CoefficientEncoder, CrtEncoder, Encoder, EncodingError, PlainRequest, Plaintext,
    row_rotation_exponent, row_swap_exponent, slot_sum_exponents,
};
pub use unified::Unlabelled;
