//! Headers, the first 64 bytes of every object.

use std::io::Read;

use twox_hash::XxHash3_64;

use super::fields::{FieldReader, Fields};
use super::{Fingerprint, MAGIC, VERSION, WireError};
use crate::KeyId;

/// Length of a header, in bytes.
pub const HEADER_LEN: usize = 64;

/// A header, which stands before every object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Number of the kind of the object: [`Kind::of`](super::Kind::of) names it.
    pub kind: u16,
    /// Fingerprint of the parameters that the object was made with.
    pub parameters: Fingerprint,
    /// Name of the secret key that the object belongs to, if any.
    pub key: Option<KeyId>,
    /// Number of bytes of the body, which follows the header.
    pub body_len: u64,
}

impl Header {
    /// Returns the 64 bytes of the header, its checksum last.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut fields = Fields::default();
        fields.bytes(&MAGIC);
        fields.u16(VERSION);
        fields.u16(self.kind);
        fields.u32(0);
        fields.bytes(&self.parameters.ring);
        fields.bytes(&self.parameters.scheme);
        fields.bytes(&self.key.map_or([0; 16], |key| *key.as_bytes()));
        fields.u64(self.body_len);
        fields.u64(checksum(fields.as_bytes()));
        fields.into_bytes()
    }

    /// Reads a header, the first 64 bytes of an object.
    ///
    /// # Errors
    /// [`WireError::Magic`], [`WireError::Version`], [`WireError::Checksum`], [`WireError::Flags`], asked in this order; [`WireError::Truncated`];
    /// [`WireError::Io`].
    pub fn read(from: &mut impl Read) -> Result<Self, WireError> {
        let mut bytes = Vec::with_capacity(HEADER_LEN);
        from.take(HEADER_LEN as u64).read_to_end(&mut bytes)?;
        // A file that ends sooner is checked, too: it may be none of ours.
        if bytes.iter().zip(MAGIC).any(|(got, expected)| *got != expected) {
            let mut got = [0; 8];
            got.iter_mut().zip(&bytes).for_each(|(to, byte)| *to = *byte);
            return Err(WireError::Magic { got });
        }
        if bytes.len() < HEADER_LEN {
            return Err(WireError::Truncated);
        }
        let (body, _) = bytes.split_at(HEADER_LEN - 8);
        let mut fields = FieldReader::new(&bytes);
        let _: [u8; 8] = fields.array()?;
        let version = fields.u16()?;
        if version != VERSION {
            return Err(WireError::Version { got: version });
        }
        let (kind, flags) = (fields.u16()?, fields.u32()?);
        let parameters = Fingerprint { ring: fields.array()?, scheme: fields.array()? };
        let (key, body_len): ([u8; 16], u64) = (fields.array()?, fields.u64()?);
        if fields.u64()? != checksum(body) {
            return Err(WireError::Checksum { what: "the header" });
        }
        if flags != 0 {
            return Err(WireError::Flags { got: flags });
        }
        let key = (key != [0; 16]).then(|| KeyId::from_bytes(key));
        Ok(Self { kind, parameters, key, body_len })
    }

    /// Returns the name of the secret key of an object that must have one.
    ///
    /// # Errors
    /// [`WireError::Value`] if the header names no key.
    pub fn required_key(&self) -> Result<KeyId, WireError> {
        self.key.ok_or_else(|| WireError::value("the name of the key", "16 bytes that are not all 0", "none"))
    }

    /// Checks that the object belongs to no secret key.
    ///
    /// # Errors
    /// [`WireError::Key`] if the header names one.
    pub fn without_key(&self) -> Result<(), WireError> {
        if self.key.is_none() { Ok(()) } else { Err(WireError::Key { expected: None, got: self.key }) }
    }
}

/// Returns the checksum of bytes, XXH3-64 without a seed: against accidents, not against attackers.
#[must_use]
pub fn checksum(bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot(bytes)
}
