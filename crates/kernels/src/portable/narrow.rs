//! Arithmetic for moduli below 2^49 in plain Rust: quotients from floating point, two integer products a factor.
//!
//! A quotient t = round(y·(w/q)) of doubles is off by little, so that y·w − t·q, computed modulo 2^64, is
//! a small signed number; no carry and no high word is needed. Words are two's complement and may leave
//! `[0, q)` on either side, which makes most renormalisations superfluous.

use super::levels::PairArithmetic;
pub use super::pair::Pair;
use crate::constants::Constants;

/// Constant 1.5·2^52: a double near it has ulp 1, so adding it rounds to the nearest integer, whose two's
/// complement then stands in the low bits.
const MAGIC: f64 = 6_755_399_441_055_744.0;

/// Constant 2^63 as a double.
const TWO_63: f64 = 9_223_372_036_854_775_808.0;

/// A constant w with its high half, and the quotient w/q as a double.
#[derive(Clone, Copy)]
pub struct Twiddle {
    w: Pair,
    high: Pair,
    quotient: Pair,
}

/// A constant w with its quotient ⌊w·2^63 / q⌉, which is off by up to 2^10.
#[derive(Clone, Copy)]
pub struct Scalar {
    w: u64,
    quotient: i64,
    q: u64,
}

impl Scalar {
    pub fn new(&[w, quotient]: &[u64; 2], c: &Constants) -> Self {
        let quotient = f64::from_bits(quotient) * TWO_63;
        Self { w, quotient: quotient as i64, q: c.q }
    }

    /// Returns the product w·y between −q and q for a signed word, |y| < 2^51.
    #[inline(always)]
    pub fn multiply(self, y: u64) -> u64 {
        let product = i128::from(2 * y.cast_signed()) * i128::from(self.quotient);
        let t = ((product + (1 << 63)) >> 64) as u64;
        y.wrapping_mul(self.w).wrapping_sub(t.wrapping_mul(self.q))
    }
}

impl Twiddle {
    #[inline(always)]
    pub fn new(w: Pair, quotient: Pair) -> Self {
        Self { w, high: w.high_half(), quotient }
    }
}

/// Returns the two words that multiply by a constant w.
pub fn factor(w: u64, q: u64) -> [u64; 2] {
    [w, (w as f64 / q as f64).to_bits()]
}

/// Largest modulus of a period: eleven levels reach less than 9q, three less than 4q, inverse levels 8q and
/// 4q, which all stay below 2^51.
pub const fn widest(period: usize) -> u64 {
    if period == 11 { (1 << 52) / 18 } else { (1 << 49) - 1 }
}

/// Signed arithmetic with `PERIOD` levels between renormalisations.
///
/// Where |y| < 2^51, the quotient of a product is off by at most 1/2 + |y|·2^-54 (the rounding of w/q) and
/// half a unit in the last place of y: less than 3/4 in all. A level therefore adds less than 3q/4 to a
/// bound, and summed level by level eleven of them keep 9q from an input below 2q, three keep 3q.
#[derive(Clone, Copy)]
pub struct Narrow<const PERIOD: usize> {
    q: Pair,
    q_high: Pair,
    /// Inverse 1/q of the modulus in both doubles of a pair.
    inverse: Pair,
    magic: Pair,
    constants: Constants,
}

impl<const PERIOD: usize> Narrow<PERIOD> {
    #[inline(always)]
    pub fn new(c: &Constants) -> Self {
        let splat = |word| Pair::new([word; 2]);
        let q = splat(c.q);
        let inverse = splat((1.0 / c.q as f64).to_bits());
        Self { q, q_high: q.high_half(), inverse, magic: splat(MAGIC.to_bits()), constants: *c }
    }

    /// Converts a signed word, |y| < 2^51, to a double.
    #[inline(always)]
    fn float(self, y: Pair) -> Pair {
        y.add(self.magic).sub_doubles(self.magic)
    }

    /// Returns the integer nearest to a double, |x| < 2^51, as a signed word.
    #[inline(always)]
    fn nearest(self, x: Pair) -> Pair {
        x.add_doubles(self.magic).sub(self.magic)
    }

    /// Reduces a signed word between −q and q to its canonical residue.
    #[inline(always)]
    pub fn lift(self, x: Pair) -> Pair {
        x.add(x.sign().and(self.q))
    }

    /// Returns the product w·y between −q and q: y·w − t·q modulo 2^64.
    #[inline(always)]
    pub fn multiply(self, y: Pair, w: Twiddle) -> Pair {
        let t = self.nearest(self.float(y).multiply_doubles(w.quotient));
        let cross = y.multiply_halves(w.high).add(y.high_half().multiply_halves(w.w));
        let cross = cross.sub(t.multiply_halves(self.q_high));
        let cross = cross.sub(t.high_half().multiply_halves(self.q));
        y.multiply_halves(w.w).sub(t.multiply_halves(self.q)).add(cross.to_high_half())
    }

    /// Reduces a signed word modulo q, to between −q and q.
    #[inline(always)]
    pub fn reduce(self, x: Pair) -> Pair {
        let t = self.nearest(self.float(x).multiply_doubles(self.inverse));
        let cross = t.multiply_halves(self.q_high).add(t.high_half().multiply_halves(self.q));
        x.sub(t.multiply_halves(self.q)).sub(cross.to_high_half())
    }
}

impl<const PERIOD: usize> PairArithmetic for Narrow<PERIOD> {
    const PERIOD: usize = PERIOD;
    type Twiddle = Twiddle;
    type Scalar = Scalar;

    #[inline(always)]
    fn new(c: &Constants) -> Self {
        Self::new(c)
    }
    #[inline(always)]
    fn constants(self, words: Pair, quotients: Pair) -> Twiddle {
        Twiddle::new(words, quotients)
    }
    #[inline(always)]
    fn scalar(self, words: &[u64; 2]) -> Scalar {
        Scalar::new(words, &self.constants)
    }
    #[inline(always)]
    fn enter(self, x: Pair) -> Pair {
        x.sub(self.q)
    }
    #[inline(always)]
    fn reduce(self, x: Pair) -> Pair {
        self.reduce(x)
    }
    #[inline(always)]
    fn butterfly(self, x: Pair, y: Pair, w: Twiddle) -> (Pair, Pair) {
        let t = self.multiply(y, w);
        (x.add(t), x.sub(t))
    }
    #[inline(always)]
    fn last_butterfly(self, x: Pair, y: Pair, w: Twiddle) -> (Pair, Pair) {
        let (x, t) = (self.lift(self.reduce(x)), self.lift(self.multiply(y, w)));
        (self.lift(x.add(t).sub(self.q)), self.lift(x.sub(t)))
    }
    #[inline(always)]
    fn inverse_butterfly(self, x: Pair, y: Pair, w: Twiddle) -> (Pair, Pair) {
        (x.add(y), self.multiply(x.sub(y), w))
    }
    #[inline(always)]
    fn inverse_butterfly_reduced(self, x: Pair, y: Pair, w: Twiddle) -> (Pair, Pair) {
        (self.reduce(x.add(y)), self.multiply(x.sub(y), w))
    }
    #[inline(always)]
    fn inverse_last_butterfly(self, x: Pair, y: Pair, c: Twiddle, w: Twiddle) -> (Pair, Pair) {
        (self.lift(self.multiply(x.add(y), c)), self.lift(self.multiply(x.sub(y), w)))
    }
    #[inline(always)]
    fn butterfly_words(self, w: Scalar, x: &mut u64, y: &mut u64) {
        let t = w.multiply(*y);
        (*x, *y) = (x.wrapping_add(t), x.wrapping_sub(t));
    }
    #[inline(always)]
    fn inverse_butterfly_words(self, w: Scalar, x: &mut u64, y: &mut u64) {
        (*x, *y) = (x.wrapping_add(*y), w.multiply(x.wrapping_sub(*y)));
    }
}
