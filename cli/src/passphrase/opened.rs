//! Secret keys in files, under a passphrase or not.

use std::path::Path;

use sunzi::program::Contexts;
use sunzi::program::contexts::{SECRET, SecretKey};
use sunzi::rlwe::wire::{Format, WireError, from_bytes, load};
use sunzi_keystore::files::{is_locked, is_wrapped, read};
use sunzi_keystore::{KeystoreError, unlock};
use zeroize::Zeroizing;

use super::asked;
use super::lock::{self, refused};
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

/// Reads a secret from a file, under a passphrase or not; `refused` makes errors of the file.
pub(crate) fn secret_in<T, C: Format<T>>(
    context: &C,
    file: &Path,
    (mode, passphrase): (&ModeArgs, &PassphraseArgs),
    refused: impl Fn(WireError) -> CliError,
) -> Result<T, CliError> {
    mode::check(file, mode)?;
    if is_encrypted(file).map_err(&refused)? {
        from_bytes(context, &open(file, passphrase)?).map_err(refused)
    } else {
        load(context, file).map_err(refused)
    }
}

/// Whether a file has a secret under a passphrase or a wrapped key.
pub(crate) fn is_encrypted(file: &Path) -> Result<bool, WireError> {
    Ok(is_locked(file)? || is_wrapped(file)?)
}

/// Opens a file with a secret under a passphrase, and returns the bytes of the secret.
pub(crate) fn open(file: &Path, args: &PassphraseArgs) -> Result<Zeroizing<Vec<u8>>, CliError> {
    let locked = read(file).map_err(|error| refuse(file, error))?;
    if is_wrapped(file).map_err(|error| refuse(file, error))? {
        let (name, prefix) = (named(file), args.prefix);
        let unwrap = args.unwrap_command.as_ref().ok_or_else(|| {
            CliError::input(format!(
                "{name} is under a key that a service wrapped: give --{prefix}unwrap-command"
            ))
        })?;
        return lock::unlocked(file, &locked, unwrap);
    }
    let source = asked::known(args);
    let mut left = if source.may_be_asked_again() { TRIES } else { 1 };
    loop {
        left -= 1;
        match unlock(&locked, &source.passphrase(file, args.prefix)?) {
            Ok(secret) => return Ok(secret),
            Err(KeystoreError::PassphraseWrong) if left > 0 => {
                output::remark(&KeystoreError::PassphraseWrong.to_string())
            }
            Err(error) => return Err(refused(file, error)),
        }
    }
}
