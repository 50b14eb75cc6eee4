//! Sums of products that wrap or are rounded instead of being reduced: plain loops, which the compiler turns
//! into the instructions of the table they are compiled for. No operation is fused or reordered, so doubles too are
//! the same on every table.

/// Number of words whose sums stay in registers, for sums of one product each and of two.
const WIDE: usize = 32;
const NARROW: usize = 4;

/// Function of the words at one place of all inputs of a sum.
trait Sum {
    fn words<const N: usize>(&self, out: &mut [u64; N], input: &[&[u64]], at: usize);
}

#[inline(always)]
fn by_chunks<const N: usize>(sum: &impl Sum, out: &mut [u64], input: &[&[u64]]) {
    let (chunks, rest) = out.as_chunks_mut::<N>();
    let done = chunks.len() * N;
    for (i, chunk) in chunks.iter_mut().enumerate() {
        sum.words(chunk, input, i * N);
    }
    for (i, word) in rest.iter_mut().enumerate() {
        sum.words(std::array::from_mut(word), input, done + i);
    }
}

#[inline(always)]
fn words_at<const N: usize>(row: &[u64], at: usize) -> Option<&[u64; N]> {
    row.get(at..)?.first_chunk()
}

/// The wrapping sum start + Σ x_i·c_i modulo 2^64.
#[derive(Clone)]
pub(crate) struct Wrapping {
    pub(crate) start: u64,
    pub(crate) column: Vec<u64>,
}

impl Sum for Wrapping {
    #[inline(always)]
    fn words<const N: usize>(&self, out: &mut [u64; N], input: &[&[u64]], at: usize) {
        let mut sums = [self.start; N];
        for (row, &c) in input.iter().zip(&self.column) {
            let Some(words) = words_at::<N>(row, at) else { continue };
            for (sum, &x) in sums.iter_mut().zip(words) {
                *sum = sum.wrapping_add(x.wrapping_mul(c));
            }
        }
        *out = sums;
    }
}

#[inline(always)]
pub(crate) fn wrapping(sum: &Wrapping, out: &mut [u64], input: &[&[u64]]) {
    by_chunks::<WIDE>(sum, out, input);
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

/// Computes the sum start + Σ (x_i >> shift_i)·factor_i in doubles, one rounding after the other.
#[inline(always)]
fn sum_of_doubles<const N: usize>(start: f64, terms: &[(u32, f64)], input: &[&[u64]], at: usize) -> [f64; N] {
    let mut sums = [start; N];
    for (row, &(shift, factor)) in input.iter().zip(terms) {
        let Some(words) = words_at::<N>(row, at) else { continue };
        for (sum, &x) in sums.iter_mut().zip(words) {
            *sum += (f64::from_bits((x >> (shift & 63)) | INTEGER.to_bits()) - INTEGER) * factor;
        }
    }
    sums
}

impl Sum for Double {
    #[inline(always)]
    fn words<const N: usize>(&self, out: &mut [u64; N], input: &[&[u64]], at: usize) {
        let sums = sum_of_doubles::<N>(0.0, &self.terms, input, at);
        let t = self.t as f64;
        let inverse = 1.0 / t;
        for (out, sum) in out.iter_mut().zip(sums) {
            // Without its multiple of t the sum lies in [-t/2, t/2].
            let multiple = (sum * inverse + ROUND) - ROUND;
            let rounded = (sum - multiple * t + ROUND).to_bits().wrapping_sub(ROUND.to_bits());
            let sign = (rounded.cast_signed() >> 63).cast_unsigned();
            *out = rounded.wrapping_add(sign & self.t);
        }
    }
}

#[inline(always)]
pub(crate) fn double(sum: &Double, out: &mut [u64], input: &[&[u64]]) {
    by_chunks::<WIDE>(sum, out, input);
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
    fn words<const N: usize>(&self, out: &mut [u64; N], input: &[&[u64]], at: usize) {
        match self {
            Self::One { half } => {
                let Some(words) = input.first().and_then(|row| words_at::<N>(row, at)) else { return };
                for (out, &x) in out.iter_mut().zip(words) {
                    *out = half.wrapping_sub(x) >> 63;
                }
            }
            Self::Many { start, terms } => {
                for (out, sum) in out.iter_mut().zip(sum_of_doubles::<N>(*start, terms, input, at)) {
                    *out = (sum + ROUND).to_bits().wrapping_sub(ROUND.to_bits());
                }
            }
        }
    }
}

#[inline(always)]
pub(crate) fn nearest(sum: &Nearest, out: &mut [u64], input: &[&[u64]]) {
    by_chunks::<WIDE>(sum, out, input);
}

/// The rounded sum ⌊Σ x_i·t/q_i⌉ mod t in 128-bit fixed point.
#[derive(Clone)]
pub(crate) struct Fixed {
    /// Reciprocals ⌊2^128/q_i⌉ of the source moduli.
    pub(crate) reciprocals: Vec<u128>,
    pub(crate) t: u64,
}

impl Sum for Fixed {
    #[inline(always)]
    fn words<const N: usize>(&self, out: &mut [u64; N], input: &[&[u64]], at: usize) {
        // The sum is taken modulo 2^128, that is without the integer part of Σ x_i/q_i.
        let mut sums = [0_u128; N];
        for (row, &reciprocal) in input.iter().zip(&self.reciprocals) {
            let Some(words) = words_at::<N>(row, at) else { continue };
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

#[inline(always)]
pub(crate) fn fixed(sum: &Fixed, out: &mut [u64], input: &[&[u64]]) {
    by_chunks::<NARROW>(sum, out, input);
}
