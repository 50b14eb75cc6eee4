//! Destinations of objects, which are written twice: once to count their bytes, once to an output.

use std::io::{self, Write};

use sunzi_ring::{Append, Domain, Gadget, PackedPoly, PackingError, Poly, Ring, RingError};
use zeroize::Zeroizing;

use super::WireError;
use super::erasing::RecordHash;
use super::header::checksum;

/// Length of a checksum, in bytes.
pub const CHECKSUM_LEN: usize = 8;

/// A destination of the records of an object. A record is either bytes in one piece, or polynomials up to their
/// [`seal`](Self::seal).
pub trait Sink {
    /// Writes a record in one piece, with its checksum.
    ///
    /// # Errors
    /// [`WireError::Io`] where writing fails.
    fn sealed(&mut self, bytes: &[u8]) -> Result<(), WireError>;
    /// Writes a polynomial of the current record.
    ///
    /// # Errors
    /// [`WireError::Io`] where writing fails; [`WireError::Rlwe`] for a polynomial of another ring.
    fn poly<D: Domain>(&mut self, ring: &Ring, a: &Poly<D>) -> Result<(), WireError>;
    /// Writes a half of a key for a digit, of the current record.
    ///
    /// # Errors
    /// Every error of [`poly`](Self::poly).
    fn key_part(&mut self, gadget: &Gadget, part: &PackedPoly, digit: usize) -> Result<(), WireError> {
        self.poly(&gadget.part_ring(digit)?, &gadget.unpack_part(part, digit)?)
    }
    /// Writes a packed polynomial of the current record.
    ///
    /// # Errors
    /// Every error of [`poly`](Self::poly).
    fn packed(&mut self, ring: &Ring, part: &PackedPoly) -> Result<(), WireError> {
        self.poly(ring, &*Zeroizing::new(ring.unpacked(part)?))
    }
    /// Ends a record of polynomials with its checksum.
    ///
    /// # Errors
    /// [`WireError::Io`] where writing fails.
    fn seal(&mut self) -> Result<(), WireError>;
}

/// A destination that counts the bytes of an object, and packs none.
#[derive(Debug, Default)]
pub struct Length(u64);

impl Length {
    /// The number of bytes of the object so far.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.0
    }
}

impl Sink for Length {
    fn sealed(&mut self, bytes: &[u8]) -> Result<(), WireError> {
        self.0 += (bytes.len() + CHECKSUM_LEN) as u64;
        Ok(())
    }

    fn poly<D: Domain>(&mut self, ring: &Ring, _: &Poly<D>) -> Result<(), WireError> {
        self.0 += ring.packed_len() as u64;
        Ok(())
    }

    /// Counts the bytes of a half of a key for a digit, without unpacking it to a polynomial.
    fn key_part(&mut self, gadget: &Gadget, _: &PackedPoly, digit: usize) -> Result<(), WireError> {
        self.0 += gadget.part_ring(digit)?.packed_len() as u64;
        Ok(())
    }

    /// Counts the bytes of a packed polynomial, without unpacking it.
    fn packed(&mut self, ring: &Ring, _: &PackedPoly) -> Result<(), WireError> {
        self.0 += ring.packed_len() as u64;
        Ok(())
    }

    fn seal(&mut self) -> Result<(), WireError> {
        self.0 += CHECKSUM_LEN as u64;
        Ok(())
    }
}

/// A destination that writes the records of an object and their checksums.
pub struct Output<O: Append> {
    out: O,
    hash: RecordHash,
}

impl<O: Append> Output<O> {
    /// Makes a destination that writes records to `out`, which is not flushed.
    pub fn new(out: O) -> Self {
        Self { out, hash: RecordHash::new() }
    }

    /// Returns the output to which the object was written.
    pub fn into_inner(self) -> O {
        self.out
    }
}

/// Writes bytes to the current record of an object.
impl<O: Append> Write for Output<O> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.hash.write(bytes.get(..written).unwrap_or(bytes));
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Appends bytes to the current record, hashed while the first cache holds them.
impl<O: Append> Append for Output<O> {
    fn append(
        &mut self,
        len: usize,
        fill: &mut dyn FnMut(&mut [u8]) -> Result<(), RingError>,
    ) -> Result<(), PackingError> {
        let Self { out, hash } = self;
        out.append(len, &mut |bytes| {
            fill(bytes)?;
            hash.write(bytes);
            Ok(())
        })
    }
}

impl<O: Append> Sink for Output<O> {
    /// Hashes a record in one piece without the state of a hash, which would retain a part of a secret.
    fn sealed(&mut self, bytes: &[u8]) -> Result<(), WireError> {
        self.out.write_all(bytes)?;
        Ok(self.out.write_all(&checksum(bytes).to_le_bytes())?)
    }

    fn poly<D: Domain>(&mut self, ring: &Ring, a: &Poly<D>) -> Result<(), WireError> {
        Ok(ring.pack(a, self)?)
    }

    fn seal(&mut self) -> Result<(), WireError> {
        let hash = self.hash.finish();
        Ok(self.out.write_all(&hash.to_le_bytes())?)
    }
}
