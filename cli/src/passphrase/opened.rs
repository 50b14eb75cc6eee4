//! Secret keys in files, under a passphrase or not.

use std::path::Path;

use sunzi::program::Contexts;
use sunzi::program::contexts::{SECRET, SecretKey};
use sunzi::rlwe::RlweContext;
use sunzi::rlwe::wire::{WireError, from_bytes, load};
use sunzi_keystore::files::{is_locked, read};
use sunzi_keystore::{KeystoreError, unlock};
use zeroize::Zeroizing;

use super::asked;
use crate::args::passphrase::PassphraseArgs;
use crate::error::CliError;
use crate::files::mode::{self, ModeArgs};
use crate::files::{named, refuse, refuse_keys};
use crate::output;

/// Number of passphrases that are tried at a terminal.
const TRIES: usize = 3;

/// Reads the secret key of a folder, under a passphrase or not.
pub(crate) fn secret(
    contexts: &Contexts,
    folder: &Path,
    mode: &ModeArgs,
    passphrase: &PassphraseArgs,
) -> Result<SecretKey, CliError> {
    let of_keys = |error| refuse_keys(folder, "secret", error);
    secret_in(contexts.rlwe(), &folder.join(SECRET), (mode, passphrase), of_keys)
}

/// Reads a secret key from a file, under a passphrase or not; `refused` makes errors of the file.
pub(crate) fn secret_in(
    context: &RlweContext,
    file: &Path,
    (mode, passphrase): (&ModeArgs, &PassphraseArgs),
    refused: impl Fn(WireError) -> CliError,
) -> Result<SecretKey, CliError> {
    mode::check(file, mode)?;
    if is_locked(file).map_err(&refused)? {
        from_bytes(context, &open(file, passphrase)?).map_err(refused)
    } else {
        load(context, file).map_err(refused)
    }
}

/// Opens a file with a secret under a passphrase, and returns the bytes of the secret.
pub(super) fn open(file: &Path, args: &PassphraseArgs) -> Result<Zeroizing<Vec<u8>>, CliError> {
    let locked = read(file).map_err(|error| refuse(file, error))?;
    let source = asked::known(args);
    let mut left = if source.may_be_asked_again() { TRIES } else { 1 };
    loop {
        left -= 1;
        match unlock(&locked, &source.passphrase(file)?) {
            Ok(secret) => return Ok(secret),
            Err(KeystoreError::PassphraseWrong) if left > 0 => {
                output::remark(&KeystoreError::PassphraseWrong.to_string())
            }
            Err(error) => return Err(refused(file, error)),
        }
    }
}

/// Returns the command-line error for an error of a secret under a passphrase.
pub(crate) fn refused(file: &Path, error: KeystoreError) -> CliError {
    match error {
        KeystoreError::Wire(error) => refuse(file, error),
        KeystoreError::DerivationMemory(_) => CliError::io(format!("{}: {error}", named(file))),
        other => CliError::input(format!("{}: {other}", named(file))),
    }
}
