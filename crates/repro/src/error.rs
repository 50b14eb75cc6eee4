//! What can go wrong before a table stands.

use sunzi_math::MathError;
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
    /// An error of the number theory.
    #[error(transparent)]
    Math(#[from] MathError),
}
