//! The inverse negacyclic transform: decimation in frequency, the forward passes in reverse.
//!
//! A sum of two words doubles their bound, a product is fresh. Bounds are therefore known for each
//! register of a pass when it is compiled, and only registers that grew are reduced.
#![expect(clippy::indexing_slicing, reason = "constant indices into arrays of registers")]

use super::arithmetic::{Butterflies, Factor, Register};
use super::lanes::Registers;
use super::lanes::WIDTH;
use super::ntt_forward::{Turned, load_streams, store_streams};
use super::source::{Held, Natural, Source, TailWords, Transposed, ask_twiddles};
use crate::schedule::{Pass, TAIL, TAIL_TWIDDLES};
use crate::table::LastFactors;

/// Factors of the last level of an inverse transform as vectors.
type Last<A> = (Factor<A>, Factor<A>);

#[inline(always)]
fn last_factors<A: Butterflies>(a: A, words: &LastFactors) -> Last<A> {
    let r = a.registers();
    let [c, c_quotient, w, w_quotient] = *words;
    ((r.splat(c), r.splat(c_quotient)), (r.splat(w), r.splat(w_quotient)))
}

/// Runs one inverse pass over all blocks in `data`, with the last level of the transform where its factors
/// are given. No other pass has a single level.
#[inline(always)]
pub(crate) fn inverse_pass<A: Butterflies>(
    a: A,
    pass: Pass,
    data: &mut [u64],
    twiddles: &[u64],
    last: Option<&LastFactors>,
) {
    let factors = last_factors(a, last.unwrap_or(&[0; 4]));
    match (pass.levels, last) {
        (1, _) => blocks::<A, 1, 2, true>(a, data, pass.block, twiddles, factors),
        (2, None) => blocks::<A, 2, 4, false>(a, data, pass.block, twiddles, factors),
        (2, Some(_)) => blocks::<A, 2, 4, true>(a, data, pass.block, twiddles, factors),
        (_, None) => blocks::<A, 3, 8, false>(a, data, pass.block, twiddles, factors),
        (_, Some(_)) => blocks::<A, 3, 8, true>(a, data, pass.block, twiddles, factors),
    }
}

/// Computes the bounds of the registers of a group, in multiples of q, before and after the reductions that
/// precede its next level, when `done` levels lie behind it.
const fn bounds<A: Butterflies, const SIZE: usize>(site: u8, entry: u32, done: usize) -> Bounds<SIZE> {
    let mut before = [entry; SIZE];
    let mut after = relieved_all::<A, SIZE>(site, before);
    let mut level = 0;
    while level < done {
        let mut k = 0;
        while k < SIZE {
            // Both words of a pair have the same history: the sum doubles it, the product is fresh.
            before[k] = if k >> level & 1 == 0 { 2 * after[k] } else { A::FRESH };
            k += 1;
        }
        after = relieved_all::<A, SIZE>(site, before);
        level += 1;
    }
    (before, after)
}

/// Position of a group of levels in the inverse transform. In the tail all instruction slots are scarce,
/// since its shuffles take so many; in passes slots for multiplications and stores are, which compete on some
/// processors: passes subtract instead.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Site {
    Pass,
    Tail,
}

const PASS: u8 = Site::Pass as u8;
const TAIL_SITE: u8 = Site::Tail as u8;

/// Bounds of the registers of a group before and after the reductions of a level.
type Bounds<const SIZE: usize> = ([u32; SIZE], [u32; SIZE]);

/// Whether a reduction of a register subtracts half the bound, not a whole quotient by two multiplications.
const fn halves<A: Butterflies>(site: u8, bound: u32, limit: u32) -> bool {
    A::HALVES && site == Site::Pass as u8 && bound / 2 <= limit
}

/// Computes the bound of a register after the reduction that the limit of a level requires.
const fn relieved<A: Butterflies>(site: u8, bound: u32) -> u32 {
    let limit = A::INVERSE_LIMIT;
    if bound <= limit {
        bound
    } else if halves::<A>(site, bound, limit) {
        bound / 2
    } else {
        A::FRESH
    }
}

const fn relieved_all<A: Butterflies, const SIZE: usize>(site: u8, mut bounds: [u32; SIZE]) -> [u32; SIZE] {
    let mut k = 0;
    while k < SIZE {
        bounds[k] = relieved::<A>(site, bounds[k]);
        k += 1;
    }
    bounds
}

/// Returns the multiple of q below which the words of a group enter: 1 for canonical inputs.
const fn entry<A: Butterflies>(canonical: bool) -> u32 {
    if canonical { 1 } else { A::INVERSE_EXIT }
}

/// Runs `LEVELS` inverse levels over every block of `len` words.
#[inline(always)]
fn blocks<A: Butterflies, const LEVELS: usize, const SIZE: usize, const LAST: bool>(
    a: A,
    data: &mut [u64],
    len: usize,
    twiddles: &[u64],
    last: Last<A>,
) {
    let stride = len / SIZE;
    for (block, words) in data.chunks_exact_mut(len).zip(twiddles.chunks_exact(2 * (SIZE - 1))) {
        let w = Held::<A, SIZE>::new(a, words);
        for at in (0..stride).step_by(A::Registers::WORDS) {
            let mut x = load_streams::<A, SIZE>(a, block, stride, at);
            if LEVELS == 3 {
                group::<A, SIZE, 2, 0, PASS, false>(a, &mut x, &w);
                group::<A, SIZE, 1, 1, PASS, false>(a, &mut x, &w);
                finish::<A, SIZE, 2, PASS, LAST>(a, &mut x, &w, last);
            } else if LEVELS == 2 {
                group::<A, SIZE, 1, 0, PASS, false>(a, &mut x, &w);
                finish::<A, SIZE, 1, PASS, LAST>(a, &mut x, &w, last);
            } else {
                finish::<A, SIZE, 0, PASS, LAST>(a, &mut x, &w, last);
            }
            store_streams(a, block, stride, at, &x);
        }
    }
}

/// Reduces the registers that would exceed the limit of a level.
#[inline(always)]
fn relieve<A: Butterflies, const SIZE: usize, const SITE: u8>(
    a: A,
    x: &mut [Register<A>; SIZE],
    before: &[u32; SIZE],
    limit: u32,
) {
    for k in 0..SIZE {
        if before[k] > limit {
            let halve = halves::<A>(SITE, before[k], limit);
            x[k] = if halve { a.halve(x[k], before[k]) } else { a.reduce_lazy(x[k]) };
        }
    }
}

/// Runs inverse level `R` of a group of `SIZE` vectors after `DONE` levels; its twiddles stand in `w` from
/// 2^R − 1.
#[inline(always)]
fn group<
    A: Butterflies,
    const SIZE: usize,
    const R: usize,
    const DONE: usize,
    const SITE: u8,
    const CANONICAL: bool,
>(
    a: A,
    x: &mut [Register<A>; SIZE],
    w: &impl Source<A>,
) {
    let (before, after) = const { &bounds::<A, SIZE>(SITE, entry::<A>(CANONICAL), DONE) };
    relieve::<A, SIZE, SITE>(a, x, before, A::INVERSE_LIMIT);
    let half = SIZE >> (R + 1);
    for pair in 0..SIZE / 2 {
        let (g, k) = (pair / half, pair / half * half + pair);
        (x[k], x[k + half]) =
            a.inverse_butterfly(x[k], x[k + half], w.twiddle(a, (1 << R) - 1 + g), after[k]);
    }
}

/// Runs the level of a group whose words are farthest apart, and the reductions that end its inverse pass.
#[inline(always)]
fn finish<A: Butterflies, const SIZE: usize, const DONE: usize, const SITE: u8, const LAST: bool>(
    a: A,
    x: &mut [Register<A>; SIZE],
    w: &impl Source<A>,
    (c, w_last): Last<A>,
) {
    if LAST {
        let (before, after) = const { &bounds::<A, SIZE>(SITE, A::INVERSE_EXIT, DONE) };
        relieve::<A, SIZE, SITE>(a, x, before, A::INVERSE_LIMIT);
        let half = SIZE / 2;
        for k in 0..half {
            (x[k], x[k + half]) = a.inverse_last_butterfly(x[k], x[k + half], c, w_last, after[k]);
        }
    } else {
        group::<A, SIZE, 0, DONE, SITE, false>(a, x, w);
        let (exit, _) = const { &bounds::<A, SIZE>(SITE, A::INVERSE_EXIT, DONE + 1) };
        relieve::<A, SIZE, SITE>(a, x, exit, A::INVERSE_EXIT);
    }
}

/// Runs the first six levels of the inverse transform over every block of 64 words; a single block is a whole
/// transform, which ends with the last factors.
#[inline(always)]
pub(crate) fn inverse_tail<A: Butterflies>(a: A, data: &mut [u64], twiddles: &[u64], last: &LastFactors) {
    let blocks = data.as_chunks_mut::<TAIL>().0;
    let words = twiddles.as_chunks::<TAIL_TWIDDLES>().0;
    let split = A::Registers::WORDS < WIDTH;
    let last = last_factors(a, last);
    match (blocks, words) {
        (blocks @ [_], words) if split => split_tail_blocks::<A, true>(a, blocks, words, last),
        (blocks, words) if split => split_tail_blocks::<A, false>(a, blocks, words, last),
        ([block], [words, ..]) => tail_block(a, block, words, last),
        (blocks, words) => tail_pairs(a, blocks.as_chunks_mut().0, words.as_chunks().0, last),
    }
}

/// Transforms a whole polynomial of 64 words, which is one tail block, back to coefficients.
#[inline(always)]
fn tail_block<A: Butterflies>(a: A, block: &mut [u64; TAIL], words: &TailWords, last: Last<A>) {
    let mut x = load_streams::<A, WIDTH>(a, block, WIDTH, 0);
    tail_before::<A, 2, 0>(a, &mut x, words, 0);
    tail_before::<A, 1, 1>(a, &mut x, words, 0);
    tail_before::<A, 0, 2>(a, &mut x, words, 0);
    tail_transpose(a, &mut x);
    tail_after::<A, 2, 0>(a, &mut x, words);
    tail_after::<A, 1, 1>(a, &mut x, words);
    finish::<A, WIDTH, 2, TAIL_SITE, true>(a, &mut x, &Natural(words), last);
    store_streams(a, block, WIDTH, 0, &x);
}

/// Runs the first six inverse levels over two blocks half a step apart, as in the forward tail.
#[inline(always)]
fn tail_pairs<A: Butterflies>(a: A, pairs: &mut [[[u64; TAIL]; 2]], words: &[[TailWords; 2]], last: Last<A>) {
    for ([x_block, y_block], [x_words, y_words]) in pairs.iter_mut().zip(words) {
        let mut x = load_streams::<A, WIDTH>(a, x_block, WIDTH, 0);
        tail_before::<A, 2, 0>(a, &mut x, x_words, 0);
        tail_before::<A, 1, 1>(a, &mut x, x_words, 0);
        ask_twiddles(a, x_words, 0);
        let mut y = load_streams::<A, WIDTH>(a, y_block, WIDTH, 0);
        tail_before::<A, 2, 0>(a, &mut y, y_words, 0);
        tail_before::<A, 0, 2>(a, &mut x, x_words, 0);
        ask_twiddles(a, x_words, 1);
        tail_before::<A, 1, 1>(a, &mut y, y_words, 0);
        tail_transpose(a, &mut x);
        tail_before::<A, 0, 2>(a, &mut y, y_words, 0);
        tail_after::<A, 2, 0>(a, &mut x, x_words);
        ask_twiddles(a, y_words, 0);
        tail_transpose(a, &mut y);
        tail_after::<A, 1, 1>(a, &mut x, x_words);
        ask_twiddles(a, y_words, 1);
        tail_after::<A, 2, 0>(a, &mut y, y_words);
        finish::<A, WIDTH, 2, TAIL_SITE, false>(a, &mut x, &Natural(x_words), last);
        store_streams(a, x_block, WIDTH, 0, &x);
        tail_after::<A, 1, 1>(a, &mut y, y_words);
        finish::<A, WIDTH, 2, TAIL_SITE, false>(a, &mut y, &Natural(y_words), last);
        store_streams(a, y_block, WIDTH, 0, &y);
    }
}

/// Runs the first six inverse levels where a register holds a part of a vector, as in the forward tail.
#[inline(always)]
fn split_tail_blocks<A: Butterflies, const LAST: bool>(
    a: A,
    data: &mut [[u64; TAIL]],
    twiddles: &[TailWords],
    last: Last<A>,
) {
    let mut turned = [Turned::new(), Turned::new()];
    for (blocks, words) in data.chunks_mut(2).zip(twiddles.chunks(2)) {
        for ((block, turned), words) in blocks.iter().zip(&mut turned).zip(words) {
            for at in (0..WIDTH).step_by(A::Registers::WORDS) {
                let mut x = load_streams::<A, WIDTH>(a, block, WIDTH, at);
                tail_before::<A, 2, 0>(a, &mut x, words, at);
                tail_before::<A, 1, 1>(a, &mut x, words, at);
                tail_before::<A, 0, 2>(a, &mut x, words, at);
                tail_exit(a, &mut x);
                turned.store(a, at, &mut x);
            }
        }
        for ((block, turned), words) in blocks.iter_mut().zip(&turned).zip(words) {
            for at in (0..WIDTH).step_by(A::Registers::WORDS) {
                let mut x = load_streams::<A, WIDTH>(a, &turned.0, WIDTH, at);
                tail_after::<A, 2, 0>(a, &mut x, words);
                tail_after::<A, 1, 1>(a, &mut x, words);
                finish::<A, WIDTH, 2, TAIL_SITE, LAST>(a, &mut x, &Natural(words), last);
                store_streams(a, block, WIDTH, at, &x);
            }
        }
    }
}

/// Runs level `R` of the inverse tail on the transposed side, after `DONE` levels.
#[inline(always)]
fn tail_before<A: Butterflies, const R: usize, const DONE: usize>(
    a: A,
    x: &mut [Register<A>; WIDTH],
    words: &TailWords,
    at: usize,
) {
    if DONE == 0 {
        for x in x.iter_mut() {
            *x = a.inverse_input(*x);
        }
    }
    group::<A, WIDTH, R, DONE, TAIL_SITE, true>(a, x, &Transposed(words, at));
}

/// Reduces every register below the exit bound before the transposition, which mixes registers with different bounds.
#[inline(always)]
fn tail_exit<A: Butterflies>(a: A, x: &mut [Register<A>; WIDTH]) {
    let (exit, _) = const { &bounds::<A, WIDTH>(TAIL_SITE, 1, 3) };
    relieve::<A, WIDTH, TAIL_SITE>(a, x, exit, A::INVERSE_EXIT);
}

#[inline(always)]
fn tail_transpose<A: Butterflies>(a: A, x: &mut [Register<A>; WIDTH]) {
    tail_exit(a, x);
    a.registers().transpose(x);
}

/// Runs level `R` of the inverse tail on the natural side, `DONE` levels after the transposition.
#[inline(always)]
fn tail_after<A: Butterflies, const R: usize, const DONE: usize>(
    a: A,
    x: &mut [Register<A>; WIDTH],
    words: &TailWords,
) {
    group::<A, WIDTH, R, DONE, TAIL_SITE, false>(a, x, &Natural(words));
}
