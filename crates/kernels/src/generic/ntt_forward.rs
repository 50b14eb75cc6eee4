//! The forward negacyclic transform: decimation in time, in place, natural order in, evaluation order out.
//!
//! A pass runs one to three levels; the tail runs six over blocks of 64 words with one transposition between its third and fourth.
#![expect(unsafe_code, reason = "strided vector access whose bounds hold for a whole pass")]
#![expect(clippy::indexing_slicing, reason = "constant indices into arrays of registers")]

use super::arithmetic::{Butterflies, Register};
use super::lanes::Registers;
use super::lanes::WIDTH;
use super::source::{Held, Natural, Source, TailWords, Transposed, ask_twiddles};
use crate::schedule::{Entry, MAX_LEVELS, Pass, TAIL, TAIL_TWIDDLES};
use crate::table::Elsewhere;

/// Number of bytes in a cache line.
const LINE: usize = 64;

/// Entry of a transform's first pass whose inputs stand in the data.
const ENTER: u8 = Entry::Enter as u8;
/// Entry of a transform's first pass whose inputs stand elsewhere.
const FROM: u8 = Entry::Renormalise as u8 + 1;

/// Prefetches the `step`-th of `steps` equal shares of the bytes of `later`.
#[inline(always)]
fn ask<A: Butterflies>(a: A, later: [&[u8]; 2], step: usize, steps: usize) {
    for bytes in later {
        let each = bytes.len().div_ceil(steps).next_multiple_of(LINE);
        let end = bytes.len().min((step + 1) * each);
        for at in (step * each..end).step_by(LINE) {
            a.registers().prefetch(bytes.as_ptr().wrapping_add(at).cast());
        }
    }
}

/// Runs one pass over all blocks in `data`. The first pass of a transform has inputs, and no other pass has a
/// single level.
#[inline(always)]
pub(crate) fn forward_pass<A: Butterflies>(
    a: A,
    pass: Pass,
    input: Option<Elsewhere<'_>>,
    data: &mut [u64],
    twiddles: &[u64],
) {
    const RENORMALISE: u8 = Entry::Renormalise as u8;
    let none = Elsewhere { words: &[], offset: 0 };
    match (pass.levels, pass.entry, input) {
        // Shorter transforms have no outer pass.
        (2, _, Some(input)) => blocks::<A, 2, 4, FROM>(a, data, input, pass.block, twiddles),
        (_, _, Some(input)) => blocks::<A, 3, 8, FROM>(a, data, input, pass.block, twiddles),
        (1, _, None) => blocks::<A, 1, 2, ENTER>(a, data, none, pass.block, twiddles),
        (2, Entry::Enter, None) => blocks::<A, 2, 4, ENTER>(a, data, none, pass.block, twiddles),
        (_, Entry::Enter, None) => blocks::<A, 3, 8, ENTER>(a, data, none, pass.block, twiddles),
        (2, Entry::Renormalise, None) => blocks::<A, 2, 4, RENORMALISE>(a, data, none, pass.block, twiddles),
        (_, Entry::Renormalise, None) => blocks::<A, 3, 8, RENORMALISE>(a, data, none, pass.block, twiddles),
    }
}

/// Loads one register of each of `SIZE` streams, `stride` words apart.
#[inline(always)]
pub(super) fn load_streams<A: Butterflies, const SIZE: usize>(
    a: A,
    block: &[u64],
    stride: usize,
    at: usize,
) -> [Register<A>; SIZE] {
    let r = a.registers();
    let len = A::Registers::WORDS;
    debug_assert!(SIZE * stride == block.len() && at + len <= stride);
    let mut x = [r.splat(0); SIZE];
    for (k, x) in x.iter_mut().enumerate() {
        // SAFETY: `at + len ≤ stride` and `SIZE·stride = block.len()` by the loops of `blocks` and
        // of the tails, so the words lie inside the block.
        *x = r.load(unsafe { std::slice::from_raw_parts(block.as_ptr().add(k * stride + at), len) });
    }
    x
}

/// Stores the registers of [`load_streams`] to their streams.
#[inline(always)]
pub(super) fn store_streams<A: Butterflies, const SIZE: usize>(
    a: A,
    block: &mut [u64],
    stride: usize,
    at: usize,
    x: &[Register<A>; SIZE],
) {
    let len = A::Registers::WORDS;
    debug_assert!(SIZE * stride == block.len() && at + len <= stride);
    for (k, x) in x.iter().enumerate() {
        // SAFETY: as in `load_streams`, and the borrow is exclusive.
        let words = unsafe { std::slice::from_raw_parts_mut(block.as_mut_ptr().add(k * stride + at), len) };
        a.registers().store(words, *x);
    }
}

/// Runs `LEVELS` forward levels over every block of `len` words, or over words read [`FROM`] elsewhere.
#[inline(always)]
fn blocks<A: Butterflies, const LEVELS: usize, const SIZE: usize, const ENTRY: u8>(
    a: A,
    data: &mut [u64],
    input: Elsewhere<'_>,
    len: usize,
    twiddles: &[u64],
) {
    let (r, stride) = (a.registers(), len / SIZE);
    let mut inputs = input.words.chunks_exact(len);
    for (block, words) in data.chunks_exact_mut(len).zip(twiddles.chunks_exact(2 * (SIZE - 1))) {
        let w = Held::<A, SIZE>::new(a, words);
        let input_block = if ENTRY == FROM { inputs.next() } else { None };
        if ENTRY == FROM && input_block.is_none() {
            return;
        }
        for at in (0..stride).step_by(A::Registers::WORDS) {
            let mut x = load_streams::<A, SIZE>(a, input_block.unwrap_or(block), stride, at);
            if ENTRY == FROM {
                for x in &mut x {
                    *x = r.add_words(*x, r.splat(input.offset));
                }
            }
            if ENTRY != Entry::Renormalise as u8 {
                take_in(a, &mut x);
            }
            pass_level::<A, SIZE, 0, ENTRY>(a, &mut x, &w);
            if LEVELS > 1 {
                pass_level::<A, SIZE, 1, ENTRY>(a, &mut x, &w);
            }
            if LEVELS > 2 {
                pass_level::<A, SIZE, 2, ENTRY>(a, &mut x, &w);
            }
            store_streams(a, block, stride, at, &x);
        }
    }
}

/// Converts the inputs of a first pass to words.
#[inline(always)]
fn take_in<A: Butterflies, const SIZE: usize>(a: A, x: &mut [Register<A>; SIZE]) {
    for x in x {
        *x = a.forward_input(*x);
    }
}

/// Prepares the upper halves of the pairs of level `r` for up to `PERIOD` levels of a transform.
#[inline(always)]
fn prepare<A: Butterflies, const SIZE: usize>(a: A, x: &mut [Register<A>; SIZE], r: usize, enter: bool) {
    let half = SIZE >> (r + 1);
    for (k, x) in x.iter_mut().enumerate() {
        if k & half == 0 {
            *x = if enter { a.enter(*x) } else { a.renormalise(*x) };
        }
    }
}

/// Largest number of levels of a transform before its tail.
const MAX_PASS_LEVELS: usize = MAX_LEVELS - TAIL.trailing_zeros() as usize;

/// Whether level `r` of a pass starts with a renormalisation, unless inputs enter there.
const fn renormalises(period: usize, r: usize) -> bool {
    period < MAX_PASS_LEVELS && r.is_multiple_of(period)
}

/// Runs level `R` of a pass of the forward transform.
#[inline(always)]
fn pass_level<A: Butterflies, const SIZE: usize, const R: usize, const ENTRY: u8>(
    a: A,
    x: &mut [Register<A>; SIZE],
    w: &Held<A, SIZE>,
) {
    let enter = R == 0 && ENTRY != Entry::Renormalise as u8;
    if enter || renormalises(A::PERIOD, R) {
        prepare::<A, SIZE>(a, x, R, enter);
    }
    level::<A, SIZE, R>(a, x, w);
}

/// Runs level `R` of a group of `SIZE` vectors of the forward transform.
#[inline(always)]
fn level<A: Butterflies, const SIZE: usize, const R: usize>(
    a: A,
    x: &mut [Register<A>; SIZE],
    w: &impl Source<A>,
) {
    let half = SIZE >> (R + 1);
    for pair in 0..SIZE / 2 {
        let (g, k) = (pair / half, pair / half * half + pair);
        (x[k], x[k + half]) = a.butterfly(x[k], x[k + half], w.twiddle(a, (1 << R) - 1 + g));
    }
}

/// Whether level `r` of the forward tail starts with a renormalisation.
const fn tail_renormalises(period: usize, r: usize) -> bool {
    // With period 4 the levels of the pass before it, three at most, and the first of the tail share one.
    if period == 4 { r == 1 } else { period < MAX_LEVELS && r.is_multiple_of(period) }
}

/// Runs the last six levels over every block of 64 words, to canonical evaluations; a single block is a whole transform of inputs. Prefetches
/// meanwhile the bytes of `later`.
#[inline(always)]
pub(crate) fn forward_tail<A: Butterflies>(a: A, data: &mut [u64], twiddles: &[u64], later: [&[u8]; 2]) {
    let blocks = data.as_chunks_mut::<TAIL>().0;
    let words = twiddles.as_chunks::<TAIL_TWIDDLES>().0;
    let split = A::Registers::WORDS < WIDTH;
    match (blocks, words) {
        (blocks @ [_], words) if split => split_tail_blocks::<A, true>(a, blocks, words),
        (blocks, words) if split => split_tail_blocks::<A, false>(a, blocks, words),
        ([block], [words, ..]) => tail_block(a, block, words),
        (blocks, words) => tail_pairs(a, blocks.as_chunks_mut().0, words.as_chunks().0, later),
    }
}

/// Transforms a whole polynomial of 64 words, which is one tail block.
#[inline(always)]
fn tail_block<A: Butterflies>(a: A, block: &mut [u64; TAIL], words: &TailWords) {
    let mut x = load_streams::<A, WIDTH>(a, block, WIDTH, 0);
    tail_before::<A, 0, true>(a, &mut x, words);
    tail_before::<A, 1, true>(a, &mut x, words);
    tail_before::<A, 2, true>(a, &mut x, words);
    a.registers().transpose(&mut x);
    tail_after::<A, 0>(a, &mut x, words, 0);
    tail_after::<A, 1>(a, &mut x, words, 0);
    tail_last(a, &mut x, words, 0);
    store_streams(a, block, WIDTH, 0, &x);
}

/// Runs the last six levels over two blocks half a step apart: one alone is a chain of dependent instructions too long for a processor to
/// reorder across, and shuffles run beside multiplications.
#[inline(always)]
fn tail_pairs<A: Butterflies>(
    a: A,
    pairs: &mut [[[u64; TAIL]; 2]],
    words: &[[TailWords; 2]],
    later: [&[u8]; 2],
) {
    let r = a.registers();
    let steps = pairs.len();
    for (step, ([x_block, y_block], [x_words, y_words])) in pairs.iter_mut().zip(words).enumerate() {
        ask(a, later, step, steps);
        let mut x = load_streams::<A, WIDTH>(a, x_block, WIDTH, 0);
        tail_before::<A, 0, false>(a, &mut x, x_words);
        ask_twiddles(a, x_words, 0);
        tail_before::<A, 1, false>(a, &mut x, x_words);
        let mut y = load_streams::<A, WIDTH>(a, y_block, WIDTH, 0);
        tail_before::<A, 0, false>(a, &mut y, y_words);
        ask_twiddles(a, x_words, 1);
        tail_before::<A, 2, false>(a, &mut x, x_words);
        tail_before::<A, 1, false>(a, &mut y, y_words);
        r.transpose(&mut x);
        tail_before::<A, 2, false>(a, &mut y, y_words);
        ask_twiddles(a, y_words, 0);
        tail_after::<A, 0>(a, &mut x, x_words, 0);
        r.transpose(&mut y);
        ask_twiddles(a, y_words, 1);
        tail_after::<A, 1>(a, &mut x, x_words, 0);
        tail_after::<A, 0>(a, &mut y, y_words, 0);
        tail_last(a, &mut x, x_words, 0);
        store_streams(a, x_block, WIDTH, 0, &x);
        tail_after::<A, 1>(a, &mut y, y_words, 0);
        tail_last(a, &mut y, y_words, 0);
        store_streams(a, y_block, WIDTH, 0, &y);
    }
}

/// Runs the last six levels where a register holds a part of a vector: the transposition goes through memory, and the second half of a block
/// waits for the first half of the next.
#[inline(always)]
fn split_tail_blocks<A: Butterflies, const ENTER: bool>(
    a: A,
    data: &mut [[u64; TAIL]],
    twiddles: &[TailWords],
) {
    let mut turned = [Turned::new(), Turned::new()];
    for (blocks, words) in data.chunks_mut(2).zip(twiddles.chunks(2)) {
        for ((block, turned), words) in blocks.iter().zip(&mut turned).zip(words) {
            for at in (0..WIDTH).step_by(A::Registers::WORDS) {
                let mut x = load_streams::<A, WIDTH>(a, block, WIDTH, at);
                tail_before::<A, 0, ENTER>(a, &mut x, words);
                tail_before::<A, 1, ENTER>(a, &mut x, words);
                tail_before::<A, 2, ENTER>(a, &mut x, words);
                turned.store(a, at, &mut x);
            }
        }
        for ((block, turned), words) in blocks.iter_mut().zip(&turned).zip(words) {
            for at in (0..WIDTH).step_by(A::Registers::WORDS) {
                let mut x = load_streams::<A, WIDTH>(a, &turned.0, WIDTH, at);
                tail_after::<A, 0>(a, &mut x, words, at);
                tail_after::<A, 1>(a, &mut x, words, at);
                tail_last(a, &mut x, words, at);
                store_streams(a, block, WIDTH, at, &x);
            }
        }
    }
}

/// A block of 64 words between the halves of a tail, transposed.
#[repr(align(64))]
pub(super) struct Turned(pub(super) [u64; TAIL]);

impl Turned {
    pub(super) fn new() -> Self {
        Self([0; TAIL])
    }

    /// Stores columns of a tail block, from column `at` on, to the transposed block.
    #[inline(always)]
    pub(super) fn store<A: Butterflies>(&mut self, a: A, at: usize, x: &mut [Register<A>; WIDTH]) {
        let (r, len) = (a.registers(), A::Registers::WORDS);
        r.transpose(x);
        for (k, x) in x.iter().enumerate() {
            r.store(&mut self.0[(at + k % len) * WIDTH + k / len * len..], *x);
        }
    }
}

/// Runs level `R` of the forward tail, before the transposition.
#[inline(always)]
fn tail_before<A: Butterflies, const R: usize, const ENTER: bool>(
    a: A,
    x: &mut [Register<A>; WIDTH],
    words: &TailWords,
) {
    let enter = R == 0 && ENTER;
    if enter {
        take_in(a, x);
    }
    if enter || tail_renormalises(A::PERIOD, R) {
        prepare::<A, WIDTH>(a, x, R, enter);
    }
    level::<A, WIDTH, R>(a, x, &Natural(words));
}

/// Runs level `R + 3` of the forward tail, after the transposition.
#[inline(always)]
fn tail_after<A: Butterflies, const R: usize>(
    a: A,
    x: &mut [Register<A>; WIDTH],
    words: &TailWords,
    at: usize,
) {
    if tail_renormalises(A::PERIOD, R + 3) {
        prepare::<A, WIDTH>(a, x, R, false);
    }
    level::<A, WIDTH, R>(a, x, &Transposed(words, at));
}

/// Runs the last level of the forward tail.
#[inline(always)]
fn tail_last<A: Butterflies>(a: A, x: &mut [Register<A>; WIDTH], words: &TailWords, at: usize) {
    for g in 0..WIDTH / 2 {
        (x[2 * g], x[2 * g + 1]) =
            a.last_butterfly(x[2 * g], x[2 * g + 1], Transposed(words, at).twiddle(a, 3 + g));
    }
}
