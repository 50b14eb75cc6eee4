//! Common reference of the shares of several parties.

use rand_core::Rng as _;
use sha2::{Digest, Sha256};
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
pub struct Reference {
    seed: [u8; 32],
    key: KeyId,
}

impl Reference {
    /// Makes the reference of 32 public random bytes.
    #[must_use]
    pub fn new(bytes: [u8; 32]) -> Self {
        let mut name = [0; 16];
        SeededRng::derive(&bytes, "sunzi joint key name", 0).fill_bytes(&mut name);
        Self { seed: bytes, key: KeyId::from_bytes(name) }
    }

    /// Returns the reference of the same joint secret after a round whose messages have the hash `transcript`: nobody knows its uniform halves before all of these
    /// messages are fixed. The second round of relinearisation keys takes it.
    ///
    /// ```
    /// use sunzi_rlwe::joint::Reference;
    ///
    /// let first = Reference::new([7; 32]);
    /// let second = first.after([9; 32]);
    /// assert_eq!(second.key_id(), first.key_id());
    /// assert_ne!(second, first);
    /// ```
    #[must_use]
    pub fn after(&self, transcript: [u8; 32]) -> Self {
        let hash = Sha256::new()
            .chain_update(b"sunzi joint reference after a round\0")
            .chain_update(self.seed)
            .chain_update(transcript)
            .finalize();
        Self { seed: hash.into(), key: self.key }
    }

    /// The name of the joint secret, which all its keys and ciphertexts carry.
    #[must_use]
    pub fn key_id(&self) -> KeyId {
        self.key
    }

    /// Returns the name of the own secret of a party of a joint secret, by the number of the party from 1 on: whoever decrypts can tell that a secret is a share of
    /// the joint secret with this name.
    ///
    /// ```
    /// use sunzi_rlwe::joint::Reference;
    ///
    /// let key = Reference::new([7; 32]).key_id();
    /// assert_ne!(Reference::share_id(key, 1), Reference::share_id(key, 2));
    /// ```
    #[must_use]
    pub fn share_id(key: KeyId, party: u32) -> KeyId {
        let hash = Sha256::new()
            .chain_update(b"sunzi name of a share of a joint secret\0")
            .chain_update(key.as_bytes())
            .chain_update(party.to_le_bytes())
            .finalize();
        KeyId::from_bytes(hash.first_chunk().copied().unwrap_or_default())
    }

    /// Returns the seed of the uniform halves of key number `index` of a kind.
    pub(super) fn seed(&self, kind: &str, index: u64) -> [u8; 32] {
        let mut seed = [0; 32];
        SeededRng::derive(&self.seed, kind, index).fill_bytes(&mut seed);
        seed
    }
}
