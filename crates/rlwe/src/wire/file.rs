//! Reading and replacing of whole files: after a write a file has the old content or the new, never a mixture.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::NamedTempFile;

use super::{ErasingReader, Format, Reader, WireError, write};

/// Number of bytes that are read from a file at a time: few enough to stay in the caches.
const BUFFER: usize = 1 << 17;

/// Reads the object of a file, which must have nothing else. Buffers are erased after use, since the object may be a
/// secret.
///
/// # Errors
/// Any [`WireError`].
pub fn load<T, C: Format<T>>(context: &C, path: impl AsRef<Path>) -> Result<T, WireError> {
    Reader::open(path)?.read(context)
}

impl Reader<ErasingReader<File>> {
    /// Opens a file and reads the header of its object; buffers are erased after use.
    ///
    /// # Errors
    /// Every error of [`Reader::new`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, WireError> {
        let file = open_regular(path)?;
        let len = file.metadata().map_err(WireError::Io)?.len();
        let capacity = usize::try_from(len).unwrap_or(BUFFER).min(BUFFER);
        Self::with_len(ErasingReader::with_capacity(capacity, file), len)
    }
}

/// Opens a regular file to read. A pipe or a device is not opened, since that may wait for ever.
///
/// # Errors
/// [`WireError::NotRegular`]; [`WireError::Io`].
///
/// ```
/// use sunzi_rlwe::wire::{WireError, open_regular};
///
/// assert!(matches!(open_regular("."), Err(WireError::NotRegular { got: "a folder" })));
/// assert!(matches!(open_regular("nowhere"), Err(WireError::Io(_))));
/// ```
pub fn open_regular(path: impl AsRef<Path>) -> Result<File, WireError> {
    let kind = fs::metadata(&path).map_err(WireError::Io)?.file_type();
    match kind {
        kind if kind.is_dir() => Err(WireError::NotRegular { got: "a folder" }),
        kind if !kind.is_file() => Err(WireError::NotRegular { got: "a pipe or device" }),
        _ => File::open(path).map_err(WireError::Io),
    }
}

/// Writes an object to a file, which is replaced in one step if it is there: see [`replace`]. Files with secrets are for their owner alone.
///
/// # Errors
/// [`WireError::Io`]; [`WireError::Rlwe`] and [`WireError::Scheme`] for an object of another context.
pub fn store<T, C: Format<T>>(context: &C, object: &T, path: impl AsRef<Path>) -> Result<(), WireError> {
    replace(path.as_ref(), C::KIND.is_secret(), |file| write(context, object, file))
}

/// Paths of the files and folders that this process is writing and has not finished.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// A record of a file or folder that is not finished until the record is dropped: [`remove_unfinished`] removes the
/// file.
#[derive(Debug)]
pub struct Unfinished(PathBuf);

impl Unfinished {
    /// Records the path of a file or folder, and makes it by `create`; makes nothing while [`remove_unfinished`]
    /// runs.
    ///
    /// # Errors
    /// Every error of `create`.
    pub fn create<T>(
        create: impl FnOnce() -> io::Result<T>,
        path: impl FnOnce(&T) -> &Path,
    ) -> io::Result<(Self, T)> {
        let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        let made = create()?;
        let path = path(&made).to_owned();
        unfinished.insert(path.clone());
        Ok((Self(path), made))
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}

/// Removes all files and folders that are not finished: for a process that was asked to stop, as the last thing it does. No other thread
/// finishes or begins one afterwards.
pub fn remove_unfinished() {
    let unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    for path in unfinished.iter() {
        let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        // The outcome is dropped: there is nobody left to tell.
        drop(removed);
    }
    std::mem::forget(unfinished);
}

/// Writes a file beside `path`, syncs it to the disk and renames it to `path`: at any time, `path` has the old content
/// or the new. A process that is killed before [`remove_unfinished`] leaves a file of the name `.sunzi-….part` beside.
/// A `secret` one can be read by its owner alone, from the first byte on.
///
/// # Errors
/// Every error of `contents` and [`WireError::Io`]: the file beside is removed then.
pub fn replace<E: From<WireError>>(
    path: &Path,
    secret: bool,
    contents: impl FnOnce(&mut File) -> Result<(), E>,
) -> Result<(), E> {
    write_beside(path, secret, contents, |file| file.persist(path).map(drop).map_err(|refused| refused.error))
}

/// Writes a file as [`replace`] does, and fails where `path` is there already, also where it was made meanwhile.
///
/// # Errors
/// Every error of [`replace`]; [`WireError::Io`] of the kind [`AlreadyExists`](io::ErrorKind::AlreadyExists).
pub fn create<E: From<WireError>>(
    path: &Path,
    secret: bool,
    contents: impl FnOnce(&mut File) -> Result<(), E>,
) -> Result<(), E> {
    let put = |file: NamedTempFile| file.persist_noclobber(path).map(drop).map_err(|refused| refused.error);
    write_beside(path, secret, contents, put)
}

/// Writes a file beside `path`, syncs it to the disk and has `put` name it `path`.
fn write_beside<E: From<WireError>>(
    path: &Path,
    secret: bool,
    contents: impl FnOnce(&mut File) -> Result<(), E>,
    put: impl FnOnce(NamedTempFile) -> io::Result<()>,
) -> Result<(), E> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".sunzi-").suffix(".part");
    permit(&mut builder, secret);
    let (_unfinished, mut file) =
        Unfinished::create(|| builder.tempfile_in(folder), |file| file.path()).map_err(WireError::Io)?;
    contents(file.as_file_mut())?;
    file.as_file_mut().flush().and_then(|()| file.as_file().sync_all()).map_err(WireError::Io)?;
    put(file).map_err(WireError::Io)?;
    Ok(sync_folder(folder).map_err(WireError::Io)?)
}

/// Sets the permissions of a file: read and write for the owner, or for all that the system's mask lets through.
#[cfg(unix)]
fn permit(builder: &mut tempfile::Builder<'_, '_>, secret: bool) {
    use std::os::unix::fs::PermissionsExt;
    builder.permissions(std::fs::Permissions::from_mode(if secret { 0o600 } else { 0o666 }));
}

#[cfg(not(unix))]
fn permit(_: &mut tempfile::Builder<'_, '_>, _: bool) {}

/// Syncs a folder to the disk, so that the names of its files are stored too. Other systems than Unix have no such thing.
///
/// # Errors
/// Every error of the system.
#[cfg(unix)]
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Syncs no folder, on systems where folders cannot be opened.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
