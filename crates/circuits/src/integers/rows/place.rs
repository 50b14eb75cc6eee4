//! Places of extremes: the first row that has the least or the greatest integer.
//!
//! Of few rows, all pairs are compared at once, and the row that none comes before is the first. Of many, the integer is found by its bits, and the first row that
//! has it by counting the equal rows before.

use super::RowEvaluator;
use crate::integers::integer::Digit;
use crate::integers::kind::{BASE, DIGIT_BITS};
use crate::integers::{IntegerError, IntegerKind, Integers};

impl RowEvaluator<'_> {
    /// Returns the least of all rows and the place of the first row that has it, in every row. Rows are at most half as many as slots.
    ///
    /// # Errors
    /// Every error of [`kth`](Self::kth).
    pub fn argmin(&self, a: &Integers) -> Result<[Integers; 2], IntegerError> {
        self.first(a, false)
    }

    /// Returns the greatest of all rows and the place of the first row that has it, in every row. Rows are at most half as many as slots.
    ///
    /// # Errors
    /// Every error of [`kth`](Self::kth).
    pub fn argmax(&self, a: &Integers) -> Result<[Integers; 2], IntegerError> {
        self.first(a, true)
    }

    fn first(&self, a: &Integers, greatest: bool) -> Result<[Integers; 2], IntegerError> {
        self.check(a)?;
        let (rows, most) = (a.count.next_power_of_two(), self.capacity() / 2);
        if a.count > most {
            // Beyond, rotations lead the last rows before the first.
            let expected = format!("at most {most}: the place of an extreme takes two slots a row");
            return Err(IntegerError::Operand { what: "the number of rows", got: a.count as i128, expected });
        }
        if rows * rows <= self.capacity() {
            return self.first_of_pairs(a, greatest);
        }
        let k = if greatest { a.count - 1 } else { 0 };
        let (value, equal) = self.found(a, k)?;
        let first = self.first_of_equal(&equal, a.count)?;
        let place = self.place(&first, a.count, 1)?;
        Ok([value, place])
    }

    /// Returns the first of the rows that are 1, alone.
    fn first_of_equal(&self, equal: &Digit, count: usize) -> Result<Digit, IntegerError> {
        let integers = self.integers;
        let equal = self.masked(equal, &|i| i64::from(i < count))?.settled(self, 1);
        // How many rows before have it: sums over rotations to the right, where no row is in the way of another.
        let mut before = equal.clone();
        for step in super::powers(1, count) {
            before = integers.plus(&before, &self.rotated(&before, -(step as i64))?)?;
        }
        let before = integers.within(integers.minus(&before, &equal)?, [0, count as i64])?;
        let none = self.zero(&before)?;
        self.look_up_one(&integers.plus(&none, &equal)?, |m| i64::from(m == 2))
    }

    /// Returns the number of the row that is 1, in every slot; row i is in slot i·stride, and other slots may be anything.
    fn place(&self, first: &Digit, count: usize, stride: usize) -> Result<Integers, IntegerError> {
        let (integers, kind) = (self.integers, IntegerKind::U16);
        let used =
            kind.digits().min((usize::BITS - (count - 1).leading_zeros()).div_ceil(DIGIT_BITS) as usize);
        let digit = |k: usize| {
            let own = |slot: usize| match slot / stride {
                i if slot.is_multiple_of(stride) && i < count => {
                    (i >> (DIGIT_BITS as usize * k)) as i64 & (BASE - 1)
                }
                _ => 0,
            };
            let sum = self.masked(first, &own)?.window(self, self.capacity(), 1)?.settled(self, count);
            self.look_up_one(&integers.within(sum, [0, BASE - 1])?, |m| m)
        };
        let mut digits: Vec<Digit> = (0..used).map(digit).collect::<Result<_, _>>()?;
        digits.resize(kind.digits(), integers.times(first, 0)?);
        let bounds = [0, count as i128 - 1];
        Ok(Integers { kind, count, digits, bounds, exact: true })
    }

    /// Returns the extreme and its place, by comparing all pairs in one block of slots.
    fn first_of_pairs(&self, a: &Integers, greatest: bool) -> Result<[Integers; 2], IntegerError> {
        let (integers, a) = (self.integers, self.comparable(a)?);
        let rights = self.rights(&a)?;
        let Some(block) = self.blocks(a.count).next() else { return Ok([a.clone(), a]) };
        let lefts = self.lefts(&a, block)?;
        let order = if greatest { [&lefts[..], &rights[..]] } else { [&rights[..], &lefts[..]] };
        let first = self.zero(&self.block_ranks(a.count, block, order)?)?;
        let row = |slot: usize| slot.is_multiple_of(block.m) && slot / block.m < a.count;
        let chosen = self.masked(&first, &|slot| i64::from(row(slot)))?.settled(self, 1);
        let products = integers.products(&chosen, &lefts, self.capacity())?;
        let digit = |(k, product): (usize, &Digit)| {
            let [low, high] = a.kind.digit_range(k);
            let own = move |m: i64| if m > high { m - BASE } else { m };
            let sum = self.window(product, self.capacity() / block.m, block.m as i64)?;
            let sum = integers.within(sum, [low.min(0), high])?;
            let digit = self.look_up_one(&sum, own)?;
            let all = self.masked(&digit, &|slot| i64::from(slot.is_multiple_of(block.m)))?;
            integers.within(all.window(self, block.m, -1)?.settled(self, 1), [low.min(0), high])
        };
        let digits = products.iter().enumerate().map(digit).collect::<Result<_, IntegerError>>()?;
        let place = self.place(&first, a.count, block.m)?;
        Ok([Integers { digits, exact: true, ..a }, place])
    }
}
