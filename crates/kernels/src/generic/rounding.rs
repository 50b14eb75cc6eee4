//! Sums of products that wrap or are rounded instead of being reduced. No operation is fused or reordered, so
//! doubles too are the same on every table.

use super::lanes::{Lanes, WIDTH, copy};

/// Vectors of words that are multiplied as words, and taken as doubles: one rounding, to nearest, in every operation.
pub(crate) trait Numbers: Lanes {
    fn or(self, a: Self::V, b: Self::V) -> Self::V;
    /// Low 64 bits of the product of words.
    fn multiply_words(self, a: Self::V, b: Self::V) -> Self::V;
    fn add_doubles(self, a: Self::V, b: Self::V) -> Self::V;
    fn sub_doubles(self, a: Self::V, b: Self::V) -> Self::V;
    fn multiply_doubles(self, a: Self::V, b: Self::V) -> Self::V;
}

/// Number of vectors whose sums stay in registers.
const VECTORS: usize = 4;

/// Function of the words at the same place of all inputs.
trait Sum {
    fn vectors<L: Numbers, const N: usize>(&self, l: L, input: &[&[u64]], at: usize) -> [L::V; N];
}

#[inline(always)]
fn by_vectors<L: Numbers>(l: L, sum: &impl Sum, out: &mut [u64], input: &[&[u64]]) {
    let (chunks, rest) = out.as_chunks_mut::<{ VECTORS * WIDTH }>();
    let done = chunks.len() * VECTORS * WIDTH;
    for (i, chunk) in chunks.iter_mut().enumerate() {
        let sums = sum.vectors::<L, VECTORS>(l, input, i * VECTORS * WIDTH);
        for (words, sum) in chunk.as_chunks_mut().0.iter_mut().zip(sums) {
            l.store(words, sum);
        }
    }
    for (i, words) in rest.chunks_mut(WIDTH).enumerate() {
        let [sum] = sum.vectors(l, input, done + i * WIDTH);
        let mut last = [0; WIDTH];
        l.store(&mut last, sum);
        copy(words, &last);
    }
}

/// Loads the vectors from word `at` on, with zeros past the end of the row.
#[inline(always)]
fn load<L: Lanes, const N: usize>(l: L, row: &[u64], at: usize) -> [L::V; N] {
    let words = row.get(at..).unwrap_or(&[]);
    let mut vectors = [l.splat(0); N];
    if let Some(words) = words.as_chunks().0.first_chunk::<N>() {
        for (vector, words) in vectors.iter_mut().zip(words) {
            *vector = l.load(words);
        }
    } else {
        let mut last = [[0; WIDTH]; N];
        copy(last.as_flattened_mut(), words);
        for (vector, words) in vectors.iter_mut().zip(&last) {
            *vector = l.load(words);
        }
    }
    vectors
}

/// The wrapping sum start + Σ x_i·c_i modulo 2^64.
#[derive(Clone)]
pub(crate) struct Wrapping {
    pub(crate) start: u64,
    pub(crate) column: Vec<u64>,
}

impl Sum for Wrapping {
    #[inline(always)]
    fn vectors<L: Numbers, const N: usize>(&self, l: L, input: &[&[u64]], at: usize) -> [L::V; N] {
        let mut sums = [l.splat(self.start); N];
        for (row, &c) in input.iter().zip(&self.column) {
            let c = l.splat(c);
            for (sum, x) in sums.iter_mut().zip(load::<L, N>(l, row, at)) {
                *sum = l.add(*sum, l.multiply_words(x, c));
            }
        }
        sums
    }
}

#[inline(always)]
pub(crate) fn wrapping<L: Numbers>(l: L, sum: &Wrapping, out: &mut [u64], input: &[&[u64]]) {
    by_vectors(l, sum, out, input);
}

/// The rounded sum ⌊Σ x_i·t/q_i⌉ mod t in doubles.
#[derive(Clone)]
pub(crate) struct Double {
    /// Shifts, the numbers of bits dropped of x_i so that 52 remain, and factors t·2^shift/q_i.
    pub(crate) terms: Vec<(u32, f64)>,
    pub(crate) t: u64,
}

/// Pattern of bits that, or-ed to a word below 2^52, makes the double 2^52 + word.
const INTEGER: f64 = (1_u64 << 52) as f64;
/// Constant that, added to a double below 2^51, rounds it to an integer, which then stands in the low bits.
const ROUND: f64 = (3_u64 << 51) as f64;

#[inline(always)]
fn splat<L: Lanes>(l: L, x: f64) -> L::V {
    l.splat(x.to_bits())
}

/// Computes start + Σ (x_i >> shift_i)·factor_i, one rounding after the other.
#[inline(always)]
fn sum_of_doubles<L: Numbers, const N: usize>(
    l: L,
    start: f64,
    terms: &[(u32, f64)],
    input: &[&[u64]],
    at: usize,
) -> [L::V; N] {
    let integer = splat(l, INTEGER);
    let mut sums = [splat(l, start); N];
    for (row, &(shift, factor)) in input.iter().zip(terms) {
        let factor = splat(l, factor);
        for (sum, x) in sums.iter_mut().zip(load::<L, N>(l, row, at)) {
            let x = l.sub_doubles(l.or(l.shift_right(x, shift), integer), integer);
            *sum = l.add_doubles(*sum, l.multiply_doubles(x, factor));
        }
    }
    sums
}

/// Returns the integer nearest a double of either sign, below 2^51, as a word.
#[inline(always)]
fn nearest_word<L: Numbers>(l: L, x: L::V) -> L::V {
    let round = splat(l, ROUND);
    l.sub(l.add_doubles(x, round), round)
}

impl Sum for Double {
    #[inline(always)]
    fn vectors<L: Numbers, const N: usize>(&self, l: L, input: &[&[u64]], at: usize) -> [L::V; N] {
        let (t, word, zero) = (self.t as f64, l.splat(self.t), l.splat(0));
        let (inverse, t, round) = (splat(l, 1.0 / t), splat(l, t), splat(l, ROUND));
        let mut sums = sum_of_doubles::<L, N>(l, 0.0, &self.terms, input, at);
        for sum in &mut sums {
            // Without its multiple of t the sum lies in [-t/2, t/2].
            let shifted = l.add_doubles(l.multiply_doubles(*sum, inverse), round);
            let multiple = l.multiply_doubles(l.sub_doubles(shifted, round), t);
            let rounded = nearest_word(l, l.sub_doubles(*sum, multiple));
            // No selection by sign: for t above 2^51, where nothing is right, tables would differ.
            let sign = l.sub(zero, l.shift_right(rounded, 63));
            *sum = l.add(rounded, l.and(sign, word));
        }
        sums
    }
}

#[inline(always)]
pub(crate) fn double<L: Numbers>(l: L, sum: &Double, out: &mut [u64], input: &[&[u64]]) {
    by_vectors(l, sum, out, input);
}

/// The rounded sum ⌊Σ x_i·c_i⌉ in doubles.
#[derive(Clone)]
pub(crate) enum Nearest {
    /// Sum ⌊x/q⌉ for one odd modulus q: 1 for an x above ⌊q/2⌋, else 0.
    One { half: u64 },
    /// Sum in doubles, from a start and below 2^51, with the bits dropped of x_i so that 52 remain, and 2^shift·c_i.
    Many { start: f64, terms: Vec<(u32, f64)> },
}

impl Sum for Nearest {
    #[inline(always)]
    fn vectors<L: Numbers, const N: usize>(&self, l: L, input: &[&[u64]], at: usize) -> [L::V; N] {
        match self {
            Self::One { half } => {
                let half = l.splat(*half);
                let mut words = load::<L, N>(l, input.first().copied().unwrap_or(&[]), at);
                for x in &mut words {
                    *x = l.shift_right(l.sub(half, *x), 63);
                }
                words
            }
            Self::Many { start, terms } => {
                let mut sums = sum_of_doubles::<L, N>(l, *start, terms, input, at);
                for sum in &mut sums {
                    *sum = nearest_word(l, *sum);
                }
                sums
            }
        }
    }
}

#[inline(always)]
pub(crate) fn nearest<L: Numbers>(l: L, sum: &Nearest, out: &mut [u64], input: &[&[u64]]) {
    by_vectors(l, sum, out, input);
}

/// The rounded sum ⌊Σ x_i·t/q_i⌉ mod t in 128-bit fixed point.
#[derive(Clone)]
pub(crate) struct Fixed {
    /// Reciprocals ⌊2^128/q_i⌉ of the source moduli.
    pub(crate) reciprocals: Vec<u128>,
    pub(crate) t: u64,
}

impl Fixed {
    #[inline(always)]
    fn words<const N: usize>(&self, out: &mut [u64; N], input: &[&[u64]], at: usize) {
        // The sum is taken modulo 2^128, that is without the integer part of Σ x_i/q_i.
        let mut sums = [0_u128; N];
        for (row, &reciprocal) in input.iter().zip(&self.reciprocals) {
            let Some(words) = row.get(at..).and_then(|row| row.first_chunk::<N>()) else { continue };
            for (sum, &x) in sums.iter_mut().zip(words) {
                *sum = sum.wrapping_add(u128::from(x).wrapping_mul(reciprocal));
            }
        }
        let t = u128::from(self.t);
        for (out, sum) in out.iter_mut().zip(sums) {
            let low = (u128::from(sum as u64) * t) >> 64;
            let rounded = (((sum >> 64) * t + low + (1 << 63)) >> 64) as u64;
            // A rounded value of t becomes 0.
            let below = (rounded.wrapping_sub(self.t).cast_signed() >> 63).cast_unsigned();
            *out = rounded & below;
        }
    }
}

/// Words that are computed together, in whole words of the processor: no vector multiplies those.
const TOGETHER: usize = 4;

#[inline(always)]
pub(crate) fn fixed<L: Numbers>(_: L, sum: &Fixed, out: &mut [u64], input: &[&[u64]]) {
    let (chunks, rest) = out.as_chunks_mut::<TOGETHER>();
    let done = chunks.len() * TOGETHER;
    for (i, chunk) in chunks.iter_mut().enumerate() {
        sum.words(chunk, input, i * TOGETHER);
    }
    for (i, word) in rest.iter_mut().enumerate() {
        sum.words(std::array::from_mut(word), input, done + i);
    }
}
