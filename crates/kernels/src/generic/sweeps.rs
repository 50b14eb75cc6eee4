//! Cyclic Fourier transforms along the rows of a tile, one column a lane: up to four levels at a time.
//!
//! Forward levels split X^N − 1 again and again, so a twiddle serves a block of rows and frequencies come out bit-reversed; inverse
//! levels take that order back [Cooley–Tukey, decimation in time]. Both are x ± w·y with lazy words.
#![expect(unsafe_code, reason = "rows at a stride, permuted, whose bounds hold for a whole axis")]
#![expect(clippy::indexing_slicing, reason = "constant indices into arrays of registers and of twiddles")]

use super::arithmetic::{Butterflies, Factor, Register};
use super::registers::Registers;
use crate::constants::Constants;
use crate::cyclotomic::{ABSENT, Kind, Sweep};

/// Levels of a transform that never renormalises: any longer period is endless.
const LONGEST: usize = 17;

/// What the words are that a sweep loads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prepare {
    /// Canonical numbers, or below 2q.
    Input,
    /// Words below FRESH·q.
    Fresh,
    /// Outputs of at most `PERIOD` levels.
    Words,
}

/// Rows of a register each, at a stride, in the order of a map.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a> {
    pub(super) words: *mut u64,
    pub(super) stride: usize,
    pub(super) map: &'a [u32],
    /// What stands for rows that are not there: zeros to load, anything to store.
    pub(super) absent: *mut u64,
}

impl<'a> Rows<'a> {
    /// Row `first`, then every `step`-th.
    pub(super) fn every(self, step: usize, first: usize) -> Self {
        Self { words: self.words.wrapping_add(first * self.stride), stride: step * self.stride, ..self }
    }

    pub(super) fn shifted(self, words: usize) -> Self {
        Self { words: self.words.wrapping_add(words), ..self }
    }

    pub(super) fn mapped(self, map: &'a [u32], absent: *mut u64) -> Self {
        Self { map, absent, ..self }
    }

    #[inline(always)]
    fn address(self, row: usize) -> *mut u64 {
        debug_assert!(row < self.map.len());
        // SAFETY: maps have an entry for every row of a tile, and paths are as long as that.
        let row = unsafe { *self.map.get_unchecked(row) };
        if row == ABSENT { self.absent } else { self.words.wrapping_add(row as usize * self.stride) }
    }

    #[inline(always)]
    fn load_mapped<A: Butterflies>(self, a: A, row: usize) -> Register<A> {
        // SAFETY: tables are built for the length of the data, whose rows all lie inside it.
        a.registers().load(unsafe { std::slice::from_raw_parts(self.address(row), A::Registers::WORDS) })
    }

    #[inline(always)]
    fn store_mapped<A: Butterflies>(self, a: A, row: usize, x: Register<A>) {
        // SAFETY: as in `load_mapped`, and nothing else looks at the data while a transform runs.
        let words = unsafe { std::slice::from_raw_parts_mut(self.address(row), A::Registers::WORDS) };
        a.registers().store(words, x);
    }

    /// A row, whatever the map.
    #[inline(always)]
    pub(super) fn load<A: Butterflies>(self, a: A, row: usize, prepare: Prepare) -> Register<A> {
        let address = self.words.wrapping_add(row * self.stride);
        // SAFETY: as in `load_mapped`.
        let x = a.registers().load(unsafe { std::slice::from_raw_parts(address, A::Registers::WORDS) });
        if prepare == Prepare::Input { a.forward_input(x) } else { x }
    }

    /// Writes a row, whatever the map, as canonical numbers if asked for.
    #[inline(always)]
    pub(super) fn store<A: Butterflies>(self, a: A, row: usize, x: Register<A>, canonical: bool) {
        let x = if canonical { a.canonical_output(x) } else { x };
        let address = self.words.wrapping_add(row * self.stride);
        // SAFETY: as in `store_mapped`.
        let words = unsafe { std::slice::from_raw_parts_mut(address, A::Registers::WORDS) };
        a.registers().store(words, x);
    }
}

/// From where to where a sweep runs.
#[derive(Clone, Copy)]
pub(crate) struct Path<'a> {
    pub(super) from: Rows<'a>,
    pub(super) to: Rows<'a>,
    /// The first row, and how many.
    pub(super) first: usize,
    pub(super) len: usize,
    pub(super) prepare: Prepare,
    pub(super) canonical: bool,
    pub(super) constant: Option<Constant<'a>>,
    /// Registers of columns, side by side.
    pub(super) columns: usize,
}

impl Path<'_> {
    #[inline(always)]
    fn column(&self, words: usize) -> Self {
        let constant =
            self.constant.map(|constant| Constant { rows: constant.rows.shifted(words), ..constant });
        Self { from: self.from.shifted(words), to: self.to.shifted(words), constant, ..*self }
    }
}

/// Row 0 of these, as it was before the first sweep, times a factor: added to frequency 0.
#[derive(Clone, Copy)]
pub(crate) struct Constant<'a> {
    pub(super) rows: Rows<'a>,
    pub(super) prepare: Prepare,
    pub(super) factor: [u64; 2],
}

impl Constant<'_> {
    /// x + factor·row below FRESH·q, for x that is.
    #[inline(always)]
    pub(super) fn plus<A: Butterflies>(self, a: A, x: Register<A>) -> Register<A> {
        let y = self.rows.load(a, 0, self.prepare);
        a.reduce_lazy(a.butterfly(a.enter(x), y, broadcast(a, self.factor)).0)
    }
}

/// (constants, sweep, kernel, path): the levels of a sweep over all blocks of a path, by the number of levels less one.
pub(crate) type Sweeps = [unsafe fn(&Constants, &Sweep, &[u64], &Path<'_>); 4];

/// The levels of a sweep over all blocks of a path. Nothing where registers hold fewer levels: plans have none such.
#[inline(always)]
pub(crate) fn sweep<A: Butterflies, const SIZE: usize, const WORDS: usize, const KERNEL: usize>(
    a: A,
    sweep: &Sweep,
    kernel: &[u64],
    path: &Path<'_>,
) {
    if SIZE <= 1 << A::Registers::LEVELS {
        for column in 0..path.columns {
            let path = &path.column(column * A::Registers::WORDS);
            match sweep.kind {
                Kind::Forward => forward::<A, SIZE, WORDS>(a, sweep, path),
                Kind::Middle => middle::<A, SIZE, WORDS, KERNEL>(a, sweep, kernel, path),
                Kind::Inverse => inverse::<A, SIZE, WORDS>(a, sweep, path),
            }
        }
    }
}

#[inline(always)]
fn gather<A: Butterflies, const SIZE: usize>(
    a: A,
    path: &Path<'_>,
    first: usize,
    stride: usize,
) -> [Register<A>; SIZE] {
    let mut x = [a.registers().splat(0); SIZE];
    for (k, x) in x.iter_mut().enumerate() {
        *x = path.from.load_mapped(a, path.first + first + k * stride);
    }
    if path.prepare == Prepare::Input {
        for x in &mut x {
            *x = a.forward_input(*x);
        }
    }
    x
}

#[inline(always)]
fn scatter<A: Butterflies, const SIZE: usize>(
    a: A,
    path: &Path<'_>,
    first: usize,
    stride: usize,
    x: &mut [Register<A>; SIZE],
) {
    if path.canonical {
        for x in &mut *x {
            *x = a.canonical_output(*x);
        }
    }
    for (k, x) in x.iter().enumerate() {
        path.to.store_mapped(a, path.first + first + k * stride, *x);
    }
}

/// A constant and its quotient in all lanes.
#[inline(always)]
pub(super) fn broadcast<A: Butterflies>(a: A, pair: [u64; 2]) -> Factor<A> {
    (a.registers().splat(pair[0]), a.registers().splat(pair[1]))
}

#[inline(always)]
fn twiddle<A: Butterflies, const WORDS: usize>(a: A, words: &[u64; WORDS], i: usize) -> Factor<A> {
    broadcast(a, [words[2 * i], words[2 * i + 1]])
}

#[inline(always)]
fn prepared<A: Butterflies>(a: A, x: Register<A>, prepare: Prepare) -> Register<A> {
    if prepare == Prepare::Words { a.renormalise(x) } else { a.enter(x) }
}

/// Whether level `r` of a sweep starts with a renormalisation of its own.
const fn renormalises(period: usize, r: usize) -> bool {
    r > 0 && period < LONGEST && r.is_multiple_of(period)
}

/// Forward level `R`: halves of blocks, a twiddle a block.
#[inline(always)]
fn forward_level<A: Butterflies, const SIZE: usize, const WORDS: usize, const R: usize>(
    a: A,
    x: &mut [Register<A>; SIZE],
    words: &[u64; WORDS],
    prepare: Prepare,
) {
    let half = SIZE >> (R + 1);
    for pair in 0..SIZE / 2 {
        let (g, k) = (pair / half, pair / half * half + pair);
        if R == 0 {
            x[k] = prepared(a, x[k], prepare);
        } else if renormalises(A::PERIOD, R) {
            x[k] = a.renormalise(x[k]);
        }
        (x[k], x[k + half]) = a.butterfly(x[k], x[k + half], twiddle(a, words, (1 << R) - 1 + g));
    }
}

#[inline(always)]
fn forward_levels<A: Butterflies, const SIZE: usize, const WORDS: usize>(
    a: A,
    x: &mut [Register<A>; SIZE],
    words: &[u64; WORDS],
    prepare: Prepare,
) {
    forward_level::<A, SIZE, WORDS, 0>(a, x, words, prepare);
    if SIZE > 2 {
        forward_level::<A, SIZE, WORDS, 1>(a, x, words, prepare);
    }
    if SIZE > 4 {
        forward_level::<A, SIZE, WORDS, 2>(a, x, words, prepare);
    }
    if SIZE > 8 {
        forward_level::<A, SIZE, WORDS, 3>(a, x, words, prepare);
    }
}

/// Inverse level `R`: neighbours 2^R apart, a twiddle for each place among 2^R.
#[inline(always)]
fn inverse_level<A: Butterflies, const SIZE: usize, const WORDS: usize, const R: usize>(
    a: A,
    x: &mut [Register<A>; SIZE],
    words: &[u64; WORDS],
    prepare: Prepare,
) {
    let half = 1 << R;
    for pair in 0..SIZE / 2 {
        let (g, k) = (pair % half, pair / half * half + pair);
        if R == 0 {
            x[k] = prepared(a, x[k], prepare);
        } else if renormalises(A::PERIOD, R) {
            x[k] = a.renormalise(x[k]);
        }
        (x[k], x[k + half]) = a.butterfly(x[k], x[k + half], twiddle(a, words, half - 1 + g));
    }
}

/// Those after the first.
#[inline(always)]
fn more_inverse_levels<A: Butterflies, const SIZE: usize, const WORDS: usize>(
    a: A,
    x: &mut [Register<A>; SIZE],
    words: &[u64; WORDS],
) {
    if SIZE > 2 {
        inverse_level::<A, SIZE, WORDS, 1>(a, x, words, Prepare::Words);
    }
    if SIZE > 4 {
        inverse_level::<A, SIZE, WORDS, 2>(a, x, words, Prepare::Words);
    }
    if SIZE > 8 {
        inverse_level::<A, SIZE, WORDS, 3>(a, x, words, Prepare::Words);
    }
}

#[inline(always)]
fn forward<A: Butterflies, const SIZE: usize, const WORDS: usize>(a: A, sweep: &Sweep, path: &Path<'_>) {
    let stride = sweep.block / SIZE;
    let blocks = (0..path.len).step_by(sweep.block);
    for (first, words) in blocks.zip(sweep.twiddles.as_chunks::<WORDS>().0) {
        for at in first..first + stride {
            let mut x = gather::<A, SIZE>(a, path, at, stride);
            forward_levels(a, &mut x, words, path.prepare);
            scatter(a, path, at, stride, &mut x);
        }
    }
}

#[inline(always)]
fn inverse<A: Butterflies, const SIZE: usize, const WORDS: usize>(a: A, sweep: &Sweep, path: &Path<'_>) {
    let stride = sweep.block / SIZE;
    for first in (0..path.len).step_by(sweep.block) {
        for (at, words) in (first..first + stride).zip(sweep.twiddles.as_chunks::<WORDS>().0) {
            let mut x = gather::<A, SIZE>(a, path, at, stride);
            inverse_level::<A, SIZE, WORDS, 0>(a, &mut x, words, path.prepare);
            more_inverse_levels(a, &mut x, words);
            scatter(a, path, at, stride, &mut x);
        }
    }
}

/// The last forward levels, products with a kernel, and the first inverse levels. Half of the products are part of the first of
/// those, whose twiddles are all 1.
#[inline(always)]
fn middle<A: Butterflies, const SIZE: usize, const WORDS: usize, const KERNEL: usize>(
    a: A,
    sweep: &Sweep,
    kernel: &[u64],
    path: &Path<'_>,
) {
    let Some(back) = sweep.back.first_chunk::<WORDS>() else { return };
    let blocks = (0..path.len).step_by(SIZE);
    let tables = sweep.twiddles.as_chunks::<WORDS>().0.iter().zip(kernel.as_chunks::<KERNEL>().0);
    for (first, (words, kernel)) in blocks.zip(tables) {
        let mut x = gather::<A, SIZE>(a, path, first, 1);
        forward_levels(a, &mut x, words, path.prepare);
        for k in (0..SIZE).step_by(2) {
            let mut even = a.product(x[k], twiddle(a, kernel, k));
            if first == 0
                && k == 0
                && let Some(constant) = path.constant
            {
                even = constant.plus(a, even);
            }
            (x[k], x[k + 1]) = a.butterfly(a.enter(even), x[k + 1], twiddle(a, kernel, k + 1));
        }
        more_inverse_levels(a, &mut x, back);
        if sweep.subtracts {
            let top = a.reduce_lazy(x[SIZE / 2]);
            x[SIZE / 2] = a.registers().splat(0);
            for x in &mut x {
                *x = a.difference(*x, top);
            }
        }
        scatter(a, path, first, 1, &mut x);
    }
}
