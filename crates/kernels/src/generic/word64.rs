//! Arithmetic on 64-bit words kept below 4q, after Harvey: any modulus below 2^62.

use super::arithmetic::{Arithmetic, Butterflies};
use super::lanes::{Lanes, Lanes64};
use crate::constants::{Constants, shoup_quotient};

/// Lazy arithmetic in `[0, 4q)` on words of 64 bits [Harvey14].
#[derive(Clone, Copy)]
pub(crate) struct Word64<L: Lanes64> {
    lanes: L,
    q: L::V,
    q2: L::V,
    reciprocal: L::V,
    wrap: (L::V, L::V),
    barrett: L::V,
    modulus: u64,
    bits: u32,
}

impl<L: Lanes64> Word64<L> {
    #[inline(always)]
    pub(crate) fn new(lanes: L, c: &Constants) -> Self {
        Self {
            lanes,
            q: lanes.splat(c.q),
            q2: lanes.splat(2 * c.q),
            reciprocal: lanes.splat(c.word64.reciprocal),
            wrap: (lanes.splat(c.word64.wrap.0), lanes.splat(c.word64.wrap.1)),
            barrett: lanes.splat(c.word64.barrett),
            modulus: c.q,
            bits: c.bits,
        }
    }

    /// Reduces a word below 2q to its canonical residue.
    #[inline(always)]
    fn canonical(self, x: L::V) -> L::V {
        self.lanes.subtract_once(x, self.q)
    }
    /// Returns the product w·y in `[0, 2q)`, for any word y.
    #[inline(always)]
    fn multiply_lazy(self, y: L::V, w: (L::V, L::V)) -> L::V {
        self.less_quotient(y, w.0, self.lanes.multiply_high_about(y, w.1))
    }

    /// Computes the product w·y − quotient·q in `[0, 2q)`.
    #[inline(always)]
    fn less_quotient(self, y: L::V, w: L::V, quotient: L::V) -> L::V {
        let l = self.lanes;
        let r = l.sub(l.multiply_low(y, w), l.multiply_low(quotient, self.q));
        // A quotient that is 2 short leaves less than 4q.
        if L::ABOUT_IS_SHORT { self.lanes.subtract_once(r, self.q2) } else { r }
    }
}

impl<L: Lanes64 + Lanes> Arithmetic for Word64<L> {
    type Lanes = L;

    const WIDEST: u64 = (1 << 62) - 1;
    // 16 · (2^62)^2 = 2^128
    const MAX_TERMS: usize = 16;

    fn factor(w: u64, q: u64) -> [u64; 2] {
        [w, shoup_quotient(w, q, 64)]
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
    /// Returns the product a·b mod q by Barrett's method, cut to its top 64 bits: the quotient is at most 2
    /// short.
    #[inline(always)]
    fn multiply(self, a: L::V, b: L::V) -> L::V {
        let l = self.lanes;
        let (high, low) = (l.multiply_high(a, b), l.multiply_low(a, b));
        let top = l.add(l.shift_left(high, 66 - self.bits), l.shift_right(low, self.bits - 2));
        let quotient = l.multiply_high(top, self.barrett);
        let r = l.sub(low, l.multiply_low(quotient, self.q));
        self.canonical(self.lanes.subtract_once(r, self.q2))
    }
    #[inline(always)]
    fn reduce(self, words: L::V) -> L::V {
        let l = self.lanes;
        let quotient = l.multiply_high(words, self.reciprocal);
        self.canonical(l.sub(words, l.multiply_low(quotient, self.q)))
    }
    #[inline(always)]
    fn sum_reduce(self, (high, low): (L::V, L::V)) -> L::V {
        let l = self.lanes;
        let quotient = l.multiply_high(low, self.reciprocal);
        let low = l.sub(low, l.multiply_low(quotient, self.q));
        let r = l.add(low, self.multiply_lazy(high, self.wrap));
        self.canonical(self.lanes.subtract_once(r, self.q2))
    }
    #[inline(always)]
    fn sum_add(self, sum: (L::V, L::V), a: L::V, b: L::V) -> (L::V, L::V) {
        let l = self.lanes;
        l.add_wide(sum, (l.multiply_high(a, b), l.multiply_low(a, b)))
    }
}

impl<L: Lanes64> Butterflies for Word64<L> {
    type Registers = L::Registers;

    const PERIOD: usize = 1;
    const FRESH: u32 = 2;
    const INVERSE_LIMIT: u32 = 2;
    const INVERSE_EXIT: u32 = 2;
    const HALVES: bool = true;

    #[inline(always)]
    fn registers(self) -> L::Registers {
        self.lanes.registers()
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
        x
    }
    #[inline(always)]
    fn renormalise(self, x: L::V) -> L::V {
        self.lanes.subtract_once(x, self.q2)
    }
    #[inline(always)]
    fn butterfly(self, x: L::V, y: L::V, w: (L::V, L::V)) -> (L::V, L::V) {
        self.sum_difference(x, self.multiply_lazy(y, w))
    }
    #[inline(always)]
    fn sum_difference(self, x: L::V, y: L::V) -> (L::V, L::V) {
        (self.lanes.add(x, y), self.lanes.sub(self.lanes.add(x, self.q2), y))
    }
    #[inline(always)]
    fn last_butterfly(self, x: L::V, y: L::V, w: (L::V, L::V)) -> (L::V, L::V) {
        let (x, y) = self.butterfly(self.renormalise(x), y, w);
        (
            self.canonical(self.lanes.subtract_once(x, self.q2)),
            self.canonical(self.lanes.subtract_once(y, self.q2)),
        )
    }

    #[inline(always)]
    fn reduce_lazy(self, x: L::V) -> L::V {
        self.lanes.subtract_once(x, self.q2)
    }
    #[inline(always)]
    fn halve(self, x: L::V, _bound: u32) -> L::V {
        // Bounds above 4 do not occur.
        self.lanes.subtract_once(x, self.q2)
    }
    #[inline(always)]
    fn inverse_butterfly(self, x: L::V, y: L::V, w: (L::V, L::V), _bound: u32) -> (L::V, L::V) {
        let l = self.lanes;
        (l.add(x, y), self.multiply_lazy(l.sub(l.add(x, self.q2), y), w))
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

    type Constant = (L::V, (L::V, L::V));
    const CONSTANT: usize = 3;

    fn constant_words(w: u64, q: u64) -> [u64; 3] {
        let [first, second] = L::split(shoup_quotient(w, q, 64));
        [w, first, second]
    }
    #[inline(always)]
    fn constant(self, [w, first, second]: [u64; 3]) -> Self::Constant {
        let l = self.lanes;
        (l.splat(w), (l.splat(first), l.splat(second)))
    }
    #[inline(always)]
    fn product(self, y: L::V, (w, quotient): Self::Constant) -> L::V {
        self.less_quotient(y, w, self.lanes.multiply_high_split(y, quotient))
    }
    #[inline(always)]
    fn constant_butterfly(self, x: L::V, y: L::V, w: Self::Constant) -> (L::V, L::V) {
        self.sum_difference(x, self.product(y, w))
    }
    #[inline(always)]
    fn difference(self, x: L::V, y: L::V) -> L::V {
        self.lanes.add(self.reduce_lazy(x), self.lanes.sub(self.q2, y))
    }
    #[inline(always)]
    fn canonical_output(self, x: L::V) -> L::V {
        self.canonical(self.reduce_lazy(x))
    }
}
