//! Sources of objects: no more bytes are read than the header says, and every record is checked by its checksum.

use std::io::{self, BufRead, Read};

use sunzi_ring::{Domain, Poly, Ring};
use zeroize::Zeroizing;

use super::WireError;
use super::erasing::RecordHash;
use super::header::checksum;
use super::sink::CHECKSUM_LEN;

/// Largest number of bytes allocated for a record before its first byte was read; no secret is longer.
const FIRST: usize = 1 << 20;

/// A source, which reads the records of an object.
pub struct Source<I: BufRead> {
    input: I,
    /// Number of bytes of the object that were not read yet, by the header.
    left: u64,
    hash: RecordHash,
}

impl<I: BufRead> Source<I> {
    /// Makes a source that reads from `input`, where `left` bytes belong to the object.
    pub fn new(input: I, left: u64) -> Self {
        Self { input, left, hash: RecordHash::new() }
    }

    /// The number of bytes of the object that were not read yet, according to the header.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Reads a record in one piece, of a length that the object has; erased when dropped. At most twice the bytes
    /// that come are allocated, or 1 MiB.
    ///
    /// # Errors
    /// [`WireError::Length`] if fewer bytes are left; [`WireError::Truncated`]; [`WireError::Checksum`]; [`WireError::Io`].
    pub fn sealed(&mut self, what: &'static str, len: usize) -> Result<Zeroizing<Vec<u8>>, WireError> {
        self.claim((len + CHECKSUM_LEN) as u64)?;
        let mut bytes = Zeroizing::new(Vec::with_capacity(len.min(FIRST)));
        (&mut self.input).take(len as u64).read_to_end(&mut bytes)?;
        if bytes.len() < len {
            return Err(WireError::Truncated);
        }
        let mut expected = [0; CHECKSUM_LEN];
        self.input.read_exact(&mut expected)?;
        if u64::from_le_bytes(expected) == checksum(&bytes) {
            Ok(bytes)
        } else {
            Err(WireError::Checksum { what })
        }
    }

    /// Reads all bytes of the object that are left, as one record of at most `most` bytes.
    ///
    /// # Errors
    /// Every error of [`sealed`](Self::sealed); [`WireError::Length`] for more.
    pub fn rest(&mut self, what: &'static str, most: usize) -> Result<Zeroizing<Vec<u8>>, WireError> {
        let len = self.left.saturating_sub(CHECKSUM_LEN as u64);
        match usize::try_from(len) {
            Ok(len) if len <= most => self.sealed(what, len),
            _ => Err(WireError::Length { expected: most as u64, got: len }),
        }
    }

    /// Reads a polynomial of the current record.
    ///
    /// # Errors
    /// Every error of [`sealed`](Self::sealed); [`WireError::Residue`].
    pub fn poly<D: Domain>(&mut self, ring: &Ring) -> Result<Poly<D>, WireError> {
        self.claim(ring.packed_len() as u64)?;
        Ok(ring.unpack(&mut Hashed { input: &mut self.input, hash: &mut self.hash })?)
    }

    /// Reads the checksum at the end of a record of polynomials, and checks it.
    ///
    /// # Errors
    /// Every error of [`sealed`](Self::sealed).
    pub fn seal(&mut self, what: &'static str) -> Result<(), WireError> {
        self.claim(CHECKSUM_LEN as u64)?;
        let hash = self.hash.finish();
        let mut expected = [0; CHECKSUM_LEN];
        self.input.read_exact(&mut expected)?;
        if u64::from_le_bytes(expected) == hash { Ok(()) } else { Err(WireError::Checksum { what }) }
    }

    /// Checks that the whole object was read from the source.
    ///
    /// # Errors
    /// [`WireError::Trailing`] where bytes are left.
    pub fn finish(self) -> Result<I, WireError> {
        if self.left == 0 { Ok(self.input) } else { Err(WireError::Trailing { extra: self.left }) }
    }

    fn claim(&mut self, bytes: u64) -> Result<(), WireError> {
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(WireError::Length { expected: bytes, got: self.left }),
        }
    }
}

/// A reader that hashes the bytes of the record, from which a polynomial is unpacked.
struct Hashed<'a, I> {
    input: &'a mut I,
    hash: &'a mut RecordHash,
}

impl<I: BufRead> BufRead for Hashed<'_, I> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.input.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        // The bytes that were looked at are still there.
        if let Ok(bytes) = self.input.fill_buf() {
            self.hash.write(bytes.get(..count).unwrap_or(bytes));
        }
        self.input.consume(count);
    }
}

impl<I: BufRead> Read for Hashed<'_, I> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(bytes)?;
        self.hash.write(bytes.get(..read).unwrap_or_default());
        Ok(read)
    }
}
