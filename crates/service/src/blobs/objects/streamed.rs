//! Bytes that a storage sends, read as those of a file, and checked.

use std::io::{self, Error, ErrorKind, Read};
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, Bytes};
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use sha2::{Digest, Sha256};

use crate::name::BlobId;
use crate::shared::Bridge;

/// How long a storage may send nothing.
const SILENCE: Duration = Duration::from_secs(20);

/// Bytes that a storage sends.
pub(super) struct Streamed {
    bridge: Arc<Bridge>,
    stream: BoxStream<'static, object_store::Result<Bytes>>,
    /// What came and was not read.
    came: Bytes,
}

impl Streamed {
    pub(super) fn new(bridge: &Arc<Bridge>, stream: BoxStream<'static, object_store::Result<Bytes>>) -> Self {
        Self { bridge: Arc::clone(bridge), stream, came: Bytes::new() }
    }
}

impl Read for Streamed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.came.is_empty() {
            match self.bridge.wait(SILENCE, self.stream.next()) {
                Some(Some(came)) => self.came = came.map_err(Error::other)?,
                Some(None) => return Ok(0),
                None => return Err(ErrorKind::TimedOut.into()),
            }
        }
        let len = buffer.len().min(self.came.len());
        let (to, _) = buffer.split_at_mut(len);
        self.came.copy_to_slice(to);
        Ok(len)
    }
}

/// Bytes whose last ones come once all are known to be those of their name.
pub(super) struct Checked<R> {
    inner: R,
    hash: Sha256,
    expected: BlobId,
    left: u64,
}

impl<R> Checked<R> {
    /// Checks so many bytes against their name.
    pub(super) fn new(inner: R, expected: &BlobId, len: u64) -> Self {
        Self { inner, hash: Sha256::new(), expected: expected.clone(), left: len }
    }

    /// Fails unless all bytes that came are those of their name.
    fn check(&self) -> io::Result<()> {
        if BlobId::from_hash(&self.hash.clone().finalize().into()) == self.expected {
            return Ok(());
        }
        let message =
            "the object storage has other bytes under this name than were stored: store the object again";
        Err(Error::new(ErrorKind::InvalidData, message))
    }
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        if read == 0 && !buffer.is_empty() {
            // Also where less came than should.
            self.check()?;
        }
        let (came, _) = buffer.split_at(read);
        self.hash.update(came);
        let before = self.left;
        self.left = before.saturating_sub(read as u64);
        if before > 0 && self.left == 0 {
            self.check()?;
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_another_name_never_come_whole() {
        let id = |bytes: &[u8]| BlobId::from_hash(&Sha256::digest(bytes).into());
        let read = |bytes: &'static [u8], name: &BlobId, len: u64| {
            let mut all = Vec::new();
            let outcome = Checked::new(bytes, name, len).read_to_end(&mut all);
            outcome.map(|_| all).map_err(|error| error.kind())
        };
        assert_eq!(read(b"abc", &id(b"abc"), 3).unwrap(), b"abc");
        assert_eq!(read(b"", &id(b""), 0).unwrap(), b"");
        for (bytes, len) in
            [(b"abd".as_slice(), 3), (b"ab", 2), (b"ab", 3), (b"abcd", 4), (b"abcd", 3), (b"", 0)]
        {
            assert_eq!(read(bytes, &id(b"abc"), len), Err(ErrorKind::InvalidData), "{bytes:?} {len}");
        }
    }
}
