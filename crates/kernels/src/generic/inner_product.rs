//! Σ a_i·b_i over vectors, reduced once a group of terms.

use super::arithmetic::{Arithmetic, V};
use super::elementwise::{add, copy, padded};
use super::lanes::{Lanes, WIDTH};

/// The eight words that start at `at`, padded with zeros past the end.
#[inline(always)]
fn load_at<A: Arithmetic>(a: A, words: &[u64], at: usize) -> V<A> {
    let l = a.lanes();
    match words.get(at..).and_then(<[u64]>::first_chunk) {
        Some(vector) => l.load(vector),
        None => l.load(&padded(words.get(at..).unwrap_or(&[]))),
    }
}

/// out = Σ_i x_i·y_i for canonical words; all slices as long as `out`.
#[inline(always)]
pub(crate) fn inner_product<A: Arithmetic>(a: A, out: &mut [u64], x: &[&[u64]], y: &[&[u64]]) {
    let l = a.lanes();
    for (k, words) in out.chunks_mut(WIDTH).enumerate() {
        let at = k * WIDTH;
        let mut total = l.splat(0);
        for (xs, ys) in x.chunks(A::MAX_TERMS).zip(y.chunks(A::MAX_TERMS)) {
            let mut sum = (l.splat(0), l.splat(0));
            for (x, y) in xs.iter().zip(ys) {
                sum = a.sum_add(sum, load_at(a, x, at), load_at(a, y, at));
            }
            total = add(a, total, a.sum_reduce(sum));
        }
        let mut vector = [0; WIDTH];
        l.store(&mut vector, total);
        copy(words, &vector);
    }
}
