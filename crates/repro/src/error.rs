//! What can go wrong before a table stands.

use sunzi_bfv::BfvError;
use sunzi_bgv::BgvError;
use sunzi_circuits::bootstrap::BootstrapError;
use sunzi_ckks::CkksError;
use sunzi_encoding::EncodingError;
use sunzi_kernels::KernelError;
use sunzi_math::MathError;
use sunzi_ring::RingError;
use sunzi_rlwe::RlweError;
use thiserror::Error;

/// An error of a reproduction.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReproError {
    /// A part of the paper that does not exist.
    #[error("expected {expected}, got {got:?}")]
    UnknownPart {
        /// What there is.
        expected: String,
        /// What was asked for.
        got: String,
    },
    /// The library has fewer moduli of this width.
    #[error("expected at most {most} moduli of {bits} bits, got {got}: NFLlib has no more")]
    TooFewModuli {
        /// Bits of a modulus.
        bits: u32,
        /// Moduli there are.
        most: usize,
        /// Moduli asked for.
        got: usize,
    },
    /// A parameter set whose noise bound exceeds what decrypts, whatever γ is.
    #[error("no γ makes depth {depth} decrypt at n = 2^{log2_degree}, k = {count}: ask for a smaller depth")]
    NothingDecrypts {
        /// The depth asked for.
        depth: u32,
        /// log2 of the ring degree.
        log2_degree: u32,
        /// Moduli of q.
        count: usize,
    },
    /// A degree that the paper has no row for.
    #[error("expected log2 n between {low} and {high}, got {got}: the paper has no other rows")]
    Degree {
        /// What was asked for.
        got: u32,
        /// Smallest in the tables.
        low: u32,
        /// Largest in the tables.
        high: u32,
    },
    /// A plaintext modulus whose products cannot be checked.
    #[error(
        "products modulo {got} cannot be checked: expected a power of two of at most 2^16, or a prime that is 1 modulo 2n"
    )]
    PlainModulus {
        /// What was asked for.
        got: u64,
    },
    /// Something that was timed gave a wrong result: no figure is worth anything then.
    #[error("a {operation} of {variant} at n = {degree} gave a wrong result")]
    Wrong {
        /// What was done.
        operation: &'static str,
        /// By which variant.
        variant: &'static str,
        /// The degree n.
        degree: usize,
    },
    /// The thread that times could not be started.
    #[error("cannot start a thread: {0}")]
    Thread(String),
    /// A figure that could not be drawn.
    #[error("cannot draw {figure}: {reason}")]
    Plot {
        /// Its name.
        figure: &'static str,
        /// What went wrong.
        reason: String,
    },
    /// An error of a circuit.
    #[error(transparent)]
    Circuit(Box<dyn std::error::Error + Send + Sync>),
    /// An error of the scheme.
    #[error(transparent)]
    Bfv(#[from] BfvError),
    /// An error of plaintexts and encoders.
    #[error(transparent)]
    Encoding(#[from] EncodingError),
    /// An error of the other scheme.
    #[error(transparent)]
    Bgv(#[from] BgvError),
    /// An error of CKKS.
    #[error(transparent)]
    Ckks(#[from] CkksError),
    /// An error of its bootstrapping.
    #[error(transparent)]
    Bootstrap(#[from] BootstrapError),
    /// An error of the layer below it.
    #[error(transparent)]
    Rlwe(#[from] RlweError),
    /// An error of the ring.
    #[error(transparent)]
    Ring(#[from] RingError),
    /// An error of the kernels.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// An error of the number theory.
    #[error(transparent)]
    Math(#[from] MathError),
}
