//! What can go wrong before a timing or a table stands, and the exit codes.

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

/// An error of a benchmark or of a reproduction.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LabError {
    /// The program was built without its rivals.
    #[error(
        "--peers needs the rivals built in: cargo run --release -p lab --features peers -- bench {command} --peers"
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
    /// A degree that a paper has no row for.
    #[error("expected log2 n between {low} and {high}, got {got}: the paper has no other rows")]
    PaperDegree {
        /// What was asked for.
        got: u32,
        /// Smallest in the tables.
        low: u32,
        /// Largest in the tables.
        high: u32,
    },
    /// A part of a paper that does not exist.
    #[error("expected {expected}, got {got:?}")]
    UnknownPart {
        /// What there is.
        expected: String,
        /// What was asked for.
        got: String,
    },
    /// A library of a paper has fewer moduli of this width.
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
    /// A plaintext modulus whose products cannot be checked.
    #[error(
        "products modulo {got} cannot be checked: expected a power of two of at most 2^16, or a prime that is 1 modulo 2n"
    )]
    PlainModulus {
        /// What was asked for.
        got: u64,
    },
    /// A result that was timed for a table is wrong: no figure is worth anything then.
    #[error("a {operation} of {variant} at n = {degree} gave a wrong result")]
    Wrong {
        /// What was done.
        operation: &'static str,
        /// By which variant.
        variant: &'static str,
        /// The degree n.
        degree: usize,
    },
    /// Rows that say themselves that their results are wrong.
    #[error("a result that was timed is wrong: see the rows that say so")]
    WrongRows,
    /// An operation of which no version was timed.
    #[error("no version was timed")]
    NoVersion,
    /// A folder or file for figures that cannot be written.
    #[error("cannot write {}: {reason}; choose another folder with --out", path.display())]
    Folder {
        /// The folder or file.
        path: std::path::PathBuf,
        /// What the operating system said.
        reason: std::io::Error,
    },
    /// The command line cannot be followed.
    #[error("{0}")]
    CommandLine(String),
    /// A rival cannot be compared with.
    #[cfg(feature = "peers")]
    #[error(transparent)]
    Rival(#[from] crate::bench::rivals::RivalError),
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
    /// A figure that could not be drawn.
    #[error("cannot draw {figure}: {reason}")]
    Plot {
        /// The name of the figure.
        figure: String,
        /// What went wrong.
        reason: String,
    },
    /// An error of a circuit, whatever its scheme.
    #[error(transparent)]
    AnyCircuit(Box<dyn std::error::Error + Send + Sync>),
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

impl LabError {
    /// Whether other options would have avoided it.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        #[cfg(feature = "peers")]
        if matches!(self, Self::Operation { .. }) {
            return true;
        }
        matches!(
            self,
            Self::NoPeers { .. }
                | Self::TooFewRounds { .. }
                | Self::Degree { .. }
                | Self::PaperDegree { .. }
                | Self::Folder { .. }
                | Self::CommandLine(_)
        )
    }

    /// The exit code to leave with: 2 for input that was refused, 1 for everything else.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        if self.is_usage() { 2 } else { 1 }
    }
}
