//! Base conversion in plain Rust: half the multiplications by pairs of terms [Winograd68], sums in 128 bits.
//!
//! y_1·M_1 + y_2·M_2 = (y_1 + M_2)(y_2 + M_1) − y_1·y_2 − M_1·M_2: the products of words serve all targets,
//! those of matrix entries are constants.

use std::sync::Arc;

use super::sums::{BLOCK, Sums, add_products, row};
use crate::modulus::Modulus;
use crate::table::{Column, Together};

/// Pairs of terms added to a sum in registers before it returns to memory.
const PAIRS: usize = 2;
/// Words below 2^49 keep the sums of 4096 terms below 2^128.
const NARROW: u64 = 1 << 49;

type Row = [u64; BLOCK];
/// The words of two terms.
type Pair<'a> = [&'a Row; 2];

struct Columns(Vec<Target>);

struct Target {
    output: usize,
    modulus: Modulus,
    /// (M_1, M_2) for every pair of terms, the last with a zero if it lacks a second.
    factors: Vec<[u64; 2]>,
    /// −Σ M_1·M_2
    start: u128,
}

impl Target {
    fn new(column: &Column) -> Self {
        let matrix = &column.matrix;
        let pair = |pair: &[u64]| [0, 1].map(|i| pair.get(i).copied().unwrap_or(0));
        let factors: Vec<[u64; 2]> = matrix.chunks(2).map(pair).collect();
        let products = factors.iter().map(|[a, b]| u128::from(*a) * u128::from(*b));
        let start = 0_u128.wrapping_sub(products.sum());
        Self { output: column.output, modulus: column.to, factors, start }
    }
}

/// What converts to targets below 2^49 together, from moduli below it.
pub(super) fn together(from: &[Modulus], columns: &[Column]) -> Option<Arc<dyn Together>> {
    let narrow = from.iter().chain(columns.iter().map(|column| &column.to)).all(|q| q.value() < NARROW);
    narrow.then(|| Arc::new(Columns(columns.iter().map(Target::new).collect())) as Arc<dyn Together>)
}

impl Together for Columns {
    fn convert(&self, input: &[&[u64]], out: &mut [&mut [u64]]) {
        let len = out.first().map_or(0, |out| out.len());
        for at in (0..len).step_by(BLOCK) {
            self.convert_block(input, out, at);
        }
    }
}

impl Columns {
    /// The coefficients of the block that starts at `at`.
    fn convert_block(&self, input: &[&[u64]], out: &mut [&mut [u64]], at: usize) {
        let zeros = [0; BLOCK];
        let mut spare = vec![[0; BLOCK]; input.len()];
        let rows: Vec<&Row> =
            input.iter().zip(&mut spare).map(|(words, spare)| row(words, at, spare)).collect();
        let pairs: Vec<Pair<'_>> =
            rows.chunks(2).map(|pair| [0, 1].map(|i| *pair.get(i).unwrap_or(&&zeros))).collect();
        let mut shared = [0; BLOCK];
        let (first, second): (Vec<&[u64]>, Vec<&[u64]>) =
            pairs.iter().map(|[a, b]| (a.as_slice(), b.as_slice())).unzip();
        add_products(&mut shared, 0, &first, &second);
        for target in &self.0 {
            let mut sums = shared.map(|shared| target.start.wrapping_sub(shared));
            let (pair_groups, pairs_rest) = pairs.as_chunks::<PAIRS>();
            let (factor_groups, factors_rest) = target.factors.as_chunks::<PAIRS>();
            for (pairs, factors) in pair_groups.iter().zip(factor_groups) {
                add_pairs(&mut sums, pairs, factors);
            }
            for (pair, factors) in pairs_rest.iter().zip(factors_rest) {
                add_pairs(&mut sums, &[*pair], &[*factors]);
            }
            let words = out.get_mut(target.output).and_then(|out| out.get_mut(at..)).unwrap_or_default();
            for (word, sum) in words.iter_mut().zip(&sums) {
                *word = target.modulus.constants.reduce_u128(*sum);
            }
        }
    }
}

/// sums += Σ (y_1 + M_2)(y_2 + M_1) in every place.
#[inline(always)]
fn add_pairs<const K: usize>(sums: &mut Sums, pairs: &[Pair<'_>; K], factors: &[[u64; 2]; K]) {
    for (i, sum) in sums.iter_mut().enumerate() {
        let mut total = *sum;
        for ([y1, y2], [m1, m2]) in pairs.iter().zip(factors) {
            let (Some(y1), Some(y2)) = (y1.get(i), y2.get(i)) else { continue };
            total = total.wrapping_add(u128::from(y1.wrapping_add(*m2)) * u128::from(y2.wrapping_add(*m1)));
        }
        *sum = total;
    }
}
