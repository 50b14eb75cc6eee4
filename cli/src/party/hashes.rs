//! Hashes of the public keys that a party made.

use std::collections::BTreeMap;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use sunzi::rlwe::wire::{self, WireError};

use crate::error::CliError;
use crate::files::{named, refuse};

/// Files of public keys, and their hashes: as one party made them.
#[derive(Clone, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Hashes {
    /// Name of the joint key in hexadecimal digits.
    pub(super) key: String,
    pub(super) files: BTreeMap<String, String>,
}

impl Hashes {
    /// Compares the files in a folder with the keys that this party made; `remedy` says what to do about others.
    pub(super) fn compare(&self, folder: &Path, remedy: &str) -> Result<(), CliError> {
        for (file, expected) in &self.files {
            let path = folder.join(file);
            if hash_of(&path)? != *expected {
                return Err(CliError::mismatch(format!(
                    "{} is not what this party made: somebody changed it, or it is of another session; {remedy}",
                    named(&path)
                )));
            }
        }
        Ok(())
    }
}

/// Returns the hash of a regular file.
fn hash_of(path: &Path) -> Result<String, CliError> {
    let refused = |error| refuse(path, error);
    let mut file = BufReader::with_capacity(1 << 16, wire::open_regular(path).map_err(refused)?);
    let (mut hashing, mut part) = (Hashing::default(), vec![0; 1 << 16]);
    loop {
        let read = file.read(&mut part).map_err(|error| refuse(path, WireError::Io(error)))?;
        match part.get(..read) {
            Some(read) if !read.is_empty() => hashing.put(read),
            _ => return Ok(hashing.finish()),
        }
    }
}

/// A writer that hashes what is written.
#[derive(Default)]
pub(super) struct Hashing {
    hash: Sha256,
    pub(super) bytes: u64,
}

impl Hashing {
    fn put(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
        self.bytes += bytes.len() as u64;
    }

    pub(super) fn finish(self) -> String {
        self.hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.put(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
