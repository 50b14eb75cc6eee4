//! Arithmetic for moduli below 2^30 in plain Rust: constants and their quotients are halves of words, and so are all words between 0 and 4q
//! `[Harvey14]`.

pub use super::pair::Pair;
use crate::constants::Constants;

/// Largest modulus: words below 4q are halves of words.
pub const WIDEST: u64 = (1 << 30) - 1;

/// Returns the two words that multiply by a constant w: w and ⌊w·2^32 / q⌋.
pub fn factor(w: u64, q: u64) -> [u64; 2] {
    [w, (w << 32) / q]
}

/// Unsigned arithmetic on words below 4q, each multiplication of which leaves a word below 2q.
#[derive(Clone, Copy)]
pub struct Short {
    q: Pair,
    twice: Pair,
    modulus: u64,
}

/// A constant and its quotient in both words of a pair.
#[derive(Clone, Copy)]
pub struct Twiddle {
    w: Pair,
    quotient: Pair,
}

/// A constant and its quotient.
#[derive(Clone, Copy)]
pub struct Scalar {
    w: u64,
    quotient: u64,
}

impl Twiddle {
    #[inline(always)]
    pub fn new(w: Pair, quotient: Pair) -> Self {
        Self { w, quotient }
    }
}

impl Scalar {
    #[inline(always)]
    pub fn new(&[w, quotient]: &[u64; 2]) -> Self {
        Self { w, quotient }
    }
}

impl Short {
    #[inline(always)]
    pub fn new(c: &Constants) -> Self {
        let splat = |word| Pair::new([word; 2]);
        Self { q: splat(c.q), twice: splat(2 * c.q), modulus: c.q }
    }

    /// Returns the product w·y below 2q, for a word y below 2^32: the quotient is at most one short.
    #[inline(always)]
    pub fn multiply(self, y: Pair, w: Twiddle) -> Pair {
        let quotient = y.multiply_halves(w.quotient).high_half();
        y.multiply_halves(w.w).sub(quotient.multiply_halves(self.q))
    }

    /// Returns [`multiply`](Self::multiply) of a single word.
    #[inline(always)]
    pub fn multiply_word(self, y: u64, w: Scalar) -> u64 {
        let quotient = y.wrapping_mul(w.quotient) >> 32;
        y.wrapping_mul(w.w).wrapping_sub(quotient.wrapping_mul(self.modulus))
    }

    /// Reduces a word below 4q to one below 2q.
    #[inline(always)]
    fn once(self, x: Pair) -> Pair {
        let x = x.sub(self.twice);
        x.add(x.sign().and(self.twice))
    }

    #[inline(always)]
    fn once_word(self, x: u64) -> u64 {
        x.min(x.wrapping_sub(2 * self.modulus))
    }

    /// Reduces a word below 2q to its canonical residue.
    #[inline(always)]
    pub fn canonical(self, x: Pair) -> Pair {
        let x = x.sub(self.q);
        x.add(x.sign().and(self.q))
    }
}

/// Butterflies of transforms, lazily.
impl Short {
    /// Computes the butterfly (x + w·y, x − w·y).
    #[inline(always)]
    pub(super) fn butterfly(self, x: Pair, y: Pair, w: Twiddle) -> (Pair, Pair) {
        let (x, t) = (self.once(x), self.multiply(y, w));
        (x.add(t), x.add(self.twice).sub(t))
    }
    /// Computes the butterfly (x + w·y, x − w·y), with canonical results.
    #[inline(always)]
    pub(super) fn last_butterfly(self, x: Pair, y: Pair, w: Twiddle) -> (Pair, Pair) {
        let (x, y) = self.butterfly(x, y, w);
        (self.canonical(self.once(x)), self.canonical(self.once(y)))
    }
    /// Computes the inverse butterfly (x + y, w·(x − y)).
    #[inline(always)]
    pub(super) fn inverse_butterfly(self, x: Pair, y: Pair, w: Twiddle) -> (Pair, Pair) {
        (self.once(x.add(y)), self.multiply(x.add(self.twice).sub(y), w))
    }
    /// Computes the last inverse butterfly (c·(x + y), w·(x − y)), with canonical results.
    #[inline(always)]
    pub(super) fn inverse_last_butterfly(self, x: Pair, y: Pair, c: Twiddle, w: Twiddle) -> (Pair, Pair) {
        let difference = x.add(self.twice).sub(y);
        (self.canonical(self.multiply(x.add(y), c)), self.canonical(self.multiply(difference, w)))
    }
    /// Computes [`butterfly`](Self::butterfly) of single words, in place.
    #[inline(always)]
    pub(super) fn butterfly_words(self, w: Scalar, x: &mut u64, y: &mut u64) {
        let (sum, t) = (self.once_word(*x), self.multiply_word(*y, w));
        (*x, *y) = (sum.wrapping_add(t), sum.wrapping_add(2 * self.modulus).wrapping_sub(t));
    }
    /// Computes [`inverse_butterfly`](Self::inverse_butterfly) of single words, in place.
    #[inline(always)]
    pub(super) fn inverse_butterfly_words(self, w: Scalar, x: &mut u64, y: &mut u64) {
        let difference = x.wrapping_add(2 * self.modulus).wrapping_sub(*y);
        (*x, *y) = (self.once_word(x.wrapping_add(*y)), self.multiply_word(difference, w));
    }
}
