//! The forward negacyclic transform: decimation in time, in place, natural order in, evaluation order out.
//!
//! A transform is a list of passes of one to four levels, then a tail of six levels over blocks of 64
//! words with one transposition between its third and fourth. Passes over blocks that outgrow the
//! first-level cache run one after the other; the rest run block by block.
#![expect(unsafe_code, reason = "strided vector access whose bounds hold for a whole pass")]
#![expect(clippy::indexing_slicing, reason = "constant indices into arrays of registers")]

use super::arithmetic::{Arithmetic, V};
use super::lanes::{Lanes, WIDTH};
use crate::schedule::{Entry, Pass, TAIL, TAIL_TWIDDLES};
use crate::twiddles::Twiddles;

/// Transforms words below 2q into canonical evaluations.
#[inline(always)]
pub(crate) fn forward<A: Arithmetic>(a: A, twiddles: &Twiddles, data: &mut [u64]) {
    let schedule = &twiddles.schedule;
    for (pass, words) in schedule.outer().iter().zip(&twiddles.passes) {
        run_pass(a, *pass, data, words);
    }
    let inner = twiddles.passes.get(schedule.outer().len()..).unwrap_or(&[]);
    let tail = twiddles.tail.chunks_exact(schedule.chunk / TAIL * TAIL_TWIDDLES);
    for (c, (chunk, tail)) in data.chunks_exact_mut(schedule.chunk).zip(tail).enumerate() {
        for (pass, words) in schedule.inner().iter().zip(inner) {
            let per_chunk = schedule.chunk / pass.block * pass.twiddles();
            run_pass(a, *pass, chunk, &words[c * per_chunk..(c + 1) * per_chunk]);
        }
        if schedule.inner().is_empty() && schedule.outer().is_empty() {
            tail_blocks::<A, true>(a, chunk, tail);
        } else {
            tail_blocks::<A, false>(a, chunk, tail);
        }
    }
}

/// Runs one pass over all blocks in `data`.
#[inline(always)]
fn run_pass<A: Arithmetic>(a: A, pass: Pass, data: &mut [u64], twiddles: &[u64]) {
    const ENTER: u8 = Entry::Enter as u8;
    const RENORMALISE: u8 = Entry::Renormalise as u8;
    match (pass.levels, pass.entry) {
        (1, Entry::Enter) => blocks::<A, 1, 2, ENTER>(a, data, pass.block, twiddles),
        (2, Entry::Enter) => blocks::<A, 2, 4, ENTER>(a, data, pass.block, twiddles),
        (3, Entry::Enter) => blocks::<A, 3, 8, ENTER>(a, data, pass.block, twiddles),
        (_, Entry::Enter) => blocks::<A, 4, 16, ENTER>(a, data, pass.block, twiddles),
        (1, Entry::Renormalise) => blocks::<A, 1, 2, RENORMALISE>(a, data, pass.block, twiddles),
        (2, Entry::Renormalise) => blocks::<A, 2, 4, RENORMALISE>(a, data, pass.block, twiddles),
        (3, Entry::Renormalise) => blocks::<A, 3, 8, RENORMALISE>(a, data, pass.block, twiddles),
        (_, Entry::Renormalise) => blocks::<A, 4, 16, RENORMALISE>(a, data, pass.block, twiddles),
    }
}

/// One vector of each of `SIZE` streams, `stride` words apart.
#[inline(always)]
pub(super) fn load_streams<A: Arithmetic, const SIZE: usize>(
    a: A,
    block: &[u64],
    stride: usize,
    at: usize,
) -> [V<A>; SIZE] {
    let l = a.lanes();
    debug_assert!(SIZE * stride == block.len() && at + WIDTH <= stride);
    let mut x = [l.splat(0); SIZE];
    for (k, v) in x.iter_mut().enumerate() {
        // SAFETY: `at + WIDTH ≤ stride` and `SIZE·stride = block.len()` by the loops of `blocks` and
        // `tail_blocks`, so the vector lies inside the block.
        *v = l.load(unsafe { &*block.as_ptr().add(k * stride + at).cast() });
    }
    x
}

/// The inverse of [`load_streams`].
#[inline(always)]
pub(super) fn store_streams<A: Arithmetic, const SIZE: usize>(
    a: A,
    block: &mut [u64],
    stride: usize,
    at: usize,
    x: &[V<A>; SIZE],
) {
    debug_assert!(SIZE * stride == block.len() && at + WIDTH <= stride);
    for (k, v) in x.iter().enumerate() {
        // SAFETY: as in `load_streams`, and the borrow is exclusive.
        a.lanes().store(unsafe { &mut *block.as_mut_ptr().add(k * stride + at).cast() }, *v);
    }
}

/// `LEVELS` levels over every block of `len` words.
#[inline(always)]
fn blocks<A: Arithmetic, const LEVELS: usize, const SIZE: usize, const ENTRY: u8>(
    a: A,
    data: &mut [u64],
    len: usize,
    twiddles: &[u64],
) {
    let l = a.lanes();
    let stride = len / SIZE;
    for (block, words) in data.chunks_exact_mut(len).zip(twiddles.chunks_exact(2 * (SIZE - 1))) {
        let mut w = [(l.splat(0), l.splat(0)); SIZE];
        for (w, pair) in w.iter_mut().zip(words.as_chunks::<2>().0) {
            *w = (l.splat(pair[0]), l.splat(pair[1]));
        }
        for at in (0..stride).step_by(WIDTH) {
            let mut x = load_streams::<A, SIZE>(a, block, stride, at);
            for r in 0..LEVELS {
                if r.is_multiple_of(A::PERIOD) {
                    prepare::<A, SIZE>(a, &mut x, r, r == 0 && ENTRY == Entry::Enter as u8);
                }
                level::<A, SIZE>(a, &mut x, r, &w);
            }
            store_streams(a, block, stride, at, &x);
        }
    }
}

/// Makes the upper halves of the pairs of level `r` ready for up to `PERIOD` levels.
#[inline(always)]
fn prepare<A: Arithmetic, const SIZE: usize>(a: A, x: &mut [V<A>; SIZE], r: usize, enter: bool) {
    let half = SIZE >> (r + 1);
    for (k, x) in x.iter_mut().enumerate() {
        if k & half == 0 {
            *x = if enter { a.enter(*x) } else { a.renormalise(*x) };
        }
    }
}

/// Level `r` of a group of `SIZE` vectors; its twiddles stand in `w` from 2^r − 1.
#[inline(always)]
fn level<A: Arithmetic, const SIZE: usize>(a: A, x: &mut [V<A>; SIZE], r: usize, w: &[(V<A>, V<A>); SIZE]) {
    let half = SIZE >> (r + 1);
    for g in 0..1 << r {
        for k in 2 * half * g..2 * half * g + half {
            (x[k], x[k + half]) = a.butterfly(x[k], x[k + half], w[(1 << r) - 1 + g]);
        }
    }
}

/// Whether level `r` of the tail starts with a renormalisation.
const fn tail_renormalises(period: usize, r: usize) -> bool {
    // With period 4 the three levels of the pass before it and the first of the tail share one.
    if period == 4 { r == 1 } else { r.is_multiple_of(period) }
}

/// The last six levels over every block of 64 words.
#[inline(always)]
fn tail_blocks<A: Arithmetic, const ENTER: bool>(a: A, data: &mut [u64], twiddles: &[u64]) {
    let l = a.lanes();
    for (block, words) in data.chunks_exact_mut(TAIL).zip(twiddles.chunks_exact(TAIL_TWIDDLES)) {
        let mut x = load_streams::<A, WIDTH>(a, block, WIDTH, 0);
        let (scalars, vectors) = words.split_at(2 * WIDTH);
        let mut w = [(l.splat(0), l.splat(0)); WIDTH];
        for (w, pair) in w.iter_mut().zip(scalars.as_chunks::<2>().0) {
            *w = (l.splat(pair[0]), l.splat(pair[1]));
        }
        for r in 0..3 {
            if (r == 0 && ENTER) || tail_renormalises(A::PERIOD, r) {
                prepare::<A, WIDTH>(a, &mut x, r, r == 0 && ENTER);
            }
            level::<A, WIDTH>(a, &mut x, r, &w);
        }
        l.transpose(&mut x);
        for (w, pair) in w.iter_mut().zip(vectors.as_chunks::<WIDTH>().0.as_chunks::<2>().0) {
            *w = (l.load(&pair[0]), l.load(&pair[1]));
        }
        for r in 0..2 {
            if tail_renormalises(A::PERIOD, r + 3) {
                prepare::<A, WIDTH>(a, &mut x, r, false);
            }
            level::<A, WIDTH>(a, &mut x, r, &w);
        }
        for g in 0..4 {
            (x[2 * g], x[2 * g + 1]) = a.last_butterfly(x[2 * g], x[2 * g + 1], w[3 + g]);
        }
        store_streams(a, block, WIDTH, 0, &x);
    }
}
