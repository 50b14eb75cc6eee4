//! Big integers as words of sixty bits, lowest first.
//!
//! The four spare bits of a word hold the carries of a sum of products: sums need no carry between their terms.

use num_bigint::BigUint;
use num_traits::{One, ToPrimitive};

/// Number of bits of a word of a big integer.
pub const BITS: u64 = 60;
/// Mask 2^60 − 1 of a word of a big integer.
pub const MASK: u64 = (1 << BITS) - 1;
/// Number of products of a word and a residue below 2^62 that are summed in 128 bits.
pub const TERMS: usize = 60;

/// Returns the number of words that hold any integer below `bound`.
pub fn length(bound: &BigUint) -> usize {
    usize::try_from(bound.bits().div_ceil(BITS)).unwrap_or(usize::MAX).max(1)
}

/// Returns the lowest `length` words of x, of sixty bits.
pub fn words(x: &BigUint, length: usize) -> Vec<u64> {
    (0..length as u64).map(|i| ((x >> (i * BITS)) & BigUint::from(MASK)).to_u64().unwrap_or(0)).collect()
}

/// Returns the big integer of words of sixty bits.
pub fn integer(words: &[u64]) -> BigUint {
    words.iter().rev().fold(BigUint::ZERO, |sum, &word| (sum << BITS) + word)
}

/// Returns 2^(60·length), the first integer that `length` words do not hold.
pub(super) fn end(length: usize) -> BigUint {
    BigUint::one() << (length as u64 * BITS)
}

/// Returns Σ s_i·a_i and Σ s_i·b_i over at most [`TERMS`] pairs (a_i, b_i). Two sums at once keep the multiplier busy.
#[inline(always)]
fn sums(shared: &[u64], pairs: &[[u64; 2]]) -> [u128; 2] {
    let mut sums = [0_u128; 2];
    for (&s, &[a, b]) in shared.iter().zip(pairs) {
        sums = [sums[0] + u128::from(s) * u128::from(a), sums[1] + u128::from(s) * u128::from(b)];
    }
    sums
}

/// Calls `f` with the two sums of products of every [`TERMS`] terms.
#[inline(always)]
pub(super) fn for_each_sum(shared: &[u64], pairs: &[[u64; 2]], mut f: impl FnMut([u128; 2])) {
    if shared.len() <= TERMS {
        return f(sums(shared, pairs));
    }
    let chunks = shared.chunks(TERMS).zip(pairs.chunks(TERMS));
    chunks.for_each(|(shared, pairs)| f(sums(shared, pairs)));
}

/// A column of a product: a sum of products as low + 2^60·high.
#[derive(Clone, Copy, Default)]
pub struct Column {
    /// Sum of the lowest words of a column's terms.
    pub low: u128,
    /// Sum of the parts above the lowest words of a column's terms.
    pub high: u128,
}

/// Returns the columns Σ s_i·a_i and Σ s_i·b_i for any number of terms.
#[inline(always)]
pub fn columns(shared: &[u64], pairs: &[[u64; 2]]) -> [Column; 2] {
    if shared.len() <= TERMS {
        return sums(shared, pairs).map(|low| Column { low, high: 0 });
    }
    let mut columns = [Column::default(); 2];
    for_each_sum(shared, pairs, |sums| {
        for (column, sum) in columns.iter_mut().zip(sums) {
            column.low += sum & u128::from(MASK);
            column.high += sum >> BITS;
        }
    });
    columns
}

/// Interleaves two lists entry by entry, the shorter filled with zeros.
pub fn interleave(a: &[u64], b: &[u64]) -> Vec<[u64; 2]> {
    let entry = |list: &[u64], i: usize| list.get(i).copied().unwrap_or(0);
    (0..a.len().max(b.len())).map(|i| [entry(a, i), entry(b, i)]).collect()
}

impl Column {
    /// Returns the word of this column, with the carry from the columns below, and updates the carry.
    #[inline(always)]
    pub(super) fn carry(self, carry: &mut u128) -> u64 {
        let sum = self.low + *carry;
        *carry = self.high + (sum >> BITS);
        sum as u64 & MASK
    }
}

/// Returns `count` ≤ 64 bits of x from bit `at` on.
pub fn bits(x: &[u64], at: u64, count: u32) -> u64 {
    let (first, offset) = ((at / BITS) as usize, at % BITS);
    let word = |i: usize| u128::from(x.get(first + i).copied().unwrap_or(0));
    let low = (word(0) | word(1) << BITS) >> offset;
    let all = low | (word(2) << (2 * BITS - offset));
    (all & ((1_u128 << count) - 1)) as u64
}
