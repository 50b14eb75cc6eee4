//! File modes of secret keys: one that others can read is refused.

use std::path::Path;

use clap::Args;

use crate::error::CliError;

/// Option for secret keys that others can read.
#[derive(Debug, Args)]
pub(crate) struct ModeArgs {
    /// Take a secret key that others on this machine can read too, with a warning
    #[arg(long)]
    allow_open_mode: bool,
}

/// Checks that a file is no secret key that anybody but its owner can read or write.
#[cfg(unix)]
pub(crate) fn check(path: &Path, args: &ModeArgs) -> Result<(), CliError> {
    use crate::output;

    let Some(complaint) = complaint(path) else { return Ok(()) };
    if args.allow_open_mode {
        output::warn(&complaint);
        return Ok(());
    }
    Err(CliError::input(format!("{complaint}, or go on with --allow-open-mode")))
}

/// Returns what is wrong with the mode of a file and the command that mends it, if it is an open secret key.
#[cfg(unix)]
pub(crate) fn complaint(path: &Path) -> Option<String> {
    use std::os::unix::fs::PermissionsExt;

    use sunzi::rlwe::wire::Kind;

    use super::refuse::named;
    use super::stored;

    // What is missing or no secret key is refused by whoever reads it, with a better reason.
    let (header, _) = stored::header(path).ok()?;
    let mode = std::fs::metadata(path).ok()?.permissions().mode() & 0o777;
    let open = header.kind == Kind::SecretKey as u16 && mode & 0o077 != 0;
    open.then(|| {
        let name = named(path);
        format!("{name} is a secret key that others on this machine can reach (mode {mode:04o}): run chmod 600 {name}")
    })
}

/// Checks nothing: only Unix has these modes.
#[cfg(not(unix))]
pub(crate) fn check(_: &Path, _: &ModeArgs) -> Result<(), CliError> {
    Ok(())
}

#[cfg(not(unix))]
pub(crate) fn complaint(_: &Path) -> Option<String> {
    None
}
