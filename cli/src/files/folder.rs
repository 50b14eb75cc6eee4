//! Folders that a command makes: all of a folder, or nothing.

use std::fs;
use std::path::Path;

use sunzi::rlwe::wire::{Unfinished, WireError};

use super::refuse;
use crate::error::CliError;

/// Who may enter a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// Whoever the user's mask allows.
    Usual,
    /// The owner alone.
    OwnerAlone,
}

/// Makes a folder as `fill` fills it, under its name once it is whole; the folder must not be there yet.
pub(crate) fn whole<T>(
    folder: &Path,
    entry: Entry,
    fill: impl FnOnce(&Path) -> Result<T, CliError>,
) -> Result<T, CliError> {
    let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".sunzi-");
    if entry == Entry::OwnerAlone {
        for_owner_alone(&mut builder);
    }
    let temporary = || builder.tempdir_in(parent);
    let made = Unfinished::create(temporary, |made| made.path());
    let (_unfinished, made) = made.map_err(|error| refuse(parent, WireError::Io(error)))?;
    let filled = fill(made.path())?;
    fs::rename(made.path(), folder).map_err(|error| refuse(folder, WireError::Io(error)))?;
    // The folder has another name now: there is nothing to remove.
    let _ = made.keep();
    Ok(filled)
}

/// Makes folders for their owner alone.
#[cfg(unix)]
fn for_owner_alone(builder: &mut tempfile::Builder<'_, '_>) {
    use std::os::unix::fs::PermissionsExt;
    builder.permissions(fs::Permissions::from_mode(0o700));
}

#[cfg(not(unix))]
fn for_owner_alone(_: &mut tempfile::Builder<'_, '_>) {}
