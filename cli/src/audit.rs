//! Audit log of what secret keys open: a line is on the disk before anything is opened, and what cannot be logged is not opened.

use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use clap::Args;
use sunzi::program::Program;
use sunzi::rlwe::wire::{WireError, open_regular};
use sunzi::rlwe::{KeyId, SharingPolicy};
use sunzi_keystore::log::{AuditLog, Event, Hasher, LogError, Opening, Outcome, Share, sha256};

use crate::error::CliError;
use crate::files::input::InputFile;
use crate::files::{named, refuse};

/// File name of the audit log beside a secret key.
pub(crate) const LOG: &str = "audit.jsonl";

/// Option for the place of the audit log.
#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    /// Keep the audit log in this file; audit.jsonl beside the secret key unless given. What cannot be logged is not opened
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
}

/// Audit log of a secret key.
pub(crate) struct Audit(AuditLog);

impl Audit {
    /// Returns the log of the key in a folder, or that of the option.
    pub(crate) fn new(args: &LogArgs, folder: &Path, key: KeyId) -> Self {
        args.log.as_ref().map_or_else(|| Self::beside(folder, key), |file| Self(AuditLog::new(file, key)))
    }

    /// Returns the log beside a key.
    pub(crate) fn beside(folder: &Path, key: KeyId) -> Self {
        Self(AuditLog::new(folder.join(LOG), key))
    }

    /// Begins the log of a key that is being made in a folder.
    pub(crate) fn begin(folder: &Path, key: KeyId) -> Result<(), CliError> {
        Self::beside(folder, key).append(Event::Begun { with_key: true }).map(drop)
    }

    /// Logs an event, does it, and logs how it ended.
    pub(crate) fn recorded<T>(
        &self,
        event: Event,
        work: impl FnOnce() -> Result<T, CliError>,
    ) -> Result<T, CliError> {
        let of = self.append(event)?;
        let result = work();
        let outcome = match &result {
            // Whoever stopped reading has read some.
            Ok(_) | Err(CliError::ReaderGone) => Outcome::Done,
            Err(error) => Outcome::Failed(error.exit_code()),
        };
        self.append(Event::End { of, outcome })?;
        result
    }

    fn append(&self, event: Event) -> Result<u64, CliError> {
        self.0.append(event).map_err(|error| refused(self.0.path(), error))
    }
}

/// Returns the event of opening a file; results of a program name it.
pub(crate) fn opening(what: &str, file: &InputFile, program: Option<&Program>) -> Result<Opening, CliError> {
    let program = program.map(serde_json::to_vec).transpose().map_err(CliError::failure)?;
    let hash = hash_of(file.path()).map_err(|error| refuse(file.path(), error))?;
    Ok(Opening { program: program.map(|json| sha256(&json)), ..opening_of(what, file.name(), hash) })
}

/// Returns the event of opening what has this name and hash.
pub(crate) fn opening_of(what: &str, name: &str, sha256: String) -> Opening {
    let [what, file] = [what, name].map(str::to_owned);
    Opening { what, file, sha256, program: None, agreed: false, share: None }
}

/// Returns what is promised of results that are shared by so many decryptions.
pub(crate) fn share(policy: SharingPolicy, ciphertexts: u64) -> Share {
    Share { ciphertexts, queries: policy.queries(), statistical_bits: policy.statistical_bits() }
}

/// Returns the SHA-256 of a file.
fn hash_of(path: &Path) -> Result<String, WireError> {
    let mut reader = BufReader::with_capacity(1 << 20, open_regular(path)?);
    let mut hash = Hasher::default();
    io::copy(&mut reader, &mut hash)?;
    Ok(hash.finish())
}

/// Returns the command-line error for an error of a log.
pub(crate) fn refused(path: &Path, error: LogError) -> CliError {
    let message = format!("{}: {error}", named(path));
    match error {
        LogError::Io(_) => CliError::io(format!(
            "{message}; nothing is opened that is not logged: make the file writable, or give another one with --log"
        )),
        LogError::NotLog { .. } => CliError::input(message),
        _ => CliError::damaged(message),
    }
}
