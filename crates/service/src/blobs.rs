//! Stored bytes by their SHA-256.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use sunzi_rlwe::wire::sync_folder;
use tempfile::{NamedTempFile, TempDir};

use crate::name::BlobId;

/// Storage of bytes that never change. Nothing here knows accounts: who may read what is the matter of the records.
pub trait Blobs: Send + Sync + std::fmt::Debug {
    /// Makes an empty file for bytes that are being received.
    ///
    /// # Errors
    /// An error of the system.
    fn temporary(&self) -> io::Result<NamedTempFile>;
    /// Makes an empty folder for the files of a job.
    ///
    /// # Errors
    /// An error of the system.
    fn folder(&self) -> io::Result<TempDir>;
    /// Keeps a file as the bytes of this name; they survive a crash from then on. The file is gone afterwards.
    ///
    /// # Errors
    /// An error of the system.
    fn keep(&self, file: &Path, id: &BlobId) -> io::Result<()>;
    /// Opens stored bytes.
    ///
    /// # Errors
    /// An error of the system, also where there are no such bytes.
    fn open(&self, id: &BlobId) -> io::Result<File>;
    /// Puts stored bytes at a path in the folder of a job, to be read there.
    ///
    /// # Errors
    /// An error of the system, also where there are no such bytes.
    fn place(&self, id: &BlobId, path: &Path) -> io::Result<()>;
    /// Removes stored bytes, if they are there.
    ///
    /// # Errors
    /// An error of the system.
    fn remove(&self, id: &BlobId) -> io::Result<()>;
    /// Lists the names of all stored bytes.
    ///
    /// # Errors
    /// An error of the system.
    fn list(&self) -> io::Result<Vec<BlobId>>;
}

/// Stored bytes as files of one folder.
#[derive(Debug)]
pub struct Folder {
    blobs: PathBuf,
    work: PathBuf,
}

impl Folder {
    /// Opens the folder, or makes it. Files that an earlier process left unfinished are removed.
    ///
    /// # Errors
    /// An error of the system.
    pub fn open(folder: &Path) -> io::Result<Self> {
        let (blobs, work) = (folder.join("blobs"), folder.join("work"));
        fs::create_dir_all(&blobs)?;
        match fs::remove_dir_all(&work) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                // A process that is about to end may still write there: what is left does no harm.
                tracing::warn!("files of jobs that did not end could not be removed: {}", error.kind());
            }
            _ => {}
        }
        fs::create_dir_all(&work)?;
        Ok(Self { blobs, work })
    }

    /// Path of stored bytes: folders by the first two digits stay small.
    fn path(&self, id: &BlobId) -> PathBuf {
        let first: String = id.as_str().chars().take(2).collect();
        self.blobs.join(first).join(id.as_str())
    }
}

impl Blobs for Folder {
    fn temporary(&self) -> io::Result<NamedTempFile> {
        tempfile::Builder::new().prefix("upload-").tempfile_in(&self.work)
    }

    fn folder(&self) -> io::Result<TempDir> {
        tempfile::Builder::new().prefix("job-").tempdir_in(&self.work)
    }

    fn keep(&self, file: &Path, id: &BlobId) -> io::Result<()> {
        let path = self.path(id);
        if path.exists() {
            // A file that is replaced cannot be linked into the folder of a job in that moment.
            return fs::remove_file(file);
        }
        File::open(file)?.sync_all()?;
        let parent = path.parent().unwrap_or(&self.blobs);
        if !parent.is_dir() {
            fs::create_dir_all(parent)?;
            sync_folder(&self.blobs)?;
        }
        fs::rename(file, &path)?;
        sync_folder(parent)
    }

    fn open(&self, id: &BlobId) -> io::Result<File> {
        File::open(self.path(id))
    }

    fn place(&self, id: &BlobId, path: &Path) -> io::Result<()> {
        fs::hard_link(self.path(id), path)
    }

    fn remove(&self, id: &BlobId) -> io::Result<()> {
        match fs::remove_file(self.path(id)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn list(&self) -> io::Result<Vec<BlobId>> {
        let mut found = Vec::new();
        for folder in fs::read_dir(&self.blobs)? {
            for file in fs::read_dir(folder?.path())? {
                found.extend(file?.file_name().to_str().and_then(BlobId::parse));
            }
        }
        Ok(found)
    }
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
        blobs.keep(&file.into_temp_path(), &id).unwrap();
        assert_eq!(blobs.list().unwrap(), std::slice::from_ref(&id));
        let job = blobs.folder().unwrap();
        blobs.place(&id, &job.path().join("x")).unwrap();
        blobs.remove(&id).unwrap();
        blobs.remove(&id).unwrap();
        assert!(blobs.list().unwrap().is_empty() && blobs.open(&id).is_err());
        assert_eq!(fs::read(job.path().join("x")).unwrap(), b"abc", "a job keeps what it reads");
        drop(job);
        let left = blobs.temporary().unwrap().into_temp_path().keep().unwrap();
        Folder::open(folder.path()).unwrap();
        assert!(!left.exists(), "unfinished files are removed");
    }
}
