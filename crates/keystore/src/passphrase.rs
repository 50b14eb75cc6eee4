//! Passphrases, which are erased when dropped.

use std::fmt;

use zeroize::Zeroizing;

use crate::KeystoreError;

/// Longest passphrase, in bytes.
pub const LONGEST_PASSPHRASE: usize = 1024;

/// Passphrase of a secret file: its bytes are taken as they are, and erased when dropped.
pub struct Passphrase(Zeroizing<Vec<u8>>);

impl Passphrase {
    /// Makes a passphrase of bytes, text in UTF-8 for one.
    ///
    /// # Errors
    /// [`KeystoreError::PassphraseLength`] for none, and for more than [`LONGEST_PASSPHRASE`].
    pub fn new(bytes: impl AsRef<[u8]>) -> Result<Self, KeystoreError> {
        let bytes = bytes.as_ref();
        if (1..=LONGEST_PASSPHRASE).contains(&bytes.len()) {
            Ok(Self(Zeroizing::new(bytes.to_vec())))
        } else {
            Err(KeystoreError::PassphraseLength { got: bytes.len() })
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Passphrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Passphrase")
    }
}
