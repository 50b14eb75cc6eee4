//! Moduli below 2^49 in plain Rust: quotients from floating point, two integer products a factor.
//!
//! A quotient t = round(y·(w/q)) of doubles is off by little, so that y·w − t·q, computed modulo 2^64, is
//! a small signed number; no carry and no high word is needed. Words are two's complement and may leave
//! `[0, q)` on either side, which makes most renormalisations superfluous.

use super::Portable;
use super::pair::{Pair, Pairs};
use crate::constants::Constants;
use crate::generic::arithmetic::{Arithmetic, Butterflies};
use crate::generic::lanes::WIDTH;
use crate::generic::word64::Word64;

/// 1.5·2^52: a double near it has ulp 1, so adding it rounds to the nearest integer, whose two's complement
/// then stands in the low bits.
const MAGIC: f64 = 6_755_399_441_055_744.0;

/// Signed arithmetic with `PERIOD` levels between renormalisations.
///
/// Where |y| < 2^51, the quotient of a product is off by at most 1/2 + |y|·2^-54 (the rounding of w/q) and
/// half a unit in the last place of y: less than 3/4 in all. A level therefore adds less than 3q/4 to a
/// bound, and summed level by level eleven of them keep 9q from an input below 2q, three keep 3q.
#[derive(Clone, Copy)]
pub(crate) struct Narrow<const PERIOD: usize> {
    wide: Word64<Portable>,
    q: Pair,
    /// 1/q
    inverse: Pair,
    magic: Pair,
}

type V = [u64; WIDTH];

impl<const PERIOD: usize> Narrow<PERIOD> {
    #[inline(always)]
    pub(crate) fn new(c: &Constants) -> Self {
        let splat = |word| Pair::new([word; 2]);
        let inverse = splat((1.0 / c.q as f64).to_bits());
        Self { wide: Word64::new(Portable, c), q: splat(c.q), inverse, magic: splat(MAGIC.to_bits()) }
    }

    /// A signed word, |y| < 2^51, as a double.
    #[inline(always)]
    fn float(self, y: Pair) -> Pair {
        y.add(self.magic).sub_doubles(self.magic)
    }

    /// The integer nearest to a double, |x| < 2^51, as a signed word.
    #[inline(always)]
    fn nearest(self, x: Pair) -> Pair {
        x.add_doubles(self.magic).sub(self.magic)
    }

    /// y·w − t·q modulo 2^64.
    #[inline(always)]
    fn difference(self, y: Pair, w: Pair, t: Pair) -> Pair {
        let cross = y.multiply_halves(w.high_half()).add(y.high_half().multiply_halves(w));
        let cross = cross.sub(t.multiply_halves(self.q.high_half()));
        let cross = cross.sub(t.high_half().multiply_halves(self.q));
        y.multiply_halves(w).sub(t.multiply_halves(self.q)).add(cross.to_high_half())
    }

    /// Canonical from a signed word between −q and q.
    #[inline(always)]
    fn lift(self, x: Pair) -> Pair {
        x.add(x.sign().and(self.q))
    }

    /// w·y between −q and q.
    #[inline(always)]
    fn multiply_lazy(self, y: Pair, w: (Pair, Pair)) -> Pair {
        self.difference(y, w.0, self.nearest(self.float(y).multiply_doubles(w.1)))
    }

    /// The word modulo q, between −q and q.
    #[inline(always)]
    fn reduce_signed(self, x: Pair) -> Pair {
        let t = self.nearest(self.float(x).multiply_doubles(self.inverse));
        let cross = t.multiply_halves(self.q.high_half()).add(t.high_half().multiply_halves(self.q));
        x.sub(t.multiply_halves(self.q)).sub(cross.to_high_half())
    }

    /// Pair by pair.
    #[inline(always)]
    fn zip(self, a: V, b: V, f: impl Fn(Pair, Pair) -> Pair) -> V {
        let mut out = a;
        for (out, b) in out.as_chunks_mut().0.iter_mut().zip(b.as_chunks().0) {
            *out = f(Pair::new(*out), Pair::new(*b)).words();
        }
        out
    }
}

impl<const PERIOD: usize> Arithmetic for Narrow<PERIOD> {
    type Lanes = Portable;

    // Eleven levels reach less than 9q, three less than 4q, and inverse levels 2·INVERSE_LIMIT·q: below 2^51.
    const WIDEST: u64 = if PERIOD == 11 { (1 << 52) / 18 } else { (1 << 49) - 1 };
    const MAX_TERMS: usize = <Word64<Portable> as Arithmetic>::MAX_TERMS;

    fn factor(w: u64, q: u64) -> [u64; 2] {
        [w, (w as f64 / q as f64).to_bits()]
    }
    #[inline(always)]
    fn lanes(self) -> Portable {
        Portable
    }
    #[inline(always)]
    fn modulus(self) -> V {
        [self.q.words()[0]; WIDTH]
    }
    /// The product of doubles is off by 2^49·2^-53 three times over, so the rest lies between −q and q.
    #[inline(always)]
    fn multiply(self, a: V, b: V) -> V {
        self.zip(a, b, |a, b| {
            let quotient = self.float(a).multiply_doubles(self.float(b)).multiply_doubles(self.inverse);
            self.lift(self.difference(a, b, self.nearest(quotient)))
        })
    }
    #[inline(always)]
    fn multiply_constant(self, y: V, (w, f): (V, V)) -> V {
        let mut out = y;
        let factors = w.as_chunks().0.iter().zip(f.as_chunks().0);
        for (out, (w, f)) in out.as_chunks_mut().0.iter_mut().zip(factors) {
            *out = self.lift(self.multiply_lazy(Pair::new(*out), (Pair::new(*w), Pair::new(*f)))).words();
        }
        out
    }
    #[inline(always)]
    fn reduce(self, words: V) -> V {
        self.wide.reduce(words)
    }
    #[inline(always)]
    fn sum_reduce(self, sum: (V, V)) -> V {
        self.wide.sum_reduce(sum)
    }
    #[inline(always)]
    fn sum_add(self, sum: (V, V), a: V, b: V) -> (V, V) {
        self.wide.sum_add(sum, a, b)
    }
}

impl<const PERIOD: usize> Butterflies for Narrow<PERIOD> {
    type Registers = Pairs;

    const PERIOD: usize = PERIOD;
    const FRESH: u32 = 1;
    const INVERSE_LIMIT: u32 = if PERIOD == 11 { 4 } else { 2 };
    const INVERSE_EXIT: u32 = if PERIOD == 11 { 4 } else { 2 };
    const HALVES: bool = false;

    #[inline(always)]
    fn registers(self) -> Pairs {
        Pairs
    }
    #[inline(always)]
    fn forward_input(self, x: Pair) -> Pair {
        x
    }
    #[inline(always)]
    fn inverse_input(self, x: Pair) -> Pair {
        x
    }
    #[inline(always)]
    fn enter(self, x: Pair) -> Pair {
        x.sub(self.q)
    }
    #[inline(always)]
    fn renormalise(self, x: Pair) -> Pair {
        self.reduce_signed(x)
    }
    #[inline(always)]
    fn butterfly(self, x: Pair, y: Pair, w: (Pair, Pair)) -> (Pair, Pair) {
        let t = self.multiply_lazy(y, w);
        (x.add(t), x.sub(t))
    }
    #[inline(always)]
    fn last_butterfly(self, x: Pair, y: Pair, w: (Pair, Pair)) -> (Pair, Pair) {
        let (x, t) = (self.lift(self.reduce_signed(x)), self.lift(self.multiply_lazy(y, w)));
        (self.lift(x.add(t).sub(self.q)), self.lift(x.sub(t)))
    }

    #[inline(always)]
    fn reduce_lazy(self, x: Pair) -> Pair {
        self.reduce_signed(x)
    }
    #[inline(always)]
    fn halve(self, x: Pair, _bound: u32) -> Pair {
        self.reduce_signed(x)
    }
    #[inline(always)]
    fn inverse_butterfly(self, x: Pair, y: Pair, w: (Pair, Pair), _bound: u32) -> (Pair, Pair) {
        (x.add(y), self.multiply_lazy(x.sub(y), w))
    }
    #[inline(always)]
    fn inverse_last_butterfly(
        self,
        x: Pair,
        y: Pair,
        c: (Pair, Pair),
        w: (Pair, Pair),
        bound: u32,
    ) -> (Pair, Pair) {
        let (sum, y) = self.inverse_butterfly(x, y, w, bound);
        (self.lift(self.multiply_lazy(sum, c)), self.lift(y))
    }
}
