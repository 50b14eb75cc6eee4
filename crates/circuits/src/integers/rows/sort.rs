//! Ranks and sorting, by comparing all pairs of rows at once.
//!
//! For m rows, a power of two, slot i·m + j of a block belongs to rows i and j. As many i as slots allow are in one block.

use super::mask::Masked;
use super::{RowEvaluator, powers};
use crate::integers::carry::Carries;
use crate::integers::evaluator::UNIT;
use crate::integers::integer::Digit;
use crate::integers::kind::BASE;
use crate::integers::{IntegerError, IntegerKind, Integers};

/// Pairs of rows in the slots of one block.
#[derive(Clone, Copy)]
pub(super) struct Block {
    /// Number of rows, a power of two.
    pub(super) m: usize,
    /// Row i of the first slot.
    first: usize,
    /// Number of rows i of the block.
    held: usize,
}

/// Direction of rows between their own slots, side by side, and the first slots of their pairs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// From slot i to slot i·m.
    Apart,
    /// From slot i·m to slot i.
    Together,
}

impl Block {
    fn left(self, slot: usize) -> usize {
        self.first + slot / self.m
    }

    fn right(self, slot: usize) -> usize {
        slot & (self.m - 1)
    }
}

impl RowEvaluator<'_> {
    /// Returns the rows in ascending order, each brought to the place of its rank.
    pub(super) fn of_pairs(&self, a: &Integers) -> Result<Integers, IntegerError> {
        let a = self.comparable(a)?;
        let rights = self.rights(&a)?;
        let (mut sums, mut noises): (Vec<Digit>, [f64; 2]) = (Vec::new(), [0.0; 2]);
        for block in self.blocks(a.count) {
            let lefts = self.lefts(&a, block)?;
            let ranks = self.block_ranks(a.count, block, [&rights, &lefts])?;
            // Rank i beside place j.
            let apart = self.plus_clear(&self.spread(&ranks, block)?, &|slot| -(block.right(slot) as i64))?;
            let here = self.zero(&apart)?;
            let of_lefts = lefts.iter().map(|left| self.integers.noise(left)).fold(0.0, f64::max);
            noises = [noises[0].max(self.integers.noise(&here)), noises[1].max(of_lefts)];
            let bare: Vec<Digit> = lefts.iter().map(Digit::bare).collect();
            let moved = self.integers.products(&here.bare(), &bare, self.capacity())?;
            for (k, moved) in moved.iter().enumerate() {
                let sum = self.window(moved, self.capacity() / block.m, block.m as i64)?;
                match sums.get_mut(k) {
                    Some(all) => *all = self.integers.plus(all, &sum)?,
                    None => sums.push(sum),
                }
            }
        }
        let digit = |(k, sum): (usize, Digit)| {
            let [low, high] = a.kind.digit_range(k);
            let own = move |m: i64| if m > high { m - BASE } else { m };
            let sum = self.integers.within(sum, zero_in([low, high]))?;
            // One row is in each place: its noise counts, and that of all conditions.
            let [here, left] = noises;
            let noise = left + a.count as f64 * here * (sum.reach() as f64 + left / UNIT);
            let ciphertext = self.integers.bootstrapper.with_slot_error(sum.ciphertext, noise);
            let sum = Digit { ciphertext, range: sum.range };
            self.look_up_one(&sum, own)
        };
        let digits = sums.into_iter().enumerate().map(digit).collect::<Result<_, _>>()?;
        Ok(Integers { digits, exact: true, ..a })
    }

    /// Returns how many rows come before each row in ascending order; of equal ones the first comes first.
    ///
    /// # Errors
    /// Every error of [`sorted`](Self::sorted).
    pub fn ranks(&self, a: &Integers) -> Result<Integers, IntegerError> {
        let a = self.comparable(a)?;
        let rights = self.rights(&a)?;
        let mut sum: Option<Digit> = None;
        for block in self.blocks(a.count) {
            let lefts = self.lefts(&a, block)?;
            let ranks = self.block_ranks(a.count, block, [&rights, &lefts])?;
            let gathered = self.gathered(&ranks, block, a.count)?;
            sum = Some(match sum {
                Some(sum) => self.integers.plus(&sum, &gathered)?,
                None => gathered,
            });
        }
        let kind = IntegerKind::U16;
        let Some(sum) = sum.as_ref() else { return Ok(a) };
        let range = [0, a.count as i64 - 1];
        let column = self.integers.within(sum.clone(), range)?;
        let zero = self.integers.times(&column, 0)?;
        let columns: Vec<Digit> =
            std::iter::once(column).chain(std::iter::repeat_n(zero, kind.digits() - 1)).collect();
        let digits = self.integers.digits_of_columns(&columns, self.capacity(), false)?;
        Ok(Integers { kind, count: a.count, digits, bounds: [0, a.count as i128 - 1], exact: true })
    }

    pub(super) fn comparable(&self, a: &Integers) -> Result<Integers, IntegerError> {
        self.check(a)?;
        let lowest = self.integers.lowest_level() + 2;
        let fit = a.is_carried() && a.digits.iter().all(|digit| digit.ciphertext.metadata().level >= lowest);
        if fit { Ok(a.clone()) } else { self.integers.carried(a) }
    }

    /// Returns the blocks of pairs of so many rows.
    pub(super) fn blocks(&self, count: usize) -> impl Iterator<Item = Block> {
        let m = count.next_power_of_two();
        let held = (self.capacity() / m).min(m);
        (0..count).step_by(held).map(move |first| Block { m, first, held })
    }

    /// Returns the digits of row j in slot i·m + j, and 0 where there is no row j.
    pub(super) fn rights(&self, a: &Integers) -> Result<Vec<Digit>, IntegerError> {
        let m = a.count.next_power_of_two();
        let digit = |digit: &Digit| {
            let own = self.masked(digit, &|slot| i64::from(slot < a.count))?;
            let all = own.window(self, self.capacity() / m, -(m as i64))?.settled(self, 1);
            self.integers.within(all, zero_in(digit.range))
        };
        a.digits.iter().map(digit).collect()
    }

    /// Returns the digits of row i in slots i·m to i·m + m − 1 of a block, and 0 where there is no row i.
    pub(super) fn lefts(&self, a: &Integers, block: Block) -> Result<Vec<Digit>, IntegerError> {
        let left = |digit: &Digit| {
            let own = self.turned(digit, block.first as i64)?;
            let apart = self.carried_over(&own, block, a.count, Way::Apart)?;
            let all = apart.window(self, block.m, -1)?.settled(self, 1);
            self.integers.within(all, zero_in(digit.range))
        };
        a.digits.iter().map(left).collect()
    }

    /// Brings what is in slot i·m to slot first + i, for all rows of a block, and 0 to all others.
    fn gathered(&self, ranks: &Digit, block: Block, count: usize) -> Result<Digit, IntegerError> {
        let together = self.carried_over(ranks, block, count, Way::Together)?;
        let sum = together.turned(self, -(block.first as i64))?.settled(self, 1);
        self.integers.within(sum, zero_in(ranks.range))
    }

    /// Brings row i of a block, i from 0, from slot i to slot i·m or back, and 0 to all other slots. Rows move by i·(m − 1) slots, i = b + c·e: b small steps
    /// from one rotation to the next, then, all of them at once, c giant steps of e.
    fn carried_over(
        &self,
        digit: &Digit,
        Block { m, first, held }: Block,
        count: usize,
        way: Way,
    ) -> Result<Masked, IntegerError> {
        let e = powers(1, held + 1).find(|e| e * e >= held).unwrap_or(1);
        let sign = if way == Way::Apart { -1 } else { 1 };
        let mut small = vec![digit.clone()];
        while let (true, Some(last)) = (small.len() < e, small.last()) {
            // By m − 1 slots.
            small.push(self.turned(&self.turned(last, sign * m as i64)?, -sign)?);
        }
        let mut sum: Option<Masked> = None;
        for c in (0..held.div_ceil(e)).rev() {
            if let Some(whole) = sum.take() {
                sum = Some(whole.turned(self, sign * (e * m) as i64)?.turned(self, -sign * e as i64)?);
            }
            for (b, small) in small.iter().enumerate() {
                let row = b + c * e;
                // Where the small steps have brought the row.
                let slot = match way {
                    Way::Apart => row + b * (m - 1),
                    Way::Together => row * m - b * (m - 1),
                };
                if row < held && first + row < count {
                    sum = Some(self.joined(sum, self.masked(small, &|i| i64::from(i == slot))?)?);
                }
            }
        }
        sum.map_or_else(|| self.masked(digit, &|_| 0), Ok)
    }

    /// Returns the sum of digits that were kept in different slots, where there are some already.
    fn joined(&self, a: Option<Masked>, b: Masked) -> Result<Masked, IntegerError> {
        match a {
            Some(a) => a.beside(b, self),
            None => Ok(b),
        }
    }

    /// Returns in slot i·m how many rows j come before row i, those whose first digits are less than the second ones, and in other slots anything up to the number
    /// of rows.
    pub(super) fn block_ranks(
        &self,
        count: usize,
        block: Block,
        [first, second]: [&[Digit]; 2],
    ) -> Result<Digit, IntegerError> {
        let mut carries = Carries::new(self.integers, self.capacity());
        let top = first.len().saturating_sub(1);
        for (k, (first, second)) in first.iter().zip(second).enumerate() {
            let difference = self.integers.minus(first, second)?;
            // Row j before row i comes first if both are equal; where there is no row j nothing is negative.
            let own = |slot: usize| {
                let (i, j) = (block.left(slot), block.right(slot));
                let tie = i64::from(k == 0 && j < i && j < count);
                let no_row = if k == top && j >= count { BASE } else { 0 };
                no_row - tie
            };
            carries.next_digit(&self.plus_clear(&difference, &own)?)?;
        }
        let less = self.look_up_one(&carries.carry()?, |m| i64::from(m >= BASE / 2))?;
        // Of m slots in a row, each belongs to another row j.
        self.integers.within(self.window(&less, block.m, 1)?, [0, count as i64])
    }

    /// Brings what is in slot i·m to slots i·m to i·m + m − 1.
    fn spread(&self, ranks: &Digit, block: Block) -> Result<Digit, IntegerError> {
        let own = self.masked(ranks, &|slot| i64::from(block.right(slot) == 0))?;
        self.integers.within(own.window(self, block.m, -1)?.settled(self, 1), ranks.range)
    }
}

/// Returns a range with 0.
fn zero_in([low, high]: [i64; 2]) -> [i64; 2] {
    [low.min(0), high.max(0)]
}
