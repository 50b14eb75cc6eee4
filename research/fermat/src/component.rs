//! Component of a modulus: one factor of 2^g − 1, and arithmetic modulo it.

use num_bigint::BigUint;
use num_traits::One;

use crate::words::{add_into, add_word, sub_from, sub_word};

/// A component q_i = 2^h + 1 or 2^h − 1 for h a multiple of 64 `[TSKJ20, Lemma 1]`.
///
/// Residues of a component are canonical, in [0, q_i), in words of 64 bits, the lowest first: h/64 of them
/// modulo 2^h − 1 and one more modulo 2^h + 1, whose largest residue is 2^h. Operations take slices of that
/// [length](Self::len); slices of another length or that are not canonical give unspecified residues, never a
/// panic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Component {
    bits: usize,
    plus: bool,
}

impl Component {
    /// Makes the component q_i = 2^h + 1 of a modulus 2^g − 1.
    pub(crate) const fn fermat(bits: usize) -> Self {
        Self { bits, plus: true }
    }

    /// Makes the component q_i = 2^h − 1 of a modulus 2^g − 1.
    pub(crate) const fn mersenne(bits: usize) -> Self {
        Self { bits, plus: false }
    }

    /// Exponent h of the component 2^h ± 1.
    #[must_use]
    pub const fn bits(self) -> usize {
        self.bits
    }

    /// Whether the component is 2^h + 1.
    #[must_use]
    pub const fn is_fermat(self) -> bool {
        self.plus
    }

    /// Number of words of a residue modulo the component.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "no residue has none")]
    pub const fn len(self) -> usize {
        self.bits / 64 + self.plus as usize
    }

    /// Value q_i of the component.
    #[must_use]
    pub fn value(self) -> BigUint {
        let power = BigUint::one() << self.bits;
        if self.plus { power + 1_u32 } else { power - 1_u32 }
    }

    /// Splits a residue into the words below 2^h, and the word above them modulo 2^h + 1.
    fn split(self, a: &mut [u64]) -> (&mut [u64], &mut [u64]) {
        let at = a.len().min(self.bits / 64);
        a.split_at_mut(at)
    }

    fn high(self, a: &[u64]) -> i64 {
        a.get(self.bits / 64).map_or(0, |&word| word as i64)
    }

    /// Computes the canonical residue of low + top·2^h, for the words of `a` below 2^h and |top| < 2^63.
    fn finish(self, a: &mut [u64], top: i64) {
        let (low, high) = self.split(a);
        if self.plus {
            // 2^h = −1.
            high.fill(0);
            if top >= 0 {
                if sub_word(low, top.unsigned_abs()) && add_word(low, 1) {
                    high.fill(1);
                }
            } else if add_word(low, top.unsigned_abs()) && sub_word(low, 1) {
                low.fill(0);
                high.fill(1);
            }
        } else {
            let wrapped = if top >= 0 {
                add_word(low, top.unsigned_abs()) && add_word(low, 1)
            } else {
                sub_word(low, top.unsigned_abs()) && sub_word(low, 1)
            };
            debug_assert!(!wrapped);
            if low.iter().all(|&word| word == u64::MAX) {
                low.fill(0);
            }
        }
    }

    /// Adds residues modulo a component: a ← a + b.
    pub fn add_assign(self, a: &mut [u64], b: &[u64]) {
        let high = self.high(a) + self.high(b);
        let carry = add_into(self.split(a).0, b);
        self.finish(a, high + i64::from(carry));
    }

    /// Subtracts residues modulo a component: a ← a − b.
    pub fn sub_assign(self, a: &mut [u64], b: &[u64]) {
        let high = self.high(a) - self.high(b);
        let borrow = sub_from(self.split(a).0, b);
        self.finish(a, high - i64::from(borrow));
    }

    /// Negates a residue modulo a component: a ← −a.
    pub fn neg_assign(self, a: &mut [u64]) {
        let high = self.high(a);
        // −low = ~low + 1 − 2^h, and 0 where low is.
        let low = self.split(a).0;
        for word in low.iter_mut() {
            *word = !*word;
        }
        let carry = add_word(low, 1);
        self.finish(a, i64::from(carry) - 1 - high);
    }

    /// Reduces an integer of any length: out ← x modulo q_i. 2^h is ±1, so pieces of h bits are added and
    /// subtracted.
    pub fn reduce(self, out: &mut [u64], x: &[u64]) {
        out.fill(0);
        let mut top = 0;
        let low = self.split(out).0;
        for (i, piece) in x.chunks(self.bits / 64).enumerate() {
            // A short last piece needs its carry taken further.
            let (head, rest) = low.split_at_mut(piece.len().min(low.len()));
            if self.plus && i % 2 == 1 {
                top -= i64::from(sub_from(head, piece) && sub_word(rest, 1));
            } else {
                top += i64::from(add_into(head, piece) && add_word(rest, 1));
            }
        }
        self.finish(out, top);
    }

    /// Multiplies a residue by a word: a ← c·a for c < 2^63.
    pub fn mul_word_assign(self, a: &mut [u64], c: u64) {
        // 2^h is the one residue with a high word, and its low words are 0.
        let mut carry = if self.high(a) == 0 { 0 } else { c };
        let low = self.split(a).0;
        if carry == 0 {
            for word in low.iter_mut() {
                let product = u128::from(*word) * u128::from(c) + u128::from(carry);
                (*word, carry) = (product as u64, (product >> 64) as u64);
            }
        }
        self.finish(a, carry as i64);
    }

    /// Multiplies a residue by a power of two: out ← 2^e·x. Words are moved and bits shifted, nothing is
    /// multiplied `[TSKJ20, 4.1]`.
    ///
    /// A shifted residue x = H·2^(h−e) + L becomes L·2^e ∓ H; 2^(h+e) is ∓2^e.
    pub fn mul_power_of_two(self, out: &mut [u64], x: &[u64], e: usize) {
        let e = e % if self.plus { 2 * self.bits } else { self.bits };
        let (negative, e) = (e >= self.bits, e % self.bits);
        let top = self.high(x);
        let (low, rest) = self.split(out);
        rest.fill(0);
        let x = x.get(..low.len()).unwrap_or(x);
        let (words, bits) = (e / 64, (e % 64) as u32);
        // low ← L·2^e.
        let (zeros, shifted) = low.split_at_mut(words.min(x.len()));
        zeros.fill(0);
        shift_left(shifted, x, bits);
        // H has as many words as e begins; its first bit is at h − e.
        let mut borrow = false;
        if e > 0 {
            let at = (self.bits - e) / 64;
            let (head, tail) = low.split_at_mut((words + 1).min(low.len()));
            let above = x.get(at..).unwrap_or_default();
            let right = ((self.bits - e) % 64) as u32;
            borrow = if self.plus {
                sub_shifted(head, above, right) && sub_word(tail, 1)
            } else {
                or_shifted(head, above, right);
                false
            };
        }
        // x = 2^h is −1: −2^e; e = 0 leaves it.
        if top != 0 {
            let (_, high) = low.split_at_mut(words.min(x.len()));
            borrow = sub_word(high, 1 << bits);
        }
        self.finish(out, -i64::from(borrow));
        if negative {
            self.neg_assign(out);
        }
    }

    /// Returns the canonical residue of any integer modulo the component.
    #[must_use]
    pub fn residue(self, x: &BigUint) -> Vec<u64> {
        let mut out = vec![0; self.len()];
        self.reduce(&mut out, &x.iter_u64_digits().collect::<Vec<_>>());
        out
    }
}

/// Shifts an integer of several words left: out ← the low words of x·2^bits.
fn shift_left(out: &mut [u64], x: &[u64], bits: u32) {
    let mut below = 0;
    for (out, &word) in out.iter_mut().zip(x) {
        let both = u128::from(word) << bits;
        *out = both as u64 | below;
        below = (both >> 64) as u64;
    }
}

/// Yields the words of the shifted integer ⌊x/2^bits⌋.
fn shifted_right(x: &[u64], bits: u32) -> impl Iterator<Item = u64> {
    let above = x.iter().skip(1).chain([&0]);
    x.iter()
        .zip(above)
        .map(move |(&word, &above)| ((u128::from(above) << 64 | u128::from(word)) >> bits) as u64)
}

/// Subtracts a shifted integer, out ← out − ⌊x/2^bits⌋, and returns the borrow.
fn sub_shifted(out: &mut [u64], x: &[u64], bits: u32) -> bool {
    let mut borrow = false;
    let mut words = shifted_right(x, bits);
    for out in out {
        let (difference, first) = out.overflowing_sub(words.next().unwrap_or(0));
        let (difference, second) = difference.overflowing_sub(u64::from(borrow));
        (*out, borrow) = (difference, first | second);
    }
    borrow
}

/// Adds a shifted integer, out ← out + ⌊x/2^bits⌋, where no bits overlap.
fn or_shifted(out: &mut [u64], x: &[u64], bits: u32) {
    for (out, word) in out.iter_mut().zip(shifted_right(x, bits)) {
        *out |= word;
    }
}
