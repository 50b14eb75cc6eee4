//! Residues stored in as few bytes as the modulus takes, as key material is: fewer bytes are read from memory.

use super::Modulus;
use crate::error::KernelError;
use crate::generic::lanes::WIDTH;
use crate::packing::{pack, unpack};

/// Number of bytes in a word.
const WORD: usize = 8;
/// Number of bytes that a vector reads from the first of its words on.
const READ: usize = WORD * WIDTH;

impl Modulus {
    /// Bytes of a residue: ⌈log2 q / 8⌉, up to one more for powers of two.
    #[must_use]
    #[inline]
    pub fn residue_bytes(&self) -> usize {
        self.constants.residue_bytes()
    }

    /// Bytes that residues take, the last eight residues padded to 64 bytes.
    #[must_use]
    #[inline]
    pub fn packed_residues_len(&self, count: usize) -> usize {
        let groups = count.div_ceil(WIDTH);
        if groups == 0 { 0 } else { (groups - 1) * WIDTH * self.residue_bytes() + READ }
    }

    /// Writes residues, [`residue_bytes`](Self::residue_bytes) each, the lowest byte first. Bytes of `out` after them stay.
    ///
    /// ```
    /// let q = sunzi_kernels::Modulus::new((1 << 48) - 59)?;
    /// let mut bytes = vec![0; q.packed_residues_len(3)];
    /// q.pack_residues(&mut bytes, &[1, 2, 1 << 40])?;
    /// assert_eq!(bytes[..18], [1, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    /// # Ok::<(), sunzi_kernels::KernelError>(())
    /// ```
    ///
    /// # Errors
    /// [`KernelError::PackedLength`] unless there is [room](Self::packed_residues_len). Words of q or more give unspecified bytes.
    pub fn pack_residues(&self, out: &mut [u8], words: &[u64]) -> Result<(), KernelError> {
        self.check_packed(words.len(), out.len())?;
        let len = self.residue_bytes();
        let bytes = out.get_mut(..words.len() * len).unwrap_or_default();
        if len < WORD {
            return pack(bytes, words, u8::BITS * len as u32);
        }
        for (bytes, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
            *bytes = word.to_le_bytes();
        }
        Ok(())
    }

    /// Reads residues that [`pack_residues`](Self::pack_residues) wrote.
    ///
    /// # Errors
    /// [`KernelError::PackedLength`] for fewer bytes than the residues take.
    pub fn unpack_residues(&self, out: &mut [u64], bytes: &[u8]) -> Result<(), KernelError> {
        self.check_packed(out.len(), bytes.len())?;
        let len = self.residue_bytes();
        let bytes = bytes.get(..out.len() * len).unwrap_or_default();
        if len < WORD {
            return unpack(out, bytes, u8::BITS * len as u32).map(drop);
        }
        for (word, bytes) in out.iter_mut().zip(bytes.as_chunks().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        Ok(())
    }

    pub(super) fn check_packed(&self, count: usize, got: usize) -> Result<(), KernelError> {
        let expected = self.packed_residues_len(count);
        if got < expected { Err(KernelError::PackedLength { expected, got }) } else { Ok(()) }
    }
}
