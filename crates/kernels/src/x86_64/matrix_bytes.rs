//! Products of bytes in 512-bit vectors: every lane takes four products of unsigned and signed bytes and their sum.
#![expect(unsafe_code, reason = "functions that need instructions, called where they were found")]

use std::arch::x86_64::*;

use crate::isa::Isa;
use crate::matrix::layout::{ByteKernel, Factors, Line, PANEL};
use crate::matrix::loops;

/// Number of rows of a tile: 12 times two vectors of sums leave registers for both factors.
const ROWS: usize = 12;

pub(crate) static KERNEL: ByteKernel = ByteKernel { rows: ROWS, run, add, cut };

/// Whether this processor multiplies bytes in vectors of 512 bits.
pub(crate) fn has_vnni() -> bool {
    Isa::Avx512Dq.is_available()
        && std::arch::is_x86_feature_detected!("avx512vnni")
        && std::arch::is_x86_feature_detected!("avx512bw")
}

/// Computes the sums of products of pairs of digits of 12 rows and 32 columns.
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn run(pairs: &[Factors<'_>], sums: &mut [i32]) {
    let mut tile = [[_mm512_setzero_si512(); 2]; ROWS];
    for (ours, theirs) in pairs {
        for (ours, theirs) in ours.chunks_exact(ROWS).zip(theirs.chunks_exact(32)) {
            for (k, halves) in theirs.chunks_exact(2).enumerate() {
                let [low, high] = halves else { continue };
                let (low, high) = (load(low), load(high));
                for ([left, right], line) in tile.iter_mut().zip(ours) {
                    let four = line.0.chunks_exact(4).nth(k).and_then(|four| four.try_into().ok());
                    let four = _mm512_set1_epi32(i32::from_le_bytes(four.unwrap_or_default()));
                    *left = _mm512_dpbusd_epi32(*left, four, low);
                    *right = _mm512_dpbusd_epi32(*right, four, high);
                }
            }
        }
    }
    for (sums, row) in sums.chunks_exact_mut(PANEL).zip(&tile) {
        for (sums, row) in sums.chunks_exact_mut(16).zip(row) {
            // SAFETY: sixteen sums are as long as a vector.
            unsafe { _mm512_storeu_si512(sums.as_mut_ptr().cast(), *row) }
        }
    }
}

#[inline(always)]
fn load(line: &Line) -> __m512i {
    // SAFETY: a line is as long as a vector, and aligned; callers have the instructions.
    unsafe { _mm512_load_si512(line.0.as_ptr().cast()) }
}

/// Adds sums·2^shift to wide sums.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) fn add(wide: &mut [i64], sums: &[i32], shift: u32) {
    loops::add(wide, sums, shift);
}

/// Cuts four rows of residues into signed bytes.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) fn cut(words: &[[u64; PANEL]; 4], q: u64, offset: u64, lines: &mut [[Line; 2]]) {
    loops::cut_bytes(words, q, offset, lines);
}
