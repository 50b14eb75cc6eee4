//! What can be wrong with a file.

use std::io;

use sunzi_ring::{PackingError, RingError};

use super::{Kind, SecurityClaim};
use crate::{KeyId, RlweError};

/// Why an object was not read or written: what was expected, what came, what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// Bytes did not come or go.
    #[error(transparent)]
    Io(io::Error),
    /// Not a file of Sunzi, or one that went through a conversion of text.
    #[error(
        "this is no file of Sunzi, or no copy byte by byte: it begins with \"{}\", not with \"{}\"",
        got.escape_ascii(), super::MAGIC.escape_ascii()
    )]
    Magic {
        /// The first bytes.
        got: [u8; 8],
    },
    /// Of a later version, or damaged.
    #[error("format version {got} is not known here, {} is: use a newer release", super::VERSION)]
    Version {
        /// The version of the file.
        got: u16,
    },
    /// Features of a later version.
    #[error("the header has flags {got:#x} that are not known here: use a newer release")]
    Flags {
        /// The flags of the file.
        got: u32,
    },
    /// Another kind of object.
    #[error("expected a file with {expected}, got one with {}", Kind::describe(*got))]
    Kind {
        /// What was to be read.
        expected: Kind,
        /// The number of what came.
        got: u16,
    },
    /// An object of other parameters.
    #[error("the file was made for other {what}: use the parameters it was made with")]
    Parameters {
        /// What differs.
        what: &'static str,
    },
    /// Parameters that protect nothing, where these were not asked for.
    #[error(
        "the parameters were written without a check of their security ({claim}): take others, or opt out by name \
         (--insecure-for-research-only, insecure_for_research_only=True, Accept::InsecureForResearchOnly), never for data that matters"
    )]
    Insecure {
        /// What they say of themselves.
        claim: SecurityClaim,
    },
    /// An object of another secret key.
    #[error("the file belongs to key {}, expected {}: use the keys that were made together", name(*got), name(*expected))]
    Key {
        /// The key at hand.
        expected: Option<KeyId>,
        /// The key of the file.
        got: Option<KeyId>,
    },
    /// The input ended before the object did.
    #[error("the file ends before its object does: copy it again")]
    Truncated,
    /// The length that the header states is not that of the object.
    #[error("the object takes {expected} bytes, the header says {got}: the file is damaged")]
    Length {
        /// What the object takes, or the least it can take.
        expected: u64,
        /// What the header states.
        got: u64,
    },
    /// Bytes after the object.
    #[error("{extra} bytes follow the object: the file is damaged, or has several objects")]
    Trailing {
        /// How many, at least.
        extra: u64,
    },
    /// Bytes that changed since they were written.
    #[error("the checksum of {what} is wrong: the file is damaged, copy it again")]
    Checksum {
        /// Which part of the file.
        what: &'static str,
    },
    /// A number that no object has.
    #[error("{what}: expected {expected}, got {got}; the file is damaged")]
    Value {
        /// Which number.
        what: &'static str,
        /// What it may be.
        expected: String,
        /// What it is.
        got: String,
    },
    /// A residue that is not below its modulus.
    #[error(
        "a polynomial has a residue modulo number {limb} of its ring that is not below it: the file is damaged"
    )]
    Residue {
        /// The place of the modulus, from 0.
        limb: usize,
    },
    /// Objects of several secret keys cannot stand in one array.
    #[error("the array has ciphertexts of several keys: write one file for each")]
    MixedKeys,
    /// What the scheme has against the object.
    #[error(transparent)]
    Scheme(Box<dyn std::error::Error + Send + Sync>),
    /// What the RLWE layer has against the object.
    #[error(transparent)]
    Rlwe(#[from] RlweError),
}

/// Whose fault a refusal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The system's: bytes did not come or go.
    System,
    /// The file is whole, but another was expected: another kind, other parameters, another key.
    Mismatch,
    /// The file is damaged, or was never one.
    Damage,
    /// The object in memory cannot be written.
    Object,
    /// The file is whole, but asks for what is refused: no security, or more memory than there is.
    Refused,
}

impl WireError {
    /// Whose fault it is.
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
            Self::Insecure { .. } | Self::Rlwe(RlweError::Insecure { .. } | RlweError::Memory { .. }) => {
                Fault::Refused
            }
            _ => Fault::Damage,
        }
    }

    /// An error of a scheme.
    pub fn scheme(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::Scheme(Box::new(error))
    }

    /// A number outside its range.
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
