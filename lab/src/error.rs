//! What can go wrong before a timing or a table stands, and the exit codes.

use std::ops::RangeInclusive;
use std::{error, fmt};

/// What a step of the laboratory returns.
pub type Result<T, E = LabError> = std::result::Result<T, E>;

/// Why there is no timing or table. Every error of a layer below becomes one.
#[derive(Debug)]
pub enum LabError {
    /// What was asked for makes no sense; the text says what would.
    Usage(String),
    /// What was asked for cannot be done, or came out wrong.
    Failed(String),
    /// An error of a layer below.
    Below(Box<dyn error::Error + Send + Sync>),
}

impl LabError {
    /// log2 n outside of what is offered.
    pub(crate) fn degree(got: u32, offered: &RangeInclusive<u32>, advice: &str) -> Self {
        let (low, high) = (offered.start(), offered.end());
        Self::Usage(format!("expected log2 n between {low} and {high}, got {got}: {advice}"))
    }

    /// Medians need rounds.
    pub(crate) fn no_rounds() -> Self {
        Self::Usage("expected at least 1 rounds, got 0: raise --rounds".to_owned())
    }

    /// A folder or file that cannot be written.
    pub fn folder(path: &std::path::Path, reason: &std::io::Error) -> Self {
        Self::Usage(format!("cannot write {}: {reason}; choose another folder with --out", path.display()))
    }

    /// A result that is not what it should be.
    pub(crate) fn wrong(operation: &str, variant: &str, degree: usize) -> Self {
        Self::Failed(format!("a {operation} of {variant} at n = {degree} gave a wrong result"))
    }

    /// Nothing if a result is right.
    pub(crate) fn unless(right: bool, operation: &str, variant: &str, degree: usize) -> Result<()> {
        if right { Ok(()) } else { Err(Self::wrong(operation, variant, degree)) }
    }

    /// A request that cannot be served, and why.
    pub(crate) fn request(reason: &str) -> Self {
        Self::Failed(format!("cannot serve the request: {reason}"))
    }

    /// A plaintext modulus whose products nothing checks.
    pub(crate) fn plain_modulus(got: u64) -> Self {
        Self::Failed(format!(
            "products modulo {got} cannot be checked: expected a power of two of at most 2^16, or a prime that is 1 modulo 2n"
        ))
    }

    /// Threads that do not start.
    pub fn threads(threads: usize, reason: &rayon::ThreadPoolBuildError) -> Self {
        Self::Failed(format!("cannot start {threads} threads: {reason}"))
    }

    /// The error of the layer below, if it is of this type.
    pub(crate) fn below<E: error::Error + 'static>(&self) -> Option<&E> {
        match self {
            Self::Below(error) => error.downcast_ref(),
            _ => None,
        }
    }

    /// Exit code: 2 if the input makes no sense, 1 if a result is wrong or anything else failed.
    pub fn exit_code(&self) -> u8 {
        if matches!(self, Self::Usage(_)) { 2 } else { 1 }
    }
}

impl<E: error::Error + Send + Sync + 'static> From<E> for LabError {
    fn from(error: E) -> Self {
        Self::Below(Box::new(error))
    }
}

impl fmt::Display for LabError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(text) | Self::Failed(text) => f.write_str(text),
            Self::Below(error) if error.is::<std::io::Error>() => {
                write!(f, "cannot read or write rows: {error}")
            }
            Self::Below(error) => error.fmt(f),
        }
    }
}
