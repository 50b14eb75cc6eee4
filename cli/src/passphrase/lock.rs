//! Lock of a secret: a passphrase, or a key management service that wraps the key of the file.

use std::path::Path;

use sunzi::rlwe::randomness;
use sunzi_keystore::{Cost, DataKey, KeystoreError, Passphrase, lock, lock_under, unlock_under, wrapped_key};
use zeroize::Zeroizing;

use super::command::{LIMIT, printed};
use crate::error::CliError;
use crate::files::{named, refuse};

/// Advice to users whose command printed another number of bytes than a key has.
const REMEDY: &str = "let it print the bytes as they were, not as text: base64 -d, for one";

/// Lock of a secret.
pub(crate) enum Lock {
    Passphrase(Passphrase),
    /// Commands of a service.
    Service {
        wrap: String,
        unwrap: String,
    },
}

impl Lock {
    /// Returns the bytes of a file of a secret as they are locked; a service has to give the key back first.
    pub(crate) fn locked(&self, file: &Path, secret: &[u8]) -> Result<Vec<u8>, CliError> {
        let mut rng = randomness::from_os().map_err(CliError::failure)?;
        let of_file = |error| refused(file, error);
        match self {
            Self::Passphrase(passphrase) => {
                lock(secret, passphrase, Cost::default(), &mut rng).map_err(of_file)
            }
            Self::Service { wrap, unwrap } => {
                let key = DataKey::generate(&mut rng);
                let wrapped = printed((wrap, "wrapping a key"), Some(key.bytes()), LIMIT)?;
                let locked = lock_under(secret, &key, &wrapped, &mut rng).map_err(of_file)?;
                // Whoever replaces the only copy of a secret should know that it opens.
                unlocked(file, &locked, unwrap)?;
                Ok(locked)
            }
        }
    }
}

/// Opens the bytes of a file whose key a service unwraps.
pub(super) fn unlocked(file: &Path, locked: &[u8], unwrap: &str) -> Result<Zeroizing<Vec<u8>>, CliError> {
    let wrapped = wrapped_key(locked).map_err(|error| refused(file, error))?;
    let printed = printed((unwrap, "unwrapping the key"), Some(wrapped), LIMIT)?;
    let key = DataKey::from_bytes(&printed).map_err(|error: KeystoreError| {
        CliError::input(format!("the command for unwrapping the key printed {error}; {REMEDY}"))
    })?;
    unlock_under(locked, &key).map_err(|error| refused(file, error))
}

/// Returns the command-line error for an error of a secret under a passphrase.
pub(super) fn refused(file: &Path, error: KeystoreError) -> CliError {
    match error {
        KeystoreError::Wire(error) => refuse(file, error),
        KeystoreError::DerivationMemory(_) => CliError::io(format!("{}: {error}", named(file))),
        other => CliError::input(format!("{}: {other}", named(file))),
    }
}
