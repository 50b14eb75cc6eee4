//! Rejection by vectors: words that are too large are left out.
#![expect(unsafe_code, reason = "intrinsics called where their instructions were found, on eight words")]

use std::arch::x86_64::*;

use crate::isa::Isa;

/// Number of bytes in a vector.
const BYTES: usize = 64;

/// Writes the words that are at most `most` after masking, as long as there is room for eight; returns the numbers of bytes read and words written.
pub(crate) fn keep_at_most(isa: Isa, out: &mut [u64], bytes: &[u8], mask: u64, most: u64) -> (usize, usize) {
    match isa {
        // SAFETY: the processor has what the instruction set consists of.
        Isa::Avx512Ifma | Isa::Avx512Dq => unsafe { keep_512(out, bytes, mask, most) },
        _ => (0, 0),
    }
}

#[target_feature(enable = "avx512f")]
fn keep_512(out: &mut [u64], bytes: &[u8], mask: u64, most: u64) -> (usize, usize) {
    let (mask, most) = (_mm512_set1_epi64(mask.cast_signed()), _mm512_set1_epi64(most.cast_signed()));
    let (mut read, mut kept) = (0, 0);
    for group in bytes.as_chunks::<BYTES>().0 {
        let Some(room) = out.get_mut(kept..).and_then(|rest| rest.first_chunk_mut::<8>()) else { break };
        // SAFETY: the group has as many bytes.
        let word = _mm512_and_si512(unsafe { _mm512_loadu_si512(group.as_ptr().cast()) }, mask);
        let small = _mm512_cmple_epu64_mask(word, most);
        // SAFETY: there is room for eight words.
        unsafe { _mm512_storeu_si512(room.as_mut_ptr().cast(), _mm512_maskz_compress_epi64(small, word)) };
        kept += small.count_ones() as usize;
        read += BYTES;
    }
    (read, kept)
}
