//! What can go wrong before a timing stands.

use sunzi_bfv::BfvError;
use sunzi_bgv::BgvError;
use sunzi_circuits::CircuitError;
use sunzi_circuits::bootstrap::BootstrapError;
use sunzi_circuits::linear_transform::LinearTransformError;
use sunzi_ckks::CkksError;
use sunzi_encoding::EncodingError;
use sunzi_kernels::KernelError;
use sunzi_math::MathError;
use sunzi_ring::RingError;
use sunzi_rlwe::RlweError;
use thiserror::Error;

/// An error of a benchmark run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BenchError {
    /// The program was built without its rivals.
    #[error(
        "--peers needs the rivals built in: cargo run --release -p bench --features peers -- {command} --peers"
    )]
    NoPeers {
        /// The subcommand that was asked for.
        command: &'static str,
    },
    /// The rival does not support the requested shape.
    #[error("{peer} has no transform of degree {n} modulo {modulus}")]
    PeerUnsupported {
        /// The rival.
        peer: &'static str,
        /// The degree asked for.
        n: usize,
        /// The modulus asked for.
        modulus: u64,
    },
    /// Too few rounds to report a median.
    #[error("expected at least {least} rounds, got {got}: raise --rounds")]
    TooFewRounds {
        /// What was asked for.
        got: usize,
        /// The least number accepted.
        least: usize,
    },
    /// A degree outside the supported range.
    #[error("expected log2 n between {low} and {high}, got {got}: change --log-n")]
    Degree {
        /// What was asked for.
        got: u32,
        /// Smallest supported value.
        low: u32,
        /// Largest supported value.
        high: u32,
    },
    /// A rival cannot be compared with.
    #[cfg(feature = "peers")]
    #[error(transparent)]
    Rival(#[from] crate::rivals::RivalError),
    /// A request that cannot be served.
    #[error("cannot serve the request: {0}")]
    Request(&'static str),
    /// An operation that is not compared.
    #[cfg(feature = "peers")]
    #[error("expected operations among {known}, got {got}: change --operations")]
    Operation {
        /// What was asked for.
        got: String,
        /// What there is.
        known: String,
    },
    /// Bars were to be held, and are not.
    #[cfg(feature = "peers")]
    #[error("{missed} bar(s) missed: see the rows that say so")]
    BarsMissed {
        /// How many.
        missed: usize,
    },
    /// An error of the ring.
    #[error(transparent)]
    Ring(#[from] RingError),
    /// An error of the kernels.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// An error of the scheme.
    #[error(transparent)]
    Bfv(#[from] BfvError),
    /// An error of plaintexts and encoders.
    #[error(transparent)]
    Encoding(#[from] EncodingError),
    /// An error of BGV.
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
    /// An error of a circuit of BFV.
    #[error(transparent)]
    Circuit(#[from] CircuitError<BfvError>),
    /// An error of a circuit of BGV.
    #[error(transparent)]
    BgvCircuit(#[from] CircuitError<BgvError>),
    /// An error of a matrix of CKKS.
    #[error(transparent)]
    LinearTransform(#[from] LinearTransformError),
    /// An object that cannot be written.
    #[error(transparent)]
    Wire(#[from] sunzi_rlwe::wire::WireError),
    /// The threads could not be started.
    #[error("cannot start {threads} threads: {reason}")]
    Threads {
        /// How many were asked for.
        threads: usize,
        /// What the operating system said.
        reason: String,
    },
    /// A picture could not be drawn.
    #[error("cannot draw: {0}")]
    Drawing(String),
    /// An error of the number theory.
    #[error(transparent)]
    Math(#[from] MathError),
    /// Standard output or a file could not be read or written.
    #[error("cannot read or write rows: {0}")]
    Output(#[from] std::io::Error),
    /// The rows could not be written as JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

impl BenchError {
    /// Whether other options would have avoided it.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        #[cfg(feature = "peers")]
        if matches!(self, Self::Operation { .. }) {
            return true;
        }
        matches!(self, Self::NoPeers { .. } | Self::TooFewRounds { .. } | Self::Degree { .. })
    }
}
