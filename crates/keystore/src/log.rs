//! Audit logs: what was opened with a secret key, written down before it is opened.
//!
//! A log is a file of lines, each a JSON object ([`Line`]) with the SHA-256 of the line before. [`AuditLog`] appends to it, and a line is on the disk when it returns.
//! [`check`] reads a log and finds a line that was changed, inserted or removed, unless all lines after it were written anew: nothing in a log is secret, so whoever can
//! write the file can write another one. Note the hash of the last line elsewhere, and give it to [`check`] later: that one line fixes all before it.
//!
//! **After a crash** there may be bytes behind the last whole line. They stay, the next line says how many they are and what hash they have, and its chain goes on from
//! the last whole line. A line is on the disk before anything is opened, so such bytes stand for nothing that was.

mod append;
mod check;
mod line;

use std::io;

pub use append::AuditLog;
pub use check::{Summary, check};
pub use line::{Event, Hasher, Line, Opening, Outcome, Share, sha256};

/// Hash that the first line has in place of that of the line before.
const NOTHING: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// An error of an audit log.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// The log cannot be read or written.
    #[error("the audit log cannot be read or written: {0}")]
    Io(#[from] io::Error),
    /// The file is something else.
    #[error("this is no audit log but {got}: give another file")]
    NotLog {
        /// Value that came.
        got: &'static str,
    },
    /// The log is not as it was written.
    #[error(
        "the audit log was changed at line {line} of the file: expected {expected}, got {got}; keep the file to find out why, and move it away to begin another one"
    )]
    Changed {
        /// Number of the line of the file.
        line: u64,
        /// Expected value.
        expected: String,
        /// Value that came.
        got: String,
    },
    /// The log has no end to which a line could be appended.
    #[error(
        "the audit log does not end with a line that the next one can follow: keep the file to find out why, and move it away to begin another one"
    )]
    NoEnd,
    /// The log does not have a line that it is known to have had.
    #[error("the audit log has no line with hash {hash}: it was cut or written anew since that was noted")]
    Cut {
        /// Hash that was noted.
        hash: String,
    },
}
