//! Columns of a base conversion, Σ_i x_i·M_i modulo one target, for any arithmetic.

use super::arithmetic::{Arithmetic, V};
use super::elementwise::{add, padded};
use super::lanes::{Integers, Lanes, WIDTH, copy};

/// Loads the eight words that start at `at`, padded with zeros past the end.
#[inline(always)]
fn load_at<A: Arithmetic>(a: A, words: &[u64], at: usize) -> V<A> {
    let l = a.lanes();
    match words.get(at..).and_then(<[u64]>::first_chunk) {
        Some(vector) => l.load(vector),
        None => l.load(&padded(words.get(at..).unwrap_or(&[]))),
    }
}

/// Computes out = Σ_i x_i·m_i, where x_i is any word of the arithmetic below 2^62 and m_i is canonical.
#[inline(always)]
pub(crate) fn convert_column<A: Arithmetic>(a: A, out: &mut [u64], input: &[&[u64]], column: &[u64]) {
    let l = a.lanes();
    for (k, words) in out.chunks_mut(WIDTH).enumerate() {
        let at = k * WIDTH;
        let mut total = l.splat(0);
        for (xs, ms) in input.chunks(A::MAX_TERMS).zip(column.chunks(A::MAX_TERMS)) {
            let mut sum = a.sum_start();
            for (x, m) in xs.iter().zip(ms) {
                sum = a.sum_add(sum, load_at(a, x, at), l.splat(*m));
            }
            total = add(a, total, a.sum_reduce(sum));
        }
        let mut vector = [0; WIDTH];
        l.store(&mut vector, total);
        copy(words, &vector);
    }
}
