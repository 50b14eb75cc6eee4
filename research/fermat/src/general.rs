//! General multiplication and division, which ignore the form of a modulus: the baseline for the shifts.
//!
//! General arithmetic is schoolbook products and Knuth's algorithm D, or with the feature `gmp` the functions
//! of GMP, which are faster from some thirty words on.

/// Multiplies integers of several words: out ← a·b; `out` has the words of both.
#[cfg(not(feature = "gmp"))]
pub(crate) fn mul(out: &mut [u64], a: &[u64], b: &[u64]) {
    out.fill(0);
    for (i, &y) in b.iter().enumerate() {
        let mut carry = 0;
        let (head, tail) = out.get_mut(i..).unwrap_or_default().split_at_mut(a.len());
        for (out, &x) in head.iter_mut().zip(a) {
            let sum = u128::from(x) * u128::from(y) + u128::from(*out) + u128::from(carry);
            (*out, carry) = (sum as u64, (sum >> 64) as u64);
        }
        if let Some(next) = tail.first_mut() {
            *next = carry;
        }
    }
}

/// Multiplies integers of several words by GMP: out ← a·b; `out` has the words of both.
#[cfg(feature = "gmp")]
pub(crate) fn mul(out: &mut [u64], a: &[u64], b: &[u64]) {
    let (longer, shorter) = if a.len() < b.len() { (b, a) } else { (a, b) };
    sunzi_kernels::gmp::mul(out, longer, shorter);
}

/// A divisor, shifted so that its highest bit is the top bit of a word.
#[derive(Clone, Debug)]
pub(crate) struct Divisor {
    words: Vec<u64>,
    shift: u32,
}

impl Divisor {
    /// Makes a divisor from the words of a positive integer whose top word is not zero.
    pub(crate) fn new(words: &[u64]) -> Self {
        let shift = words.last().map_or(0, |top| top.leading_zeros());
        let mut normal = words.to_vec();
        shift_left(&mut normal, shift);
        Self { words: normal, shift }
    }

    /// Reduces an integer x of several words modulo the divisor.
    pub(crate) fn remainder(&self, x: &mut Vec<u64>) {
        x.push(0);
        shift_left(x, self.shift);
        self.divide(x);
        x.truncate(self.words.len());
        shift_right(x, self.shift);
    }

    #[cfg(feature = "gmp")]
    fn divide(&self, x: &mut [u64]) {
        sunzi_kernels::gmp::remainder_assign(x, &self.words);
    }

    /// Divides an integer x of several words by Knuth's algorithm D; the remainder replaces the lowest words.
    #[cfg(not(feature = "gmp"))]
    fn divide(&self, x: &mut [u64]) {
        let n = self.words.len();
        let [first, second] =
            [1, 2].map(|i| n.checked_sub(i).and_then(|i| self.words.get(i)).copied().unwrap_or(0));
        for j in (0..x.len().saturating_sub(n)).rev() {
            let Some(window) = x.get_mut(j..=j + n) else { continue };
            let word = |i| n.checked_sub(i).and_then(|i| window.get(i)).copied().unwrap_or(0);
            let quotient = estimate([word(0), word(1), word(2)], [first, second]);
            if sub_product(window, &self.words, quotient) {
                // The quotient estimate was one too large.
                crate::words::add_into(window, &self.words);
            }
        }
    }
}

/// Estimates the quotient of three words by two, whose first is at least 2^63: at most one above that of the whole integers.
#[cfg(not(feature = "gmp"))]
fn estimate([top, next, third]: [u64; 3], [first, second]: [u64; 2]) -> u64 {
    let two = u128::from(top) << 64 | u128::from(next);
    let first = u128::from(first);
    let mut quotient = if u128::from(top) >= first { u128::from(u64::MAX) } else { two / first };
    let mut rest = two - quotient * first;
    while rest >> 64 == 0 && quotient * u128::from(second) > (rest << 64 | u128::from(third)) {
        quotient -= 1;
        rest += first;
    }
    quotient as u64
}

/// Computes window ← window − quotient·words in a long division; returns whether it wrapped.
#[cfg(not(feature = "gmp"))]
fn sub_product(window: &mut [u64], words: &[u64], quotient: u64) -> bool {
    let (low, high) = window.split_at_mut(words.len());
    let mut carry = 0;
    for (x, &d) in low.iter_mut().zip(words) {
        let product = u128::from(d) * u128::from(quotient) + u128::from(carry);
        let (difference, borrow) = x.overflowing_sub(product as u64);
        (*x, carry) = (difference, (product >> 64) as u64 + u64::from(borrow));
    }
    crate::words::sub_word(high, carry)
}

fn shift_left(x: &mut [u64], bits: u32) {
    let mut below = 0;
    for word in x {
        let both = u128::from(*word) << bits;
        *word = both as u64 | below;
        below = (both >> 64) as u64;
    }
}

fn shift_right(x: &mut [u64], bits: u32) {
    let mut above = 0;
    for word in x.iter_mut().rev() {
        let both = (above << 64 | u128::from(*word)) >> bits;
        above = u128::from(*word);
        *word = both as u64;
    }
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::*;

    fn integer(words: &[u64]) -> BigUint {
        words.iter().rev().fold(BigUint::ZERO, |sum, &word| (sum << 64) + word)
    }

    #[test]
    fn products_and_remainders_are_those_of_integers() {
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            // Runs of ones and zeros find the estimates that are one too large.
            match state >> 61 {
                0 | 1 => 0,
                2 | 3 => u64::MAX,
                4 => 1 << 63,
                _ => state,
            }
        };
        for n in [1, 2, 3, 5, 17] {
            for m in [1, 2, 4, 9, 33] {
                for _ in 0..400 {
                    let a: Vec<u64> = (0..m).map(|_| next()).collect();
                    let mut d: Vec<u64> = (0..n).map(|_| next()).collect();
                    *d.last_mut().unwrap() = next().max(1);
                    let mut product = vec![7; n + m];
                    mul(&mut product, &a, &d);
                    assert_eq!(integer(&product), integer(&a) * integer(&d));
                    let mut rest = product.clone();
                    rest.push(next());
                    let expected = integer(&rest) % integer(&d);
                    Divisor::new(&d).remainder(&mut rest);
                    assert_eq!(integer(&rest), expected, "{n} {m}");
                }
            }
        }
    }
}
