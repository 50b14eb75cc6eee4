//! Automorphisms on eight vectors: blocks of values in another order.
#![expect(unsafe_code, reason = "intrinsics called where their instructions were found, on whole vectors")]
#![expect(clippy::indexing_slicing, reason = "indices below eight into arrays of eight")]

use std::arch::x86_64::*;

use crate::isa::Isa;
use crate::permute::{BLOCK, Origin, REVERSED};

/// Number of words in a vector, and number of vectors in a block.
const WIDTH: usize = 8;

/// Writes blocks from number `first` on, from those of the input, which begin with number `start`, until one
/// is missing; returns the number written. The automorphism is given by its exponent and by the origins of
/// blocks.
pub(crate) fn apply(
    isa: Isa,
    automorphism: (usize, impl Fn(usize) -> Origin),
    out: &mut [[u64; BLOCK]],
    first: usize,
    input: &[[u64; BLOCK]],
    start: usize,
) -> usize {
    match isa {
        // SAFETY: the processor has what the instruction set consists of.
        Isa::Avx512Ifma | Isa::Avx512Dq => unsafe { apply_512(automorphism, out, first, input, start) },
        _ => 0,
    }
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl")]
fn apply_512(
    (exponent, origin): (usize, impl Fn(usize) -> Origin),
    out: &mut [[u64; BLOCK]],
    first: usize,
    input: &[[u64; BLOCK]],
    start: usize,
) -> usize {
    let lanes: [u64; WIDTH] = REVERSED.map(u64::from);
    // ρ = 8·rev(v) + rev(l) becomes 8·(k·rev(v)) + u with u = k·rev(l) + τ: vector rev(k·rev(v) + ⌊u/8⌋), lane rev(u mod 8).
    let steps = load(&lanes.map(|lane| lane * (exponent % BLOCK) as u64));
    let reversed = load(&lanes);
    // k is its own inverse modulo 8.
    let permuted = load(&[0, 1, 2, 3, 4, 5, 6, 7].map(|h| h * exponent as u64 % 8));
    let sources: [usize; WIDTH] = std::array::from_fn(|j| usize::from(REVERSED[j * exponent % 8]) * WIDTH);
    for (i, out) in out.iter_mut().enumerate() {
        let Origin { block, shift } = origin(first + i);
        let Some(input) = block.checked_sub(start).and_then(|block| input.get(block)) else { return i };
        let u =
            _mm512_and_si512(_mm512_add_epi64(steps, _mm512_set1_epi64(shift as i64)), _mm512_set1_epi64(63));
        let lanes = _mm512_permutexvar_epi64(u, reversed);
        let ahead = _mm512_permutexvar_epi64(_mm512_srli_epi64::<3>(u), permuted);
        let mut x: [__m512i; WIDTH] = [_mm512_setzero_si512(); WIDTH];
        for (x, &at) in x.iter_mut().zip(&sources) {
            // SAFETY: `at` is a multiple of eight below 64, so eight words from it on lie inside the block.
            let words = unsafe { _mm512_loadu_si512(input.as_ptr().add(at % BLOCK).cast()) };
            *x = _mm512_permutexvar_epi64(lanes, words);
        }
        // Every lane takes the vector `ahead` places on, by steps of one, two and four.
        x = advanced::<1>(x, _mm512_test_epi64_mask(ahead, _mm512_set1_epi64(1)));
        x = advanced::<2>(x, _mm512_test_epi64_mask(ahead, _mm512_set1_epi64(2)));
        x = advanced::<4>(x, _mm512_test_epi64_mask(ahead, _mm512_set1_epi64(4)));
        for (j, x) in x.into_iter().enumerate() {
            let at = usize::from(REVERSED[j]) * WIDTH;
            // SAFETY: as above.
            unsafe { _mm512_storeu_si512(out.as_mut_ptr().add(at % BLOCK).cast(), x) };
        }
    }
    out.len()
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(words: &[u64; WIDTH]) -> __m512i {
    // SAFETY: eight words are read.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

/// Takes, in the lanes of the mask, the vector that is `STEP` places further on, cyclically.
#[inline]
#[target_feature(enable = "avx512f")]
fn advanced<const STEP: usize>(x: [__m512i; WIDTH], mask: __mmask8) -> [__m512i; WIDTH] {
    let mut out = x;
    for j in 0..WIDTH {
        out[j] = _mm512_mask_blend_epi64(mask, x[j], x[(j + STEP) % WIDTH]);
    }
    out
}
