//! Stored bytes as objects of a storage that several machines share.
//!
//! The storage is not trusted with the bytes: what comes from it is hashed before a job sees it, and before the last of it is sent to a client.

mod address;
mod cache;
mod connection;
mod streamed;

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use object_store::{GetOptions, ObjectMeta, ObjectStore, ObjectStoreExt};
use tempfile::{NamedTempFile, TempDir};

pub use self::address::ObjectsAddress;
use self::cache::Cache;
use self::streamed::{Checked, Streamed};
use super::{Blobs, Work, part_of};
use crate::name::BlobId;
use crate::refusal::{Result, ServiceError};
use crate::shared::Bridge;

/// How long one request may take, with all attempts. A part of an upload is one request.
const PATIENCE: Duration = Duration::from_secs(40);
/// Bytes of a part of an upload, at least; shorter files are sent in one request.
const PART: u64 = 16 << 20;
/// Largest number of parts: S3 takes ten thousand.
const PARTS: u64 = 9_000;

/// Stored bytes as objects of a storage that several machines share.
#[derive(Debug)]
pub struct Objects {
    bridge: Arc<Bridge>,
    address: ObjectsAddress,
    store: Arc<dyn ObjectStore>,
    work: Work,
    cache: Cache,
}

impl Objects {
    /// Opens the storage, with a folder of this machine for files that come and go, among them so many bytes of stored objects.
    pub(crate) fn open(
        bridge: &Arc<Bridge>,
        address: &ObjectsAddress,
        data: &Path,
        cache: u64,
    ) -> Result<Self> {
        let objects = Self {
            bridge: Arc::clone(bridge),
            store: address.connect()?,
            address: address.clone(),
            work: Work::open(data)?,
            cache: Cache::in_folder(data, cache)?,
        };
        // A wrong key or bucket is found now and not by the first client.
        objects.listed(&mut objects.store.list(Some(&address.prefix())))?;
        Ok(objects)
    }

    /// Waits for the next entry of a listing.
    fn listed(
        &self,
        entries: &mut BoxStream<'static, object_store::Result<ObjectMeta>>,
    ) -> Result<Option<ObjectMeta>> {
        self.wait(async { entries.next().await.transpose() })
    }

    /// Waits for what the storage does, one request at a time.
    fn wait<T>(&self, request: impl Future<Output = object_store::Result<T>>) -> Result<T> {
        let late = || self.unavailable("no answer in time");
        self.bridge.wait(PATIENCE, request).ok_or_else(late)?.map_err(|error| self.refused(&error))
    }

    /// Returns the error of the storage: one of its own, or that of a file that is not there.
    fn refused(&self, error: &object_store::Error) -> ServiceError {
        if let object_store::Error::NotFound { .. } = error {
            return io::Error::new(
                ErrorKind::NotFound,
                "stored bytes are not in the object storage any more",
            )
            .into();
        }
        let mut innermost: &dyn std::error::Error = error;
        while let Some(source) = innermost.source() {
            innermost = source;
        }
        self.unavailable(&innermost.to_string())
    }

    fn unavailable(&self, why: &str) -> ServiceError {
        ServiceError::Unavailable(format!("the object storage {} cannot be used now: {why}", self.address))
    }

    /// Sends a file in parts, which become an object with the last one.
    fn put_parts(&self, mut file: File, len: u64, id: &BlobId) -> Result<()> {
        let size = PART.max(len.div_ceil(PARTS));
        let mut upload = self.wait(self.store.put_multipart(&self.address.path(id)))?;
        let sent = (|| {
            loop {
                let part = block(&mut file, size)?;
                if part.is_empty() {
                    return self.wait(upload.complete()).map(drop);
                }
                self.wait(upload.put_part(part.into()))?;
            }
        })();
        if sent.is_err() {
            // What stays of an upload that ended takes room, and is removed by a rule of the storage.
            drop(self.wait(upload.abort()));
        }
        sent
    }

    /// Begins to read a part of an object.
    fn begin(&self, id: &BlobId, part: Range<u64>) -> Result<Streamed> {
        let options = GetOptions { range: Some(part.into()), ..GetOptions::default() };
        let found = self.wait(self.store.get_opts(&self.address.path(id), options))?;
        Ok(Streamed::new(&self.bridge, found.into_stream()))
    }

    /// Fetches an object into a file of this machine, and checks it.
    fn fetch(&self, id: &BlobId) -> Result<NamedTempFile> {
        let mut file = self.work.temporary()?;
        let found = self.wait(self.store.get(&self.address.path(id)))?;
        let len = found.meta.size;
        let mut reader = Checked::new(Streamed::new(&self.bridge, found.into_stream()), id, len);
        match io::copy(&mut reader, &mut file) {
            Ok(_) => Ok(file),
            Err(error) if error.kind() == ErrorKind::InvalidData => Err(error.into()),
            Err(error) => Err(self.unavailable(&error.to_string())),
        }
    }
}

/// Reads the next part of a file, the last one shorter; none behind it.
fn block(file: &mut File, size: u64) -> io::Result<Bytes> {
    let mut block = Vec::new();
    file.take(size).read_to_end(&mut block)?;
    Ok(block.into())
}

impl Blobs for Objects {
    fn temporary(&self) -> Result<NamedTempFile> {
        self.work.temporary()
    }

    fn folder(&self) -> Result<TempDir> {
        self.work.folder()
    }

    fn keep(&self, path: &Path, id: &BlobId) -> Result<()> {
        let mut file = File::open(path)?;
        // Equal bytes are sent again: what is stored may have been damaged.
        let len = file.metadata()?.len();
        if len > PART {
            self.put_parts(file, len, id)?;
        } else {
            let all = block(&mut file, PART)?;
            self.wait(self.store.put(&self.address.path(id), all.into()))?;
        }
        Ok(self.cache.add(path, id)?)
    }

    fn read(&self, id: &BlobId, len: u64, part: Range<u64>) -> Result<Box<dyn Read + Send>> {
        if let Some(file) = self.cache.open(id) {
            return Ok(part_of(file, part)?);
        }
        let is_whole = part == (0..len);
        let streamed = self.begin(id, part)?;
        // A part cannot be checked: whoever puts parts together checks the whole.
        Ok(if is_whole { Box::new(Checked::new(streamed, id, len)) } else { Box::new(streamed) })
    }

    fn place(&self, id: &BlobId, path: &Path) -> Result<()> {
        if self.cache.link(id, path)? {
            return Ok(());
        }
        let file = self.fetch(id)?;
        fs::hard_link(file.path(), path)?;
        Ok(self.cache.add(file.path(), id)?)
    }

    fn remove(&self, id: &BlobId) -> Result<()> {
        self.cache.remove(id)?;
        match self.wait(self.store.delete(&self.address.path(id))) {
            Err(ServiceError::Io(error)) if error.kind() == ErrorKind::NotFound => Ok(()),
            other => other,
        }
    }

    fn list(&self) -> Result<Vec<BlobId>> {
        let mut entries = self.store.list(Some(&self.address.prefix()));
        let mut found = Vec::new();
        while let Some(entry) = self.listed(&mut entries)? {
            found.extend(entry.location.filename().and_then(BlobId::parse));
        }
        Ok(found)
    }
}
