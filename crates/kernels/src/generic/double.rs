//! Residues as doubles: moduli up to 2^50 where words cannot be multiplied but doubles can.
//!
//! A fused multiply-add gives both halves of a product exactly: h = fl(w·y) and l = w·y − h. With any
//! integer c near w·y/q the number h − c·q is exact, and (h − c·q) + l is w·y mod q. To take c, add 1.5·2^52:
//! the sum is rounded to an integer, which is what a rounding instruction would do in twice the work.
//!
//! # Bounds
//!
//! Between levels a word is a double that holds an integer of either sign. Write u = q/2^55 (2^-5 at most).
//!
//! * **Factors** w are centred, |w| ≤ q/2, and w' = fl(w/q) is off by at most 2^-55.
//! * **Products** take |y| ≤ 2^52. Then |w'·y| ≤ 2^51, so adding 1.5·2^52 leaves the binade of the sum, and
//!   |c − w·y/q| ≤ 1/2 + |y|·2^-55. So the result t = w·y − c·q has |t| ≤ (1/2 + u·|y|/q)·q ≤ 5/8·q. Since |h| ≤ 2^101,
//!   |l| ≤ 2^48, and h − c·q is an integer below 2^51: exact, as is the last sum.
//! * **Forward levels** give |x ± t| ≤ |x| + |t|, from inputs in [−q, q): a bound B·q becomes at most
//!   (B·(1 + u) + 1/2)·q. For q ≤ 2^48 seventeen levels end at 10.3·q, below 2^52 = 16·q: no reduction at all.
//!   For q ≤ 2^50 three levels reach 2.7·q from inputs, and 2.2·q from [−q/2, q/2] with y up to 2.7·q; 2^52 = 4·q.
//! * **Inverse levels** multiply x − y, below 2·[`INVERSE_LIMIT`](Butterflies::INVERSE_LIMIT)·q ≤ 2^52.
//! * **Reductions** x − round(x·fl(1/q))·q of |x| ≤ 2^52 end at most q·(1/2 + 2^-50) from 0, so at most (q + 1)/2: the
//!   quotient is off by 2^-53·x/q, and what it rounds is no closer to a tie than 1/2q unless q is 2.
//! * **Sums** of products of canonical numbers are kept as H + L, H a multiple of 2^s from 2^(s + 52). The
//!   fused sum fl(a·b + H) rounds to a multiple of 2^s again, and the rest, a·b less what H grew by, is
//!   exact and at most 2^(s − 1). With s = 2·bits + log2(`MAX_TERMS`) − 52 no sum leaves the binade.
//!
//! No value is a denormal: words are integers, and 1/q and w/q are above 2^-51 or 0. The sign of a zero never
//! matters, since the last step is an integer one.

use super::arithmetic::{Arithmetic, Butterflies, V};
use super::doubles::{Doubles, Joined};
use crate::constants::Constants;

/// Constant 2^52: adding it to a small integer shows the integer in the low bits.
const SHIFT: f64 = (1_u64 << 52) as f64;
/// Constant 1.5·2^52: adding it rounds to an integer, of either sign.
const ROUND: f64 = 1.5 * SHIFT;
/// Constant 6·2^52: adding it rounds to a multiple of 4, for quotients up to 2^53.
const ROUND_4: f64 = 4.0 * ROUND;

/// Period of renormalisations that is longer than any transform.
pub const ENDLESS: usize = usize::MAX;

/// Arithmetic for moduli up to 2^48, in registers of which `N` make eight words.
pub(crate) type Double48<D, const N: usize> = Double<D, N, ENDLESS>;
/// Arithmetic for moduli up to 2^50, in registers of which `N` make eight words.
pub(crate) type Double50<D, const N: usize> = Double<D, N, 3>;

/// Arithmetic in double precision that renormalises every `PERIOD` levels of a forward transform.
#[derive(Clone, Copy)]
pub struct Double<D: Doubles, const N: usize, const PERIOD: usize> {
    d: D,
    q: D::R,
    inverse: D::R,
    round: D::R,
    shift: D::R,
    modulus: u64,
    bits: u32,
}

impl<D: Doubles, const N: usize, const PERIOD: usize> Double<D, N, PERIOD> {
    #[inline(always)]
    pub fn new(d: D, c: &Constants) -> Self {
        let splat = |x: f64| d.splat(x.to_bits());
        Self {
            d,
            q: splat(c.q as f64),
            inverse: splat(1.0 / c.q as f64),
            round: splat(ROUND),
            shift: splat(SHIFT),
            modulus: c.q,
            bits: c.bits,
        }
    }

    /// Converts an integer word below 2^52 to a double.
    #[inline(always)]
    fn double(self, word: D::R) -> D::R {
        self.d.sub(self.d.or(word, self.shift), self.shift)
    }

    /// Returns the integer nearest to the product a·b.
    #[inline(always)]
    fn round_product(self, a: D::R, b: D::R) -> D::R {
        self.d.sub(self.d.multiply_add(a, b, self.round), self.round)
    }

    /// Converts an integer in (−q, q) to its canonical residue.
    #[inline(always)]
    fn canonical(self, x: D::R) -> D::R {
        let d = self.d;
        let bits = d.add(x, self.round);
        let plain = d.sub_words(bits, self.round);
        let lifted = d.sub_words(bits, d.splat(ROUND.to_bits() - self.modulus));
        d.unless_negative(plain, lifted)
    }

    /// Returns the product w·y mod q as an integer in [−5/8·q, 5/8·q], for |y| ≤ 2^52.
    #[inline(always)]
    pub fn lazy_product(self, y: D::R, (w, quotient): (D::R, D::R)) -> D::R {
        let d = self.d;
        let high = d.multiply(w, y);
        let low = d.multiply_subtract(w, y, high);
        let c = self.round_product(y, quotient);
        d.add(d.subtract_product(c, self.q, high), low)
    }

    /// Reduces an integer up to 2^52 modulo q, to [−q/2, q/2] but for a rounding.
    #[inline(always)]
    fn remainder(self, x: D::R) -> D::R {
        self.d.subtract_product(self.round_product(x, self.inverse), self.q, x)
    }

    /// Initial value 2^(s + 52) of the high parts of sums.
    #[inline(always)]
    fn sum_base(self) -> D::R {
        let exponent = (2 * self.bits + Self::MAX_TERMS.ilog2()).max(52);
        self.d.splat(u64::from(1023 + exponent) << 52)
    }

    /// Returns the product a·b mod q of canonical numbers of one register.
    #[inline(always)]
    fn multiply_one(self, a: D::R, b: D::R) -> D::R {
        let d = self.d;
        let (a, b) = (self.double(a), self.double(b));
        let high = d.multiply(a, b);
        let low = d.multiply_subtract(a, b, high);
        // |a·b/q| ≤ 2^50, and its double is off by 2^-52 of it.
        let c = self.round_product(high, self.inverse);
        self.canonical(d.add(d.subtract_product(c, self.q, high), low))
    }

    /// Reduces any word of one register modulo q, as high·2^32 + low.
    #[inline(always)]
    fn reduce_one(self, word: D::R) -> D::R {
        let d = self.d;
        let [w, quotient] = Self::factor((1 << 32) % self.modulus, self.modulus);
        let high = self.double(d.shift_right(word, 32));
        let low = self.double(d.and(word, d.splat(u64::from(u32::MAX))));
        let sum = d.add(self.lazy_product(high, (d.splat(w), d.splat(quotient))), low);
        self.canonical(self.remainder(sum))
    }

    #[inline(always)]
    fn sum_add_one(self, (high, low): (D::R, D::R), a: D::R, b: D::R) -> (D::R, D::R) {
        let d = self.d;
        let (a, b) = (self.double(a), self.double(b));
        let next = d.multiply_add(a, b, high);
        let rest = d.multiply_subtract(a, b, d.sub(next, high));
        (next, d.add(low, rest))
    }

    /// Reduces a sum, whose quotient may have 53 bits: it is taken in two steps.
    #[inline(always)]
    fn sum_reduce_one(self, (high, low): (D::R, D::R)) -> D::R {
        let d = self.d;
        let round = d.splat(ROUND_4.to_bits());
        let high = d.sub(high, self.sum_base());
        let c = d.sub(d.multiply_add(high, self.inverse, round), round);
        let rest = d.add(d.subtract_product(c, self.q, high), low);
        self.canonical(self.remainder(rest))
    }
}

impl<D: Doubles, const N: usize, const PERIOD: usize> Arithmetic for Double<D, N, PERIOD> {
    type Lanes = Joined<D, N>;

    const WIDEST: u64 = if PERIOD == ENDLESS { 1 << 48 } else { 1 << 50 };
    // The low halves of a sum stay below 2^51, and less than 2^53 is left of it after the first quotient.
    const MAX_TERMS: usize = if PERIOD == ENDLESS { 16 } else { 4 };

    /// Returns the centred factor and its quotient by q, as bits of doubles.
    #[inline(always)]
    fn factor(w: u64, q: u64) -> [u64; 2] {
        let centred = if w > q / 2 { -((q - w) as f64) } else { w as f64 };
        [centred.to_bits(), (centred / q as f64).to_bits()]
    }
    #[inline(always)]
    fn lanes(self) -> Self::Lanes {
        Joined(self.d)
    }
    #[inline(always)]
    fn value(self) -> u64 {
        self.modulus
    }
    #[inline(always)]
    fn modulus(self) -> V<Self> {
        [self.d.splat(self.modulus); N]
    }
    #[inline(always)]
    fn multiply(self, a: V<Self>, b: V<Self>) -> V<Self> {
        let mut out = a;
        for (x, b) in out.iter_mut().zip(b) {
            *x = self.multiply_one(*x, b);
        }
        out
    }
    #[inline(always)]
    fn multiply_constant(self, y: V<Self>, w: (V<Self>, V<Self>)) -> V<Self> {
        let mut out = y;
        for ((x, w), quotient) in out.iter_mut().zip(w.0).zip(w.1) {
            *x = self.canonical(self.lazy_product(self.double(*x), (w, quotient)));
        }
        out
    }
    #[inline(always)]
    fn reduce(self, words: V<Self>) -> V<Self> {
        let mut out = words;
        for x in &mut out {
            *x = self.reduce_one(*x);
        }
        out
    }
    #[inline(always)]
    fn sum_start(self) -> (V<Self>, V<Self>) {
        ([self.sum_base(); N], [self.d.splat(0); N])
    }
    #[inline(always)]
    fn sum_add(self, sum: (V<Self>, V<Self>), a: V<Self>, b: V<Self>) -> (V<Self>, V<Self>) {
        let (mut high, mut low) = sum;
        for (((high, low), a), b) in high.iter_mut().zip(&mut low).zip(a).zip(b) {
            (*high, *low) = self.sum_add_one((*high, *low), a, b);
        }
        (high, low)
    }
    #[inline(always)]
    fn sum_reduce(self, (high, low): (V<Self>, V<Self>)) -> V<Self> {
        let mut out = high;
        for (x, low) in out.iter_mut().zip(low) {
            *x = self.sum_reduce_one((*x, low));
        }
        out
    }
}

impl<D: Doubles, const N: usize, const PERIOD: usize> Butterflies for Double<D, N, PERIOD> {
    type Registers = D;

    const PERIOD: usize = PERIOD;
    const FRESH: u32 = 1;
    const INVERSE_LIMIT: u32 = ((1 << 51) / Self::WIDEST) as u32;
    const INVERSE_EXIT: u32 = 2;
    const HALVES: bool = false;

    #[inline(always)]
    fn registers(self) -> D {
        self.d
    }
    /// Centres an input of a forward transform: x − q.
    #[inline(always)]
    fn forward_input(self, x: D::R) -> D::R {
        let shift = self.d.splat((SHIFT + self.modulus as f64).to_bits());
        self.d.sub(self.d.or(x, self.shift), shift)
    }
    #[inline(always)]
    fn inverse_input(self, x: D::R) -> D::R {
        self.double(x)
    }
    #[inline(always)]
    fn enter(self, x: D::R) -> D::R {
        x
    }
    #[inline(always)]
    fn renormalise(self, x: D::R) -> D::R {
        self.remainder(x)
    }
    #[inline(always)]
    fn butterfly(self, x: D::R, y: D::R, w: (D::R, D::R)) -> (D::R, D::R) {
        let t = self.lazy_product(y, w);
        (self.d.add(x, t), self.d.sub(x, t))
    }
    #[inline(always)]
    fn sum_difference(self, x: D::R, y: D::R) -> (D::R, D::R) {
        (self.d.add(x, y), self.d.sub(x, y))
    }
    #[inline(always)]
    fn last_butterfly(self, x: D::R, y: D::R, w: (D::R, D::R)) -> (D::R, D::R) {
        let (x, y) = self.butterfly(x, y, w);
        (self.canonical(self.remainder(x)), self.canonical(self.remainder(y)))
    }

    #[inline(always)]
    fn reduce_lazy(self, x: D::R) -> D::R {
        self.remainder(x)
    }
    #[inline(always)]
    fn halve(self, x: D::R, _bound: u32) -> D::R {
        self.remainder(x)
    }
    #[inline(always)]
    fn inverse_butterfly(self, x: D::R, y: D::R, w: (D::R, D::R), _bound: u32) -> (D::R, D::R) {
        (self.d.add(x, y), self.lazy_product(self.d.sub(x, y), w))
    }
    #[inline(always)]
    fn inverse_last_butterfly(
        self,
        x: D::R,
        y: D::R,
        c: (D::R, D::R),
        w: (D::R, D::R),
        _bound: u32,
    ) -> (D::R, D::R) {
        let (sum, difference) = (self.d.add(x, y), self.d.sub(x, y));
        (self.canonical(self.lazy_product(sum, c)), self.canonical(self.lazy_product(difference, w)))
    }

    type Constant = (D::R, D::R);
    const CONSTANT: usize = 2;

    fn constant_words(w: u64, q: u64) -> [u64; 3] {
        let [w, quotient] = Self::factor(w, q);
        [w, quotient, 0]
    }
    #[inline(always)]
    fn constant(self, [w, quotient, _]: [u64; 3]) -> Self::Constant {
        (self.d.splat(w), self.d.splat(quotient))
    }
    #[inline(always)]
    fn product(self, y: D::R, w: Self::Constant) -> D::R {
        self.lazy_product(y, w)
    }
    #[inline(always)]
    fn constant_butterfly(self, x: D::R, y: D::R, w: Self::Constant) -> (D::R, D::R) {
        self.butterfly(x, y, w)
    }
    #[inline(always)]
    fn difference(self, x: D::R, y: D::R) -> D::R {
        self.d.sub(self.remainder(x), y)
    }
    #[inline(always)]
    fn canonical_output(self, x: D::R) -> D::R {
        self.canonical(self.remainder(x))
    }
}
