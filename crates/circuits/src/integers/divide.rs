//! Quotients and remainders by clear integers, and shifts to the right.
//!
//! ⌊x/d⌋ = ⌊x·M/2^(N+l)⌋ for every x from 0 to below 2^N, with M = ⌊2^(N+l)/d⌋ + 1 and d ≤ 2^l: a product with a clear integer, whose low columns leave
//! nothing but carries `[GM94, theorem 4.2]`.

use num_bigint::BigInt;

use super::carry::Carries;
use super::integer::Digit;
use super::kind::{BASE, DIGIT_BITS, balanced_digits};
use super::sum::check_shift;
use super::{IntegerError, IntegerEvaluator, Integers};

impl IntegerEvaluator<'_> {
    /// Returns ⌊a/2^k⌋, which keeps the sign.
    ///
    /// # Errors
    /// [`IntegerError::Operand`] for a k of the number of bits or more; [`IntegerError::Bootstrap`] for keys of another secret.
    pub fn shift_right(&self, a: &Integers, k: u32) -> Result<Integers, IntegerError> {
        check_shift(a, k)?;
        let bounds = a.bounds.map(|end| end >> k);
        if k == 0 {
            return Ok(a.clone());
        }
        let a = self.with_digits(a)?;
        let (whole, bits) = ((k / DIGIT_BITS) as usize, k % DIGIT_BITS);
        let kept = a.digits.get(whole..).unwrap_or(&[]);
        let mut digits = if bits == 0 { kept.to_vec() } else { self.shifted_bits(&a, kept, bits)? };
        if let Some(first) = digits.first().cloned() {
            let zero = self.times(&first, 0)?;
            digits.resize(a.kind.digits(), zero);
        }
        // The sign is in a digit below the top now: digits make up the value all the same.
        Ok(Integers { digits, bounds, ..a })
    }

    /// Returns digits ⌊d_k/2^bits⌋ + 2^(4−bits)·(d_(k+1) mod 2^bits).
    fn shifted_bits(&self, a: &Integers, kept: &[Digit], bits: u32) -> Result<Vec<Digit>, IntegerError> {
        let mut digits: Vec<Digit> = Vec::with_capacity(kept.len());
        for digit in kept {
            let signed = digit.range[0] < 0;
            let value = |m: i64| if signed && m >= BASE / 2 { m - BASE } else { m };
            let high = |m: i64| value(m) >> bits;
            let low = |m: i64| (value(m) & ((1 << bits) - 1)) << (DIGIT_BITS - bits);
            let [high, low] = self.look_up_each(digit, a.count, [&high, &low])?;
            if let Some(before) = digits.pop() {
                digits.push(self.plus(&before, &low)?);
            }
            digits.push(high);
        }
        Ok(digits)
    }

    /// Returns ⌊a/d⌋ and a − d·⌊a/d⌋ for a clear d above 0: the quotient is rounded down, so that the remainder is from 0 to below d.
    ///
    /// # Errors
    /// [`IntegerError::Operand`] for a d that is not from 1 to the largest integer of the kind; [`IntegerError::Bootstrap`] for keys of another secret.
    pub fn divide_clear(&self, a: &Integers, d: i128) -> Result<[Integers; 2], IntegerError> {
        let quotient = self.quotient_by_clear(a, d)?;
        let wrapping = self.with_overflow(super::Overflow::Wrap);
        let product = wrapping.multiply_clear(&quotient, d)?;
        let remainder = wrapping.carried(&wrapping.sub(a, &product)?)?;
        Ok([quotient, Integers { bounds: [0, d - 1], ..remainder }])
    }

    /// Returns ⌊a/d⌋ for a clear d above 0.
    ///
    /// # Errors
    /// Every error of [`divide_clear`](Self::divide_clear).
    pub fn quotient_by_clear(&self, a: &Integers, d: i128) -> Result<Integers, IntegerError> {
        let [_, largest] = a.kind.range();
        if !(1..=largest).contains(&d) {
            let expected = format!("from 1 to {largest}");
            return Err(IntegerError::Operand { what: "a divisor", got: d, expected });
        }
        if d & (d - 1) == 0 {
            return self.shift_right(a, d.trailing_zeros());
        }
        let a = self.with_digits(a)?;
        let bounds = a.bounds.map(|end| end.div_euclid(d));
        // A multiple of d that makes all integers positive.
        let [least, _] = a.kind.range();
        let whole = -least.div_euclid(d);
        let moved = self.moved(&a, whole * d)?;
        let n = a.kind.digits() + usize::from(whole > 0);
        let l = (128 - (d - 1).leading_zeros()).div_ceil(DIGIT_BITS) as usize;
        // The divisor is above 16^(l − 1), so that quotients have no digits from n − l + 1 on.
        let kept = (n + 1 - l).min(a.kind.digits());
        let digits = self.high_digits(&moved, &reciprocal(n + l, d), n + l, n + l + kept)?;
        let quotient = Integers { digits, bounds: a.kind.range(), exact: true, ..a };
        Ok(Integers { bounds, ..self.moved(&quotient, -whole)? })
    }

    /// Returns digits k from `low` to below `end` of a·factor, for a that is not negative, as the digits of an integer of the kind of a.
    fn high_digits(
        &self,
        a: &Integers,
        factor: &[i64],
        low: usize,
        end: usize,
    ) -> Result<Vec<Digit>, IntegerError> {
        let columns = self.convolved(&a.digits, factor, end)?;
        let mut carries = Carries::new(*self, a.count);
        let mut digits: Vec<Digit> =
            columns.iter().map(|column| carries.next_digit(column)).collect::<Result<_, _>>()?;
        let mut digits = digits.split_off(low.min(digits.len()));
        if let Some(first) = digits.first() {
            let zero = self.times(first, 0)?;
            digits.resize(a.kind.digits(), zero);
        }
        Ok(digits)
    }
}

/// Returns the digits of ⌊16^places/d⌋ + 1 from −8 to 7, least first.
fn reciprocal(places: usize, d: i128) -> Vec<i64> {
    balanced_digits((BigInt::from(1) << (DIGIT_BITS as usize * places)) / d + 1)
}
