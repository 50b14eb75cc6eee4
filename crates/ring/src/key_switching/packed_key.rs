//! Packed polynomials of keys: every residue in as few bytes as its modulus takes.

use sunzi_kernels::Modulus;
use zeroize::Zeroize;

use crate::opaque::Content;
use crate::scratch::Scratch;
use crate::{Backend, Evaluation, Poly, RingError, Shape, WordRing};

/// Number of bytes that a vector load may read from the first byte of its words on.
const READ: usize = 64;

/// A polynomial of a key, packed since key switching reads keys once and waits for memory.
#[derive(Clone)]
pub struct KeyPoly {
    /// Bytes of the packed limbs, in words: a buffer of the store, since keys that are made and dropped would otherwise fault their pages in again.
    words: Scratch,
    /// Offsets in bytes at which limbs of the packed polynomial start.
    starts: Vec<usize>,
    degree: usize,
    /// Tag of the basis of the polynomial.
    tag: u64,
}

impl KeyPoly {
    /// Packs a polynomial of a key that belongs to the given ring.
    pub(crate) fn new(part: &Poly<Evaluation>, ring: &WordRing) -> Result<Self, RingError> {
        ring.check(part)?;
        let mut packed = Self::empty(ring);
        for (i, (modulus, limb)) in ring.basis().moduli().iter().zip(part.limbs()).enumerate() {
            packed.put(i, 0, limb, modulus)?;
        }
        Ok(packed)
    }

    /// A packed polynomial of the given ring whose limbs are still to be put.
    pub(crate) fn empty(ring: &WordRing) -> Self {
        let (degree, mut start) = (ring.degree(), 0);
        let starts = ring.basis().moduli().iter().map(|modulus| {
            let own = start;
            start += degree.next_multiple_of(8) * modulus.residue_bytes();
            own
        });
        let starts = starts.collect();
        let mut words = Scratch::lasting(Self::len(ring).div_ceil(8));
        // What is put fills whole vectors alone, and vectors are read beyond the last one.
        let filled = if degree.is_multiple_of(8) { words.len().saturating_sub(READ / 8 + 1) } else { 0 };
        words.iter_mut().skip(filled).for_each(|word| *word = 0);
        Self { words, starts, degree, tag: ring.basis().tag() }
    }

    /// The number of bytes that a packed polynomial of the given ring takes.
    pub(super) fn len(ring: &WordRing) -> usize {
        Self::len_of(ring.degree(), ring.basis().values().iter().copied())
    }

    /// The number of bytes that a packed polynomial of the given degree and moduli takes.
    pub(super) fn len_of(degree: usize, moduli: impl Iterator<Item = u64>) -> usize {
        let bits = moduli.map(|q| u64::BITS - q.leading_zeros());
        let residue: usize = bits.map(|bits| bits.div_ceil(u8::BITS) as usize).sum();
        degree.next_multiple_of(8) * residue + READ
    }

    /// Unpacks the polynomial of a key, which belongs to the given ring.
    pub(crate) fn poly(&self, ring: &WordRing) -> Result<Poly<Evaluation>, RingError> {
        if self.shape() != ring.shape() {
            return Err(RingError::ShapeMismatch { expected: ring.shape(), got: self.shape() });
        }
        let mut poly = Poly::new(Scratch::new(self.degree * self.starts.len()), self.degree, self.tag);
        let limbs = poly.words_mut().chunks_exact_mut(self.degree);
        for (i, (modulus, limb)) in ring.basis().moduli().iter().zip(limbs).enumerate() {
            modulus.unpack_residues(limb, self.limb(i).unwrap_or_default())?;
        }
        ring.check(&poly)?;
        Ok(poly)
    }

    pub(super) fn shape(&self) -> Shape {
        Shape { degree: self.degree, limbs: self.starts.len() }
    }

    pub(super) fn tag(&self) -> u64 {
        self.tag
    }

    /// Packs residues into limb i from a coefficient on.
    pub(crate) fn put(
        &mut self,
        i: usize,
        start: usize,
        residues: &[u64],
        modulus: &Modulus,
    ) -> Result<(), RingError> {
        let first = self.starts.get(i).copied().unwrap_or_default() + start * modulus.residue_bytes();
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut self.words);
        Ok(modulus.pack_residues(bytes.get_mut(first..).unwrap_or_default(), residues)?)
    }

    /// The packed bytes of limb i from a coefficient on, for the modulus of the limb.
    pub(super) fn from(&self, i: usize, start: usize, modulus: &Modulus) -> Option<&[u8]> {
        self.limb(i)?.get(start * modulus.residue_bytes()..)
    }

    /// The packed bytes from limb i on.
    pub(super) fn limb(&self, i: usize) -> Option<&[u8]> {
        bytemuck::cast_slice(&self.words).get(*self.starts.get(i)?..)
    }
}

impl Content for KeyPoly {
    fn byte_len(&self) -> usize {
        8 * self.words.len()
    }
}

impl Zeroize for KeyPoly {
    fn zeroize(&mut self) {
        self.words.zeroize();
    }
}
