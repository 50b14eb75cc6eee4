//! Errors that keep a timing or a table from being made, and their exit codes.

use std::ops::RangeInclusive;
use std::{error, fmt};

/// Result of a step of the laboratory.
pub type Result<T, E = LabError> = std::result::Result<T, E>;

/// An error of the laboratory. Every error of a layer below becomes one.
#[derive(Debug)]
pub enum LabError {
    /// A request that makes no sense; the text says what would.
    Usage(String),
    /// A request that cannot be done, or whose result is wrong.
    Failed(String),
    /// An error of a layer below the laboratory.
    Below(Box<dyn error::Error + Send + Sync>),
}

impl LabError {
    /// The error of a log2 n outside of what is offered.
    pub(crate) fn degree(got: u32, offered: &RangeInclusive<u32>, advice: &str) -> Self {
        let (low, high) = (offered.start(), offered.end());
        Self::Usage(format!("expected log2 n between {low} and {high}, got {got}: {advice}"))
    }

    /// The error of a timing without rounds, which medians need.
    pub(crate) fn no_rounds() -> Self {
        Self::Usage("expected at least 1 rounds, got 0: raise --rounds".to_owned())
    }

    /// The error of a folder or file that cannot be written.
    pub fn folder(path: &std::path::Path, reason: &std::io::Error) -> Self {
        Self::Usage(format!("cannot write {}: {reason}; choose another folder with --out", path.display()))
    }

    /// The error of an operation whose result is not what it should be.
    pub(crate) fn wrong(operation: &str, variant: &str, degree: usize) -> Self {
        Self::Failed(format!("a {operation} of {variant} at n = {degree} gave a wrong result"))
    }

    /// The error of a wrong result; nothing if `right`.
    pub(crate) fn unless(right: bool, operation: &str, variant: &str, degree: usize) -> Result<()> {
        if right { Ok(()) } else { Err(Self::wrong(operation, variant, degree)) }
    }

    /// The error of a rival's request that cannot be served, with the reason.
    pub(crate) fn request(reason: &str) -> Self {
        Self::Failed(format!("cannot serve the request: {reason}"))
    }

    /// The error of a plaintext modulus whose products nothing checks.
    pub(crate) fn plain_modulus(got: u64) -> Self {
        Self::Failed(format!(
            "products modulo {got} cannot be checked: expected a power of two of at most 2^16, or a prime that is 1 modulo 2n"
        ))
    }

    /// The error of threads that do not start.
    pub fn threads(threads: usize, reason: &rayon::ThreadPoolBuildError) -> Self {
        Self::Failed(format!("cannot start {threads} threads: {reason}"))
    }

    /// The error of the layer below, if it is of type `E`.
    pub(crate) fn below<E: error::Error + 'static>(&self) -> Option<&E> {
        match self {
            Self::Below(error) => error.downcast_ref(),
            _ => None,
        }
    }

    /// Exit code of the error: 2 if the input makes no sense, 1 if a result is wrong or anything else failed.
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
