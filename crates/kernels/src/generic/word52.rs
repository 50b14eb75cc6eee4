//! Arithmetic on 52-bit words without reduction for `PERIOD` levels: odd moduli below 2^49.
//!
//! The multiplier reads the low 52 bits of its factors and adds into 64, so all of a transform runs
//! modulo 2^52 and nothing is masked until the end.

use super::arithmetic::{Arithmetic, Butterflies};
use super::lanes::Lanes52;
use super::lanes::Whole;
use crate::constants::{Constants, shoup_quotient};

const MASK: u64 = (1 << 52) - 1;

/// Lazy arithmetic modulo 2^52 with `(4·PERIOD + 2)·q ≤ 2^52`.
#[derive(Clone, Copy)]
pub struct Word52<L: Lanes52, const PERIOD: usize> {
    lanes: L,
    zero: L::V,
    mask: L::V,
    q: L::V,
    /// Word 2^52 − q: adding multiples of it subtracts multiples of q modulo 2^52.
    negated: L::V,
    reciprocal: L::V,
    /// Offset −2·PERIOD: a quotient that much too small leaves x biased by 2·PERIOD·q.
    short: L::V,
    modulus: u64,
    bits: u32,
    barrett: L::V,
    wrap: (L::V, L::V),
}

impl<L: Lanes52, const PERIOD: usize> Word52<L, PERIOD> {
    #[inline(always)]
    pub fn new(lanes: L, c: &Constants) -> Self {
        Self {
            lanes,
            zero: lanes.splat(0),
            mask: lanes.splat(MASK),
            q: lanes.splat(c.q),
            negated: lanes.splat(c.word52.negated),
            reciprocal: lanes.splat(c.word52.reciprocal),
            short: lanes.splat((2 * PERIOD as u64).wrapping_neg()),
            modulus: c.q,
            bits: c.bits,
            barrett: lanes.splat(c.word52.barrett),
            wrap: (lanes.splat(c.word52.wrap.0), lanes.splat(c.word52.wrap.1)),
        }
    }

    /// Computes x − (⌊x·⌊2^52/q⌋ / 2^52⌋ + offset)·q, which is x mod q in `[0, 2q)` less offset·q.
    #[inline(always)]
    fn subtract_quotient(self, x: L::V, offset: L::V) -> L::V {
        let quotient = self.lanes.multiply_add_high(offset, x, self.reciprocal);
        self.lanes.multiply_add_low(x, quotient, self.negated)
    }

    #[inline(always)]
    fn clean(self, x: L::V) -> L::V {
        self.lanes.and(x, self.mask)
    }

    /// Reduces a word below 4q to its canonical residue.
    #[inline(always)]
    fn canonical_from_4q(self, x: L::V) -> L::V {
        let l = self.lanes;
        self.lanes.subtract_once(self.lanes.subtract_once(self.clean(x), l.add(self.q, self.q)), self.q)
    }

    /// Reduces the number high·2^52 + low of two words to `[0, 4q)`.
    #[inline(always)]
    fn reduce_pair(self, high: L::V, low: L::V) -> L::V {
        let l = self.lanes;
        let quotient = l.multiply_add_high(self.zero, low, self.reciprocal);
        let quotient = l.multiply_add_high(quotient, high, self.wrap.1);
        l.multiply_add_low(l.multiply_add_low(low, high, self.wrap.0), quotient, self.negated)
    }

    /// Reduces a word below 2q to its canonical residue.
    #[inline(always)]
    pub fn canonical(self, x: L::V) -> L::V {
        self.lanes.subtract_once(self.clean(x), self.q)
    }
    /// Returns the product w·y in `[0, 2q)`, for any word y.
    #[inline(always)]
    fn multiply_lazy(self, y: L::V, w: (L::V, L::V)) -> L::V {
        let l = self.lanes;
        let quotient = l.multiply_add_high(self.zero, y, w.1);
        l.multiply_add_low(l.multiply_add_low(self.zero, y, w.0), quotient, self.negated)
    }
}

impl<L: Lanes52, const PERIOD: usize> Arithmetic for Word52<L, PERIOD> {
    type Lanes = L;

    // Forward levels reach (4·PERIOD + 2)·q, the difference of an inverse level 2·INVERSE_LIMIT·q.
    const WIDEST: u64 = {
        let forward = (1 << 52) / (4 * PERIOD as u64 + 2);
        let inverse = ((1 << 52) - 1) / (2 * Self::INVERSE_LIMIT as u64);
        if forward < inverse { forward } else { inverse }
    };
    // 32 · 2^98 / 2^52 + 32 carries < 2^52
    const MAX_TERMS: usize = 32;

    fn factor(w: u64, q: u64) -> [u64; 2] {
        [w, shoup_quotient(w, q, 52)]
    }
    #[inline(always)]
    fn lanes(self) -> L {
        self.lanes
    }
    #[inline(always)]
    fn value(self) -> u64 {
        self.modulus
    }
    #[inline(always)]
    fn modulus(self) -> L::V {
        self.q
    }

    #[inline(always)]
    fn multiply_constant(self, y: L::V, w: (L::V, L::V)) -> L::V {
        self.canonical(self.multiply_lazy(y, w))
    }
    /// Returns the product a·b mod q by Barrett's method: a·b / 2^(bits − 2) from the high half of shifted
    /// factors; the quotient is at most 1 short.
    #[inline(always)]
    fn multiply(self, a: L::V, b: L::V) -> L::V {
        let l = self.lanes;
        let top = l.multiply_add_high(self.zero, l.shift_left(a, 52 - self.bits), l.shift_left(b, 2));
        let quotient = l.multiply_add_high(self.zero, top, self.barrett);
        let low = l.multiply_add_low(self.zero, a, b);
        self.canonical(l.multiply_add_low(low, quotient, self.negated))
    }
    #[inline(always)]
    fn reduce(self, words: L::V) -> L::V {
        let high = self.lanes.shift_right(words, 52);
        self.canonical_from_4q(self.reduce_pair(high, self.clean(words)))
    }
    #[inline(always)]
    fn sum_reduce(self, (high, low): (L::V, L::V)) -> L::V {
        let l = self.lanes;
        let high = l.add(high, l.shift_right(low, 52));
        self.canonical_from_4q(self.reduce_pair(high, self.clean(low)))
    }
    #[inline(always)]
    fn sum_add(self, (high, low): (L::V, L::V), a: L::V, b: L::V) -> (L::V, L::V) {
        let l = self.lanes;
        (l.multiply_add_high(high, a, b), l.multiply_add_low(low, a, b))
    }
}

impl<L: Lanes52, const PERIOD: usize> Butterflies for Word52<L, PERIOD> {
    type Registers = Whole<L>;

    const PERIOD: usize = PERIOD;
    const FRESH: u32 = 2;
    const INVERSE_LIMIT: u32 = if PERIOD == 4 { 8 } else { 4 };
    const INVERSE_EXIT: u32 = if PERIOD == 4 { 4 } else { 2 };
    const HALVES: bool = true;

    #[inline(always)]
    fn registers(self) -> Whole<L> {
        Whole(self.lanes)
    }
    #[inline(always)]
    fn forward_input(self, x: L::V) -> L::V {
        x
    }
    #[inline(always)]
    fn inverse_input(self, x: L::V) -> L::V {
        x
    }
    #[inline(always)]
    fn enter(self, x: L::V) -> L::V {
        self.lanes.add(x, self.lanes.splat(2 * PERIOD as u64 * self.modulus))
    }
    #[inline(always)]
    fn renormalise(self, x: L::V) -> L::V {
        self.subtract_quotient(x, self.short)
    }
    /// Computes the butterfly in five instructions: the product accumulates on x, and x − T = 2x − (x + T).
    #[inline(always)]
    fn butterfly(self, x: L::V, y: L::V, w: (L::V, L::V)) -> (L::V, L::V) {
        let l = self.lanes;
        let quotient = l.multiply_add_high(self.zero, y, w.1);
        let sum = l.multiply_add_low(l.multiply_add_low(x, y, w.0), quotient, self.negated);
        (sum, l.sub(l.add(x, x), sum))
    }
    #[inline(always)]
    fn sum_difference(self, x: L::V, y: L::V) -> (L::V, L::V) {
        (self.lanes.add(x, y), self.lanes.sub(x, y))
    }
    /// Computes the last butterfly: both halves are below 2q and canonical before they meet, which is cheaper
    /// than reducing two results.
    #[inline(always)]
    fn last_butterfly(self, x: L::V, y: L::V, w: (L::V, L::V)) -> (L::V, L::V) {
        let l = self.lanes;
        let x = self.canonical(self.subtract_quotient(x, self.zero));
        let t = self.canonical(self.multiply_lazy(y, w));
        let difference = l.sub(x, t);
        (
            self.lanes.subtract_once(l.add(x, t), self.q),
            l.unless_negative(difference, l.add(difference, self.q)),
        )
    }

    #[inline(always)]
    fn reduce_lazy(self, x: L::V) -> L::V {
        self.subtract_quotient(x, self.zero)
    }
    #[inline(always)]
    fn halve(self, x: L::V, bound: u32) -> L::V {
        let half = self.lanes.splat(u64::from(bound / 2) * self.modulus);
        self.lanes.subtract_once(self.clean(x), half)
    }
    #[inline(always)]
    fn inverse_butterfly(self, x: L::V, y: L::V, w: (L::V, L::V), bound: u32) -> (L::V, L::V) {
        let l = self.lanes;
        let bias = l.splat(u64::from(bound) * self.modulus);
        (l.add(x, y), self.multiply_lazy(l.sub(l.add(x, bias), y), w))
    }
    #[inline(always)]
    fn inverse_last_butterfly(
        self,
        x: L::V,
        y: L::V,
        c: (L::V, L::V),
        w: (L::V, L::V),
        bound: u32,
    ) -> (L::V, L::V) {
        let (sum, y) = self.inverse_butterfly(x, y, w, bound);
        (self.canonical(self.multiply_lazy(sum, c)), self.canonical(y))
    }

    type Constant = (L::V, L::V);
    const CONSTANT: usize = 2;

    fn constant_words(w: u64, q: u64) -> [u64; 3] {
        let [w, quotient] = Self::factor(w, q);
        [w, quotient, 0]
    }
    #[inline(always)]
    fn constant(self, [w, quotient, _]: [u64; 3]) -> Self::Constant {
        (self.lanes.splat(w), self.lanes.splat(quotient))
    }
    #[inline(always)]
    fn product(self, y: L::V, w: Self::Constant) -> L::V {
        self.multiply_lazy(y, w)
    }
    #[inline(always)]
    fn constant_butterfly(self, x: L::V, y: L::V, w: Self::Constant) -> (L::V, L::V) {
        self.butterfly(x, y, w)
    }
    #[inline(always)]
    fn difference(self, x: L::V, y: L::V) -> L::V {
        let l = self.lanes;
        l.add(self.reduce_lazy(x), l.sub(l.add(self.q, self.q), y))
    }
    #[inline(always)]
    fn canonical_output(self, x: L::V) -> L::V {
        self.canonical(self.reduce_lazy(x))
    }
}
