//! Errors of reading and writing objects in files.

use std::io;

use sunzi_ring::{PackingError, RingError};

use super::{Fault, Kind, SecurityClaim};
use crate::words::reason;
use crate::{KeyId, RlweError};

/// An error of a file: why an object was not read or written, what was expected, what came, what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// Reading or writing the bytes of a file failed.
    #[error("{}", reason(.0))]
    Io(#[source] io::Error),
    /// A path names no regular file.
    #[error("this is {got}: give the name of a regular file")]
    NotRegular {
        /// Kind of what the path names, in words.
        got: &'static str,
    },
    /// The file is not one of Sunzi, or went through a conversion of text.
    #[error(
        "this is no file of Sunzi, or no copy byte by byte: it begins with \"{}\", not with \"{}\"",
        got.escape_ascii(), super::MAGIC.escape_ascii()
    )]
    Magic {
        /// First eight bytes of the file.
        got: [u8; 8],
    },
    /// The file has a later format version, or is damaged.
    #[error("format version {got} is not known here, {} is: use a newer release", super::VERSION)]
    Version {
        /// Format version of the file.
        got: u16,
    },
    /// The header of the file has flags of a later version.
    #[error("the header has flags {got:#x} that are not known here: use a newer release")]
    Flags {
        /// Flags in the header of the file.
        got: u32,
    },
    /// The file has another kind of object.
    #[error("expected a file with {expected}, got one with {}", Kind::describe(*got))]
    Kind {
        /// Kind of object that was expected.
        expected: Kind,
        /// Number of the kind of object that the file has.
        got: u16,
    },
    /// The object was made for other parameters.
    #[error("the file was made for other {what}: use the parameters it was made with")]
    Parameters {
        /// Name of the parameters that differ, in words.
        what: &'static str,
    },
    /// The parameters have no security, and such parameters were not asked for.
    #[error(
        "the parameters were written without a check of their security ({claim}): take others, or opt out by name \
         (--insecure-for-research-only, insecure_for_research_only=True, Accept::InsecureForResearchOnly), never for data that matters"
    )]
    Insecure {
        /// Security claim of the parameters.
        claim: SecurityClaim,
    },
    /// The object belongs to another secret key.
    #[error("the file belongs to key {}, expected {}: use the keys that were made together", name(*got), name(*expected))]
    Key {
        /// Name of the secret key that was expected.
        expected: Option<KeyId>,
        /// Name of the secret key of the file.
        got: Option<KeyId>,
    },
    /// The input ended before the object did.
    #[error("the file ends before its object does: copy it again")]
    Truncated,
    /// The length that the header states is not the length of the object.
    #[error("the object takes {expected} bytes, the header says {got}: the file is damaged")]
    Length {
        /// Length of the object in bytes, or the least it can be.
        expected: u64,
        /// Length in bytes that the header states.
        got: u64,
    },
    /// Bytes follow the object in the file.
    #[error("{extra} bytes follow the object: the file is damaged, or has several objects")]
    Trailing {
        /// Least number of surplus bytes behind the object.
        extra: u64,
    },
    /// A checksum is wrong: bytes of the file changed since they were written.
    #[error("the checksum of {what} is wrong: the file is damaged, copy it again")]
    Checksum {
        /// Name of the part of the file with the wrong checksum.
        what: &'static str,
    },
    /// A number in the file is outside its range.
    #[error("{what}: expected {expected}, got {got}; the file is damaged")]
    Value {
        /// Name of the number that is outside its range.
        what: &'static str,
        /// Values that the number may have, in words.
        expected: String,
        /// Value that the number has in the file.
        got: String,
    },
    /// A residue of a polynomial is not below its modulus.
    #[error(
        "a polynomial has a residue modulo number {limb} of its ring that is not below it: the file is damaged"
    )]
    Residue {
        /// Index of the modulus in its ring, from 0 on.
        limb: usize,
    },
    /// An array has ciphertexts of several secret keys.
    #[error("the array has ciphertexts of several keys: write one file for each")]
    MixedKeys,
    /// The scheme refused the object.
    #[error(transparent)]
    Scheme(Box<dyn std::error::Error + Send + Sync>),
    /// The RLWE layer refused the object.
    #[error(transparent)]
    Rlwe(#[from] RlweError),
}

impl WireError {
    /// Returns the side that caused an error of a file.
    #[must_use]
    pub fn fault(&self) -> Fault {
        match self {
            Self::Io(_) => Fault::System,
            Self::Version { .. }
            | Self::Flags { .. }
            | Self::Kind { .. }
            | Self::Parameters { .. }
            | Self::Key { .. } => Fault::Mismatch,
            Self::MixedKeys => Fault::Object,
            Self::NotRegular { .. }
            | Self::Insecure { .. }
            | Self::Rlwe(RlweError::Insecure { .. } | RlweError::Memory { .. }) => Fault::Refused,
            _ => Fault::Damage,
        }
    }

    /// Wraps an error of a scheme as an error of a file.
    pub fn scheme(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::Scheme(Box::new(error))
    }

    /// Makes the error of a number in a file outside its range.
    pub fn value(what: &'static str, expected: impl ToString, got: impl ToString) -> Self {
        Self::Value { what, expected: expected.to_string(), got: got.to_string() }
    }
}

fn name(key: Option<KeyId>) -> String {
    key.map_or_else(|| "none".to_owned(), |key| key.to_string())
}

impl From<io::Error> for WireError {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::UnexpectedEof { Self::Truncated } else { Self::Io(error) }
    }
}

impl From<PackingError> for WireError {
    fn from(error: PackingError) -> Self {
        match error {
            PackingError::Io(error) => error.into(),
            PackingError::Residue { limb } => Self::Residue { limb },
            PackingError::Ring(error) => error.into(),
            other => Self::scheme(other),
        }
    }
}

impl From<RingError> for WireError {
    fn from(error: RingError) -> Self {
        Self::Rlwe(error.into())
    }
}
