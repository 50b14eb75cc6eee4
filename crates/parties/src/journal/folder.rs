//! Records in a folder, each a file that is written whole or not at all.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Error, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use sunzi_rlwe::wire::{self, WireError};
use zeroize::Zeroizing;

use crate::Store;

/// Records in a folder of their own, which one process alone uses at a time.
///
/// ```
/// use sunzi_parties::{FolderStore, Store};
///
/// let folder = tempfile::tempdir()?;
/// let mut store = FolderStore::open(folder.path().join("session"))?;
/// store.put("record", b"bytes", true)?;
/// assert!(FolderStore::open(folder.path().join("session")).is_err(), "in use");
/// drop(store);
/// let store = FolderStore::open(folder.path().join("session"))?;
/// assert_eq!(&**store.get("record")?.ok_or("there is one")?, b"bytes");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FolderStore {
    folder: PathBuf,
    /// Held until dropped.
    _lock: File,
}

impl FolderStore {
    /// Opens the folder of records, which is made for its owner alone if it is not there.
    ///
    /// # Errors
    /// [`WireError::Io`] where that fails, and where another process uses the folder.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, WireError> {
        let folder = folder.as_ref().to_owned();
        make(&folder).map_err(WireError::Io)?;
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(folder.join(".lock"));
        let lock = lock.map_err(WireError::Io)?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { folder, _lock: lock }),
            Err(TryLockError::Error(error)) => Err(WireError::Io(error)),
            Err(TryLockError::WouldBlock) => {
                let used = "another process of this party uses these records: let it end first";
                Err(WireError::Io(Error::new(ErrorKind::ResourceBusy, used)))
            }
        }
    }

    fn path(&self, record: &str) -> PathBuf {
        self.folder.join(format!("{record}.sz"))
    }
}

#[cfg(unix)]
fn make(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(not(unix))]
fn make(folder: &Path) -> std::io::Result<()> {
    fs::create_dir_all(folder)
}

impl Store for FolderStore {
    fn get(&self, record: &str) -> Result<Option<Zeroizing<Vec<u8>>>, WireError> {
        let file = match wire::open_regular(self.path(record)) {
            Err(WireError::Io(error)) if error.kind() == ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        let len = file.metadata().map_err(WireError::Io)?.len();
        // All room is there from the start: a buffer that grows leaves copies.
        let mut bytes = Zeroizing::new(Vec::with_capacity(usize::try_from(len).unwrap_or(0) + 1));
        file.take(len).read_to_end(&mut bytes).map_err(WireError::Io)?;
        Ok(Some(bytes))
    }

    fn put(&mut self, record: &str, bytes: &[u8], secret: bool) -> Result<(), WireError> {
        wire::create(&self.path(record), secret, |file| file.write_all(bytes).map_err(WireError::Io))
    }

    fn remove(&mut self, record: &str) -> Result<(), WireError> {
        match fs::remove_file(self.path(record)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(WireError::Io(error)),
            _ => Ok(()),
        }
    }
}
