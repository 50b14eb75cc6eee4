//! Σ a_i·b_i over vectors, reduced once a group of terms.

use super::arithmetic::{Arithmetic, V};
use super::elementwise::{add, copy};
use super::lanes::{Lanes, WIDTH};

/// Vectors handled together: their sums do not wait for each other.
const VECTORS: usize = 4;

type Block = [u64; VECTORS * WIDTH];

/// out_k = Σ_i x_i·y_ki for canonical words and one or more k, which share the loads of x; all slices
/// equally long.
#[inline(always)]
pub(crate) fn inner_products<A: Arithmetic, const OUTPUTS: usize>(
    a: A,
    out: [&mut [u64]; OUTPUTS],
    x: &[&[u64]],
    y: [&[&[u64]]; OUTPUTS],
) {
    let len = out.first().map_or(0, |out| out.len());
    let mut out = out.map(|out| out.chunks_mut(VECTORS * WIDTH));
    for at in (0..len).step_by(VECTORS * WIDTH) {
        let totals = totals_at(a, at, x, y);
        for (blocks, totals) in out.iter_mut().zip(totals) {
            store(a, blocks.next().unwrap_or_default(), totals);
        }
    }
}

/// The results for the block that starts at word `at`.
#[inline(always)]
fn totals_at<A: Arithmetic, const OUTPUTS: usize>(
    a: A,
    at: usize,
    x: &[&[u64]],
    y: [&[&[u64]]; OUTPUTS],
) -> [[V<A>; VECTORS]; OUTPUTS] {
    let l = a.lanes();
    let mut totals = [[l.splat(0); VECTORS]; OUTPUTS];
    for (group, xs) in x.chunks(A::MAX_TERMS).enumerate() {
        let mut sums = [[a.sum_start(); VECTORS]; OUTPUTS];
        for (i, x) in xs.iter().enumerate() {
            let x = load_at(a, x, at);
            for (sums, y) in sums.iter_mut().zip(y) {
                let y = load_at(a, y.get(group * A::MAX_TERMS + i).copied().unwrap_or(&[]), at);
                for ((sum, x), y) in sums.iter_mut().zip(x).zip(y) {
                    *sum = a.sum_add(*sum, x, y);
                }
            }
        }
        for (totals, sums) in totals.iter_mut().zip(sums) {
            for (total, sum) in totals.iter_mut().zip(sums) {
                *total = add(a, *total, a.sum_reduce(sum));
            }
        }
    }
    totals
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

/// Stores a block, or as much of it as `out` holds.
#[inline(always)]
fn store<A: Arithmetic>(a: A, out: &mut [u64], vectors: [V<A>; VECTORS]) {
    let l = a.lanes();
    if let Some(block) = out.first_chunk_mut::<{ VECTORS * WIDTH }>() {
        for (words, vector) in block.as_chunks_mut().0.iter_mut().zip(vectors) {
            l.store(words, vector);
        }
    } else {
        for (words, vector) in out.chunks_mut(WIDTH).zip(vectors) {
            let mut block = [0; WIDTH];
            l.store(&mut block, vector);
            copy(words, &block);
        }
    }
}

#[cold]
fn padded(words: &[u64]) -> Block {
    let mut block = [0; VECTORS * WIDTH];
    copy(&mut block, words);
    block
}
