//! Cost of deriving a key from a passphrase.

use argon2::{Algorithm, Argon2, Params, Version};
use zeroize::Zeroizing;

use crate::{KeystoreError, Passphrase};

/// Largest memory of a derivation, in KiB: files are bytes of others, and a derivation takes what they say.
const MOST_MEMORY: u32 = 1 << 22;
/// Largest number of passes of a derivation over its memory.
const MOST_PASSES: u32 = 64;
/// Largest number of lanes of a derivation.
const MOST_LANES: u32 = 16;
/// Length of a salt, in bytes.
pub(crate) const SALT: usize = 16;
/// Length of a key, in bytes.
pub(crate) const KEY: usize = 32;

/// Cost of deriving a key from a passphrase by Argon2id.
///
/// The default takes 256 MiB, four times the memory of the second recommended set of RFC 9106, with its three passes, and one lane: half a second or so on a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Memory in KiB, at least eight for each lane and at most 2^22 (4 GiB).
    pub memory: u32,
    /// Number of passes over the memory, 1 to 64.
    pub passes: u32,
    /// Number of lanes, 1 to 16.
    pub lanes: u32,
}

impl Default for Cost {
    fn default() -> Self {
        Self { memory: 1 << 18, passes: 3, lanes: 1 }
    }
}

impl Cost {
    /// Fails for a cost that is not taken.
    pub(crate) fn check(self) -> Result<(), KeystoreError> {
        let within = |what, got, least: u32, most: u32| {
            let expected = format!("{least} to {most}");
            if (least..=most).contains(&got) {
                Ok(())
            } else {
                Err(KeystoreError::DerivationCost { what, expected, got })
            }
        };
        within("lanes", self.lanes, 1, MOST_LANES)?;
        within("passes", self.passes, 1, MOST_PASSES)?;
        within("memory in KiB", self.memory, 8 * self.lanes, MOST_MEMORY)
    }

    /// Derives a key.
    pub(crate) fn derive(
        self,
        passphrase: &Passphrase,
        salt: &[u8; SALT],
    ) -> Result<Zeroizing<[u8; KEY]>, KeystoreError> {
        self.check()?;
        let failed = |_| KeystoreError::DerivationMemory(self.memory);
        let params = Params::new(self.memory, self.passes, self.lanes, Some(KEY)).map_err(failed)?;
        // The key follows from the last block.
        let mut memory = Zeroizing::new(Vec::new());
        let blocks = params.block_count();
        memory.try_reserve_exact(blocks).map_err(|_| KeystoreError::DerivationMemory(self.memory))?;
        memory.resize(blocks, argon2::Block::default());
        let mut key = Zeroizing::new([0; KEY]);
        let argon = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
        let derived =
            argon.hash_password_into_with_memory(passphrase.bytes(), salt, &mut *key, &mut memory[..]);
        derived.map_err(failed)?;
        Ok(key)
    }
}
