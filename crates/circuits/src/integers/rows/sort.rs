//! Ranks and sorting, by comparing all pairs of rows at once.
//!
//! For m rows, a power of two, slot i·m + j of a block belongs to rows i and j. As many i as slots allow are in one block.

use super::{RowEvaluator, powers};
use crate::integers::carry::Carries;
use crate::integers::integer::Digit;
use crate::integers::kind::BASE;
use crate::integers::{IntegerError, IntegerKind, Integers};

/// Pairs of rows in the slots of one block.
#[derive(Clone, Copy)]
struct Block {
    /// Number of rows, a power of two.
    m: usize,
    /// Row i of the first slot.
    first: usize,
    /// Number of rows i of the block.
    held: usize,
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
    /// Returns the rows in ascending order.
    ///
    /// # Errors
    /// [`IntegerError::Operand`] for more rows than slots; [`IntegerError::Bootstrap`] for missing keys and for keys of another secret.
    pub fn sorted(&self, a: &Integers) -> Result<Integers, IntegerError> {
        let a = self.comparable(a)?;
        let rights = self.rights(&a)?;
        let mut sums: Vec<Digit> = Vec::new();
        for block in self.blocks(a.count) {
            let lefts = self.lefts(&a, block)?;
            let ranks = self.block_ranks(&a, block, [&lefts, &rights])?;
            // Rank i beside place j.
            let apart = self.plus_clear(&self.spread(&ranks, block)?, &|slot| -(block.right(slot) as i64))?;
            let here = self.zero(&apart)?;
            let moved = self.integers.products(&here, &lefts, self.capacity())?;
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
            Ok::<_, IntegerError>(self.integers.look_up(&sum, self.capacity(), &[&own])?.remove(0))
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
            let ranks = self.block_ranks(&a, block, [&lefts, &rights])?;
            let gathered = self.gathered(&ranks, block)?;
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

    fn comparable(&self, a: &Integers) -> Result<Integers, IntegerError> {
        self.check(a)?;
        let lowest = self.integers.lowest_level() + 2;
        let fit = a.is_carried() && a.digits.iter().all(|digit| digit.ciphertext.metadata().level >= lowest);
        if fit { Ok(a.clone()) } else { self.integers.carried(a) }
    }

    /// Returns the blocks of pairs of so many rows.
    fn blocks(&self, count: usize) -> impl Iterator<Item = Block> {
        let m = count.next_power_of_two();
        let held = (self.capacity() / m).min(m);
        (0..count).step_by(held).map(move |first| Block { m, first, held })
    }

    /// Returns the digits of row j in slot i·m + j, and 0 where there is no row j.
    fn rights(&self, a: &Integers) -> Result<Vec<Digit>, IntegerError> {
        let m = a.count.next_power_of_two();
        let digit = |digit: &Digit| {
            let own = self.times_clear(digit, &|slot| i64::from(slot < a.count))?;
            let all = self.window(&own, self.capacity() / m, -(m as i64))?;
            self.integers.within(all, zero_in(digit.range))
        };
        a.digits.iter().map(digit).collect()
    }

    /// Returns the digits of row i in slots i·m to i·m + m − 1 of a block, and 0 where there is no row i.
    fn lefts(&self, a: &Integers, block: Block) -> Result<Vec<Digit>, IntegerError> {
        a.digits.iter().map(|digit| self.left(digit, a.count, block)).collect()
    }

    /// Brings row first + i to slot i·m, for i = b + c·e in steps of b, then of c rotations, and from there to the right.
    fn left(&self, digit: &Digit, count: usize, block: Block) -> Result<Digit, IntegerError> {
        let Block { m, first, held } = block;
        let steps = powers(1, held + 1).find(|steps| steps * steps >= held).unwrap_or(1);
        // Row `first` goes to slot 0, and every further row m − 1 slots more to the right.
        let mut turned = self.turned(digit, first as i64)?;
        let mut small = Vec::with_capacity(steps);
        for _ in 0..steps {
            let next = self.turned(&self.turned(&turned, 1)?, -(m as i64))?;
            small.push(std::mem::replace(&mut turned, next));
        }
        let mut sum: Option<Digit> = None;
        for giant in (0..held.div_ceil(steps)).rev() {
            // Masks at the place that rows have before the giant steps are done.
            let mut part: Option<Digit> = None;
            for (b, small) in small.iter().enumerate() {
                let row = giant * steps + b;
                // The giant steps that follow move by steps·(m − 1) slots each.
                let slot = row * m - giant * steps * (m - 1);
                if row >= held || first + row >= count {
                    continue;
                }
                let own = self.times_clear(small, &|i| i64::from(i == slot))?;
                part = Some(match part {
                    Some(part) => self.integers.plus(&part, &own)?,
                    None => own,
                });
            }
            let moved = match sum {
                Some(sum) => {
                    let right = self.turned(&sum, steps as i64)?;
                    Some(self.turned(&right, -((steps * m) as i64))?)
                }
                None => None,
            };
            sum = match (moved, part) {
                (Some(a), Some(b)) => Some(self.integers.plus(&a, &b)?),
                (a, b) => a.or(b),
            };
        }
        let sum = sum.map_or_else(|| self.times_clear(digit, &|_| 0), Ok)?;
        let all = self.window(&sum, m, -1)?;
        self.integers.within(all, zero_in(digit.range))
    }

    /// Rotates by any number of slots, by powers of two.
    fn turned(&self, digit: &Digit, steps: i64) -> Result<Digit, IntegerError> {
        let (size, sign) = (steps.unsigned_abs() as usize % self.capacity(), steps.signum());
        powers(1, self.capacity())
            .filter(|power| size & power != 0)
            .try_fold(digit.clone(), |a, power| self.rotated(&a, sign * power as i64))
    }

    /// Returns in slot i·m how many rows come before row i, and in other slots anything.
    fn block_ranks(
        &self,
        a: &Integers,
        block: Block,
        [lefts, rights]: [&[Digit]; 2],
    ) -> Result<Digit, IntegerError> {
        let mut carries = Carries::new(self.integers, self.capacity());
        let top = lefts.len().saturating_sub(1);
        for (k, (left, right)) in lefts.iter().zip(rights).enumerate() {
            let difference = self.integers.minus(right, left)?;
            // Row j before row i comes first if both are equal; where there is no row j nothing is negative.
            let own = |slot: usize| {
                let (i, j) = (block.left(slot), block.right(slot));
                let tie = i64::from(k == 0 && j < i && j < a.count);
                let no_row = if k == top && j >= a.count { BASE } else { 0 };
                no_row - tie
            };
            carries.next_digit(&self.plus_clear(&difference, &own)?)?;
        }
        let less: &dyn Fn(i64) -> i64 = &|m| i64::from(m >= BASE / 2);
        let less = self.integers.look_up(&carries.carry()?, self.capacity(), &[less])?.remove(0);
        let ranks = self.window(&less, block.m, 1)?;
        self.integers.within(ranks, [0, block.m as i64])
    }

    /// Brings what is in slot i·m to slots i·m to i·m + m − 1.
    fn spread(&self, ranks: &Digit, block: Block) -> Result<Digit, IntegerError> {
        let own = self.times_clear(ranks, &|slot| i64::from(block.right(slot) == 0))?;
        self.integers.within(self.window(&own, block.m, -1)?, ranks.range)
    }

    /// Brings what is in slot i·m to slot first + i, and 0 to all others.
    fn gathered(&self, ranks: &Digit, block: Block) -> Result<Digit, IntegerError> {
        let mut sum: Option<Digit> = None;
        let mut turned = self.turned(ranks, -(block.first as i64))?;
        for place in block.first..block.first + block.held {
            let own = self.times_clear(&turned, &|slot| i64::from(slot == place))?;
            sum = Some(match sum {
                Some(sum) => self.integers.plus(&sum, &own)?,
                None => own,
            });
            turned = self.turned(&self.turned(&turned, block.m as i64)?, -1)?;
        }
        let sum = sum.unwrap_or(turned);
        self.integers.within(sum, ranks.range)
    }
}

/// Returns a range with 0.
fn zero_in([low, high]: [i64; 2]) -> [i64; 2] {
    [low.min(0), high.max(0)]
}
