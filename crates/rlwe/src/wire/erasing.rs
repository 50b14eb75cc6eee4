//! Readers and hashes of secrets, whose buffers are erased after use.

use std::fmt;
use std::hash::Hasher;
use std::io::{self, BufRead, IoSliceMut, Read, Seek, SeekFrom};

use twox_hash::XxHash3_64;
use zeroize::{Zeroize, Zeroizing};

/// A buffered reader that erases its buffer when dropped, which [`std::io::BufReader`] would free as it is. For
/// whatever may be a secret key or a plaintext.
///
/// ```
/// use std::io::BufRead;
/// use sunzi_rlwe::wire::ErasingReader;
///
/// let mut lines = ErasingReader::with_capacity(16, "a secret\nanother".as_bytes()).lines();
/// assert_eq!(lines.next().transpose()?.as_deref(), Some("a secret"));
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct ErasingReader<I> {
    input: I,
    buffer: Zeroizing<Box<[u8]>>,
    /// Number of bytes of the buffer that were consumed; then the number of bytes that were read into it.
    given: usize,
    read: usize,
}

impl<I: Read> ErasingReader<I> {
    /// Makes an erasing reader that reads `input` by `capacity` bytes at a time, at least one.
    pub fn with_capacity(capacity: usize, input: I) -> Self {
        let buffer = Zeroizing::new(vec![0; capacity.max(1)].into_boxed_slice());
        Self { input, buffer, given: 0, read: 0 }
    }
}

impl<I> ErasingReader<I> {
    fn rest(&self) -> &[u8] {
        self.buffer.get(self.given..self.read).unwrap_or_default()
    }
}

impl<I: Read> BufRead for ErasingReader<I> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.given >= self.read {
            (self.given, self.read) = (0, 0);
            self.read = self.input.read(&mut self.buffer)?.min(self.buffer.len());
        }
        Ok(self.rest())
    }

    fn consume(&mut self, count: usize) {
        self.given = self.given.saturating_add(count).min(self.read);
    }
}

impl<I: Read> Read for ErasingReader<I> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.rest().is_empty() && bytes.len() >= self.buffer.len() {
            return self.input.read(bytes);
        }
        let read = self.fill_buf()?.read(bytes)?;
        self.consume(read);
        Ok(read)
    }

    fn read_vectored(&mut self, pieces: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        let read = self.fill_buf()?.read_vectored(pieces)?;
        self.consume(read);
        Ok(read)
    }
}

/// Seeks in the input of an erasing reader, and drops the bytes that were read ahead.
impl<I: Seek> Seek for ErasingReader<I> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let ahead = self.rest().len() as i64;
        let to = match to {
            SeekFrom::Current(by) => {
                SeekFrom::Current(by.checked_sub(ahead).ok_or(io::ErrorKind::InvalidInput)?)
            }
            SeekFrom::Start(_) | SeekFrom::End(_) => to,
        };
        let place = self.input.seek(to)?;
        (self.given, self.read) = (0, 0);
        Ok(place)
    }
}

impl<I: fmt::Debug> fmt::Debug for ErasingReader<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ErasingReader").field("input", &self.input).finish_non_exhaustive()
    }
}

/// The hash XXH3-64 of a record. Its state has a buffer of the last 256 bytes, which is overwritten at the end.
pub(super) struct RecordHash(XxHash3_64);

impl RecordHash {
    /// Number of pieces that fill the buffer of the hash twice, whatever is in it.
    const PIECES: usize = 16;
    const PIECE: [u8; 32] = [0; 32];

    pub(super) fn new() -> Self {
        Self(XxHash3_64::new())
    }

    pub(super) fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    /// Returns the checksum of the bytes of a record; the next bytes begin a new record.
    pub(super) fn finish(&mut self) -> u64 {
        let checksum = self.0.finish();
        self.zeroize();
        self.0 = XxHash3_64::new();
        checksum
    }
}

impl Zeroize for RecordHash {
    fn zeroize(&mut self) {
        // The pieces are shorter than the buffer, since longer input passes it by.
        (0..Self::PIECES).for_each(|_| self.0.write(&Self::PIECE));
        zeroize::optimization_barrier(&self.0);
    }
}

impl Drop for RecordHash {
    fn drop(&mut self) {
        self.zeroize();
    }
}
