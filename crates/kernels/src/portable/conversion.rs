//! Base conversion in plain Rust: half the multiplications by pairs of terms [Winograd68], sums in 128 bits.
//!
//! y_1·M_1 + y_2·M_2 = (y_1 + M_2)(y_2 + M_1) − y_1·y_2 − M_1·M_2: the products of words serve all targets,
//! those of matrix entries are constants. Sums are divided by 2^64 as they are reduced [Montgomery85], which the
//! matrix makes up for.

use std::sync::Arc;

use crate::constants::{high_product, inverse_of_odd};
use crate::table::{Column, Together};

/// Number of coefficients of a row that are handled together.
const BLOCK: usize = 64;
/// Number of pairs of terms that are added in registers.
const GROUP: usize = 4;
/// Bound of words whose sums of 4096 terms stay below 2^64·q.
const NARROW: u64 = 1 << 49;

type Sums = [u128; BLOCK];
type Pair = [u64; 2];

struct Columns(Vec<Target>);

struct Target {
    output: usize,
    q: u64,
    /// Inverse q^-1 modulo 2^64 of the target modulus.
    inverse: u64,
    /// Factors (M_2, M_1), times 2^64, for every pair of terms; the last has a zero if it lacks a second.
    factors: Vec<Pair>,
    /// Initial value −Σ M_1·M_2 of the sums of the target.
    start: u128,
}

impl Target {
    fn new(column: &Column) -> Self {
        let (to, wrap) = (column.to, column.to.word64.wrap.0);
        let entry = |pair: &[u64], i: usize| pair.get(i).map_or(0, |entry| to.mul(*entry, wrap));
        let factors: Vec<Pair> =
            column.matrix.chunks(2).map(|pair| [entry(pair, 1), entry(pair, 0)]).collect();
        let products = factors.iter().map(|[a, b]| u128::from(*a) * u128::from(*b));
        let start = 0_u128.wrapping_sub(products.sum());
        Self { output: column.output, q: to.q, inverse: inverse_of_odd(to.q), factors, start }
    }

    /// Reduces a sum below 2^64·q to sum / 2^64 modulo q.
    #[inline(always)]
    fn reduce(&self, sum: u128) -> u64 {
        let multiple = high_product((sum as u64).wrapping_mul(self.inverse), self.q);
        let r = ((sum >> 64) as u64).wrapping_sub(multiple);
        r.min(r.wrapping_add(self.q))
    }
}

/// Makes a conversion to odd targets below 2^49 together, from moduli below 2^49.
pub(super) fn together(from: &[u64], columns: &[Column]) -> Option<Arc<dyn Together>> {
    let odd = columns.iter().all(|column| column.to.q % 2 == 1);
    let narrow = from.iter().chain(columns.iter().map(|column| &column.to.q)).all(|&q| q < NARROW);
    (odd && narrow).then(|| Arc::new(Columns(columns.iter().map(Target::new).collect())) as Arc<dyn Together>)
}

impl Together for Columns {
    fn convert(&self, input: &[&[u64]], out: &mut [&mut [u64]]) {
        let len = out.first().map_or(0, |out| out.len());
        let zeros = vec![[0; 2]; input.len().div_ceil(2)];
        let mut words = vec![[0; 2]; zeros.len() * BLOCK];
        for at in (0..len).step_by(BLOCK) {
            gather(input, at, &mut words);
            let mut shared = [0; BLOCK];
            add_pairs(&mut shared, &words, &zeros);
            for target in &self.0 {
                let mut sums = shared.map(|shared| target.start.wrapping_sub(shared));
                add_pairs(&mut sums, &words, &target.factors);
                let out = out.get_mut(target.output).and_then(|out| out.get_mut(at..)).unwrap_or_default();
                for (word, sum) in out.iter_mut().zip(&sums) {
                    *word = target.reduce(*sum);
                }
            }
        }
    }
}

/// Puts the pairs of a group of terms next to each other, coefficient by coefficient of the block from `at`.
fn gather(input: &[&[u64]], at: usize, words: &mut [Pair]) {
    for (rows, words) in input.chunks(2 * GROUP).zip(words.chunks_mut(GROUP * BLOCK)) {
        for (k, pair) in rows.chunks(2).enumerate() {
            for (i, row) in pair.iter().enumerate() {
                let places = words.chunks_exact_mut(rows.len().div_ceil(2));
                for (place, word) in places.zip(row.get(at..).unwrap_or_default()) {
                    if let Some(place) = place.get_mut(k).and_then(|pair| pair.get_mut(i)) {
                        *place = *word;
                    }
                }
            }
        }
    }
}

/// Computes sums += Σ (y_1 + M_2)(y_2 + M_1) for the gathered words of a block.
fn add_pairs(sums: &mut Sums, words: &[Pair], factors: &[Pair]) {
    for (words, factors) in words.chunks(GROUP * BLOCK).zip(factors.chunks(GROUP)) {
        match *factors {
            [a] => add_group(sums, words, [a]),
            [a, b] => add_group(sums, words, [a, b]),
            [a, b, c] => add_group(sums, words, [a, b, c]),
            [a, b, c, d] => add_group(sums, words, [a, b, c, d]),
            _ => {}
        }
    }
}

/// Adds the pairs of one group of terms to the sums of a block. This is a call of its own, so that the
/// factors have registers.
#[inline(never)]
fn add_group<const K: usize>(sums: &mut Sums, words: &[Pair], factors: [Pair; K]) {
    for (sum, pairs) in sums.iter_mut().zip(words.as_chunks::<K>().0) {
        let mut total = *sum;
        for ([y1, y2], [m2, m1]) in pairs.iter().zip(&factors) {
            total = total.wrapping_add(u128::from(y1.wrapping_add(*m2)) * u128::from(y2.wrapping_add(*m1)));
        }
        *sum = total;
    }
}
