//! Stored bytes by their SHA-256.

#[cfg(feature = "shared")]
pub mod objects;

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use sunzi_rlwe::wire::sync_folder;
use tempfile::{NamedTempFile, TempDir};

use crate::name::BlobId;
use crate::refusal::Result;

/// Storage of bytes that never change. Nothing here knows accounts: who may read what is the matter of the records.
pub trait Blobs: Send + Sync + std::fmt::Debug {
    /// Makes an empty file for bytes that are being received.
    ///
    /// # Errors
    /// An error of the system.
    fn temporary(&self) -> Result<NamedTempFile>;
    /// Makes an empty folder for the files of a job.
    ///
    /// # Errors
    /// An error of the system.
    fn folder(&self) -> Result<TempDir>;
    /// Keeps the contents of a file as the bytes of this name; they survive a crash from then on. The file must not be written to any more.
    ///
    /// # Errors
    /// An error of the storage.
    fn keep(&self, file: &Path, id: &BlobId) -> Result<()>;
    /// Reads a part of stored bytes, of which there are `len`.
    ///
    /// # Errors
    /// An error of the storage, also where there are no such bytes.
    fn read(&self, id: &BlobId, len: u64, part: Range<u64>) -> Result<Box<dyn Read + Send>>;
    /// Puts stored bytes at a path in the folder of a job, to be read there.
    ///
    /// # Errors
    /// An error of the storage, also where there are no such bytes.
    fn place(&self, id: &BlobId, path: &Path) -> Result<()>;
    /// Removes stored bytes, if they are there.
    ///
    /// # Errors
    /// An error of the storage.
    fn remove(&self, id: &BlobId) -> Result<()>;
    /// Lists the names of all stored bytes.
    ///
    /// # Errors
    /// An error of the storage.
    fn list(&self) -> Result<Vec<BlobId>>;
}

/// Folder with files that are being received and with folders of jobs.
#[derive(Debug)]
struct Work(PathBuf);

impl Work {
    /// Opens the folder, or makes it. Files that an earlier process left unfinished are removed.
    fn open(data: &Path) -> io::Result<Self> {
        let work = data.join("work");
        match fs::remove_dir_all(&work) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                // A process that is about to end may still write there: what is left does no harm.
                tracing::warn!("files of jobs that did not end could not be removed: {}", error.kind());
            }
            _ => {}
        }
        fs::create_dir_all(&work)?;
        Ok(Self(work))
    }

    fn temporary(&self) -> Result<NamedTempFile> {
        Ok(tempfile::Builder::new().prefix("upload-").tempfile_in(&self.0)?)
    }

    fn folder(&self) -> Result<TempDir> {
        Ok(tempfile::Builder::new().prefix("job-").tempdir_in(&self.0)?)
    }
}

/// Stored bytes as files of one folder.
#[derive(Debug)]
pub struct Folder {
    blobs: PathBuf,
    work: Work,
}

impl Folder {
    /// Opens the folder, or makes it. Files that an earlier process left unfinished are removed.
    ///
    /// # Errors
    /// An error of the system.
    pub fn open(data: &Path) -> io::Result<Self> {
        let blobs = data.join("blobs");
        fs::create_dir_all(&blobs)?;
        Ok(Self { blobs, work: Work::open(data)? })
    }

    /// Path of stored bytes: folders by the first two digits stay small.
    fn path(&self, id: &BlobId) -> PathBuf {
        self.blobs.join(id.beginning()).join(id.as_str())
    }
}

impl Blobs for Folder {
    fn temporary(&self) -> Result<NamedTempFile> {
        self.work.temporary()
    }

    fn folder(&self) -> Result<TempDir> {
        self.work.folder()
    }

    fn keep(&self, file: &Path, id: &BlobId) -> Result<()> {
        let path = self.path(id);
        let parent = path.parent().unwrap_or(&self.blobs);
        if !path.exists() {
            File::open(file)?.sync_all()?;
            if !parent.is_dir() {
                fs::create_dir_all(parent)?;
                sync_folder(&self.blobs)?;
            }
            link(file, &path)?;
        }
        // Also where somebody else linked it, who may not have come so far.
        Ok(sync_folder(parent)?)
    }

    fn read(&self, id: &BlobId, _: u64, part: Range<u64>) -> Result<Box<dyn Read + Send>> {
        Ok(part_of(File::open(self.path(id))?, part)?)
    }

    fn place(&self, id: &BlobId, path: &Path) -> Result<()> {
        Ok(fs::hard_link(self.path(id), path)?)
    }

    fn remove(&self, id: &BlobId) -> Result<()> {
        Ok(remove_file(&self.path(id))?)
    }

    fn list(&self) -> Result<Vec<BlobId>> {
        let mut found = Vec::new();
        for folder in fs::read_dir(&self.blobs)? {
            for file in fs::read_dir(folder?.path())? {
                found.extend(file?.file_name().to_str().and_then(BlobId::parse));
            }
        }
        Ok(found)
    }
}

/// Gives a file another name. One that is there already has the same bytes, and stays: a file that is replaced cannot be linked in that moment.
fn link(file: &Path, path: &Path) -> io::Result<()> {
    match fs::hard_link(file, path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// Removes a file, if it is there.
fn remove_file(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Returns what reads a part of a file.
fn part_of(mut file: File, part: Range<u64>) -> io::Result<Box<dyn Read + Send>> {
    file.seek(SeekFrom::Start(part.start))?;
    Ok(Box::new(file.take(part.end.saturating_sub(part.start))))
}

/// Returns the name and the number of the bytes of a file.
pub(crate) fn identify(mut file: File) -> io::Result<(BlobId, u64)> {
    let (mut hash, mut len, mut buffer) = (Sha256::new(), 0, vec![0; 1 << 17]);
    loop {
        let read = file.read(&mut buffer)?;
        let Some(part) = buffer.get(..read).filter(|part| !part.is_empty()) else { break };
        hash.update(part);
        len += read as u64;
    }
    Ok((BlobId::from_hash(&hash.finalize().into()), len))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn bytes_are_kept_by_their_hash_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let blobs = Folder::open(folder.path()).unwrap();
        let mut file = blobs.temporary().unwrap();
        file.write_all(b"abc").unwrap();
        let (id, len) = identify(File::open(file.path()).unwrap()).unwrap();
        assert!(id.as_str().starts_with("ba7816bf") && len == 3);
        blobs.keep(file.path(), &id).unwrap();
        blobs.keep(file.path(), &id).unwrap();
        drop(file);
        assert_eq!(blobs.list().unwrap(), std::slice::from_ref(&id));
        let mut part = String::new();
        blobs.read(&id, 3, 1..3).unwrap().read_to_string(&mut part).unwrap();
        assert_eq!(part, "bc");
        let job = blobs.folder().unwrap();
        blobs.place(&id, &job.path().join("x")).unwrap();
        blobs.remove(&id).unwrap();
        blobs.remove(&id).unwrap();
        assert!(blobs.list().unwrap().is_empty() && blobs.read(&id, 3, 0..3).is_err());
        assert_eq!(fs::read(job.path().join("x")).unwrap(), b"abc", "a job keeps what it reads");
        drop(job);
        let left = blobs.temporary().unwrap().into_temp_path().keep().unwrap();
        Folder::open(folder.path()).unwrap();
        assert!(!left.exists(), "unfinished files are removed");
    }
}
