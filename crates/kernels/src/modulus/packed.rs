//! Residues that are kept in as few bytes as the modulus takes, as keys are: what is read once is read faster.
#![expect(unsafe_code, reason = "calls through tables chosen for an available instruction set")]

use super::{Modulus, check_terms};
use crate::error::{KernelError, check_count, check_length};
use crate::generic::lanes::WIDTH;

/// Bytes that a vector reads from the first of its words on.
const READ: usize = 8 * WIDTH;

impl Modulus {
    /// Bytes of a residue: ⌈log2 q / 8⌉, up to one more for powers of two.
    #[must_use]
    pub fn residue_bytes(&self) -> usize {
        self.constants.residue_bytes()
    }

    /// Bytes that residues take, the last eight of them padded to 64.
    #[must_use]
    pub fn packed_residues_len(&self, count: usize) -> usize {
        let groups = count.div_ceil(WIDTH);
        if groups == 0 { 0 } else { (groups - 1) * WIDTH * self.residue_bytes() + READ }
    }

    /// Writes residues, [`residue_bytes`](Self::residue_bytes) each, the lowest first. What is left of `out` keeps its bytes.
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
        match self.residue_bytes() {
            1 => pack::<1>(out, words),
            2 => pack::<2>(out, words),
            3 => pack::<3>(out, words),
            4 => pack::<4>(out, words),
            5 => pack::<5>(out, words),
            6 => pack::<6>(out, words),
            7 => pack::<7>(out, words),
            _ => pack::<8>(out, words),
        }
        Ok(())
    }

    /// Reads what [`pack_residues`](Self::pack_residues) wrote.
    ///
    /// # Errors
    /// [`KernelError::PackedLength`] for fewer bytes than these words take.
    pub fn unpack_residues(&self, out: &mut [u64], bytes: &[u8]) -> Result<(), KernelError> {
        self.check_packed(out.len(), bytes.len())?;
        match self.residue_bytes() {
            1 => unpack::<1>(out, bytes),
            2 => unpack::<2>(out, bytes),
            3 => unpack::<3>(out, bytes),
            4 => unpack::<4>(out, bytes),
            5 => unpack::<5>(out, bytes),
            6 => unpack::<6>(out, bytes),
            7 => unpack::<7>(out, bytes),
            _ => unpack::<8>(out, bytes),
        }
        Ok(())
    }

    /// [`inner_product_pair`](Self::inner_product_pair) for second factors as [`pack_residues`](Self::pack_residues) leaves them, or those from
    /// any of them on: they are made words in registers, so that no more bytes are read than there are.
    ///
    /// # Errors
    /// As for [`inner_product`](Self::inner_product), for either list; [`KernelError::PackedLength`] for a second factor of fewer bytes than as many
    /// residues take. More are not read.
    pub fn packed_inner_products(
        &self,
        out: [&mut [u64]; 2],
        a: &[&[u64]],
        b: [&[&[u8]]; 2],
    ) -> Result<(), KernelError> {
        check_terms(a.len())?;
        let [first, second] = &out;
        let len = first.len();
        check_length(len, second.len())?;
        a.iter().try_for_each(|slice| check_length(len, slice.len()))?;
        for list in b {
            check_count(a.len(), list.len())?;
            list.iter().try_for_each(|bytes| self.check_packed(len, bytes.len()))?;
        }
        #[cfg(feature = "tally")]
        crate::tally::products(2 * a.len(), len);
        // SAFETY: the table was chosen for an available instruction set.
        unsafe { (self.table.packed_inner_products)(&self.constants, out, a, b) };
        Ok(())
    }

    fn check_packed(&self, count: usize, got: usize) -> Result<(), KernelError> {
        let expected = self.packed_residues_len(count);
        if got < expected { Err(KernelError::PackedLength { expected, got }) } else { Ok(()) }
    }
}

fn pack<const BYTES: usize>(out: &mut [u8], words: &[u64]) {
    for (out, word) in out.as_chunks_mut::<BYTES>().0.iter_mut().zip(words) {
        if let Some(bytes) = word.to_le_bytes().first_chunk() {
            *out = *bytes;
        }
    }
}

fn unpack<const BYTES: usize>(out: &mut [u64], bytes: &[u8]) {
    for (word, bytes) in out.iter_mut().zip(bytes.as_chunks::<BYTES>().0) {
        let mut whole = [0; 8];
        whole.iter_mut().zip(bytes).for_each(|(to, byte)| *to = *byte);
        *word = u64::from_le_bytes(whole);
    }
}
