//! Sums of products for moduli below 2^30, in words of 64 bits: sixteen products, and a residue beside them, fit one.

use std::sync::Arc;

use super::conversion;
use super::short::WIDEST;
use super::sums::{BLOCK, BlockSum, Kept, Row, row};
use crate::constants::Constants;
use crate::table::{Column, Together};

/// Number of products of words below 2^30 that a sum holds, besides a residue: 16·(2^30 − 1)^2 + 2^30 < 2^64.
const TERMS: usize = 16;

type Sums = [u64; BLOCK];

/// Adds the products x·y of words below 2^32, place by place.
#[inline(always)]
fn add(sums: &mut Sums, x: &Row, y: impl Iterator<Item = u64>) {
    // Halves of words tell the compiler that a product needs one multiplication.
    for ((sum, x), y) in sums.iter_mut().zip(x).zip(y) {
        *sum = sum.wrapping_add(u64::from(*x as u32) * u64::from(y as u32));
    }
}

/// Sums of 64 bits, for moduli below 2^30.
pub(super) struct Short;

impl BlockSum for Short {
    fn inner_product_at<T: Kept>(c: &Constants, out: &mut [u64], at: usize, x: &[&[u64]], y: &[&[T]]) {
        let (mut sums, mut spare) = ([0; BLOCK], [[0; BLOCK]; 2]);
        let [x_spare, y_spare] = &mut spare;
        for (x, y) in x.chunks(TERMS).zip(y.chunks(TERMS)) {
            sums = sums.map(|sum| c.reduce(sum));
            for (x, y) in x.iter().zip(y) {
                add(&mut sums, row(x, at, x_spare), T::row(c, y, at, y_spare).iter().copied());
            }
        }
        reduce(c, out, &sums);
    }
}

/// Writes the canonical values of sums modulo q.
fn reduce(c: &Constants, out: &mut [u64], sums: &Sums) {
    for (word, sum) in out.iter_mut().zip(sums) {
        *word = c.reduce(*sum);
    }
}

/// Targets of a conversion.
struct Columns(Vec<Column>);

/// Makes a conversion to targets below 2^30 together, from moduli below 2^30; others go to
/// [`conversion`](super::conversion).
pub(super) fn together(from: &[u64], columns: &[Column]) -> Option<Arc<dyn Together>> {
    let short = from.iter().chain(columns.iter().map(|column| &column.to.q)).all(|&q| q <= WIDEST);
    if short { Some(Arc::new(Columns(columns.to_vec()))) } else { conversion::together(from, columns) }
}

impl Together for Columns {
    fn convert(&self, input: &[&[u64]], out: &mut [&mut [u64]]) {
        let len = out.first().map_or(0, |out| out.len());
        let mut spare = [0; BLOCK];
        for at in (0..len).step_by(BLOCK) {
            for Column { output, to, matrix } in &self.0 {
                let mut sums = [0; BLOCK];
                for (rows, factors) in input.chunks(TERMS).zip(matrix.chunks(TERMS)) {
                    sums = sums.map(|sum| to.reduce(sum));
                    for (words, factor) in rows.iter().zip(factors) {
                        add(&mut sums, row(words, at, &mut spare), std::iter::repeat(*factor));
                    }
                }
                let out = out.get_mut(*output).and_then(|out| out.get_mut(at..)).unwrap_or_default();
                reduce(to, out, &sums);
            }
        }
    }
}
