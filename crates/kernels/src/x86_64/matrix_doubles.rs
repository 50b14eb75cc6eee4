//! Products of doubles in vectors of 256 and 512 bits.

use crate::matrix::layout::{Cut, DoubleKernel, PANEL};
use crate::matrix::loops;

/// Doubles in 256-bit vectors: four rows of eight columns.
pub(crate) static AVX2: DoubleKernel = DoubleKernel { rows: 4, run: run_256, cut: cut_256 };
/// Doubles in 512-bit vectors: twelve rows of sixteen columns.
pub(crate) static AVX512: DoubleKernel = DoubleKernel { rows: 12, run: run_512, cut: cut_512 };

#[target_feature(enable = "avx2,fma")]
fn run_256(entries: &[f64], residues: &[f64], sums: &mut [i64]) {
    loops::multiply_doubles::<4, 8, true>(entries, residues, sums);
}

#[target_feature(enable = "avx2,fma")]
fn cut_256(words: &[u64; PANEL], cut: &Cut, digit: u32, out: &mut [f64]) {
    loops::cut_doubles(words, cut, digit, out);
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl,fma")]
fn run_512(entries: &[f64], residues: &[f64], sums: &mut [i64]) {
    loops::multiply_doubles::<12, 16, true>(entries, residues, sums);
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl,fma")]
fn cut_512(words: &[u64; PANEL], cut: &Cut, digit: u32, out: &mut [f64]) {
    loops::cut_doubles(words, cut, digit, out);
}
