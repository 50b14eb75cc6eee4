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

/// The bounds of the registers of a group, in multiples of q, before and after the reductions that
/// precede its next level, when `done` levels lie behind it.
const fn bounds<const SIZE: usize>(entry: u32, limit: u32, done: usize) -> ([u32; SIZE], [u32; SIZE]) {
    let mut before = [entry; SIZE];
    let mut after = reduced(before, limit);
    let mut level = 0;
    while level < done {
        let mut k = 0;
        while k < SIZE {
            // Both words of a pair have the same history: the sum doubles it, the product is fresh.
            before[k] = if k >> level & 1 == 0 { 2 * after[k] } else { 2 };
            k += 1;
        }
        after = reduced(before, limit);
        level += 1;
    }
    (before, after)
}

const fn reduced<const SIZE: usize>(mut bounds: [u32; SIZE], limit: u32) -> [u32; SIZE] {
    let mut k = 0;
    while k < SIZE {
        if bounds[k] > limit {
            bounds[k] = 2;
        }
        k += 1;
    }
    bounds
}

/// The multiple of q below which the words of a group enter: inputs are canonical.
const fn entry<A: Arithmetic>(canonical: bool) -> u32 {
    if canonical { 1 } else { A::INVERSE_EXIT }
}

/// The twiddles of a group.
type Twiddle<A> = (V<A>, V<A>);

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
            if LEVELS == 4 {
                group::<A, SIZE, 3, 0, false>(a, &mut x, &w);
                group::<A, SIZE, 2, 1, false>(a, &mut x, &w);
                group::<A, SIZE, 1, 2, false>(a, &mut x, &w);
                finish::<A, SIZE, 3, LAST>(a, &mut x, &w, last);
            } else if LEVELS == 3 {
                group::<A, SIZE, 2, 0, false>(a, &mut x, &w);
                group::<A, SIZE, 1, 1, false>(a, &mut x, &w);
                finish::<A, SIZE, 2, LAST>(a, &mut x, &w, last);
            } else if LEVELS == 2 {
                group::<A, SIZE, 1, 0, false>(a, &mut x, &w);
                finish::<A, SIZE, 1, LAST>(a, &mut x, &w, last);
            } else {
                finish::<A, SIZE, 0, LAST>(a, &mut x, &w, last);
            }
            store_streams(a, block, stride, at, &x);
        }
    }
}

/// Reduces the registers that are about to exceed the limit of a level.
#[inline(always)]
fn reduce_grown<A: Arithmetic, const SIZE: usize>(
    a: A,
    x: &mut [V<A>; SIZE],
    before: &[u32; SIZE],
    limit: u32,
) {
    for k in 0..SIZE {
        if before[k] > limit {
            x[k] = a.reduce_lazy(x[k]);
        }
    }
}

/// Level `R` of a group of `SIZE` vectors after `DONE` levels; its twiddles stand in `w` from 2^R − 1.
#[inline(always)]
fn group<A: Arithmetic, const SIZE: usize, const R: usize, const DONE: usize, const CANONICAL: bool>(
    a: A,
    x: &mut [V<A>; SIZE],
    w: &[Twiddle<A>; SIZE],
) {
    let (before, after) = const { &bounds::<SIZE>(entry::<A>(CANONICAL), A::INVERSE_LIMIT, DONE) };
    reduce_grown::<A, SIZE>(a, x, before, A::INVERSE_LIMIT);
    let half = SIZE >> (R + 1);
    for pair in 0..SIZE / 2 {
        let (g, k) = (pair / half, pair / half * half + pair);
        (x[k], x[k + half]) = a.inverse_butterfly(x[k], x[k + half], w[(1 << R) - 1 + g], after[k]);
    }
}

/// The level of a group whose words are farthest apart, and the reductions that end its pass.
#[inline(always)]
fn finish<A: Arithmetic, const SIZE: usize, const DONE: usize, const LAST: bool>(
    a: A,
    x: &mut [V<A>; SIZE],
    w: &[Twiddle<A>; SIZE],
    (c, w_last): Last<A>,
) {
    if LAST {
        let (before, after) = const { &bounds::<SIZE>(A::INVERSE_EXIT, A::INVERSE_LIMIT, DONE) };
        reduce_grown::<A, SIZE>(a, x, before, A::INVERSE_LIMIT);
        let half = SIZE / 2;
        for k in 0..half {
            (x[k], x[k + half]) = a.inverse_last_butterfly(x[k], x[k + half], c, w_last, after[k]);
        }
    } else {
        group::<A, SIZE, 0, DONE, false>(a, x, w);
        let (exit, _) = const { &bounds::<SIZE>(A::INVERSE_EXIT, A::INVERSE_LIMIT, DONE + 1) };
        reduce_grown::<A, SIZE>(a, x, exit, A::INVERSE_EXIT);
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
        group::<A, WIDTH, 2, 0, true>(a, &mut x, &w);
        group::<A, WIDTH, 1, 1, true>(a, &mut x, &w);
        group::<A, WIDTH, 0, 2, true>(a, &mut x, &w);
        let (exit, _) = const { &bounds::<WIDTH>(1, A::INVERSE_LIMIT, 3) };
        reduce_grown::<A, WIDTH>(a, &mut x, exit, A::INVERSE_EXIT);
        // The transposition mixes histories: from here on every register is below the exit bound.
        l.transpose(&mut x);
        for (w, pair) in w.iter_mut().zip(scalars.as_chunks::<2>().0) {
            *w = (l.splat(pair[0]), l.splat(pair[1]));
        }
        group::<A, WIDTH, 2, 0, false>(a, &mut x, &w);
        group::<A, WIDTH, 1, 1, false>(a, &mut x, &w);
        finish::<A, WIDTH, 2, LAST>(a, &mut x, &w, last);
        store_streams(a, block, WIDTH, 0, &x);
    }
}
