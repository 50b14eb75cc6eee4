//! What can go wrong in BGV.

use sunzi_encoding::EncodingError;
use sunzi_math::MathError;
use sunzi_ring::RingError;
use sunzi_rlwe::{ModuliError, RlweError};

use crate::budget::Excess;
use crate::refusal::NothingFits;

/// An error of the BGV layer: what was expected, what came, what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BgvError {
    /// A ciphertext belongs to another plaintext modulus.
    #[error(
        "the ciphertext has plaintext modulus {got}, the context {expected}: use the context it was made in"
    )]
    PlainModulusMismatch {
        /// The context's plaintext modulus.
        expected: u64,
        /// The ciphertext's plaintext modulus.
        got: u64,
    },
    /// A ciphertext of a context with other levels.
    #[error(
        "the ciphertext stands at level {level} with {limbs} moduli and factor {factor}, which this context does not \
         have: use the context it was made in"
    )]
    LevelMismatch {
        /// The ciphertext's level.
        level: usize,
        /// Number of moduli of the ciphertext's parts.
        limbs: usize,
        /// The ciphertext's correction factor.
        factor: u64,
    },
    /// A multiplication of a ciphertext that allows none any more.
    #[error(
        "{operation} would be multiplication number {needed} in a row where {depth} are declared: declare \
         depth({needed})"
    )]
    DepthExceeded {
        /// The operation that needs more levels.
        operation: &'static str,
        /// The depth that the operation needs.
        needed: usize,
        /// The declared depth.
        depth: usize,
    },
    /// An operation beyond what was declared.
    #[error("{0}")]
    Undeclared(Excess),
    /// An operation whose result could not be decrypted with certainty: the parameters were not made for what they
    /// declare.
    #[error(
        "the result of {operation} at level {level} may have {bits_short:.1} bits more noise than decrypts: choose \
         larger moduli, or let Parameters::builder() choose them"
    )]
    BudgetExceeded {
        /// The operation that was refused.
        operation: &'static str,
        /// The level of the operation's result.
        level: usize,
        /// Bits of noise above what decrypts.
        bits_short: f64,
    },
    /// A modulus switch upwards was asked for.
    #[error(
        "the ciphertext stands at level {got} and cannot be switched to level {wanted}: levels only go down"
    )]
    LevelTooLow {
        /// The ciphertext's level.
        got: usize,
        /// The level asked for.
        wanted: usize,
    },
    /// Ciphertext and special moduli that make no ring.
    #[error(transparent)]
    Moduli(#[from] ModuliError),
    /// The numbers of moduli of the levels do not describe the list of moduli.
    #[error(
        "the levels have {levels:?} moduli, the whole list {moduli}: they must ascend from at least 1 to at \
         most all"
    )]
    LevelsUnusable {
        /// Number of moduli of every level.
        levels: Vec<usize>,
        /// Number of moduli that there are.
        moduli: usize,
    },
    /// Options of key switching that the moduli do not allow.
    #[error("key switching: {0}")]
    KeySwitching(#[source] RingError),
    /// A request to the parameter builder that contradicts itself or is out of range.
    #[error("{what}: {got} is not possible; {expected}")]
    Request {
        /// The setting of the builder.
        what: &'static str,
        /// The value that was asked for.
        got: String,
        /// The values that are possible.
        expected: String,
    },
    /// No parameter set meets the request.
    #[error(transparent)]
    NothingFits(#[from] Box<NothingFits>),
    /// An operation was given nothing where it needs something.
    #[error("{what} needs at least one term")]
    Empty {
        /// The operation that was given nothing.
        what: &'static str,
    },
    /// An error of plaintexts and encoders.
    #[error(transparent)]
    Encoding(#[from] EncodingError),
    /// An error of the RLWE layer.
    #[error(transparent)]
    Rlwe(#[from] RlweError),
    /// An error of the ring.
    #[error(transparent)]
    Ring(#[from] RingError),
    /// An error of the number theory.
    #[error(transparent)]
    Math(#[from] MathError),
}
