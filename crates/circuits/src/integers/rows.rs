//! Operations across the integers of a batch, its rows: sums, order statistics, places of extremes, and sorting.
//!
//! Rows are in real parts of slots alone, so that a batch has as many as slots. Every result is exact, also where integers are equal.
//!
//! * Order statistics are found by their digits, from the top: of the rows that are equal so far those are counted whose next digit is at most t, for every t by one
//!   look-up; how many counts are at most k, with the rows that are less already, says which digit the k-th integer has. Several places take one search.
//! * Sorting compares all pairs at once: slot i·m + j has whether row j comes before row i. Sums over j are ranks, and row i goes to the place of its rank. Many rows are
//!   counted where bounds are narrow, or go through a network of comparisons: whichever takes the fewest look-ups.

mod counting;
mod mask;
mod network;
mod place;
mod search;
mod sort;
mod sorted;
mod statistic;

pub use sorted::SortMethod;

use sunzi_ckks::Plaintext;

use super::evaluator::UNIT;
use super::integer::Digit;
use super::kind::BASE;
use super::{Conditions, IntegerError, IntegerEvaluator, IntegerKind, Integers};

/// Evaluator of operations across the rows of a batch.
#[derive(Clone, Copy)]
pub struct RowEvaluator<'a> {
    integers: IntegerEvaluator<'a>,
}

impl<'a> RowEvaluator<'a> {
    /// Makes an evaluator across the rows of batches.
    #[must_use]
    pub fn new(integers: IntegerEvaluator<'a>) -> Self {
        Self { integers }
    }

    /// Largest number of rows of a batch: one for each slot.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.integers.capacity() / 2
    }

    /// Returns the sum of all rows, in every row.
    ///
    /// # Errors
    /// [`IntegerError::Operand`] for more rows than slots; [`IntegerError::Overflow`] where that is refused; [`IntegerError::Bootstrap`] for missing keys and
    /// for keys of another secret.
    pub fn sum(&self, a: &Integers) -> Result<Integers, IntegerError> {
        self.check(a)?;
        let total = a.bounds.map(|end| end * a.count as i128);
        let (bounds, exact) = self.integers.bounded("a sum of all rows", a, Some(total))?;
        let wrapping = self.integers.with_overflow(super::Overflow::Wrap);
        // Two levels: one for the mask, one for carries.
        let carried = Self { integers: wrapping }.comparable(a)?;
        let mask = |i: usize| i64::from(i < a.count);
        let masked = carried.digits.iter().map(|digit| Ok(self.masked(digit, &mask)?.settled(self, 1)));
        let mut sum = Integers { digits: masked.collect::<Result<_, IntegerError>>()?, ..carried };
        for step in powers(1, self.capacity()) {
            let turned = sum.digits.iter().map(|digit| self.rotated(digit, step as i64));
            let turned = Integers { digits: turned.collect::<Result<_, _>>()?, ..sum.clone() };
            sum = wrapping.add(&sum, &turned)?;
        }
        Ok(Integers { bounds, exact, ..sum })
    }

    /// Returns in how many rows a condition holds, in every row.
    ///
    /// # Errors
    /// Every error of [`sum`](Self::sum).
    pub fn count(&self, condition: &Conditions) -> Result<Integers, IntegerError> {
        self.sum(&self.integers.integers_of(condition, IntegerKind::U16)?)
    }

    fn check(&self, a: &Integers) -> Result<(), IntegerError> {
        let most = self.capacity();
        if (1..=most).contains(&a.count) {
            return Ok(());
        }
        let expected = format!("from 1 to {most}: one for each slot");
        Err(IntegerError::Operand { what: "the number of rows", got: a.count as i128, expected })
    }

    /// Returns digits rotated left by a power of two, or right if negative.
    fn rotated(&self, digit: &Digit, steps: i64) -> Result<Digit, IntegerError> {
        self.integers.switched();
        let ciphertext = self.integers.bootstrapper.rotate(&digit.ciphertext, steps, self.integers.keys)?;
        Ok(Digit { ciphertext, range: digit.range })
    }

    /// Returns Σ over r below `length` of digits rotated by r·stride, for a length that is a power of two; a negative stride rotates right.
    fn window(&self, digit: &Digit, length: usize, stride: i64) -> Result<Digit, IntegerError> {
        powers(1, length).try_fold(digit.clone(), |sum, step| {
            self.integers.plus(&sum, &self.rotated(&sum, stride * step as i64)?)
        })
    }

    /// Returns digits plus a clear integer for each slot.
    fn plus_clear(&self, digit: &Digit, term: &dyn Fn(usize) -> i64) -> Result<Digit, IntegerError> {
        let (plaintext, [low, high]) = self.clear(term, UNIT, digit.ciphertext.metadata().level)?;
        let sum = self.integers.evaluator().add_plain(&digit.ciphertext, &plaintext)?;
        self.integers.declared(sum, [digit.range[0] + low, digit.range[1] + high])
    }

    /// Encodes a clear integer for each slot in units of `unit`, and returns their range.
    fn clear(
        &self,
        value: &dyn Fn(usize) -> i64,
        unit: f64,
        level: usize,
    ) -> Result<(Plaintext, [i64; 2]), IntegerError> {
        let values: Vec<i64> = (0..self.capacity()).map(value).collect();
        let range = [values.iter().copied().min().unwrap_or(0), values.iter().copied().max().unwrap_or(0)];
        let numbers: Vec<f64> = values.iter().map(|value| *value as f64 * unit).collect();
        let context = self.integers.evaluator().context();
        let encoder = sunzi_ckks::Encoder::new(context, self.capacity())?;
        let numbers: Vec<num_complex::Complex64> = numbers.into_iter().map(Into::into).collect();
        Ok((encoder.encode_at(&numbers, level, context.scale(level)?)?, range))
    }

    /// Returns one table of the residues of digits modulo 16, in all slots.
    fn look_up_one(&self, digit: &Digit, function: impl Fn(i64) -> i64) -> Result<Digit, IntegerError> {
        self.integers.look_up_one(digit, self.capacity(), function)
    }

    /// Returns whether v = 0 for a column v of any size, 1 or 0.
    fn zero(&self, column: &Digit) -> Result<Digit, IntegerError> {
        let narrow = |[low, high]: [i64; 2]| -BASE < low && high < BASE;
        let any: &dyn Fn(i64) -> i64 = &|m| i64::from(m != 0);
        let none: &dyn Fn(i64) -> i64 = &|m| i64::from(m == 0);
        if narrow(column.range) {
            return self.look_up_one(column, none);
        }
        // Digits until the carry is narrow.
        let zero = self.integers.times(column, 0)?;
        let mut carries = super::carry::Carries::new(self.integers, self.capacity());
        let (mut parts, mut next, mut carry) = (Vec::new(), column, column.clone());
        while !narrow(carry.range) {
            parts.extend(carries.look_up(next, &[&|m| m, any])?.pop());
            (next, carry) = (&zero, carries.carry()?);
        }
        let last = self.look_up_one(&carry, any)?;
        let sum = parts.iter().try_fold(last, |sum, part| self.integers.plus(&sum, part))?;
        self.look_up_one(&sum, none)
    }
}

/// Powers of two from `first` to below `end`.
fn powers(first: usize, end: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(first), |power| power.checked_mul(2)).take_while(move |power| *power < end)
}
