//! Base conversion to odd moduli below 2^49: a matrix product with half the multiplications and one
//! Montgomery reduction an output.
//!
//! Pairs of terms are multiplied after Winograd (1968):
//! y1·m1 + y2·m2 = (y1 + m2)·(y2 + m1) − y1·y2 − m1·m2, where y1·y2 serves all outputs and m1·m2 is a
//! constant. Low and high halves of the products add up in lanes of 64 bits; the subtractions may leave
//! the low one negative, so its carry is signed. The factor 2^-52 of the reduction is absorbed in m.
#![expect(clippy::indexing_slicing, reason = "constant indices into arrays of registers")]

use super::lanes::{Lanes52, WIDTH};
use crate::modulus::Modulus;

/// Vectors that share the loads of a matrix entry.
const VECTORS: usize = 4;
/// The words of as many vectors.
const BLOCK: usize = VECTORS * WIDTH;
/// The most terms of a group; fewer if their moduli are wide.
const MAX_GROUP: usize = 32;

type Block = [u64; BLOCK];

/// One target modulus.
#[derive(Clone)]
pub(crate) struct Column {
    /// Which output it is.
    output: usize,
    p: u64,
    /// p^-1 mod 2^52
    inverse: u64,
    /// The entries times 2^52, modulo p.
    matrix: Vec<u64>,
    /// For each group of terms, what the low and the high sum start from: −Σ m1·m2, and p besides.
    start: Vec<(u64, u64)>,
}

impl Column {
    /// The column of output `output`, from entries modulo `to`.
    pub(crate) fn new(output: usize, to: &Modulus, mut matrix: Vec<u64>) -> Self {
        for word in &mut matrix {
            *word = to.mul(*word, to.constants.word52.wrap.0);
        }
        Self { output, p: to.value(), inverse: to.constants.word52.inverse, matrix, start: Vec::new() }
    }
}

/// All targets that share the products of their inputs.
#[derive(Clone)]
pub(crate) struct Columns {
    columns: Vec<Column>,
    /// Terms of a group: even, and so few that a sum stays below 2^52·p.
    group: usize,
}

impl Columns {
    /// Columns of inputs below `widest` < 2^49.
    pub(crate) fn new(mut columns: Vec<Column>, widest: u64) -> Self {
        let group = usize::try_from((1 << 52) / widest.max(1)).unwrap_or(MAX_GROUP).min(MAX_GROUP) & !1;
        for column in &mut columns {
            column.start = column.matrix.chunks(group).map(|words| start(words, column.p)).collect();
        }
        Self { columns, group }
    }
}

/// The constants of one group.
fn start(words: &[u64], p: u64) -> (u64, u64) {
    let products = words.as_chunks::<2>().0.iter().map(|[m1, m2]| u128::from(*m1) * u128::from(*m2));
    let sum: u128 = products.sum();
    let low = (sum as u64) & ((1 << 52) - 1);
    (low.wrapping_neg(), p.wrapping_sub((sum >> 52) as u64))
}

/// out_j = Σ_i in_i·M_ij mod p_j for all columns.
#[inline(always)]
pub(crate) fn convert<L: Lanes52>(l: L, columns: &Columns, input: &[&[u64]], output: &mut [&mut [u64]]) {
    for (g, rows) in input.chunks(columns.group).enumerate() {
        let len = rows.first().map_or(0, |row| row.len());
        for at in (0..len).step_by(BLOCK) {
            let mut padded = [[0; BLOCK]; MAX_GROUP];
            let empty = [0; BLOCK];
            let mut blocks = [&empty; MAX_GROUP];
            for ((block, padded), row) in blocks.iter_mut().zip(&mut padded).zip(rows) {
                *block = match row.get(at..).and_then(<[u64]>::first_chunk) {
                    Some(words) => words,
                    None => {
                        super::elementwise::copy(padded, row.get(at..).unwrap_or(&[]));
                        padded
                    }
                };
            }
            convert_block(l, columns, g, blocks.get(..rows.len()).unwrap_or(&[]), at, output);
        }
    }
}

/// All columns of one block of a group.
#[inline(always)]
fn convert_block<L: Lanes52>(
    l: L,
    columns: &Columns,
    g: usize,
    rows: &[&Block],
    at: usize,
    output: &mut [&mut [u64]],
) {
    let shared = shared_products(l, rows);
    let first = g * columns.group;
    let terms = first..first + rows.len();
    let (pairs, single) = columns.columns.as_chunks::<2>();
    for pair in pairs {
        let words = [&pair[0].matrix[terms.clone()], &pair[1].matrix[terms.clone()]];
        let sums = column_sums(l, [pair[0].start[g], pair[1].start[g]], words, rows, &shared);
        for (column, sums) in pair.iter().zip(sums) {
            finish(l, column, sums, g > 0, at, output);
        }
    }
    for column in single {
        let sums = column_sums(l, [column.start[g]], [&column.matrix[terms.clone()]], rows, &shared);
        for sums in sums {
            finish(l, column, sums, g > 0, at, output);
        }
    }
}

/// Low and high sums of the vectors of a block.
type Sums<L> = [(<L as super::lanes::Lanes>::V, <L as super::lanes::Lanes>::V); VECTORS];

/// Vector `w` of a block.
#[inline(always)]
fn load<L: Lanes52>(l: L, block: &Block, w: usize) -> L::V {
    l.load(&block.as_chunks::<WIDTH>().0[w])
}

/// Σ y1·y2 over the pairs of rows.
#[inline(always)]
fn shared_products<L: Lanes52>(l: L, rows: &[&Block]) -> Sums<L> {
    let mut sums = [(l.splat(0), l.splat(0)); VECTORS];
    for [row1, row2] in rows.as_chunks::<2>().0 {
        for (w, (low, high)) in sums.iter_mut().enumerate() {
            let (y1, y2) = (load(l, row1, w), load(l, row2, w));
            (*low, *high) = (l.multiply_add_low(*low, y1, y2), l.multiply_add_high(*high, y1, y2));
        }
    }
    sums
}

/// The sums of `J` columns.
#[inline(always)]
fn column_sums<L: Lanes52, const J: usize>(
    l: L,
    start: [(u64, u64); J],
    words: [&[u64]; J],
    rows: &[&Block],
    shared: &Sums<L>,
) -> [Sums<L>; J] {
    let mut sums = [*shared; J];
    for (sums, (low, high)) in sums.iter_mut().zip(start) {
        for sum in sums.iter_mut() {
            *sum = (l.sub(l.splat(low), sum.0), l.sub(l.splat(high), sum.1));
        }
    }
    let (pairs, single) = rows.as_chunks::<2>();
    for (k, [row1, row2]) in pairs.iter().enumerate() {
        for w in 0..VECTORS {
            let (y1, y2) = (load(l, row1, w), load(l, row2, w));
            for j in 0..J {
                let (m1, m2) = (l.splat(words[j][2 * k]), l.splat(words[j][2 * k + 1]));
                let (a, b) = (l.add(y1, m2), l.add(y2, m1));
                let (low, high) = sums[j][w];
                sums[j][w] = (l.multiply_add_low(low, a, b), l.multiply_add_high(high, a, b));
            }
        }
    }
    for row in single {
        for w in 0..VECTORS {
            let y = load(l, row, w);
            for j in 0..J {
                let m = l.splat(words[j][2 * pairs.len()]);
                let (low, high) = sums[j][w];
                sums[j][w] = (l.multiply_add_low(low, y, m), l.multiply_add_high(high, y, m));
            }
        }
    }
    sums
}

/// Reduces the sums of one column and writes them, or adds them to what earlier groups wrote.
#[inline(always)]
fn finish<L: Lanes52>(l: L, column: &Column, sums: Sums<L>, add: bool, at: usize, output: &mut [&mut [u64]]) {
    let (p, inverse, zero) = (l.splat(column.p), l.splat(column.inverse), l.splat(0));
    let Some(out) = output.get_mut(column.output).and_then(|out| out.get_mut(at..)) else { return };
    let mut block = [0; BLOCK];
    let whole = out.len() >= BLOCK;
    let target = if whole { out.first_chunk_mut().unwrap_or(&mut block) } else { &mut block };
    for ((low, high), words) in sums.into_iter().zip(target.as_chunks_mut::<WIDTH>().0) {
        // Montgomery: less the multiple of p that agrees with the sum modulo 2^52. It lies in (0, 2p).
        let multiple = l.multiply_add_low(zero, low, inverse);
        let quotient = l.multiply_add_high(zero, multiple, p);
        let r = l.sub(l.add(high, l.carry(low)), quotient);
        let r = l.unless_negative(l.sub(r, p), r);
        if add && whole {
            let sum = l.add(r, l.load(words));
            l.store(words, l.unless_negative(l.sub(sum, p), sum));
        } else {
            l.store(words, r);
        }
    }
    if !whole {
        for (to, from) in out.iter_mut().zip(block) {
            let sum = if add { *to + from } else { from };
            *to = sum.min(sum.wrapping_sub(column.p));
        }
    }
}
