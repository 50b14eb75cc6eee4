//! Reordering of words, and of the words of blocks by automorphisms.
#![expect(unsafe_code, reason = "indices are checked before the loop that uses them")]

use crate::error::{KernelError, check_length};

/// Number of words of a block.
pub(crate) const BLOCK: usize = 64;
/// Table of the numbers of three bits with their bits reversed.
pub(crate) const REVERSED: [u8; 8] = [0, 4, 2, 6, 1, 5, 3, 7];

/// Source of a block under an automorphism.
#[derive(Clone, Copy)]
pub(crate) struct Origin {
    /// Number of the source block.
    pub(crate) block: usize,
    /// Shift τ modulo 64 of the places within the block.
    pub(crate) shift: usize,
}

/// Reorders words: `out[i] = input[index[i]]`.
///
/// # Errors
/// [`KernelError::LengthMismatch`] unless `out` and `index` are equally long,
/// [`KernelError::IndexOutOfRange`].
pub fn permute(out: &mut [u64], input: &[u64], index: &[u32]) -> Result<(), KernelError> {
    check_length(out.len(), index.len())?;
    let len = input.len();
    // Vectors find the largest of a list sooner than a loop that may end anywhere checks each.
    if let Some(&largest) = index.iter().max().filter(|largest| **largest as usize >= len) {
        return Err(KernelError::IndexOutOfRange { index: largest, len });
    }
    for (to, &index) in out.iter_mut().zip(index) {
        // SAFETY: no index is above the largest, which is below the length of the input.
        *to = unsafe { *input.get_unchecked(index as usize) };
    }
    Ok(())
}
