//! Errors of reading and writing tables.

use sunzi_circuits::intersection::IntersectionError;
use sunzi_circuits::retrieval::RetrievalError;
use sunzi_oprf::OprfError;
use sunzi_program::ProgramError;
use sunzi_rlwe::wire::{Fault, WireError};
use sunzi_rlwe::words::reason;

/// Reason why a table was not read or written: what was expected, what came, what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// A table's file could not be read or written.
    #[error("cannot read {name}: {reason}")]
    Io {
        /// Name of the file that failed.
        name: String,
        /// Reason that the operating system gives for the failure.
        reason: String,
    },
    /// The bytes of a file are no table.
    #[error("{name}: {problem}")]
    Form {
        /// Name of the file that is no table, and the place in it.
        name: String,
        /// Description of the file's problem, and what to do.
        problem: String,
    },
    /// A cell does not fit its column.
    #[error("{place}, column {column:?}: {cell:?} {problem}")]
    Cell {
        /// Line or row of the cell.
        place: String,
        /// Name of the column of the cell.
        column: String,
        /// Text of the cell that does not fit, shortened.
        cell: String,
        /// Description of the cell's problem, and what to do.
        problem: String,
    },
    /// A column cannot be used as it is.
    #[error("column {column:?}: {problem}")]
    Column {
        /// Name of the column that cannot be used.
        column: String,
        /// Description of the column's problem, and what to do.
        problem: String,
    },
    /// The schema of a table cannot be read.
    #[error("the schema: {0}")]
    Schema(#[from] serde_json::Error),
    /// The table differs from what it was when it was read first.
    #[error(
        "the table changed while it was read: expected {expected} rows, got {got}; run again when nobody writes to it"
    )]
    Changed {
        /// Number of rows of the table counted first.
        expected: u64,
        /// Number of rows of the table found now.
        got: u64,
    },
    /// Ciphertexts do not belong where they were to be written or read.
    #[error("{what}: expected {expected}, got {got}")]
    Mismatch {
        /// Name of the property that differs.
        what: &'static str,
        /// Expected value of the property.
        expected: String,
        /// Value of the property that was found.
        got: String,
    },
    /// A key that the call takes is not among the keys.
    #[error("there is no key {what}")]
    MissingKey {
        /// Purpose of the missing key, and which key to take.
        what: &'static str,
    },
    /// No column of the table would be encrypted.
    #[error("no column would be encrypted: leave some columns of the schema encrypted")]
    Empty,
    /// An error of the wire format.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// An error of the schema or the program.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// An error of a private lookup.
    #[error(transparent)]
    Retrieval(#[from] RetrievalError),
    /// An error of a private set intersection.
    #[error(transparent)]
    Intersection(#[from] IntersectionError),
    /// An error of an oblivious pseudorandom function.
    #[error(transparent)]
    Oprf(#[from] OprfError),
    /// An error of Arrow or of the reader or writer of Parquet.
    #[cfg(feature = "parquet")]
    #[error("{name} is no Parquet file that can be read: {problem}")]
    Parquet {
        /// Name of the Parquet file, or of the table.
        name: String,
        /// Description of the file's problem.
        problem: String,
    },
}

impl TableError {
    /// Party at fault for the error of a table.
    #[must_use]
    pub fn fault(&self) -> Fault {
        match self {
            Self::Wire(error) => error.fault(),
            Self::Io { .. } => Fault::System,
            Self::Retrieval(RetrievalError::Unsealed) => Fault::Damage,
            _ => Fault::Object,
        }
    }

    pub(crate) fn io(name: &str, error: &std::io::Error) -> Self {
        Self::Io { name: name.to_owned(), reason: reason(error) }
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
