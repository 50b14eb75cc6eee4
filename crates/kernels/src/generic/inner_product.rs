//! Σ a_i·b_i over vectors, reduced once a group of terms.

use super::arithmetic::{Arithmetic, V};
use super::elementwise::{add, copy};
use super::lanes::{Lanes, WIDTH};

/// Vectors handled together: their sums do not wait for each other.
const VECTORS: usize = 4;

type Block = [u64; VECTORS * WIDTH];

/// out = Σ_i x_i·y_i for canonical words; all slices as long as `out`.
#[inline(always)]
pub(crate) fn inner_product<A: Arithmetic>(a: A, out: &mut [u64], x: &[&[u64]], y: &[&[u64]]) {
    let (blocks, rest) = out.as_chunks_mut();
    for (k, block) in blocks.iter_mut().enumerate() {
        inner_product_at(a, block, k * VECTORS * WIDTH, x, y);
    }
    if !rest.is_empty() {
        let mut block = [0; VECTORS * WIDTH];
        inner_product_at(a, &mut block, blocks.len() * VECTORS * WIDTH, x, y);
        copy(rest, &block);
    }
}

/// The block that starts at word `at`.
#[inline(always)]
fn inner_product_at<A: Arithmetic>(a: A, out: &mut Block, at: usize, x: &[&[u64]], y: &[&[u64]]) {
    let l = a.lanes();
    let mut total = [l.splat(0); VECTORS];
    for (xs, ys) in x.chunks(A::MAX_TERMS).zip(y.chunks(A::MAX_TERMS)) {
        let mut sums = [(l.splat(0), l.splat(0)); VECTORS];
        for (x, y) in xs.iter().zip(ys) {
            let (x, y) = (load_at(a, x, at), load_at(a, y, at));
            for ((sum, x), y) in sums.iter_mut().zip(x).zip(y) {
                *sum = a.sum_add(*sum, x, y);
            }
        }
        for (total, sum) in total.iter_mut().zip(sums) {
            *total = add(a, *total, a.sum_reduce(sum));
        }
    }
    for (words, total) in out.as_chunks_mut().0.iter_mut().zip(total) {
        l.store(words, total);
    }
}

/// The block that starts at word `at`, padded with zeros past the end.
#[inline(always)]
fn load_at<A: Arithmetic>(a: A, words: &[u64], at: usize) -> [V<A>; VECTORS] {
    let words = words.get(at..).unwrap_or(&[]);
    match words.first_chunk() {
        Some(block) => load(a, block),
        None => load(a, &padded(words)),
    }
}

#[inline(always)]
fn load<A: Arithmetic>(a: A, block: &Block) -> [V<A>; VECTORS] {
    let l = a.lanes();
    let mut vectors = [l.splat(0); VECTORS];
    for (vector, words) in vectors.iter_mut().zip(block.as_chunks().0) {
        *vector = l.load(words);
    }
    vectors
}

#[cold]
fn padded(words: &[u64]) -> Block {
    let mut block = [0; VECTORS * WIDTH];
    copy(&mut block, words);
    block
}
