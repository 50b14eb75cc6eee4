//! Order statistics: the k-th integer of all rows, by its bits from the top.

use super::RowEvaluator;
use crate::integers::integer::Digit;
use crate::integers::kind::BASE;
use crate::integers::{IntegerError, Integers};

/// Rows whose bits are equal to those of the k-th integer so far, and rows that are greater: 1 or 0.
pub(super) struct State {
    pub(super) equal: Digit,
    greater: Digit,
}

/// Bits of each digit that one step finds, and the slots of a block.
#[derive(Clone, Copy)]
struct Steps {
    bits: u32,
    rows: usize,
}

impl Steps {
    /// Number of values t that rows are counted for.
    fn thresholds(self) -> usize {
        (1 << self.bits) - 1
    }

    /// Number of blocks, a power of two.
    fn blocks(self) -> usize {
        self.thresholds().next_power_of_two()
    }

    /// Returns whether a slot belongs to one of so many rows.
    fn holds(self, slot: usize, count: usize) -> bool {
        slot & (self.rows - 1) < count && slot < self.rows * self.blocks()
    }
}

impl RowEvaluator<'_> {
    /// Returns the least of all rows, in every row.
    ///
    /// # Errors
    /// Every error of [`kth`](Self::kth).
    pub fn min(&self, a: &Integers) -> Result<Integers, IntegerError> {
        self.kth(a, 0)
    }

    /// Returns the greatest of all rows, in every row.
    ///
    /// # Errors
    /// Every error of [`kth`](Self::kth).
    pub fn max(&self, a: &Integers) -> Result<Integers, IntegerError> {
        self.kth(a, a.count.saturating_sub(1))
    }

    /// Returns the median of all rows, in every row: the lower one of two in the middle.
    ///
    /// # Errors
    /// Every error of [`kth`](Self::kth).
    pub fn median(&self, a: &Integers) -> Result<Integers, IntegerError> {
        self.kth(a, a.count.saturating_sub(1) / 2)
    }

    /// Returns the integer that k others are before in ascending order, in every row: 0 is the least.
    ///
    /// # Errors
    /// [`IntegerError::Operand`] for a k of the number of rows or more, and for more rows than slots; [`IntegerError::Bootstrap`] for missing keys and for keys of
    /// another secret.
    pub fn kth(&self, a: &Integers, k: usize) -> Result<Integers, IntegerError> {
        Ok(self.found(a, k, false)?.0)
    }

    /// Returns the k-th integer, and which rows have it if `state` says so.
    pub(super) fn found(
        &self,
        a: &Integers,
        k: usize,
        state: bool,
    ) -> Result<(Integers, Option<State>), IntegerError> {
        self.check(a)?;
        if k >= a.count {
            let expected = format!("below {}, the number of rows", a.count);
            return Err(IntegerError::Operand { what: "the place of an integer", got: k as i128, expected });
        }
        let a = self.integers.with_digits(a)?;
        let rows = a.count.next_power_of_two();
        let steps = Steps { bits: if 4 * rows <= self.capacity() { 2 } else { 1 }, rows };
        let mut known: Option<State> = None;
        let mut digits = Vec::with_capacity(a.digits.len());
        for (place, digit) in a.digits.iter().enumerate().rev() {
            let low = a.kind.digit_range(place)[0];
            let parts = self.parts(digit, a.count, steps, low)?;
            let last = parts.len() - 1;
            let mut value: Option<Digit> = None;
            for (i, part) in parts.iter().enumerate() {
                let moved = self.marked(part, known.as_ref(), a.count, steps)?;
                let bits = self.bits(&moved, k, steps)?;
                if state || place > 0 || i < last {
                    known = Some(self.compared(&moved, &bits)?);
                }
                value = Some(match value {
                    None => bits,
                    Some(value) => {
                        self.integers.plus(&self.integers.times(&value, 1 << steps.bits)?, &bits)?
                    }
                });
            }
            if let Some(value) = value {
                let value = self.integers.within(value, [0, BASE - 1])?;
                digits.push(self.integers.raised(value, low)?);
            }
        }
        digits.reverse();
        Ok((Integers { digits, exact: true, ..a }, known))
    }

    /// Returns the bits of a digit from the top, in all blocks.
    fn parts(&self, digit: &Digit, count: usize, steps: Steps, low: i64) -> Result<Vec<Digit>, IntegerError> {
        let own = self.masked(digit, &|i| i64::from(i < count))?;
        let spread = own.window(self, steps.blocks(), -(steps.rows as i64))?.settled(self, 1);
        // Blocks do not overlap.
        let [least, most] = digit.range;
        let spread = self.integers.within(spread, [least.min(0), most.max(0)])?;
        let spread = self.integers.raised(spread, -low)?;
        let shifts: Vec<u32> = (0..4).step_by(steps.bits as usize).rev().collect();
        let of_shift = |shift: u32| move |m: i64| (m >> shift) & ((1 << steps.bits) - 1);
        let functions: Vec<_> = shifts.iter().map(|&shift| of_shift(shift)).collect();
        let functions: Vec<&dyn Fn(i64) -> i64> =
            functions.iter().map(|f| f as &dyn Fn(i64) -> i64).collect();
        self.integers.look_up(&spread, self.capacity(), &functions)
    }

    /// Returns the bits of rows that are equal so far, −1 of those that are less, and one more than bits can be of those that are greater, or are no rows.
    fn marked(
        &self,
        part: &Digit,
        known: Option<&State>,
        count: usize,
        steps: Steps,
    ) -> Result<Digit, IntegerError> {
        let beyond = steps.thresholds() as i64 + 1;
        let marked = match known {
            None => {
                let row = |i: usize| steps.holds(i, count);
                let masked = self.masked(part, &|i| i64::from(row(i)))?.settled(self, 1);
                self.plus_clear(&masked, &|i| if row(i) { 0 } else { beyond })?
            }
            Some(State { equal, greater }) => {
                // equal·part + (beyond + 1)·greater + equal − 1.
                let own = self.integers.product(equal, part, self.capacity())?;
                let sum = self.integers.plus(&own, &self.integers.times(greater, beyond + 1)?)?;
                self.integers.raised(self.integers.plus(&sum, equal)?, -1)?
            }
        };
        self.integers.within(marked, [-1, beyond])
    }

    /// Returns the next bits of the k-th integer, in every slot.
    fn bits(&self, marked: &Digit, k: usize, steps: Steps) -> Result<Digit, IntegerError> {
        let block = |i: usize| (i / steps.rows) as i64;
        let most = steps.thresholds() as i64;
        // Rows from −1 to t, for block t.
        let apart = self.plus_clear(marked, &|i| -block(i).min(most))?;
        let within = self.look_up_one(&apart, |m| i64::from(m == 0 || m >= BASE / 2))?;
        let counts = self.window(&within, steps.rows, 1)?;
        let counts = self.integers.within(counts, [0, steps.rows as i64])?;
        // The count of block t is in its first slot; elsewhere nothing is negative.
        let first = |i: usize| i.is_multiple_of(steps.rows) && block(i) < most;
        let least = k as i64 + 1;
        let missing = self.plus_clear(&counts, &|i| if first(i) { -least } else { 0 })?;
        let fewer = self.masked(&self.negative(&missing)?, &|i| i64::from(first(i)))?;
        let sum = fewer.window(self, self.capacity(), 1)?.settled(self, steps.thresholds());
        self.integers.within(sum, [0, most])
    }

    /// Returns which rows are equal to the bits found, and which are greater.
    fn compared(&self, marked: &Digit, bits: &Digit) -> Result<State, IntegerError> {
        let difference = self.integers.minus(marked, bits)?;
        let equal = |m: i64| i64::from(m == 0);
        let greater = |m: i64| i64::from((1..BASE / 2).contains(&m));
        let [equal, greater] =
            self.integers.look_up_each(&difference, self.capacity(), [&equal, &greater])?;
        Ok(State { equal, greater })
    }
}
