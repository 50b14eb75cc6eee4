//! Whole files: the old one or the new one, never a half.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use super::{Format, Reader, WireError, write};

/// Reads the object that a file has, and nothing else.
///
/// # Errors
/// Any [`WireError`].
pub fn load<T, C: Format<T>>(context: &C, path: impl AsRef<Path>) -> Result<T, WireError> {
    let file = File::open(path).map_err(WireError::Io)?;
    let len = file.metadata().map_err(WireError::Io)?.len();
    Reader::with_len(file, len)?.read(context)
}

/// Writes an object to a file, which is replaced in one step if it is there: see [`replace`]. Files with secrets are for their owner alone.
///
/// # Errors
/// [`WireError::Io`]; [`WireError::Rlwe`] and [`WireError::Scheme`] for an object of another context.
pub fn store<T, C: Format<T>>(context: &C, object: &T, path: impl AsRef<Path>) -> Result<(), WireError> {
    replace(path.as_ref(), C::KIND.is_secret(), |file| write(context, object, file))
}

/// Writes a file beside `path`, brings it to the disk and gives it that name: whatever happens on the way, the name stands for the old file or
/// for the new one. Whoever is killed leaves a file of the name `.sunzi-….part` beside. A `secret` one can be read by its owner alone, from the first byte on.
///
/// # Errors
/// Those of `contents` and [`WireError::Io`]: the file beside is removed then.
pub fn replace(
    path: &Path,
    secret: bool,
    contents: impl FnOnce(&mut File) -> Result<(), WireError>,
) -> Result<(), WireError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".sunzi-").suffix(".part");
    permit(&mut builder, secret);
    let mut file = builder.tempfile_in(folder).map_err(WireError::Io)?;
    contents(file.as_file_mut())?;
    file.as_file_mut().flush().and_then(|()| file.as_file().sync_all()).map_err(WireError::Io)?;
    file.persist(path).map_err(|refused| WireError::Io(refused.error))?;
    sync_folder(folder).map_err(WireError::Io)
}

/// Read and write for the owner, or for all that the system's mask lets through.
#[cfg(unix)]
fn permit(builder: &mut tempfile::Builder<'_, '_>, secret: bool) {
    use std::os::unix::fs::PermissionsExt;
    builder.permissions(std::fs::Permissions::from_mode(if secret { 0o600 } else { 0o666 }));
}

#[cfg(not(unix))]
fn permit(_: &mut tempfile::Builder<'_, '_>, _: bool) {}

/// So that the name is on the disk too.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Where folders cannot be opened the system does what it can.
#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
