//! Loops shared among the threads of rayon's current pool. Every split depends on data alone: results do not
//! depend on the number of threads.

use rayon::prelude::*;
use sunzi_ring::RingError;

use crate::combination::BLOCK;

/// Number of words of results from which on sharing among threads pays.
const WORDS: usize = 1 << 14;

fn is_shared(words: usize) -> bool {
    words >= WORDS && rayon::current_num_threads() > 1
}

/// Runs `f(state, block, its part of every row)` over blocks of [`BLOCK`] coefficients, for rows with the given number of words for each coefficient.
/// Every thread has a state.
pub(crate) fn for_each_block<'a, S: Default>(
    rows: impl Iterator<Item = (&'a mut [u64], usize)>,
    f: impl Fn(&mut S, usize, &mut [&mut [u64]]) -> Result<(), RingError> + Sync,
) -> Result<(), RingError> {
    let (mut total, mut count) = (0, 0);
    let mut rows: Vec<_> = rows
        .map(|(row, words)| {
            (total, count) = (total + row.len(), row.len() / (BLOCK * words.max(1)));
            row.chunks_exact_mut(BLOCK * words.max(1))
        })
        .collect();
    let mut block = |_| rows.iter_mut().filter_map(Iterator::next).collect::<Vec<_>>();
    if !is_shared(total) {
        let mut state = S::default();
        return (0..count).try_for_each(|i| f(&mut state, i, &mut block(i)));
    }
    let blocks: Vec<Vec<&mut [u64]>> = (0..count).map(block).collect();
    let run = |state: &mut S, (i, mut block): (usize, Vec<&mut [u64]>)| f(state, i, &mut block);
    blocks.into_par_iter().enumerate().try_for_each_init(S::default, run)
}

/// Runs `f(i, row i)` over rows of n words, shared among threads.
pub(crate) fn for_each_row(
    rows: &mut [u64],
    n: usize,
    f: impl Fn(usize, &mut [u64]) -> Result<(), RingError> + Sync,
) -> Result<(), RingError> {
    if is_shared(rows.len()) {
        return rows.par_chunks_exact_mut(n).enumerate().try_for_each(|(i, row)| f(i, row));
    }
    rows.chunks_exact_mut(n).enumerate().try_for_each(|(i, row)| f(i, row))
}

/// Runs `f(i, row i of both)` over pairs of rows of n words, shared among threads.
pub(crate) fn for_each_row_pair(
    [first, second]: [&mut [u64]; 2],
    n: usize,
    f: impl Fn(usize, [&mut [u64]; 2]) -> Result<(), RingError> + Sync,
) -> Result<(), RingError> {
    if is_shared(first.len()) {
        let pairs = first.par_chunks_exact_mut(n).zip(second.par_chunks_exact_mut(n));
        return pairs.enumerate().try_for_each(|(i, (a, b))| f(i, [a, b]));
    }
    let pairs = first.chunks_exact_mut(n).zip(second.chunks_exact_mut(n));
    pairs.enumerate().try_for_each(|(i, (a, b))| f(i, [a, b]))
}
