//! What can go wrong in BFV.

use sunzi_encoding::EncodingError;
use sunzi_kernels::KernelError;
use sunzi_math::MathError;
use sunzi_ring::RingError;
use sunzi_rlwe::{ModuliError, RlweError, Trace};

use crate::refusal::NothingFits;

/// An error of the BFV layer: what was expected, what came, what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BfvError {
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
    /// An option of the algorithms that the moduli do not allow.
    #[error("algorithms: {0}")]
    Algorithms(#[source] RingError),
    /// A ciphertext lacks moduli of the context.
    #[error("the ciphertext has the first {got} of {expected} moduli: use the context it was made in")]
    LevelMismatch {
        /// Number of moduli of the context.
        expected: usize,
        /// Number of moduli of the ciphertext.
        got: usize,
    },
    /// Ciphertext and special moduli that make no ring.
    #[error(transparent)]
    Moduli(#[from] ModuliError),
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
    /// The noise bound does not guarantee a right decryption.
    #[error(
        "the noise may exceed what decryption tolerates by {bits_short:.1} bits ({}): choose parameters for \
         more depth, or fewer operations",
        trace.summary()
    )]
    NoiseExhausted {
        /// Bits of noise above the capacity.
        bits_short: f64,
        /// The operations that spent the budget.
        trace: Trace,
    },
    /// A level that products do not have.
    #[error("products at level {got} do not exist: expected one from 1 to {highest}")]
    LevelMissing {
        /// The level asked for.
        got: usize,
        /// The highest level that products have.
        highest: usize,
    },
    /// A part of the library that this build lacks.
    #[error("{what} need the feature `{feature}`, which this build lacks: build with `--features {feature}`")]
    MissingFeature {
        /// The part of the library that was asked for.
        what: &'static str,
        /// The feature of this crate, and of those above it, that adds the part.
        feature: &'static str,
    },
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
    /// An error of the kernels.
    #[error(transparent)]
    Kernel(#[from] KernelError),
}
