//! Places of extremes: the first row that has the least or the greatest integer.

use super::RowEvaluator;
use crate::integers::kind::DIGIT_BITS;
use crate::integers::{IntegerError, IntegerKind, Integers};

impl RowEvaluator<'_> {
    /// Returns the least of all rows and the place of the first row that has it, in every row. Rows are at most half as many as slots.
    ///
    /// # Errors
    /// Every error of [`kth`](Self::kth).
    pub fn argmin(&self, a: &Integers) -> Result<[Integers; 2], IntegerError> {
        self.first_kth(a, 0)
    }

    /// Returns the greatest of all rows and the place of the first row that has it, in every row. Rows are at most half as many as slots.
    ///
    /// # Errors
    /// Every error of [`kth`](Self::kth).
    pub fn argmax(&self, a: &Integers) -> Result<[Integers; 2], IntegerError> {
        self.first_kth(a, a.count.saturating_sub(1))
    }

    fn first_kth(&self, a: &Integers, k: usize) -> Result<[Integers; 2], IntegerError> {
        let most = self.capacity() / 2;
        if a.count > most {
            // Beyond, rotations lead the last rows before the first.
            let expected = format!("at most {most}: the place of an extreme takes two slots a row");
            return Err(IntegerError::Operand { what: "the number of rows", got: a.count as i128, expected });
        }
        let (value, state) = self.found(a, k, true)?;
        let Some(state) = state else { return Ok([value.clone(), value]) };
        let integers = self.integers;
        let equal = self.masked(&state.equal, &|i| i64::from(i < a.count))?.settled(self, 1);
        // How many rows before have it: sums over rotations to the right, where no row is in the way of another.
        let mut before = equal.clone();
        for step in super::powers(1, a.count) {
            before = integers.plus(&before, &self.rotated(&before, -(step as i64))?)?;
        }
        let before = integers.within(integers.minus(&before, &equal)?, [0, a.count as i64])?;
        let none = self.zero(&before)?;
        let both: &dyn Fn(i64) -> i64 = &|m| i64::from(m == 2);
        let first = integers.look_up(&integers.plus(&none, &equal)?, self.capacity(), &[both])?.remove(0);
        let kind = IntegerKind::U16;
        let place = |k: usize| {
            let own = |i: usize| if i < a.count { (i >> (DIGIT_BITS as usize * k)) as i64 & 15 } else { 0 };
            let digit = self.masked(&first, &own)?.window(self, self.capacity(), 1)?;
            let digit = integers.within(digit.settled(self, a.count), [0, 15])?;
            Ok::<_, IntegerError>(integers.look_up(&digit, self.capacity(), &[&|m| m])?.remove(0))
        };
        let digits = (0..kind.digits()).map(place).collect::<Result<_, _>>()?;
        let bounds = [0, a.count as i128 - 1];
        Ok([value, Integers { kind, count: a.count, digits, bounds, exact: true }])
    }
}
