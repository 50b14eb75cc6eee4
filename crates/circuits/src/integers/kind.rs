//! Kinds of integers: how many bits, with or without a sign.

use std::fmt;

use num_bigint::BigInt;

/// Bits of a digit.
pub(super) const DIGIT_BITS: u32 = 4;
/// Base of digits: 16.
pub(super) const BASE: i64 = 1 << DIGIT_BITS;

/// Kind of integers: 4 to 64 bits, a multiple of 4, with or without a sign.
///
/// ```
/// use sunzi_circuits::integers::IntegerKind;
///
/// assert_eq!(IntegerKind::U8.range(), [0, 255]);
/// assert_eq!(IntegerKind::I16.range(), [-32768, 32767]);
/// assert_eq!(IntegerKind::I8.wrapped(200), -56);
/// assert_eq!(IntegerKind::U64.to_string(), "u64");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IntegerKind {
    bits: u32,
    signed: bool,
}

impl IntegerKind {
    /// Integers from 0 to 2^8 − 1.
    pub const U8: Self = Self { bits: 8, signed: false };
    /// Integers from 0 to 2^16 − 1.
    pub const U16: Self = Self { bits: 16, signed: false };
    /// Integers from 0 to 2^32 − 1.
    pub const U32: Self = Self { bits: 32, signed: false };
    /// Integers from 0 to 2^64 − 1.
    pub const U64: Self = Self { bits: 64, signed: false };
    /// Integers from −2^7 to 2^7 − 1.
    pub const I8: Self = Self { bits: 8, signed: true };
    /// Integers from −2^15 to 2^15 − 1.
    pub const I16: Self = Self { bits: 16, signed: true };
    /// Integers from −2^31 to 2^31 − 1.
    pub const I32: Self = Self { bits: 32, signed: true };
    /// Integers from −2^63 to 2^63 − 1.
    pub const I64: Self = Self { bits: 64, signed: true };

    /// Makes a kind of integers of `bits` bits; `None` unless they are a multiple of 4 from 4 to 64.
    #[must_use]
    pub fn new(bits: u32, signed: bool) -> Option<Self> {
        ((4..=64).contains(&bits) && bits.is_multiple_of(DIGIT_BITS)).then_some(Self { bits, signed })
    }

    /// Number of bits.
    #[must_use]
    pub fn bits(self) -> u32 {
        self.bits
    }

    /// Returns whether the integers have a sign.
    #[must_use]
    pub fn is_signed(self) -> bool {
        self.signed
    }

    /// Number of digits of 4 bits, as many as ciphertexts of a batch.
    #[must_use]
    pub fn digits(self) -> usize {
        (self.bits / DIGIT_BITS) as usize
    }

    /// The least and the largest integer.
    #[must_use]
    pub fn range(self) -> [i128; 2] {
        let count = 1_i128 << self.bits;
        if self.signed { [-count / 2, count / 2 - 1] } else { [0, count - 1] }
    }

    /// Returns the integer of the kind that is equal to this one modulo 2^bits.
    #[must_use]
    pub fn wrapped(self, value: i128) -> i128 {
        let [low, _] = self.range();
        (value - low).rem_euclid(1 << self.bits) + low
    }

    /// Returns whether all integers between two are of the kind.
    pub(super) fn holds(self, [low, high]: [i128; 2]) -> bool {
        let [least, largest] = self.range();
        least <= low && high <= largest
    }

    /// Returns the least and the largest value of digit k of an integer as it is stored: the digit at the top has the sign.
    pub(super) fn digit_range(self, k: usize) -> [i64; 2] {
        if self.signed && k + 1 == self.digits() { [-BASE / 2, BASE / 2 - 1] } else { [0, BASE - 1] }
    }

    /// Returns the value of digit k that numbers of plaintexts count from, so that they are from −1 to 1.
    pub(super) fn digit_middle(self, k: usize) -> i64 {
        self.digit_range(k)[0] + BASE / 2
    }

    /// Returns the digits of an integer of the kind.
    pub(super) fn digits_of(self, value: i128) -> impl Iterator<Item = i64> {
        (0..self.digits()).map(move |k| {
            let [low, _] = self.digit_range(k);
            let shifted = (value >> (DIGIT_BITS * k as u32)) as i64;
            (shifted - low).rem_euclid(BASE) + low
        })
    }
}

impl fmt::Display for IntegerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.signed { "i" } else { "u" }, self.bits)
    }
}

/// Returns digits from −8 to 7 of a clear integer, least first, as many as it needs.
pub(super) fn balanced_digits(value: impl Into<BigInt>) -> Vec<i64> {
    let (mut value, mut digits) = (value.into(), Vec::new());
    while value != BigInt::ZERO {
        let low = ((&value % BASE) + BASE) % BASE;
        let digit = i64::try_from(low).map_or(0, |low| if low >= BASE / 2 { low - BASE } else { low });
        digits.push(digit);
        value = (value - digit) / BASE;
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_make_up_the_integer() {
        for kind in [IntegerKind::U8, IntegerKind::I8, IntegerKind::I64, IntegerKind::U64] {
            let [least, largest] = kind.range();
            for value in [least, least + 1, largest / 3, largest - 1, largest] {
                let digits: Vec<i64> = kind.digits_of(value).collect();
                let sum: i128 = digits.iter().enumerate().map(|(k, &d)| i128::from(d) << (4 * k)).sum();
                assert_eq!(sum, value, "{kind}");
                assert!(digits.iter().enumerate().all(|(k, &d)| {
                    let [low, high] = kind.digit_range(k);
                    (low..=high).contains(&d)
                }));
                assert_eq!(kind.wrapped(value + 3 * (1 << kind.bits())), value);
            }
        }
        assert!(IntegerKind::new(7, false).is_none() && IntegerKind::new(68, true).is_none());
    }

    #[test]
    fn balanced_digits_make_up_the_integer() {
        for value in [0, 1, 7, 8, -1, -8, -9, 255, i128::from(u64::MAX), i128::from(i64::MIN), 1 << 70] {
            let digits = balanced_digits(value);
            let sum: i128 = digits.iter().rev().fold(0, |sum, &d| 16 * sum + i128::from(d));
            assert_eq!(sum, value);
            assert!(digits.iter().all(|d| (-8..8).contains(d)));
        }
    }
}
