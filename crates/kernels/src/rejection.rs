//! Samples uniform residues from random bytes by rejection: words that are too large are left out.

use crate::isa::Isa;
use crate::select::active_isa;
#[cfg(target_arch = "x86_64")]
use crate::x86_64::rejection as vectors;

/// Writes the little-endian words of `bytes`, masked to the bits of q − 1, that are below q (all of them for q = 0, which stands for 2^64), in
/// their order, until `bytes` end or `out` is full; returns how many were written. Words of `out` after them are unspecified.
///
/// ```
/// let bytes: Vec<u8> = [9_u64, 6, 7, 14, 3].into_iter().flat_map(u64::to_le_bytes).collect();
/// let mut out = [0; 3];
/// assert_eq!(sunzi_kernels::keep_below(&mut out, &bytes, 7), 3);
/// assert_eq!(out, [1, 6, 6]);
/// ```
pub fn keep_below(out: &mut [u64], bytes: &[u8], q: u64) -> usize {
    keep_below_on(active_isa().unwrap_or(Isa::Portable), out, bytes, q)
}

pub(crate) fn keep_below_on(isa: Isa, out: &mut [u64], bytes: &[u8], q: u64) -> usize {
    let mask = u64::MAX >> q.wrapping_sub(1).leading_zeros().min(63);
    let most = q.wrapping_sub(1);
    let (read, mut kept) = vectors::keep_at_most(isa, out, bytes, mask, most);
    let (words, _) = bytes.get(read..).unwrap_or_default().as_chunks();
    for word in words {
        // The word is written first and kept if it is not too large: no branch to mispredict.
        let Some(slot) = out.get_mut(kept) else { break };
        *slot = u64::from_le_bytes(*word) & mask;
        kept += usize::from(*slot <= most);
    }
    kept
}

/// Stand-in for rejection without vectors: keeps no word.
#[cfg(not(target_arch = "x86_64"))]
mod vectors {
    use crate::isa::Isa;

    pub(super) fn keep_at_most(_: Isa, _: &mut [u64], _: &[u8], _: u64, _: u64) -> (usize, usize) {
        (0, 0)
    }
}
