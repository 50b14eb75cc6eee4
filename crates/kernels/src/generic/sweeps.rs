//! Cyclic Fourier transforms along the rows of a tile, one column a lane: up to four levels at a time, or a radix three or five.
//!
//! Forward levels split X^N − 1 again and again, so a twiddle serves a block of rows and frequencies come out with their digits
//! reversed; inverse levels take that order back, and a twiddle serves a place. In registers both are decimation in time
//! [Cooley–Tukey]: rows of a forward sweep are loaded in reversed order. Where a twiddle is 1 there is no product.
#![expect(unsafe_code, reason = "rows at a stride, in any order, whose bounds hold for a whole axis")]
#![expect(clippy::indexing_slicing, reason = "constant indices into arrays of registers and of twiddles")]

use super::arithmetic::{Butterflies, Register};
use super::lanes::Registers;
use super::radices::{five, prepared, reduced, settled, three, twiddle, unit};
use crate::cyclotomic::rows::{Constant, Path, Prepare, Rows};
use crate::cyclotomic::tables::{Kind, Sweep};

impl Rows {
    #[inline(always)]
    fn load_listed<A: Butterflies>(self, a: A, row: u32) -> Register<A> {
        // SAFETY: tables are built for the length of the data, whose rows all lie inside it.
        a.registers().load(unsafe { std::slice::from_raw_parts(self.listed(row), A::Registers::WORDS) })
    }

    #[inline(always)]
    fn store_listed<A: Butterflies>(self, a: A, row: u32, x: Register<A>) {
        // SAFETY: as in `load_listed`, and nothing else looks at the data while a transform runs.
        let words = unsafe { std::slice::from_raw_parts_mut(self.listed(row), A::Registers::WORDS) };
        a.registers().store(words, x);
    }

    /// Loads a row of a tile that exists.
    #[inline(always)]
    pub(super) fn load<A: Butterflies>(self, a: A, row: usize, prepare: Prepare) -> Register<A> {
        // SAFETY: as in `load_listed`.
        let x = a.registers().load(unsafe { std::slice::from_raw_parts(self.row(row), A::Registers::WORDS) });
        if prepare == Prepare::Input { a.forward_input(x) } else { x }
    }

    /// Writes a row of a tile that exists, as canonical numbers if `canonical` is set.
    #[inline(always)]
    pub(super) fn store<A: Butterflies>(self, a: A, row: usize, x: Register<A>, canonical: bool) {
        let x = if canonical { a.canonical_output(x) } else { x };
        // SAFETY: as in `store_listed`.
        let words = unsafe { std::slice::from_raw_parts_mut(self.row(row), A::Registers::WORDS) };
        a.registers().store(words, x);
    }
}

impl Constant {
    /// Computes the sum x + row below FRESH·q, for an x below FRESH·q.
    #[inline(always)]
    pub(super) fn plus<A: Butterflies>(self, a: A, x: Register<A>) -> Register<A> {
        let y = reduced(a, self.rows.load(a, 0, self.prepare), self.prepare);
        a.reduce_lazy(a.sum_difference(a.enter(x), y).0)
    }
}

/// Runs a sweep over all blocks of a path, `SIZE` rows at a time. Does nothing where registers hold fewer levels: plans have no such sweep.
#[inline(always)]
pub(crate) fn sweep<A: Butterflies, const SIZE: usize, const WORDS: usize, const KERNEL: usize>(
    a: A,
    sweep: &Sweep,
    kernel: &[u64],
    path: &Path,
) {
    if SIZE <= 1 << A::Registers::LEVELS || !SIZE.is_power_of_two() {
        for column in 0..path.columns {
            let path = &path.column(column * A::Registers::WORDS);
            match sweep.kind {
                // All six rows are in registers at once.
                Kind::Levels if SIZE != 6 => outer::<A, SIZE, WORDS>(a, sweep, path),
                // Any other size has a factor two left.
                Kind::Middle if SIZE & 1 == 0 => middle::<A, SIZE, WORDS, KERNEL>(a, sweep, kernel, path),
                _ => {}
            }
        }
    }
}

#[inline(always)]
fn gather<A: Butterflies, const SIZE: usize>(a: A, path: &Path, rows: &[u32; SIZE]) -> [Register<A>; SIZE] {
    let mut x = [a.registers().splat(0); SIZE];
    for k in 0..SIZE {
        x[k] = path.from.load_listed(a, rows[k]);
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
    path: &Path,
    rows: &[u32; SIZE],
    x: &mut [Register<A>; SIZE],
) {
    if path.canonical {
        for x in &mut *x {
            *x = a.canonical_output(*x);
        }
    }
    for k in 0..SIZE {
        path.to.store_listed(a, rows[k], x[k]);
    }
}

/// Runs level `R` of a sweep: neighbours 2^R apart, a twiddle for each place among 2^R, the first of which is
/// 1 if `ONE`.
#[inline(always)]
fn level<A: Butterflies, const SIZE: usize, const WORDS: usize, const R: usize, const ONE: bool>(
    a: A,
    x: &mut [Register<A>; SIZE],
    words: &[u64; WORDS],
    prepare: Prepare,
) {
    let half = 1 << R;
    for pair in 0..SIZE / 2 {
        let (g, k) = (pair % half, pair / half * half + pair);
        x[k] = if R == 0 { prepared(a, x[k], prepare) } else { settled::<A, R>(a, x[k]) };
        (x[k], x[k + half]) = if ONE && g == 0 {
            unit(a, x[k], x[k + half], if R == 0 { prepare } else { Prepare::Words })
        } else {
            a.constant_butterfly(x[k], x[k + half], twiddle(a, words, half - 1 + g))
        };
    }
}

/// Runs the levels of a sweep after the first.
#[inline(always)]
fn more_levels<A: Butterflies, const SIZE: usize, const WORDS: usize, const ONE: bool>(
    a: A,
    x: &mut [Register<A>; SIZE],
    words: &[u64; WORDS],
) {
    if SIZE > 2 {
        level::<A, SIZE, WORDS, 1, ONE>(a, x, words, Prepare::Words);
    }
    if SIZE > 4 {
        level::<A, SIZE, WORDS, 2, ONE>(a, x, words, Prepare::Words);
    }
    if SIZE > 8 {
        level::<A, SIZE, WORDS, 3, ONE>(a, x, words, Prepare::Words);
    }
}

#[inline(always)]
fn levels<A: Butterflies, const SIZE: usize, const WORDS: usize, const ONE: bool>(
    a: A,
    x: &mut [Register<A>; SIZE],
    words: &[u64; WORDS],
    prepare: Prepare,
) {
    if SIZE == 3 {
        let ones = if ONE { None } else { Some([twiddle(a, words, 0), twiddle(a, words, 1)]) };
        [x[0], x[1], x[2]] = three(a, [x[0], x[1], x[2]], ones, twiddle(a, words, 2), prepare);
    } else if SIZE == 5 {
        five::<A, SIZE, WORDS, ONE>(a, x, words, prepare);
    } else {
        level::<A, SIZE, WORDS, 0, ONE>(a, x, words, prepare);
        more_levels::<A, SIZE, WORDS, ONE>(a, x, words);
    }
}

/// Runs the levels of an outer sweep, forward or inverse.
#[inline(always)]
fn outer<A: Butterflies, const SIZE: usize, const WORDS: usize>(a: A, sweep: &Sweep, path: &Path) {
    let (from, to) = (sweep.from.as_chunks::<SIZE>().0, sweep.to.as_chunks::<SIZE>().0);
    let sets = sweep.twiddles.as_chunks::<WORDS>().0;
    let (mut set, mut used) = (0, 0);
    let mut top = a.registers().splat(0);
    for i in 0..from.len() {
        let (Some(from), Some(to), Some(words)) = (from.get(i), to.get(i), sets.get(set)) else { return };
        let mut x = gather(a, path, from);
        let mut prepare = path.prepare;
        if sweep.subtracts && i > 0 {
            // The first of these is part of every result.
            x[0] = a.sum_difference(prepared(a, x[0], prepare), top).1;
            prepare = Prepare::Words;
        }
        if sweep.cyclic && set == 0 {
            levels::<A, SIZE, WORDS, true>(a, &mut x, words, prepare);
        } else {
            levels::<A, SIZE, WORDS, false>(a, &mut x, words, prepare);
        }
        if sweep.subtracts && i == 0 {
            top = subtract_first(a, &mut x);
        }
        scatter(a, path, to, &mut x);
        used += 1;
        if used == sweep.per {
            used = 0;
            set = if set + 1 == sets.len() { 0 } else { set + 1 };
        }
    }
}

/// Subtracts the first register of a sweep from all others, and replaces it by its opposite.
#[inline(always)]
fn subtract_first<A: Butterflies, const SIZE: usize>(a: A, x: &mut [Register<A>; SIZE]) -> Register<A> {
    let top = a.reduce_lazy(x[0]);
    x[0] = a.registers().splat(0);
    for x in x {
        *x = a.difference(*x, top);
    }
    top
}

/// Runs the last forward levels of a sweep, in registers that are loaded in reversed order, to frequencies in
/// the order of rows.
#[inline(always)]
fn last_levels<A: Butterflies, const SIZE: usize, const WORDS: usize, const ONE: bool>(
    a: A,
    x: &mut [Register<A>; SIZE],
    words: &[u64; WORDS],
    prepare: Prepare,
) {
    if SIZE == 6 {
        threes(a, x, words, prepare);
        for k in (0..SIZE).step_by(2) {
            // Two levels make a radix three.
            (x[k], x[k + 1]) = unit(a, settled::<A, 2>(a, x[k]), x[k + 1], Prepare::Words);
        }
    } else {
        levels::<A, SIZE, WORDS, ONE>(a, x, words, prepare);
        reverse(x);
    }
}

/// Puts the registers of a sweep in bit-reversed order. The exchanges are written out: the compiler renames
/// registers and moves nothing.
#[inline(always)]
fn reverse<R, const SIZE: usize>(x: &mut [R; SIZE]) {
    match SIZE {
        4 => x.swap(1, 2),
        8 => {
            x.swap(1, 4);
            x.swap(3, 6);
        }
        16 => {
            x.swap(1, 8);
            x.swap(2, 4);
            x.swap(3, 12);
            x.swap(5, 10);
            x.swap(7, 14);
            x.swap(11, 13);
        }
        _ => {}
    }
}

/// Computes both radix-three transforms of six rows, each on rows that are two apart.
#[inline(always)]
fn threes<A: Butterflies, const SIZE: usize, const WORDS: usize>(
    a: A,
    x: &mut [Register<A>; SIZE],
    words: &[u64; WORDS],
    prepare: Prepare,
) {
    let root = twiddle(a, words, 0);
    for k in 0..2 {
        [x[k], x[k + 2], x[k + 4]] = three(a, [x[k], x[k + 2], x[k + 4]], None, root, prepare);
    }
}

/// Runs the last forward levels, products with a kernel, and the first inverse levels. Half of the products are part of the first of
/// the inverse levels, whose twiddles are all 1.
#[inline(always)]
fn middle<A: Butterflies, const SIZE: usize, const WORDS: usize, const KERNEL: usize>(
    a: A,
    sweep: &Sweep,
    kernel: &[u64],
    path: &Path,
) {
    let Some(back) = sweep.back.first_chunk::<WORDS>() else { return };
    let (from, to) = (sweep.from.as_chunks::<SIZE>().0, sweep.to.as_chunks::<SIZE>().0);
    let (sets, kernels) = (sweep.twiddles.as_chunks::<WORDS>().0, kernel.as_chunks::<KERNEL>().0);
    let mut set = 0;
    for i in 0..from.len() {
        let (Some(from), Some(to), Some(words)) = (from.get(i), to.get(i), sets.get(set)) else { return };
        let Some(kernel) = kernels.get(i) else { return };
        let mut x = gather(a, path, from);
        if sweep.cyclic && set == 0 {
            last_levels::<A, SIZE, WORDS, true>(a, &mut x, words, path.prepare);
        } else {
            last_levels::<A, SIZE, WORDS, false>(a, &mut x, words, path.prepare);
        }
        for k in (0..SIZE).step_by(2) {
            let mut even = a.product(x[k], twiddle(a, kernel, k));
            if i == 0
                && k == 0
                && let Some(constant) = path.constant
            {
                even = constant.plus(a, even);
            }
            (x[k], x[k + 1]) = a.constant_butterfly(a.enter(even), x[k + 1], twiddle(a, kernel, k + 1));
        }
        if SIZE == 6 {
            threes(a, &mut x, back, Prepare::Words);
        } else {
            more_levels::<A, SIZE, WORDS, true>(a, &mut x, back);
        }
        if sweep.subtracts {
            subtract_first(a, &mut x);
        }
        scatter(a, path, to, &mut x);
        set = if set + 1 == sets.len() { 0 } else { set + 1 };
    }
}
