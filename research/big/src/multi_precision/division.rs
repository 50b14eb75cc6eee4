//! Division of big integers by the modulus, word by word.

use num_bigint::BigUint;

use super::words::{self, BITS, MASK};

/// Divisor q of the quotient ⌊(t·u + C)/q⌋, shifted so that its highest word is at least 2^59, and the constant C.
#[derive(Clone, Debug)]
pub(super) struct Division {
    t: u64,
    constant: Vec<u64>,
    divisor: Vec<u64>,
    shift: u32,
}

impl Division {
    pub(super) fn new(t: u64, q: &BigUint, constant: &BigUint) -> Self {
        let length = words::length(q);
        let shift = length as u64 * BITS - q.bits();
        Self {
            t,
            constant: words::words(constant, words::length(constant)),
            divisor: words::words(&(q << shift), length),
            shift: shift as u32,
        }
    }

    /// Computes the lowest words of the quotient for the integer u, as by hand, digits estimated from the highest words.
    pub(super) fn apply(&self, u: &[u64], out: &mut [u64]) {
        let mut rest = self.dividend(u);
        let count = self.divisor.len();
        out.fill(0);
        for at in (0..rest.len().saturating_sub(count)).rev() {
            let Some(window) = rest.get_mut(at..=at + count) else { continue };
            let mut digit = self.estimate(window);
            if self.subtract(window, digit) {
                digit -= 1;
                self.add_back(window);
            }
            if let Some(out) = out.get_mut(at) {
                *out = digit;
            }
        }
    }

    /// Returns t·u + C, shifted as the divisor is, with a zero on top.
    fn dividend(&self, u: &[u64]) -> Vec<u64> {
        // t and the shift add less than two words.
        let length = u.len().max(self.constant.len()).max(self.divisor.len()) + 2;
        let word = |x: &[u64], i: usize| u128::from(x.get(i).copied().unwrap_or(0));
        let (mut carry, mut below) = (0, 0);
        (0..length + 1)
            .map(|i| {
                carry += word(u, i) * u128::from(self.t) + word(&self.constant, i);
                let low = carry as u64 & MASK;
                carry >>= BITS;
                let shifted =
                    (u128::from(low) << self.shift | u128::from(below) >> (BITS as u32 - self.shift)) as u64;
                below = low;
                shifted & MASK
            })
            .collect()
    }

    /// Estimates a digit of the quotient from the highest words: at most one too large.
    fn estimate(&self, window: &[u64]) -> u64 {
        let from_top = |x: &[u64], i: usize| u128::from(x.iter().rev().nth(i).copied().unwrap_or(0));
        let (high, next) = (from_top(&self.divisor, 0), from_top(&self.divisor, 1));
        let top = from_top(window, 0) << BITS | from_top(window, 1);
        let (mut digit, mut rest) = (top / high, top % high);
        while digit >> BITS != 0 || digit * next > (rest << BITS | from_top(window, 2)) {
            digit -= 1;
            rest += high;
            if rest >> BITS != 0 {
                break;
            }
        }
        digit as u64
    }

    /// Subtracts digit·q and returns whether the result is negative, modulo a power of 2^60.
    fn subtract(&self, window: &mut [u64], digit: u64) -> bool {
        let (mut carry, mut borrow) = (0, 0);
        for (x, q) in window.iter_mut().zip(self.divisor.iter().chain([&0])) {
            carry += u128::from(*q) * u128::from(digit);
            let rest = i128::from(*x) - (carry & u128::from(MASK)) as i128 - borrow;
            carry >>= BITS;
            borrow = i128::from(rest < 0);
            *x = rest as u64 & MASK;
        }
        borrow != 0
    }

    fn add_back(&self, window: &mut [u64]) {
        let mut carry = 0;
        for (x, q) in window.iter_mut().zip(self.divisor.iter().chain([&0])) {
            let sum = *x + q + carry;
            (*x, carry) = (sum & MASK, sum >> BITS);
        }
    }
}
