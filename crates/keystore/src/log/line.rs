//! Lines of an audit log: what was done with a secret, as JSON.

use std::io;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::Time;

/// Longest line of an audit log, in bytes.
pub(super) const LONGEST: usize = 1 << 16;
/// Longest name of a file that a line takes over, in characters: each takes up to six bytes in JSON.
const LONGEST_NAME: usize = 4096;

/// A line of an audit log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// Number of the line among those that are whole, from 1.
    pub line: u64,
    /// Time of the machine's clock.
    pub time: Time,
    /// Name of the secret key.
    pub key: String,
    /// SHA-256 of the line before, without its end, as 64 hexadecimal digits; zeros for the first line.
    pub before: String,
    /// Event that the line records.
    pub event: Event,
}

/// An event of an audit log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Event {
    /// The log begins.
    Begun {
        /// Whether the key was made together with the log; otherwise nobody knows what was done with it before.
        with_key: bool,
    },
    /// Something encrypted is about to be opened: written before it is.
    Open(Opening),
    /// Another key is about to be enabled to open what is under this one.
    Enable {
        /// Kind of the key that is made for it.
        by: String,
        /// Name of the other key.
        to: String,
    },
    /// An event of an earlier line ended.
    End {
        /// Number of that line.
        of: u64,
        /// How it ended.
        outcome: Outcome,
    },
    /// Bytes that a crash left behind the last whole line are skipped.
    Recovered {
        /// Number of the bytes.
        bytes: u64,
        /// SHA-256 of the bytes, ends of lines included.
        sha256: String,
    },
}

/// What is opened, and for whom.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Opening {
    /// What is done: "decrypt", for one.
    pub what: String,
    /// Name of the file as it was given.
    pub file: String,
    /// SHA-256 of the file.
    pub sha256: String,
    /// SHA-256 of the program whose results they are, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// Whether the program was compared with one that was agreed on.
    #[serde(default)]
    pub agreed: bool,
    /// Promise under which results are shared; none for the key holder's own eyes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<Share>,
}

/// Promise under which results are shared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Share {
    /// Number of ciphertexts.
    pub ciphertexts: u64,
    /// Number of ciphertexts that may be shared under the key.
    pub queries: u64,
    /// Bits of statistical distance.
    pub statistical_bits: u32,
}

/// How an event ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Outcome {
    /// All of it was given.
    Done,
    /// It failed, with this exit code; some of it may have been given.
    Failed(u8),
}

impl Line {
    /// Reads a line without its end.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        if bytes.len() < LONGEST { serde_json::from_slice(bytes).ok() } else { None }
    }
}

impl Opening {
    /// Shortens the name of the file, whose length nobody limited.
    pub(super) fn short(self) -> Self {
        Self { file: self.file.chars().take(LONGEST_NAME).collect(), ..self }
    }
}

/// Returns a SHA-256 as hexadecimal digits.
fn hex(hash: &[u8; 32]) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A SHA-256 of bytes that are written to it.
#[derive(Clone, Debug, Default)]
pub struct Hasher(Sha256);

impl Hasher {
    /// Returns the SHA-256 as hexadecimal digits.
    #[must_use]
    pub fn finish(self) -> String {
        hex(&self.0.finalize().into())
    }
}

impl io::Write for Hasher {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the SHA-256 of bytes as hexadecimal digits.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes).into())
}
