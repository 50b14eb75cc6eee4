//! Objects that are at hand: files of this machine, up to a number of bytes.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::blobs::{link, remove_file};
use crate::name::BlobId;

/// Objects that are at hand, whose bytes were checked when they came.
#[derive(Debug)]
pub(super) struct Cache {
    folder: PathBuf,
    most: u64,
    kept: Mutex<Kept>,
}

/// What the folder has.
#[derive(Debug, Default)]
struct Kept {
    /// Number of bytes of each object, and when it was used: a number that grows.
    files: HashMap<BlobId, (u64, u64)>,
    bytes: u64,
    uses: u64,
}

impl Cache {
    /// Opens the folder, or makes it.
    pub(super) fn in_folder(data: &Path, most: u64) -> io::Result<Self> {
        let folder = data.join("cache");
        fs::create_dir_all(&folder)?;
        let mut kept = Kept::default();
        for file in fs::read_dir(&folder)? {
            let file = file?;
            let Some(id) = file.file_name().to_str().and_then(BlobId::parse) else { continue };
            let bytes = file.metadata()?.len();
            kept.bytes += bytes;
            kept.files.insert(id, (bytes, 0));
        }
        let cache = Self { folder, most, kept: Mutex::new(kept) };
        cache.shrink(&mut cache.kept())?;
        Ok(cache)
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn path(&self, id: &BlobId) -> PathBuf {
        self.folder.join(id.as_str())
    }

    /// Opens an object that is at hand.
    pub(super) fn open(&self, id: &BlobId) -> Option<File> {
        let mut kept = self.kept();
        kept.uses(id).then(|| File::open(self.path(id)).ok()).flatten()
    }

    /// Links an object into the folder of a job; says whether it is at hand.
    pub(super) fn link(&self, id: &BlobId, path: &Path) -> io::Result<bool> {
        let mut kept = self.kept();
        if !kept.uses(id) {
            return Ok(false);
        }
        match fs::hard_link(self.path(id), path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            other => other.map(|()| true),
        }
    }

    /// Links a file, whose bytes are those of this name, into the folder, and removes what was not used for the longest time.
    pub(super) fn add(&self, file: &Path, id: &BlobId) -> io::Result<()> {
        let bytes = fs::metadata(file)?.len();
        let mut kept = self.kept();
        if bytes > self.most || kept.uses(id) {
            return Ok(());
        }
        link(file, &self.path(id))?;
        kept.uses += 1;
        let used = kept.uses;
        kept.files.insert(id.clone(), (bytes, used));
        kept.bytes += bytes;
        self.shrink(&mut kept)
    }

    /// Removes an object, if it is at hand.
    pub(super) fn remove(&self, id: &BlobId) -> io::Result<()> {
        self.remove_one(&mut self.kept(), id)
    }

    fn remove_one(&self, kept: &mut Kept, id: &BlobId) -> io::Result<()> {
        if let Some((bytes, _)) = kept.files.remove(id) {
            kept.bytes -= bytes;
        }
        remove_file(&self.path(id))
    }

    /// Removes what was not used for the longest time, until the rest fits.
    fn shrink(&self, kept: &mut Kept) -> io::Result<()> {
        while kept.bytes > self.most {
            let oldest = kept.files.iter().min_by_key(|(_, (_, used))| *used).map(|(id, _)| id.clone());
            let Some(oldest) = oldest else { break };
            self.remove_one(kept, &oldest)?;
        }
        Ok(())
    }
}

impl Kept {
    /// Notes that an object is used; says whether it is at hand.
    fn uses(&mut self, id: &BlobId) -> bool {
        self.uses += 1;
        let now = self.uses;
        self.files.get_mut(id).map(|(_, used)| *used = now).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_used_for_the_longest_time_goes_first() {
        let data = tempfile::tempdir().unwrap();
        let cache = Cache::in_folder(data.path(), 10).unwrap();
        let id = |number| BlobId::from_hash(&[number; 32]);
        let file = data.path().join("file");
        for number in 0..3 {
            drop(fs::remove_file(&file));
            fs::write(&file, [number; 4]).unwrap();
            cache.add(&file, &id(number)).unwrap();
            // The first one is used again and again.
            assert!(cache.open(&id(0)).is_some());
        }
        let there =
            |cache: &Cache| (0..3).map(|number| cache.open(&id(number)).is_some()).collect::<Vec<_>>();
        assert_eq!(there(&cache), [true, false, true]);
        assert!(cache.link(&id(2), &data.path().join("linked")).unwrap());
        assert!(!cache.link(&id(1), &data.path().join("absent")).unwrap());
        // What is there stays from one server to the next, as far as it fits.
        assert_eq!(there(&Cache::in_folder(data.path(), 10).unwrap()), [true, false, true]);
        assert_eq!(there(&Cache::in_folder(data.path(), 3).unwrap()), [false; 3]);
        assert_eq!(fs::read(data.path().join("linked")).unwrap(), [2; 4]);
    }
}
