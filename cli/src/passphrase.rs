//! `sunzi passphrase`: puts secret keys under a passphrase, and opens them for the commands that decrypt.

pub(crate) mod asked;
mod command;
pub(crate) mod lock;
pub(crate) mod opened;

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;
use sunzi::program::contexts::SECRET;
use sunzi::rlwe::wire::{Kind, WireError, replace};
use sunzi_keystore::files::read;
use zeroize::Zeroizing;

use self::opened::{is_encrypted, open};
use crate::args::passphrase::{NewPassphraseArgs, PassphraseArgs, PassphraseCommand, PassphraseCommands};
use crate::error::CliError;
use crate::files::{named, refuse, stored};
use crate::output;

/// Report of `sunzi passphrase`.
#[derive(Serialize)]
struct Written {
    file: String,
    passphrase: bool,
}

/// Runs a command of `sunzi passphrase`.
pub(crate) fn run(args: &PassphraseCommands) -> Result<(), CliError> {
    match &args.command {
        PassphraseCommand::Set(args) => set(&args.file, &args.new, args.json),
        PassphraseCommand::Change(args) => change(&args.file, &args.old, &args.new, args.json),
        PassphraseCommand::Remove(args) => remove(&args.file, &args.old, args.json),
    }
}

fn set(path: &Path, new: &NewPassphraseArgs, json: bool) -> Result<(), CliError> {
    let file = secret_in(path);
    // What takes no passphrase is refused before one is asked for.
    check_kind(&file)?;
    let secret = read(&file).map_err(|error| refuse(&file, error))?;
    write(&file, &asked::lock(new, &file)?.locked(&file, &secret)?)?;
    report(&file, true, json)
}

fn change(path: &Path, old: &PassphraseArgs, new: &NewPassphraseArgs, json: bool) -> Result<(), CliError> {
    let file = secret_in(path);
    let secret = unlocked(&file, old)?;
    write(&file, &asked::lock(new, &file)?.locked(&file, &secret)?)?;
    report(&file, true, json)
}

fn remove(path: &Path, old: &PassphraseArgs, json: bool) -> Result<(), CliError> {
    let file = secret_in(path);
    write(&file, &unlocked(&file, old)?)?;
    report(&file, false, json)
}

/// Returns the file with the secret key: that of a folder, if one is given.
fn secret_in(path: &Path) -> PathBuf {
    if path.is_dir() { path.join(SECRET) } else { path.to_owned() }
}

/// Opens a secret that is under a passphrase.
fn unlocked(file: &Path, old: &PassphraseArgs) -> Result<Zeroizing<Vec<u8>>, CliError> {
    if is_encrypted(file).map_err(|error| refuse(file, error))? {
        return open(file, old);
    }
    let name = named(file);
    Err(CliError::input(format!("{name} is under no passphrase: sunzi passphrase set puts it under one")))
}

/// Fails for a file of a kind that is never under a passphrase.
fn check_kind(file: &Path) -> Result<(), CliError> {
    let (header, _) = stored::header(file).map_err(|error| refuse(file, error))?;
    let (name, object) = (named(file), Kind::describe(header.kind));
    Err(CliError::input(match Kind::of(header.kind) {
        Some(Kind::LockedSecret | Kind::WrappedSecret) => {
            format!("{name} is under a passphrase already: sunzi passphrase change gives it another one")
        }
        Some(Kind::SharingLedger) => format!(
            "{name} is a sharing ledger, which every shared result is counted in: it has no secret number, and takes no passphrase"
        ),
        Some(kind) if kind.is_secret() => return Ok(()),
        _ => format!("{name} is {object}: expected a file with a secret, such as a secret key"),
    }))
}

/// Replaces a file with a secret once the new one is whole.
fn write(file: &Path, bytes: &[u8]) -> Result<(), CliError> {
    let contents = |out: &mut File| out.write_all(bytes).map_err(WireError::Io);
    replace(file, true, contents).map_err(|error| refuse(file, error))
}

fn report(file: &Path, passphrase: bool, json: bool) -> Result<(), CliError> {
    let written = Written { file: file.display().to_string(), passphrase };
    output::report(json, &written, |Written { file, passphrase }| {
        let what = if *passphrase { "is under the passphrase" } else { "has no passphrase any more" };
        format!("{file} {what}; what was there before may be found on the disk, and in copies")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_stand_for_their_secret_key() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(secret_in(folder.path()), folder.path().join(SECRET));
        assert_eq!(secret_in(&folder.path().join("x.sz")), folder.path().join("x.sz"));
    }
}
