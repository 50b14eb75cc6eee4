//! Elements that are sent, and public keys.

use curve25519_dalek::RistrettoPoint;
use curve25519_dalek::ristretto::CompressedRistretto;
use curve25519_dalek::traits::IsIdentity;

use crate::OprfError;

/// An element of ristretto255 as it is sent: a blinded input, or an evaluated one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    pub(crate) point: RistrettoPoint,
    bytes: [u8; Self::BYTES],
}

impl Element {
    /// Number of bytes of an element.
    pub const BYTES: usize = 32;

    /// Reads an element.
    ///
    /// # Errors
    /// [`OprfError::Element`] for bytes that are no element, and for the neutral element.
    pub fn from_bytes(bytes: [u8; Self::BYTES]) -> Result<Self, OprfError> {
        let point = CompressedRistretto(bytes).decompress().ok_or(OprfError::Element)?;
        if point.is_identity() { Err(OprfError::Element) } else { Ok(Self { point, bytes }) }
    }

    /// The bytes of an element.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; Self::BYTES] {
        &self.bytes
    }

    pub(crate) fn of(point: RistrettoPoint) -> Self {
        Self { point, bytes: point.compress().to_bytes() }
    }
}

/// The public key of a server, by which clients see that all of them are served under one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublicKey(pub(crate) Element);

impl PublicKey {
    /// Reads a public key.
    ///
    /// # Errors
    /// [`OprfError::Key`] for bytes that are no public key.
    pub fn from_bytes(bytes: [u8; Element::BYTES]) -> Result<Self, OprfError> {
        Element::from_bytes(bytes).map(Self).map_err(|_| OprfError::Key)
    }

    /// The bytes of a public key.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; Element::BYTES] {
        self.0.as_bytes()
    }
}
