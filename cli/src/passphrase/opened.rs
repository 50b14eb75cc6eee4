//! Secret keys in files, under a passphrase or not.

use std::io::Read;
use std::path::Path;

use sunzi::program::Contexts;
use sunzi::program::contexts::{SECRET, SecretKey};
use sunzi::rlwe::RlweContext;
use sunzi::rlwe::wire::{WireError, from_bytes, load, open_regular};
use sunzi_keystore::{KeystoreError, LONGEST, unlock};
use zeroize::Zeroizing;

use super::{LOCKED, asked};
use crate::args::passphrase::PassphraseArgs;
use crate::error::CliError;
use crate::files::mode::{self, ModeArgs};
use crate::files::{named, refuse, refuse_keys, stored};
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

/// Whether a file has a secret under a passphrase. What is no file of Sunzi is refused by whoever reads it.
pub(crate) fn is_locked(file: &Path) -> Result<bool, WireError> {
    match stored::header(file) {
        Ok((header, _)) => Ok(header.kind == LOCKED),
        Err(WireError::Io(error)) => Err(WireError::Io(error)),
        Err(_) => Ok(false),
    }
}

/// Opens a file with a secret under a passphrase, and returns the bytes of the secret.
pub(super) fn open(file: &Path, args: &PassphraseArgs) -> Result<Zeroizing<Vec<u8>>, CliError> {
    let locked = read_secret(file)?;
    let source = asked::known(args);
    let mut left = if source.may_be_asked_again() { TRIES } else { 1 };
    loop {
        left -= 1;
        match unlock(&locked, &source.passphrase(file)?) {
            Ok(secret) => return Ok(secret),
            Err(KeystoreError::Closed) if left > 0 => output::remark(&KeystoreError::Closed.to_string()),
            Err(error) => return Err(refused(file, error)),
        }
    }
}

/// Reads all of a file with a secret.
pub(super) fn read_secret(file: &Path) -> Result<Zeroizing<Vec<u8>>, CliError> {
    let of_file = |error| refuse(file, WireError::Io(error));
    let opened = open_regular(file).map_err(|error| refuse(file, error))?;
    let len = opened.metadata().map_err(of_file)?.len();
    if len > LONGEST {
        return Err(CliError::input(format!(
            "{} has {len} bytes, files under a passphrase {LONGEST} at most",
            named(file)
        )));
    }
    let mut bytes = Zeroizing::new(Vec::with_capacity(len as usize));
    opened.take(len).read_to_end(&mut bytes).map_err(of_file)?;
    Ok(bytes)
}

/// Returns the command-line error for an error of a secret under a passphrase.
pub(super) fn refused(file: &Path, error: KeystoreError) -> CliError {
    match error {
        KeystoreError::Wire(error) => refuse(file, error),
        KeystoreError::Derivation(_) => CliError::io(format!("{}: {error}", named(file))),
        other => CliError::input(format!("{}: {other}", named(file))),
    }
}
