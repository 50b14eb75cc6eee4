//! Comparisons of encrypted integers, and conditions.

use super::carry::Carries;
use super::evaluator::{check_alike, check_count};
use super::integer::Digit;
use super::kind::{BASE, DIGIT_BITS};
use super::{Conditions, IntegerError, IntegerEvaluator, Integers};

impl IntegerEvaluator<'_> {
    /// Returns a < b, integer by integer: the sign of a − b, which is its last carry.
    ///
    /// # Errors
    /// [`IntegerError::Mismatch`] for batches of different kinds or lengths; [`IntegerError::Bootstrap`] for keys of another secret.
    pub fn less(&self, a: &Integers, b: &Integers) -> Result<Conditions, IntegerError> {
        check_alike("a comparison", a, b)?;
        let [left, right] = [self.settled(a)?, self.settled(b)?];
        self.negative(&self.differences(&left, &right)?, a.count)
    }

    /// Returns a < c for a clear integer c, without a look-up where the bounds of a decide.
    ///
    /// # Errors
    /// [`IntegerError::Bootstrap`] for keys of another secret.
    pub fn less_than_clear(&self, a: &Integers, c: i128) -> Result<Conditions, IntegerError> {
        let [low, high] = a.bounds;
        if c <= low || high < c {
            return self.constant(a, i64::from(high < c));
        }
        let difference = self.moved(&self.settled(a)?, -c)?;
        let columns = columns_below(&difference.digits, [low - c, high - c]);
        self.negative(columns, a.count)
    }

    /// Returns a = b, integer by integer.
    ///
    /// # Errors
    /// Every error of [`less`](Self::less).
    pub fn equal(&self, a: &Integers, b: &Integers) -> Result<Conditions, IntegerError> {
        check_alike("an equality", a, b)?;
        let [left, right] = [self.with_digits(a)?, self.with_digits(b)?];
        self.zero(&self.differences(&left, &right)?, a.count)
    }

    /// Returns a = c for a clear integer c, without a look-up where the bounds of a decide.
    ///
    /// # Errors
    /// Every error of [`less_than_clear`](Self::less_than_clear).
    pub fn equal_to_clear(&self, a: &Integers, c: i128) -> Result<Conditions, IntegerError> {
        let [low, high] = a.bounds;
        if !(low..=high).contains(&c) {
            return self.constant(a, 0);
        }
        let a = self.with_digits(a)?;
        let digits = a.kind.digits_of(c);
        let columns: Vec<Digit> = a
            .digits
            .iter()
            .zip(digits)
            .map(|(digit, own)| self.raised(digit.clone(), -own))
            .collect::<Result<_, _>>()?;
        self.zero(&columns, a.count)
    }

    /// Returns the opposite of conditions.
    ///
    /// # Errors
    /// [`IntegerError::Ckks`] for a ciphertext of another context.
    pub fn not(&self, a: &Conditions) -> Result<Conditions, IntegerError> {
        Ok(Conditions { digit: self.raised(self.times(&a.digit, -1)?, 1)?, ..a.clone() })
    }

    /// Returns whether both conditions hold, by one look-up.
    ///
    /// # Errors
    /// [`IntegerError::Mismatch`] for different numbers of conditions; [`IntegerError::Bootstrap`] for keys of another secret.
    pub fn and(&self, a: &Conditions, b: &Conditions) -> Result<Conditions, IntegerError> {
        self.of_sum(a, b, |sum| i64::from(sum == 2))
    }

    /// Returns whether one condition holds or both, by one look-up.
    ///
    /// # Errors
    /// Every error of [`and`](Self::and).
    pub fn or(&self, a: &Conditions, b: &Conditions) -> Result<Conditions, IntegerError> {
        self.of_sum(a, b, |sum| i64::from(sum >= 1))
    }

    /// Returns whether one condition holds and the other does not, by one look-up.
    ///
    /// # Errors
    /// Every error of [`and`](Self::and).
    pub fn xor(&self, a: &Conditions, b: &Conditions) -> Result<Conditions, IntegerError> {
        self.of_sum(a, b, |sum| i64::from(sum == 1))
    }

    fn of_sum(
        &self,
        a: &Conditions,
        b: &Conditions,
        f: impl Fn(i64) -> i64,
    ) -> Result<Conditions, IntegerError> {
        check_count("a condition of two", b, a.count)?;
        let digit = self.look_up_one(&self.plus(&a.digit, &b.digit)?, a.count, f)?;
        Ok(Conditions { count: a.count, digit })
    }

    /// Returns one condition that is known for all integers of a batch.
    fn constant(&self, a: &Integers, value: i64) -> Result<Conditions, IntegerError> {
        let Some(digit) = a.digits.first() else { return Err(no_digits()) };
        Ok(Conditions { count: a.count, digit: self.raised(self.times(digit, 0)?, value)? })
    }

    /// Returns whether Σ v_k·16^k is negative, for a sum above −16^n.
    fn negative(&self, columns: &[Digit], count: usize) -> Result<Conditions, IntegerError> {
        let mut carries = Carries::new(*self, count);
        for column in columns {
            carries.next_digit(column)?;
        }
        let carry = Digit { range: [-1, 0], ..carries.carry()? };
        let digit = self.look_up_one(&carry, count, |m| i64::from(m == BASE - 1))?;
        Ok(Conditions { count, digit })
    }

    /// Returns whether all digits are 0 modulo 16.
    fn zero(&self, digits: &[Digit], count: usize) -> Result<Conditions, IntegerError> {
        let mut sum: Option<Digit> = None;
        for digit in digits {
            let differs = self.look_up_one(digit, count, |m| i64::from(m != 0))?;
            sum = Some(match sum {
                None => differs,
                // 16 differences are none modulo 16.
                Some(sum) if sum.range[1] + 1 == BASE => {
                    let any = self.look_up_one(&sum, count, |m| i64::from(m != 0))?;
                    self.plus(&any, &differs)?
                }
                Some(sum) => self.plus(&sum, &differs)?,
            });
        }
        let sum = sum.ok_or_else(no_digits)?;
        let digit = self.look_up_one(&sum, count, |m| i64::from(m == 0))?;
        Ok(Conditions { count, digit })
    }
}

/// Returns the columns without those at the top that are 0 anyway, as long as 16^n is beyond the bounds of the sum.
fn columns_below(columns: &[Digit], [low, high]: [i128; 2]) -> &[Digit] {
    let fits = |n: usize| {
        let beyond = 1_i128 << (DIGIT_BITS as usize * n);
        -beyond < low && high < beyond
    };
    let mut left = columns;
    while let [others @ .., top] = left
        && top.range == [0, 0]
        && !others.is_empty()
        && fits(others.len())
    {
        left = others;
    }
    left
}

fn no_digits() -> IntegerError {
    IntegerError::Operand { what: "the number of digits", got: 0, expected: "at least 1".to_owned() }
}
