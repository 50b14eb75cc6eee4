//! Polynomials as bytes: the part of the wire format (`docs/format.md`) that depends on how a ring stores residues.

use std::io::{self, Read, Write};

use sunzi_kernels::{pack, packed_len, unpack};
use zeroize::Zeroizing;

use crate::{Domain, MultiPrecisionRing, Poly, PolyRing, Ring, RingError};

/// Words that are packed at a time: a multiple of 8, so that blocks end with bytes, and few enough to stay in the caches.
const BLOCK: usize = 1 << 12;
/// Bytes that hold as many.
const BLOCK_LEN: usize = 8 * BLOCK;

/// How a ring stores residues, as a number in files: never changed, never used again for something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Storage {
    /// [`Ring`]: the moduli follow.
    Words = 0,
    /// [`MultiPrecisionRing`]: the moduli follow.
    MultiPrecision = 1,
    /// [`UnivariateRing`](crate::UnivariateRing): 0, or 1 where polynomials are kept times M and 2 where keys are, then the moduli.
    Univariate = 2,
    /// [`BigRing`](crate::BigRing): for every modulus how many words it has, and these, the lowest first.
    Big = 3,
    /// Modulo 2^g − 1: g.
    Fermat = 4,
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

/// A ring whose polynomials can be written to files: residues packed to the bits of their moduli.
pub trait Packing: PolyRing {
    /// The name of the ring, equal for those that have the same polynomials at the same levels: see [`describe`].
    fn description(&self) -> Vec<u8>;
    /// Bytes that a polynomial of this ring takes.
    fn packed_len(&self) -> usize;
    /// Writes a polynomial.
    ///
    /// # Errors
    /// [`PackingError::Ring`] for one of another ring; [`PackingError::Io`].
    fn pack<D: Domain>(&self, a: &Self::Poly<D>, out: &mut impl Write) -> Result<(), PackingError>;
    /// Reads a polynomial. What is allocated is a polynomial of this ring, whatever comes.
    ///
    /// # Errors
    /// [`PackingError::Residue`] for one that is not reduced, and for bits behind the last that are not 0; [`PackingError::Io`].
    fn unpack<D: Domain>(&self, from: &mut impl Read) -> Result<Self::Poly<D>, PackingError>;
}

/// Why a polynomial was not written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PackingError {
    /// Bytes did not come or go.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A residue that is not below its modulus.
    #[error("residues modulo number {limb} of the ring are not all below it: the bytes are damaged")]
    Residue {
        /// The place of the modulus, from 0.
        limb: usize,
    },
    /// A polynomial of another ring.
    #[error(transparent)]
    Ring(#[from] RingError),
}

/// Bytes of `count` residues for each modulus.
pub(crate) fn rows_len(count: usize, moduli: &[u64]) -> usize {
    moduli.iter().map(|&q| packed_len(count, bits(q)).unwrap_or(usize::MAX)).fold(0, usize::saturating_add)
}

/// Writes a row of residues for each modulus, each row from a new byte on.
pub(crate) fn pack_rows<'a>(
    rows: impl Iterator<Item = &'a [u64]>,
    moduli: &[u64],
    out: &mut impl Write,
) -> Result<(), PackingError> {
    let mut bytes = Zeroizing::new(Vec::with_capacity(BLOCK_LEN));
    for (row, &q) in rows.zip(moduli) {
        for words in row.chunks(BLOCK) {
            bytes.resize(rows_len(words.len(), &[q]), 0);
            pack(&mut bytes, words, bits(q)).map_err(RingError::from)?;
            out.write_all(&bytes)?;
        }
    }
    Ok(())
}

/// Reads what [`pack_rows`] wrote.
pub(crate) fn unpack_rows<'a>(
    rows: impl Iterator<Item = &'a mut [u64]>,
    moduli: &[u64],
    from: &mut impl Read,
) -> Result<(), PackingError> {
    let mut bytes = Zeroizing::new(Vec::with_capacity(BLOCK_LEN));
    for (limb, (row, &q)) in rows.zip(moduli).enumerate() {
        for words in row.chunks_mut(BLOCK) {
            bytes.resize(rows_len(words.len(), &[q]), 0);
            from.read_exact(&mut bytes)?;
            match unpack(words, &bytes, bits(q)) {
                Ok(largest) if largest < q => {}
                _ => return Err(PackingError::Residue { limb }),
            }
        }
    }
    Ok(())
}

/// Bits of q − 1.
fn bits(q: u64) -> u32 {
    q.saturating_sub(1).checked_ilog2().map_or(1, |log2| log2 + 1)
}

impl Packing for Ring {
    fn description(&self) -> Vec<u8> {
        describe(Storage::Words, self.index(), self.basis().values())
    }

    fn packed_len(&self) -> usize {
        rows_len(self.degree(), self.basis().values())
    }

    fn pack<D: Domain>(&self, a: &Poly<D>, out: &mut impl Write) -> Result<(), PackingError> {
        self.check(a)?;
        pack_rows(a.limbs(), self.basis().values(), out)
    }

    fn unpack<D: Domain>(&self, from: &mut impl Read) -> Result<Poly<D>, PackingError> {
        let mut a = self.arbitrary();
        unpack_rows(a.words_mut().chunks_exact_mut(self.degree()), self.basis().values(), from)?;
        Ok(a)
    }
}

impl Packing for MultiPrecisionRing {
    fn description(&self) -> Vec<u8> {
        describe(Storage::MultiPrecision, self.index(), self.residues().basis().values())
    }

    fn packed_len(&self) -> usize {
        self.residues().packed_len()
    }

    fn pack<D: Domain>(&self, a: &Poly<D>, out: &mut impl Write) -> Result<(), PackingError> {
        self.residues().pack(a, out)
    }

    fn unpack<D: Domain>(&self, from: &mut impl Read) -> Result<Poly<D>, PackingError> {
        self.residues().unpack(from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Evaluation;
    use crate::sampling::SeededRng;
    use sunzi_math::primes_with_bits;

    fn rings() -> Vec<Ring> {
        let of = |m: u64, lengths: &[u32]| {
            let order = Ring::root_order(m).unwrap();
            let moduli: Vec<u64> =
                lengths.iter().flat_map(|&bits| primes_with_bits(bits, order, 1).unwrap()).collect();
            Ring::new(m, &moduli).unwrap()
        };
        vec![of(128, &[20, 48, 62]), of(1 << 14, &[50, 30]), of(45, &[40]), of(101, &[33, 57])]
    }

    #[test]
    fn polynomials_come_back() {
        for ring in rings() {
            let a = ring.uniform(&mut SeededRng::derive(&[1; 32], "packing", 0));
            let mut bytes = Vec::new();
            ring.pack(&a, &mut bytes).unwrap();
            assert_eq!(bytes.len(), ring.packed_len());
            let information: f64 = sunzi_math::log2(ring.modulus()) * ring.degree() as f64 / 8.0;
            assert!(bytes.len() as f64 <= 1.03 * information + 8.0);
            let again: Poly<Evaluation> = ring.unpack(&mut bytes.as_slice()).unwrap();
            assert_eq!(again.words(), a.words());
            ring.check(&again).unwrap();
            let lower = ring.at_level(1).unwrap();
            assert_eq!(lower.pack(&a, &mut Vec::new()).is_ok(), ring.level() == 1);
        }
    }

    #[test]
    fn residues_must_be_below_their_moduli() {
        for ring in rings() {
            let len = ring.packed_len();
            let last = ring.level() - 1;
            for (byte, limb) in [(0, 0), (len - 1, last)] {
                let mut bytes = vec![0; len];
                // A residue, and padding where there is some, of ones alone.
                let ones = 8.min(len);
                let from = byte.min(len - ones);
                bytes[from..from + ones].fill(0xFF);
                let refused = ring.unpack::<Evaluation>(&mut bytes.as_slice());
                assert!(matches!(refused, Err(PackingError::Residue { limb: at }) if at == limb));
            }
            for cut in [0, 1, len / 2, len - 1] {
                let refused = ring.unpack::<Evaluation>(&mut vec![0; cut].as_slice());
                assert!(matches!(refused, Err(PackingError::Io(_))), "{cut} of {len}");
            }
        }
    }
}
