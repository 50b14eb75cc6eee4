//! Common reference of the shares of several parties.

use rand_core::Rng as _;
use sunzi_ring::sampling::SeededRng;

use crate::KeyId;

/// A common reference string: 32 public random bytes, from which the uniform halves of all keys of one joint secret follow.
///
/// No party alone may choose it, and it serves once: when a run is given up, the next one takes another, and other secrets.
///
/// ```
/// use sunzi_rlwe::joint::Reference;
///
/// let reference = Reference::new([7; 32]);
/// assert_eq!(reference.key_id(), Reference::new([7; 32]).key_id());
/// assert_ne!(reference.key_id(), Reference::new([8; 32]).key_id());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reference([u8; 32]);

impl Reference {
    /// Makes the reference of 32 public random bytes.
    #[must_use]
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The name of the joint secret, which all its keys and ciphertexts carry.
    #[must_use]
    pub fn key_id(&self) -> KeyId {
        let mut bytes = [0; 16];
        SeededRng::derive(&self.0, "sunzi joint key name", 0).fill_bytes(&mut bytes);
        KeyId::from_bytes(bytes)
    }

    /// Returns the seed of the uniform halves of key number `index` of a kind.
    pub(super) fn seed(&self, kind: &str, index: u64) -> [u8; 32] {
        let mut seed = [0; 32];
        SeededRng::derive(&self.0, kind, index).fill_bytes(&mut seed);
        seed
    }
}
