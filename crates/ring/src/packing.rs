//! Polynomials as bytes: the part of the wire format (`docs/format.md`) that depends on how a ring stores residues.

use std::io::{self, BufRead, Write};

use sunzi_kernels::{pack, packed_len, unpack};
use sunzi_math::RingIndex;
use zeroize::Zeroizing;

use crate::RingError;
use crate::ladder::is_of_prefixes;

/// Number of words that are packed at a time: a multiple of 8, so that blocks end with bytes, and few enough for the
/// first cache to hold them beside their bytes.
const BLOCK: usize = 1 << 10;
/// Length in bytes of [`BLOCK`] words.
const BLOCK_LEN: usize = 8 * BLOCK;

/// Number in files for the way a ring stores residues: never changed, never used again for something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Storage {
    /// Storage of [`Ring`](crate::Ring) in words: the moduli follow.
    Words = 0,
    /// Storage `MultiPrecision` of `research/big`: the moduli follow.
    MultiPrecision = 1,
    /// Storage `UnivariateRing` of `sunzi-univariate`: 0, or 1 where polynomials are kept times M and 2 where
    /// keys are, then the moduli.
    Univariate = 2,
    /// Storage `BigRing` of `research/big`: for every modulus how many words it has, and these, the lowest
    /// first.
    Big = 3,
    /// Storage of a ring modulo 2^g − 1: g follows.
    Fermat = 4,
    /// Any of these storages of rings with levels that are sets of moduli: see [`describe_sets`].
    Sets = 5,
    /// Any of the other storages but that of sets, of real rings: see [`describe_real`].
    Real = 6,
}

/// The name of a ring in files: how it stores residues, its index, and the numbers that `storage` lists.
#[must_use]
pub fn describe(storage: Storage, index: u64, numbers: &[u64]) -> Vec<u8> {
    let mut bytes = vec![storage as u8];
    bytes.extend(index.to_le_bytes());
    bytes.extend((numbers.len() as u32).to_le_bytes());
    bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    bytes
}

/// The name in files of the real elements of the ring of this name.
#[must_use]
pub fn describe_real(ring: &[u8]) -> Vec<u8> {
    [&[Storage::Real as u8], ring].concat()
}

/// The name of a ring in files by its index, as [`describe`] or [`describe_real`].
#[must_use]
pub fn describe_index(storage: Storage, index: &RingIndex, numbers: &[u64]) -> Vec<u8> {
    let ring = describe(storage, index.value(), numbers);
    if index.is_real() { describe_real(&ring) } else { ring }
}

/// The name in files of a ring of `count` moduli whose level l has those with the indices `rungs[l − 1]`: `ring`, the
/// name of the ring whose levels are prefixes, where these are, else the storage of sets, that name, the count of
/// levels, and for each of them ⌈count/64⌉ words, in which bit i is for modulus i.
#[must_use]
pub fn describe_sets<'a>(
    ring: Vec<u8>,
    count: usize,
    rungs: impl ExactSizeIterator<Item = &'a [usize]> + Clone,
) -> Vec<u8> {
    if rungs.len() == 0 || is_of_prefixes(rungs.clone()) {
        return ring;
    }
    let mut bytes = vec![Storage::Sets as u8];
    bytes.extend(ring);
    bytes.extend((rungs.len() as u64).to_le_bytes());
    for rung in rungs {
        let mut set = vec![0_u8; 8 * count.div_ceil(64)];
        for limb in rung {
            set.get_mut(limb / 8).into_iter().for_each(|byte| *byte |= 1 << (limb % 8));
        }
        bytes.extend(set);
    }
    bytes
}

/// Destination of packed polynomials: bytes in memory, which are set where they will stay, or a writer by way of a
/// [`Block`].
pub trait Append: Write {
    /// Writes `len` bytes, all of which `fill` sets.
    ///
    /// # Errors
    /// Every error of `fill`; [`PackingError::Io`] where writing fails.
    fn append(
        &mut self,
        len: usize,
        fill: &mut dyn FnMut(&mut [u8]) -> Result<(), RingError>,
    ) -> Result<(), PackingError>;
}

impl Append for Vec<u8> {
    fn append(
        &mut self,
        len: usize,
        fill: &mut dyn FnMut(&mut [u8]) -> Result<(), RingError>,
    ) -> Result<(), PackingError> {
        let start = self.len();
        self.resize(start + len, 0);
        Ok(fill(self.get_mut(start..).unwrap_or_default())?)
    }
}

/// A writer with a buffer of bytes on their way to it; erased when dropped, since some are of secrets.
#[derive(Debug)]
pub struct Block<W: Write> {
    out: W,
    bytes: Zeroizing<Vec<u8>>,
}

impl<W: Write> Block<W> {
    /// An empty buffer of bytes on their way to `out`.
    pub fn new(out: W) -> Self {
        Self { out, bytes: Zeroizing::new(Vec::new()) }
    }
}

impl<W: Write> Write for Block<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<W: Write> Append for Block<W> {
    fn append(
        &mut self,
        len: usize,
        fill: &mut dyn FnMut(&mut [u8]) -> Result<(), RingError>,
    ) -> Result<(), PackingError> {
        if self.bytes.capacity() == 0 {
            // The buffer is as long as any block of rows: a buffer that grows leaves a copy of its bytes behind.
            self.bytes.reserve_exact(BLOCK_LEN);
        }
        self.bytes.resize(len, 0);
        fill(&mut self.bytes)?;
        Ok(self.out.write_all(&self.bytes)?)
    }
}

/// Reasons why a polynomial was not written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PackingError {
    /// Reading or writing the bytes of a polynomial failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A residue that was read is not below its modulus.
    #[error("residues modulo number {limb} of the ring are not all below it: the bytes are damaged")]
    Residue {
        /// The place of the residue's modulus in the basis, from 0 on.
        limb: usize,
    },
    /// A polynomial to be packed belongs to another ring.
    #[error(transparent)]
    Ring(#[from] RingError),
}

/// Length in bytes of packed rows of `count` residues for each modulus.
pub fn rows_len(count: usize, moduli: &[u64]) -> usize {
    moduli.iter().map(|&q| packed_len(count, bits(q)).unwrap_or(usize::MAX)).fold(0, usize::saturating_add)
}

/// Writes a row of residues for each modulus; each row starts with a new byte.
pub fn pack_rows<'a>(
    rows: impl Iterator<Item = &'a [u64]>,
    moduli: &[u64],
    out: &mut dyn Append,
) -> Result<(), PackingError> {
    for (row, &q) in rows.zip(moduli) {
        for words in row.chunks(BLOCK) {
            out.append(rows_len(words.len(), &[q]), &mut |bytes| Ok(pack(bytes, words, bits(q))?))?;
        }
    }
    Ok(())
}

/// Reads the rows of residues that [`pack_rows`] wrote.
pub fn unpack_rows<'a>(
    rows: impl Iterator<Item = &'a mut [u64]>,
    moduli: &[u64],
    from: &mut dyn BufRead,
) -> Result<(), PackingError> {
    // The block is filled only where the input is in pieces: erasing it in the end costs as much as a copy of a small
    // polynomial.
    let mut block = Zeroizing::new(Vec::new());
    for (limb, (row, &q)) in rows.zip(moduli).enumerate() {
        let reduced = |words: &mut [u64], bytes: &[u8]| match unpack(words, bytes, bits(q)) {
            Ok(largest) if largest < q => Ok(()),
            _ => Err(PackingError::Residue { limb }),
        };
        for words in row.chunks_mut(BLOCK) {
            let len = rows_len(words.len(), &[q]);
            // Bytes are read where they are, if the input has them in one piece.
            if let Some(bytes) = from.fill_buf()?.get(..len) {
                reduced(words, bytes)?;
                from.consume(len);
            } else {
                if block.capacity() == 0 {
                    block.reserve_exact(BLOCK_LEN);
                }
                block.resize(len, 0);
                from.read_exact(&mut block)?;
                reduced(words, &block)?;
            }
        }
    }
    Ok(())
}

/// Number of bits of q − 1, which one packed residue takes.
fn bits(q: u64) -> u32 {
    q.saturating_sub(1).checked_ilog2().map_or(1, |log2| log2 + 1)
}
