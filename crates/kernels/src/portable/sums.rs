//! Sums of products in 128 bits, with one reduction each.

use crate::constants::{Constants, MATRIX_BLOCK};
use crate::generic::lanes::{WIDTH, expanded};
use crate::table::InnerProducts;

/// Number of words that are handled together: the sums and rows of a block stay in the first-level cache.
pub(super) const BLOCK: usize = 64;
/// Number of terms added to a sum in registers before it returns to memory.
const TERMS: usize = 4;

type Sums = [u128; BLOCK];
pub(super) type Row = [u64; BLOCK];

/// Returns the number of products of numbers below q that a sum holds, besides another such number.
fn max_terms(c: &Constants) -> usize {
    // 4096 terms below 2^116, or 8 of 2^124.
    if c.bits <= 58 { 4096 } else { 8 }
}

/// Storage format of the second factors of a sum of products.
pub(super) trait Kept: Sized {
    /// Returns the words of block `at`, padded with zeros past the end.
    fn row<'a>(c: &Constants, kept: &'a [Self], at: usize, spare: &'a mut Row) -> &'a Row;
}

impl Kept for u64 {
    fn row<'a>(_: &Constants, words: &'a [u64], at: usize, spare: &'a mut Row) -> &'a Row {
        row(words, at, spare)
    }
}

/// Factors stored in as many bytes as the modulus takes, with 64 readable from the first of every eight words on.
impl Kept for u8 {
    fn row<'a>(c: &Constants, bytes: &'a [u8], at: usize, spare: &'a mut Row) -> &'a Row {
        let width = c.residue_bytes();
        for (k, words) in spare.as_chunks_mut::<WIDTH>().0.iter_mut().enumerate() {
            let group = bytes.get((at + k * WIDTH) * width..).and_then(|bytes| bytes.first_chunk());
            *words = group.map_or([0; WIDTH], |group| expanded(group, width));
        }
        spare
    }
}

pub(super) fn row<'a>(words: &'a [u64], at: usize, spare: &'a mut Row) -> &'a Row {
    let words = words.get(at..).unwrap_or(&[]);
    match words.first_chunk() {
        Some(row) => row,
        None => {
            spare.fill(0);
            for (to, from) in spare.iter_mut().zip(words) {
                *to = *from;
            }
            spare
        }
    }
}

/// Adds the terms Σ_k f(k, x_k, y_k) to the sum in every place.
#[inline(always)]
fn add_terms<const K: usize>(sums: &mut Sums, x: [&Row; K], y: [&Row; K]) {
    for (i, sum) in sums.iter_mut().enumerate() {
        let mut total = *sum;
        for (x, y) in x.iter().zip(y) {
            let (Some(x), Some(y)) = (x.get(i), y.get(i)) else { continue };
            total = total.wrapping_add(u128::from(*x) * u128::from(*y));
        }
        *sum = total;
    }
}

/// Adds the products Σ_k x_k·y_k of the words from `at` to sums.
fn add_products<T: Kept>(c: &Constants, sums: &mut Sums, at: usize, x: &[&[u64]], y: &[&[T]]) {
    let mut spare = [[[0; BLOCK]; 2]; TERMS];
    let (x_groups, x_rest) = x.as_chunks::<TERMS>();
    let (y_groups, y_rest) = y.as_chunks::<TERMS>();
    for (x, y) in x_groups.iter().zip(y_groups) {
        let [[a0, b0], [a1, b1], [a2, b2], [a3, b3]] = &mut spare;
        let [x0, x1, x2, x3] = x;
        let [y0, y1, y2, y3] = y;
        let x = [row(x0, at, a0), row(x1, at, a1), row(x2, at, a2), row(x3, at, a3)];
        let y = [T::row(c, y0, at, b0), T::row(c, y1, at, b1), T::row(c, y2, at, b2), T::row(c, y3, at, b3)];
        add_terms(sums, x, y);
    }
    for (x, y) in x_rest.iter().zip(y_rest) {
        let [[a, b], ..] = &mut spare;
        add_terms(sums, [row(x, at, a)], [T::row(c, y, at, b)]);
    }
}

/// Writes the canonical values of sums modulo q.
fn reduce(c: &Constants, out: &mut [u64], sums: &Sums) {
    for (word, sum) in out.iter_mut().zip(sums) {
        *word = c.reduce_u128(*sum);
    }
}

/// A way to sum the products of a block.
pub(super) trait BlockSum {
    /// Computes the block of the inner product Σ_i x_i·y_i mod q that starts at `at`, for canonical words.
    fn inner_product_at<T: Kept>(c: &Constants, out: &mut [u64], at: usize, x: &[&[u64]], y: &[&[T]]);
}

/// Sums of 128 bits, for any modulus.
pub(super) struct Wide;

impl BlockSum for Wide {
    fn inner_product_at<T: Kept>(c: &Constants, out: &mut [u64], at: usize, x: &[&[u64]], y: &[&[T]]) {
        let group = max_terms(c);
        let mut sums = [0; BLOCK];
        for (g, (x, y)) in x.chunks(group).zip(y.chunks(group)).enumerate() {
            if g > 0 {
                sums = sums.map(|sum| u128::from(c.reduce_u128(sum)));
            }
            add_products(c, &mut sums, at, x, y);
        }
        reduce(c, out, &sums);
    }
}

/// Returns the functions of inner products by one way to sum, block by block.
pub(super) const fn inner_products<S: BlockSum>() -> InnerProducts {
    InnerProducts {
        one: inner_product::<S>,
        pair: pair::<S, u64>,
        packed: pair::<S, u8>,
        packed_matrix: packed_matrix::<S>,
    }
}

fn inner_product<S: BlockSum>(c: &Constants, out: &mut [u64], x: &[&[u64]], y: &[&[u64]]) {
    for (k, out) in out.chunks_mut(BLOCK).enumerate() {
        S::inner_product_at(c, out, k * BLOCK, x, y);
    }
}

/// Computes out_k = Σ_i x_i·y_ki mod q for two lists of second factors.
fn pair<S: BlockSum, T: Kept>(c: &Constants, out: [&mut [u64]; 2], x: &[&[u64]], y: [&[&[T]]; 2]) {
    let ([first, second], [y_first, y_second]) = (out, y);
    let blocks = first.chunks_mut(BLOCK).zip(second.chunks_mut(BLOCK));
    for (k, (first, second)) in blocks.enumerate() {
        S::inner_product_at(c, first, k * BLOCK, x, y_first);
        S::inner_product_at(c, second, k * BLOCK, x, y_second);
    }
}

/// Computes out_jk = Σ_i x_ji·m_ik mod q for two vectors x_j and every column of a packed matrix, whose elements are blocks of words.
fn packed_matrix<S: BlockSum>(c: &Constants, out: [&mut [u64]; 2], x: [&[u64]; 2], m: &[u8]) {
    let stride = MATRIX_BLOCK * c.residue_bytes();
    for (out, x) in out.into_iter().zip(x) {
        let x: Vec<&[u64]> = x.chunks(MATRIX_BLOCK).collect();
        for (k, out) in out.chunks_mut(MATRIX_BLOCK).enumerate() {
            // Vectors of words are read beyond an element.
            let elements = k * x.len()..(k + 1) * x.len();
            let column: Vec<&[u8]> =
                elements.map(|element| m.get(element * stride..).unwrap_or_default()).collect();
            S::inner_product_at(c, out, 0, &x, &column);
        }
    }
}

/// Computes out = Σ_i x_i·m_i mod q for words x_i below 2^62 and canonical m_i.
pub(crate) fn convert_column(c: &Constants, out: &mut [u64], input: &[&[u64]], column: &[u64]) {
    const GROUP: usize = 8;
    let mut spare = [0; BLOCK];
    for (k, out) in out.chunks_mut(BLOCK).enumerate() {
        let mut sums = [0; BLOCK];
        for (g, (xs, ms)) in input.chunks(GROUP).zip(column.chunks(GROUP)).enumerate() {
            if g > 0 {
                sums = sums.map(|sum| u128::from(c.reduce_u128(sum)));
            }
            for (x, m) in xs.iter().zip(ms) {
                for (sum, x) in sums.iter_mut().zip(row(x, k * BLOCK, &mut spare)) {
                    *sum = sum.wrapping_add(u128::from(*x) * u128::from(*m));
                }
            }
        }
        reduce(c, out, &sums);
    }
}
