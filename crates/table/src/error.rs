//! What can be wrong with a table.

use sunzi_program::ProgramError;
use sunzi_rlwe::wire::{Fault, WireError};

/// Why a table was not read or written: what was expected, what came, what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// Bytes did not come or go.
    #[error("cannot read {name}: {reason}")]
    Io {
        /// The file.
        name: String,
        /// What the system says.
        reason: String,
    },
    /// Bytes that are no table.
    #[error("{name}: {problem}")]
    Form {
        /// The file, and the place in it.
        name: String,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// A cell that does not fit its column.
    #[error("{place}, column {column:?}: {cell:?} {problem}")]
    Cell {
        /// The line or row.
        place: String,
        /// The name of the column.
        column: String,
        /// The cell, shortened.
        cell: String,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// A column that cannot be used as it is.
    #[error("column {column:?}: {problem}")]
    Column {
        /// Its name.
        column: String,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// A schema that cannot be read.
    #[error("the schema: {0}")]
    Schema(#[from] serde_json::Error),
    /// The table is not what it was when it was looked at first.
    #[error(
        "the table changed while it was read: expected {expected} rows, got {got}; run again when nobody writes to it"
    )]
    Changed {
        /// Rows that were counted first.
        expected: u64,
        /// Rows that came.
        got: u64,
    },
    /// Ciphertexts that do not belong where they were to go.
    #[error("{what}: expected {expected}, got {got}")]
    Mismatch {
        /// What differs.
        what: &'static str,
        /// What belongs there.
        expected: String,
        /// What came.
        got: String,
    },
    /// What the file format has against it.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// What the schema has against it.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// What Arrow or Parquet has against it.
    #[cfg(feature = "parquet")]
    #[error("{name} is no Parquet file that can be read: {problem}")]
    Parquet {
        /// The file.
        name: String,
        /// What is wrong.
        problem: String,
    },
}

impl TableError {
    /// Whose fault it is.
    #[must_use]
    pub fn fault(&self) -> Fault {
        match self {
            Self::Wire(error) => error.fault(),
            _ => Fault::Object,
        }
    }

    pub(crate) fn io(name: &str, error: &std::io::Error) -> Self {
        let reason = match error.kind() {
            std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
            std::io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
            _ => error.to_string(),
        };
        Self::Io { name: name.to_owned(), reason }
    }

    pub(crate) fn form(name: impl Into<String>, problem: impl ToString) -> Self {
        Self::Form { name: name.into(), problem: problem.to_string() }
    }

    pub(crate) fn column(column: &str, problem: impl ToString) -> Self {
        Self::Column { column: column.to_owned(), problem: problem.to_string() }
    }

    pub(crate) fn mismatch(what: &'static str, expected: impl ToString, got: impl ToString) -> Self {
        Self::Mismatch { what, expected: expected.to_string(), got: got.to_string() }
    }
}
