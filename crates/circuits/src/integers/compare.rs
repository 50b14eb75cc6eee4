//! Comparisons of encrypted integers, and conditions.
//!
//! The sign of a number between two bounds is told by the lowest digit for which ⌊v/16^k⌋ takes at most sixteen values: those have different residues, which one
//! look-up reads as signs. Digits below give carries, and those above are not needed.

use super::carry::Carries;
use super::evaluator::{check_alike, check_count};
use super::integer::Digit;
use super::kind::{BASE, DIGIT_BITS};
use super::{Conditions, IntegerError, IntegerEvaluator, Integers, Overflow};

impl IntegerEvaluator<'_> {
    /// Returns a < b, integer by integer: the sign of a − b.
    ///
    /// Integers of n digits take n + 1 look-ups, or fewer where their bounds leave at most sixteen values of a lower digit of the difference and all above it.
    ///
    /// # Errors
    /// [`IntegerError::Mismatch`] for batches of different kinds or lengths; [`IntegerError::Bootstrap`] for keys of another secret.
    pub fn less(&self, a: &Integers, b: &Integers) -> Result<Conditions, IntegerError> {
        check_alike("a comparison", a, b)?;
        let bounds = difference_of([a.bounds, b.bounds]);
        let [a, b] = [self.as_exact_as(a, bounds)?, self.as_exact_as(b, bounds)?];
        self.negative(&self.columns_between(&a, &b)?, bounds, a.count)
    }

    /// Returns a < c for a clear integer c, without a look-up where the bounds of a decide.
    ///
    /// # Errors
    /// [`IntegerError::Bootstrap`] for keys of another secret.
    pub fn less_than_clear(&self, a: &Integers, c: i128) -> Result<Conditions, IntegerError> {
        let [low, high] = a.bounds;
        if c <= low || high < c {
            return self.constant(&a.digits, a.count, high < c);
        }
        let bounds = difference_of([a.bounds, [c, c]]);
        let difference = self.moved(&self.as_exact_as(a, bounds)?, -c)?;
        self.negative(&difference.digits, bounds, a.count)
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

    /// Returns one condition that is known for all integers of a batch with these digits.
    pub(super) fn constant(
        &self,
        digits: &[Digit],
        count: usize,
        holds: bool,
    ) -> Result<Conditions, IntegerError> {
        let Some(digit) = digits.first() else { return Err(no_digits()) };
        Ok(Conditions { count, digit: self.raised(self.times(digit, 0)?, i64::from(holds))? })
    }

    /// Returns the columns Σ (a_k − b_k)·16^k, of digits that have grown after carries.
    pub(super) fn columns_between(&self, a: &Integers, b: &Integers) -> Result<Vec<Digit>, IntegerError> {
        Ok(self.with_overflow(Overflow::Wrap).sub(a, b)?.digits)
    }

    /// Returns integers whose digits make up their value, and not only modulo 2^bits, where the sign of a number with such bounds needs that.
    fn as_exact_as(&self, a: &Integers, bounds: [i128; 2]) -> Result<Integers, IntegerError> {
        let digits = a.digits.len();
        if deciding(bounds, digits) == digits { self.settled(a) } else { Ok(a.clone()) }
    }

    /// Returns whether Σ v_k·16^k is negative, for numbers between these bounds.
    fn negative(
        &self,
        columns: &[Digit],
        bounds: [i128; 2],
        count: usize,
    ) -> Result<Conditions, IntegerError> {
        if let Some(negative) = known_sign(bounds) {
            return self.constant(columns, count, negative);
        }
        let place = deciding(bounds, columns.len());
        let mut carries = Carries::new(*self, count);
        for column in columns.iter().take(place) {
            carries.next_digit(column)?;
        }
        let top = match columns.get(place) {
            Some(column) => carries.entered(Some(column))?,
            None => Digit { range: [-1, 0], ..carries.carry()? },
        };
        let [least, _] = shifted(bounds, place);
        let sign = |m: i64| i64::from(least + (i128::from(m) - least).rem_euclid(i128::from(BASE)) < 0);
        let digit = self.look_up_one(&top, count, sign)?;
        Ok(Conditions { count, digit })
    }
}

/// Returns the bounds of a − b.
pub(super) fn difference_of([a, b]: [[i128; 2]; 2]) -> [i128; 2] {
    [a[0] - b[1], a[1] - b[0]]
}

/// Returns whether numbers between bounds are negative, if all or none are.
fn known_sign([low, high]: [i128; 2]) -> Option<bool> {
    (low >= 0 || high < 0).then_some(high < 0)
}

/// Returns the ends of ⌊v/16^place⌋.
pub(super) fn shifted(bounds: [i128; 2], place: usize) -> [i128; 2] {
    bounds.map(|end| end >> (DIGIT_BITS as usize * place))
}

/// Returns the least place at which ⌊v/16^place⌋ takes at most sixteen values, at most the number of digits; 0 where bounds have one sign.
fn deciding(bounds: [i128; 2], digits: usize) -> usize {
    if known_sign(bounds).is_some() {
        return 0;
    }
    let tells = |place: &usize| {
        let [low, high] = shifted(bounds, *place);
        high - low < i128::from(BASE)
    };
    (0..digits).find(tells).unwrap_or(digits)
}

pub(super) fn no_digits() -> IntegerError {
    IntegerError::Operand { what: "the number of digits", got: 0, expected: "at least 1".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deciding_digit_tells_signs_and_none_below_does() {
        for (bounds, place) in [
            ([-1, 14], 0),
            ([-1 << 40, -1], 0),
            ([0, 1 << 40], 0),
            ([-8, 8], 1),
            ([-47, 25], 1),
            ([-255, 255], 2),
            ([-128, 127], 1),
            ([-100, 155], 2),
            ([-1, 1 << 62], 15),
            ([-1, 1 << 64], 16),
        ] {
            assert_eq!(deciding(bounds, 16), place, "{bounds:?}");
        }
        assert_eq!(deciding([-255, 255], 1), 1);
    }
}
