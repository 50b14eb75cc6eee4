//! Refusals: what a client is told, and errors of the server itself.

use std::io;

use serde::Serialize;

/// Refusal of a request: what is wrong, what was expected, what came, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// Status code of HTTP.
    #[serde(skip)]
    pub status: u16,
    /// What is wrong.
    pub error: String,
    /// What was expected, where that helps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// What came, where that helps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub got: Option<String>,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// Seconds after which the request may be repeated as it is.
    #[serde(skip)]
    pub retry_after: Option<u32>,
}

impl Refusal {
    /// Makes a refusal with a status code of HTTP.
    #[must_use]
    pub fn new(status: u16, error: impl Into<String>) -> Self {
        Self { status, error: error.into(), expected: None, got: None, remedy: None, retry_after: None }
    }

    /// Makes the refusal of input that the client can mend.
    #[must_use]
    pub fn input(error: impl Into<String>) -> Self {
        Self::new(400, error)
    }

    /// Makes the refusal of a name that does not exist, or belongs to somebody else: both get the same answer.
    #[must_use]
    pub fn absent() -> Self {
        Self::new(404, "there is nothing of this name").remedy("list what there is, and check the name")
    }

    /// Makes the refusal of a request for which there is no room now.
    #[must_use]
    pub fn busy(error: impl Into<String>, retry_after: u32) -> Self {
        Self { retry_after: Some(retry_after), ..Self::new(429, error) }
    }

    /// Adds what was expected.
    #[must_use]
    pub fn expected(self, expected: impl Into<String>) -> Self {
        Self { expected: Some(expected.into()), ..self }
    }

    /// Adds what came.
    #[must_use]
    pub fn got(self, got: impl Into<String>) -> Self {
        Self { got: Some(got.into()), ..self }
    }

    /// Adds what to do.
    #[must_use]
    pub fn remedy(self, remedy: impl Into<String>) -> Self {
        Self { remedy: Some(remedy.into()), ..self }
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.error)?;
        for (before, part) in [(": expected ", &self.expected), (", got ", &self.got), ("; ", &self.remedy)] {
            if let Some(part) = part {
                write!(f, "{before}{part}")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for Refusal {}

/// Error of the server: a refusal that the client is told, or a failure of the machine that only the log tells.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServiceError {
    /// Request that was refused.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// File or folder that could not be read or written.
    #[error("the server cannot read or write its files: {0}")]
    Io(#[from] io::Error),
    /// State that could not be read or written.
    #[error("the server cannot read or write its state: {0}")]
    Records(#[from] rusqlite::Error),
    /// Database or object storage that cannot be reached, or does not do what it is asked to: another attempt may succeed.
    #[error("{0}")]
    Unavailable(String),
    /// Configuration that cannot be used.
    #[error("{0}")]
    Configuration(String),
}

/// Result of an operation of the server.
pub type Result<T> = std::result::Result<T, ServiceError>;
