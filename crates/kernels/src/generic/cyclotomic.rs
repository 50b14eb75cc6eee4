//! Parts of cyclotomic transforms other than sweeps.
#![expect(unsafe_code, reason = "scratch memory that is passed as a pointer")]
#![expect(clippy::indexing_slicing, reason = "rows of eight words times a length that is checked once")]

use super::arithmetic::{Butterflies, Register};
use super::lanes::Registers;
use super::lanes::WIDTH;
use super::radices::twiddle;
use crate::cyclotomic::rows::{Constant, Matrices, Prepare, Rows};

/// Number of terms of a sum between reductions, where `PERIOD` allows.
const RUN: usize = 8;
/// Number of sums computed side by side, so that none waits for itself.
const SUMS: usize = 3;

/// Transposes eight rows of `degree` words into `degree` rows of eight.
#[inline(always)]
pub(crate) fn transpose_in<A: Butterflies>(a: A, group: &mut [u64], edge: *mut u64, degree: usize) {
    transpose::<A, true>(a, group, edge, degree);
}

/// Undoes [`transpose_in`].
#[inline(always)]
pub(crate) fn transpose_out<A: Butterflies>(a: A, group: &mut [u64], edge: *mut u64, degree: usize) {
    transpose::<A, false>(a, group, edge, degree);
}

#[inline(always)]
fn transpose<A: Butterflies, const IN: bool>(a: A, group: &mut [u64], edge: *mut u64, degree: usize) {
    let r = a.registers();
    let len = A::Registers::WORDS;
    // SAFETY: the caller's scratch memory has an edge of as many rows, and nothing else refers to it.
    let edge = unsafe { std::slice::from_raw_parts_mut(edge, degree * WIDTH) };
    let square = degree - degree % len;
    for lane in (0..WIDTH).step_by(len) {
        for at in (0..square).step_by(len) {
            let mut x = [r.splat(0); WIDTH];
            for (k, x) in x.iter_mut().enumerate().take(len) {
                let from: &[u64] =
                    if IN { &group[(lane + k) * degree + at..] } else { &edge[(at + k) * WIDTH + lane..] };
                *x = r.load(from);
            }
            r.transpose(&mut x);
            for (k, x) in x.iter().enumerate().take(len) {
                let to: &mut [u64] = if IN {
                    &mut edge[(at + k) * WIDTH + lane..]
                } else {
                    &mut group[(lane + k) * degree + at..]
                };
                r.store(to, *x);
            }
        }
    }
    for at in square..degree {
        for lane in 0..WIDTH {
            if IN {
                edge[at * WIDTH + lane] = group[lane * degree + at];
            } else {
                group[lane * degree + at] = edge[at * WIDTH + lane];
            }
        }
    }
}

/// Copies rows, as canonical numbers if `canonical` is set.
#[inline(always)]
pub(crate) fn copy<A: Butterflies>(
    a: A,
    from: Rows,
    to: Rows,
    rows: usize,
    prepare: Prepare,
    canonical: bool,
) {
    for row in 0..rows {
        to.store(a, row, from.load(a, row, prepare), canonical);
    }
}

/// Multiplies rows by constants.
#[inline(always)]
pub(crate) fn scale<A: Butterflies>(a: A, from: Rows, to: Rows, rows: usize, words: &[u64], canonical: bool) {
    for row in 0..rows {
        let x = a.product(from.load(a, row, Prepare::Words), twiddle(a, words, row));
        to.store(a, row, x, canonical);
    }
}

/// Adds a row to each of several.
#[inline(always)]
pub(crate) fn add<A: Butterflies>(a: A, rows: Rows, count: usize, constant: Constant) {
    for row in 0..count {
        rows.store(a, row, constant.plus(a, rows.load(a, row, Prepare::Words)), false);
    }
}

/// Replaces rows by the products of matrices with them.
#[inline(always)]
pub(crate) fn multiply<A: Butterflies>(a: A, rows: Rows, sums: Rows, words: &[u64], matrices: Matrices) {
    for (i, words) in words.chunks_exact(A::CONSTANT * matrices.constants).enumerate() {
        for set in 0..matrices.sets {
            let rows = rows.every(matrices.step, i * matrices.next + set);
            multiply_one(a, rows, sums, words, matrices);
        }
    }
}

/// Replaces rows by sums of rows times constants, below FRESH·q.
#[inline(always)]
fn multiply_one<A: Butterflies>(a: A, rows: Rows, sums: Rows, words: &[u64], matrices: Matrices) {
    let Matrices { size, first: start, back, forth, .. } = matrices;
    for first in (0..size).step_by(SUMS) {
        let mut acc = [a.registers().splat(0); SUMS];
        let mut factors = [(); SUMS].map(|()| words.chunks_exact(A::CONSTANT));
        for (k, factors) in factors.iter_mut().enumerate() {
            let row = (first + k).min(size - 1);
            *factors = words[(start + row * forth - row * back) * A::CONSTANT..].chunks_exact(A::CONSTANT);
        }
        for column in 0..size {
            let y = rows.load(a, column, Prepare::Words);
            let full = column % A::PERIOD.min(RUN) == 0;
            for (acc, factors) in acc.iter_mut().zip(&mut factors) {
                let w = twiddle(a, factors.next().unwrap_or_default(), 0);
                *acc = term(a, *acc, y, w, column, full);
            }
        }
        for (k, acc) in acc.into_iter().enumerate() {
            if first + k < size {
                sums.store(a, first + k, a.reduce_lazy(acc), false);
            }
        }
    }
    for row in 0..size {
        rows.store(a, row, sums.load(a, row, Prepare::Words), false);
    }
}

/// Computes acc + w·y.
#[inline(always)]
fn term<A: Butterflies>(
    a: A,
    acc: Register<A>,
    y: Register<A>,
    w: A::Constant,
    column: usize,
    full: bool,
) -> Register<A> {
    if column == 0 {
        return a.product(y, w);
    }
    let acc = if full { a.reduce_lazy(acc) } else { acc };
    a.constant_butterfly(acc, y, w).0
}
