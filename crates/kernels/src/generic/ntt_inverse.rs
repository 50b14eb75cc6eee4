//! The inverse negacyclic transform: decimation in frequency, the forward passes in reverse.
//!
//! A sum of two words doubles their bound, a product is fresh. Bounds are therefore known for each
//! register of a pass when it is compiled, and only registers that grew are reduced.
#![expect(clippy::indexing_slicing, reason = "constant indices into arrays of registers")]

use super::arithmetic::{Arithmetic, V};
use super::lanes::{Lanes, WIDTH};
use super::ntt_forward::{load_streams, store_streams};
use crate::schedule::{Pass, TAIL, TAIL_TWIDDLES};
use crate::twiddles::Twiddles;

/// The factors of the last level: c·(x + y) and w·c·(x − y), each with its Shoup quotient.
pub(crate) type LastFactors = [u64; 4];

/// Transforms canonical evaluations into canonical words.
#[inline(always)]
pub(crate) fn inverse<A: Arithmetic>(a: A, twiddles: &Twiddles, last: &LastFactors, data: &mut [u64]) {
    let l = a.lanes();
    let [c, c_quotient, w, w_quotient] = last.map(|word| l.splat(word));
    let last = ((c, c_quotient), (w, w_quotient));
    let schedule = &twiddles.schedule;
    let (outer, inner) = twiddles.passes.split_at(schedule.outer().len());
    let tail = twiddles.tail.chunks_exact(schedule.chunk / TAIL * TAIL_TWIDDLES);
    for (c, (chunk, tail)) in data.chunks_exact_mut(schedule.chunk).zip(tail).enumerate() {
        if schedule.passes().is_empty() {
            tail_blocks::<A, true>(a, chunk, tail, last);
        } else {
            tail_blocks::<A, false>(a, chunk, tail, last);
        }
        for (pass, words) in schedule.inner().iter().zip(inner).rev() {
            let per_chunk = schedule.chunk / pass.block * pass.twiddles();
            let words = &words[c * per_chunk..(c + 1) * per_chunk];
            run_pass(a, *pass, chunk, words, pass.block == twiddles.n, last);
        }
    }
    for (pass, words) in schedule.outer().iter().zip(outer).rev() {
        run_pass(a, *pass, data, words, pass.block == twiddles.n, last);
    }
}

/// The factors of the last level as vectors.
type Last<A> = ((V<A>, V<A>), (V<A>, V<A>));

/// Runs one pass over all blocks in `data`.
#[inline(always)]
fn run_pass<A: Arithmetic>(
    a: A,
    pass: Pass,
    data: &mut [u64],
    twiddles: &[u64],
    is_last: bool,
    last: Last<A>,
) {
    match (pass.levels, is_last) {
        (1, false) => blocks::<A, 1, 2, false>(a, data, pass.block, twiddles, last),
        (2, false) => blocks::<A, 2, 4, false>(a, data, pass.block, twiddles, last),
        (3, false) => blocks::<A, 3, 8, false>(a, data, pass.block, twiddles, last),
        (_, false) => blocks::<A, 4, 16, false>(a, data, pass.block, twiddles, last),
        (1, true) => blocks::<A, 1, 2, true>(a, data, pass.block, twiddles, last),
        (2, true) => blocks::<A, 2, 4, true>(a, data, pass.block, twiddles, last),
        (3, true) => blocks::<A, 3, 8, true>(a, data, pass.block, twiddles, last),
        (_, true) => blocks::<A, 4, 16, true>(a, data, pass.block, twiddles, last),
    }
}

/// The bounds of the registers of a group, in multiples of q, as they enter.
const fn entry_bounds<const SIZE: usize>(bound: u32) -> [u32; SIZE] {
    [bound; SIZE]
}

/// `LEVELS` levels over every block of `len` words.
#[inline(always)]
fn blocks<A: Arithmetic, const LEVELS: usize, const SIZE: usize, const LAST: bool>(
    a: A,
    data: &mut [u64],
    len: usize,
    twiddles: &[u64],
    last: Last<A>,
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
            let mut bounds = const { entry_bounds::<SIZE>(A::INVERSE_EXIT) };
            for step in 0..LEVELS {
                let r = LEVELS - 1 - step;
                if LAST && r == 0 {
                    last_level::<A, SIZE>(a, &mut x, &mut bounds, last);
                } else {
                    level::<A, SIZE>(a, &mut x, &mut bounds, r, &w);
                }
            }
            if !LAST {
                reduce_above::<A, SIZE>(a, &mut x, &mut bounds, A::INVERSE_EXIT);
            }
            store_streams(a, block, stride, at, &x);
        }
    }
}

/// Reduces the registers whose bound exceeds `limit`.
#[inline(always)]
fn reduce_above<A: Arithmetic, const SIZE: usize>(
    a: A,
    x: &mut [V<A>; SIZE],
    bounds: &mut [u32; SIZE],
    limit: u32,
) {
    for k in 0..SIZE {
        if bounds[k] > limit {
            x[k] = a.reduce_lazy(x[k]);
            bounds[k] = 2;
        }
    }
}

/// Level `r` of a group of `SIZE` vectors; its twiddles stand in `w` from 2^r − 1.
#[inline(always)]
fn level<A: Arithmetic, const SIZE: usize>(
    a: A,
    x: &mut [V<A>; SIZE],
    bounds: &mut [u32; SIZE],
    r: usize,
    w: &[(V<A>, V<A>); SIZE],
) {
    reduce_above::<A, SIZE>(a, x, bounds, A::INVERSE_LIMIT);
    let half = SIZE >> (r + 1);
    for g in 0..1 << r {
        for k in 2 * half * g..2 * half * g + half {
            // Both words of a pair have the same history, hence the same bound.
            let bound = bounds[k];
            (x[k], x[k + half]) = a.inverse_butterfly(x[k], x[k + half], w[(1 << r) - 1 + g], bound);
            (bounds[k], bounds[k + half]) = (2 * bound, 2);
        }
    }
}

/// The last level of the transform.
#[inline(always)]
fn last_level<A: Arithmetic, const SIZE: usize>(
    a: A,
    x: &mut [V<A>; SIZE],
    bounds: &mut [u32; SIZE],
    (c, w): Last<A>,
) {
    reduce_above::<A, SIZE>(a, x, bounds, A::INVERSE_LIMIT);
    for k in 0..SIZE / 2 {
        (x[k], x[k + SIZE / 2]) = a.inverse_last_butterfly(x[k], x[k + SIZE / 2], c, w, bounds[k]);
    }
}

/// The first six levels over every block of 64 words.
#[inline(always)]
fn tail_blocks<A: Arithmetic, const LAST: bool>(a: A, data: &mut [u64], twiddles: &[u64], last: Last<A>) {
    let l = a.lanes();
    for (block, words) in data.chunks_exact_mut(TAIL).zip(twiddles.chunks_exact(TAIL_TWIDDLES)) {
        let (scalars, vectors) = words.split_at(2 * WIDTH);
        let mut w = [(l.splat(0), l.splat(0)); WIDTH];
        for (w, pair) in w.iter_mut().zip(vectors.as_chunks::<WIDTH>().0.as_chunks::<2>().0) {
            *w = (l.load(&pair[0]), l.load(&pair[1]));
        }
        let mut x = load_streams::<A, WIDTH>(a, block, WIDTH, 0);
        let mut bounds = const { entry_bounds::<WIDTH>(1) };
        for step in 0..3 {
            level::<A, WIDTH>(a, &mut x, &mut bounds, 2 - step, &w);
        }
        reduce_above::<A, WIDTH>(a, &mut x, &mut bounds, A::INVERSE_EXIT);
        l.transpose(&mut x);
        // The transposition mixes the histories.
        bounds = const { entry_bounds::<WIDTH>(A::INVERSE_EXIT) };
        for (w, pair) in w.iter_mut().zip(scalars.as_chunks::<2>().0) {
            *w = (l.splat(pair[0]), l.splat(pair[1]));
        }
        for step in 0..3 {
            if LAST && step == 2 {
                last_level::<A, WIDTH>(a, &mut x, &mut bounds, last);
            } else {
                level::<A, WIDTH>(a, &mut x, &mut bounds, 2 - step, &w);
            }
        }
        if !LAST {
            reduce_above::<A, WIDTH>(a, &mut x, &mut bounds, A::INVERSE_EXIT);
        }
        store_streams(a, block, WIDTH, 0, &x);
    }
}
