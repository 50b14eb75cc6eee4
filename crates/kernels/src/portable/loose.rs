//! Arithmetic of transforms for moduli below 2^53: words may grow for all levels of a transform.
//!
//! A product with a constant is below 2q for any word of 64 bits [Harvey14, Shoup's quotient], whatever the word has grown to. So
//! no level of a forward transform reduces anything but the last, and inverse levels, whose sums double, reduce one word in eight a pass.

use super::word::Word;
use crate::constants::{Constants, high_product, shoup_quotient};
use crate::generic::arithmetic::Butterflies;
use crate::schedule::MAX_LEVELS;

/// Largest modulus: inverse levels add words below 512q, and 1024q fits a word.
pub const WIDEST: u64 = (1 << 53) - 1;

/// Arithmetic on single words of 64 bits, without bounds below 2^64.
#[derive(Clone, Copy)]
pub struct Loose {
    q: u64,
    reciprocal: u64,
}

/// Returns the two words that multiply by a constant w: w and ⌊w·2^64 / q⌋.
pub fn factor(w: u64, q: u64) -> [u64; 2] {
    [w, shoup_quotient(w, q, 64)]
}

impl Loose {
    #[inline(always)]
    pub const fn new(c: &Constants) -> Self {
        Self { q: c.q, reciprocal: c.word64.reciprocal }
    }
    /// Returns the product w·y below 2q, for any word y.
    #[inline(always)]
    fn multiply(self, y: u64, (w, quotient): (u64, u64)) -> u64 {
        y.wrapping_mul(w).wrapping_sub(high_product(y, quotient).wrapping_mul(self.q))
    }
    /// Reduces a word below 2q to its canonical residue.
    #[inline(always)]
    fn canonical(self, x: u64) -> u64 {
        x.min(x.wrapping_sub(self.q))
    }
}

impl Butterflies for Loose {
    type Registers = Word;

    // Sums of MAX_LEVELS levels are below (2 + 2·MAX_LEVELS)q.
    const PERIOD: usize = MAX_LEVELS;
    const FRESH: u32 = 2;
    const INVERSE_LIMIT: u32 = 512;
    // The six levels of the tail double canonical numbers to less than 64q.
    const INVERSE_EXIT: u32 = 64;
    const HALVES: bool = false;

    #[inline(always)]
    fn registers(self) -> Word {
        Word
    }
    #[inline(always)]
    fn forward_input(self, x: u64) -> u64 {
        x
    }
    #[inline(always)]
    fn inverse_input(self, x: u64) -> u64 {
        x
    }
    #[inline(always)]
    fn enter(self, x: u64) -> u64 {
        x
    }
    #[inline(always)]
    fn renormalise(self, x: u64) -> u64 {
        x
    }
    #[inline(always)]
    fn butterfly(self, x: u64, y: u64, w: (u64, u64)) -> (u64, u64) {
        self.sum_difference(x, self.multiply(y, w))
    }
    #[inline(always)]
    fn sum_difference(self, x: u64, y: u64) -> (u64, u64) {
        (x.wrapping_add(y), x.wrapping_add(2 * self.q).wrapping_sub(y))
    }
    #[inline(always)]
    fn last_butterfly(self, x: u64, y: u64, w: (u64, u64)) -> (u64, u64) {
        let (x, t) = (self.canonical_output(x), self.canonical(self.multiply(y, w)));
        let difference = x.wrapping_sub(t);
        (self.canonical(x.wrapping_add(t)), difference.min(difference.wrapping_add(self.q)))
    }
    #[inline(always)]
    fn reduce_lazy(self, x: u64) -> u64 {
        x.wrapping_sub(high_product(x, self.reciprocal).wrapping_mul(self.q))
    }
    #[inline(always)]
    fn halve(self, x: u64, _: u32) -> u64 {
        self.reduce_lazy(x)
    }
    #[inline(always)]
    fn inverse_butterfly(self, x: u64, y: u64, w: (u64, u64), bound: u32) -> (u64, u64) {
        let bias = u64::from(bound) * self.q;
        (x.wrapping_add(y), self.multiply(x.wrapping_add(bias).wrapping_sub(y), w))
    }
    #[inline(always)]
    fn inverse_last_butterfly(self, x: u64, y: u64, c: (u64, u64), w: (u64, u64), bound: u32) -> (u64, u64) {
        let (sum, y) = self.inverse_butterfly(x, y, w, bound);
        (self.canonical(self.multiply(sum, c)), self.canonical(y))
    }

    type Constant = (u64, u64);
    const CONSTANT: usize = 2;

    fn constant_words(w: u64, q: u64) -> [u64; 3] {
        let [w, quotient] = factor(w, q);
        [w, quotient, 0]
    }
    #[inline(always)]
    fn constant(self, [w, quotient, _]: [u64; 3]) -> Self::Constant {
        (w, quotient)
    }
    #[inline(always)]
    fn product(self, y: u64, w: Self::Constant) -> u64 {
        self.multiply(y, w)
    }
    #[inline(always)]
    fn constant_butterfly(self, x: u64, y: u64, w: Self::Constant) -> (u64, u64) {
        self.butterfly(x, y, w)
    }
    #[inline(always)]
    fn difference(self, x: u64, y: u64) -> u64 {
        self.reduce_lazy(x).wrapping_add(2 * self.q).wrapping_sub(y)
    }
    #[inline(always)]
    fn canonical_output(self, x: u64) -> u64 {
        self.canonical(self.reduce_lazy(x))
    }
}
