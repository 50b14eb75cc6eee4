//! File modes of secret keys and notes: what others can reach is refused.

use std::path::Path;

use clap::Args;
use sunzi::rlwe::wire::Kind;

use super::refuse::named;
use super::stored;
use crate::error::CliError;
use crate::output;

/// Option for secret keys that others can reach.
#[derive(Debug, Default, Args)]
pub(crate) struct ModeArgs {
    /// Take a secret key that others on this machine can reach too, with a warning
    #[arg(long)]
    allow_open_mode: bool,
}

/// Checks that a file is no secret key or note that anybody but its owner can read or write.
pub(crate) fn check(path: &Path, args: &ModeArgs) -> Result<(), CliError> {
    let Some(complaint) = complaint(path) else { return Ok(()) };
    if args.allow_open_mode {
        output::warn(&complaint);
        return Ok(());
    }
    Err(CliError::input(format!("{complaint}, or go on with --allow-open-mode")))
}

/// Returns what is wrong with the mode of a file and the command that mends it, if it is an open secret key or note.
pub(crate) fn complaint(path: &Path) -> Option<String> {
    let mode = open_mode(path)?;
    // What is missing or no secret key is refused by whoever reads it, with a better reason.
    let (header, _) = stored::header(path).ok()?;
    let what = match Kind::of(header.kind)? {
        Kind::SecretKey => "a secret key",
        Kind::ReencryptionKey => "a re-encryption key",
        Kind::LookupAsked => "a note of what a query asks for",
        Kind::PrivateSet => "a private set",
        _ => return None,
    };
    let name = named(path);
    Some(format!(
        "{name} is {what} that others on this machine can reach (mode {mode:04o}): run chmod 600 {name}"
    ))
}

/// Returns the mode of a file that others than its owner may read, write or run.
#[cfg(unix)]
fn open_mode(path: &Path) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;

    let mode = std::fs::metadata(path).ok()?.permissions().mode() & 0o777;
    (mode & 0o077 != 0).then_some(mode)
}

/// Returns nothing: only Unix has these modes.
#[cfg(not(unix))]
fn open_mode(_: &Path) -> Option<u32> {
    None
}
