//! Sorting by a network of comparisons between slots at distances of powers of two: Batcher's odd–even merge sort.
//!
//! Every stage compares all of its pairs at once. With E = partner − own in the lower slot of a pair and c = \[E < 0\], own + c·E stays there and partner − c·E in the
//! other slot. The comparison looks the digits e_k of E up, so that c·e_k is a product of fresh digits, and columns keep their level from stage to stage: they grow by
//! a digit at most, and carries are taken at the end.

use super::{RowEvaluator, powers};
use crate::integers::carry::Carries;
use crate::integers::evaluator::MOST_REACH;
use crate::integers::integer::Digit;
use crate::integers::kind::{BASE, DIGIT_BITS};
use crate::integers::{IntegerError, IntegerKind, Integers};

/// Noise of the number d/8 of a column up to which columns are compared.
const MOST_NOISE: f64 = 1.0 / (1 << 8) as f64;
/// A quarter of the digits that the top of a difference may have: the sign of pairs, and a digit for slots without a partner.
const QUARTER: i64 = BASE / 4;

/// Digits that sorting takes of integers within bounds.
#[derive(Clone, Copy)]
pub(super) struct Width {
    /// Digits of x − low.
    own: usize,
    /// Digits of a difference, the top one from −4 to 3.
    of_difference: usize,
}

impl Width {
    pub(super) fn new([low, high]: [i128; 2]) -> Self {
        let span = high - low;
        let digits = |factor: i128| {
            (1..17).find(|n| span < factor * (1 << (DIGIT_BITS * (n - 1)))).unwrap_or(17) as usize
        };
        Self { own: digits(i128::from(BASE)), of_difference: digits(i128::from(QUARTER)) }
    }

    /// Number of look-ups that sorting so many rows takes: the digits of a difference each stage, and those of integers first, where bounds are narrower than the kind,
    /// and last. Carries that noise asks for between stages are not counted.
    pub(super) fn look_ups(self, kind: IntegerKind, rows: usize) -> usize {
        let first = if self.own < kind.digits() { self.own } else { 0 };
        first + stages(rows).count() * self.of_difference + kind.digits()
    }
}

/// A stage of the network: pairs of slots at a distance, of merges of twice `size` rows.
#[derive(Clone, Copy)]
struct Stage {
    size: usize,
    distance: usize,
}

impl Stage {
    /// Returns whether a slot is the lower one of a pair.
    fn is_lower(self, slot: usize, rows: usize) -> bool {
        let Self { size, distance } = self;
        let first = distance % size;
        let partner = slot + distance;
        slot >= first
            && (slot - first) % (2 * distance) < distance
            && partner < rows
            && slot / (2 * size) == partner / (2 * size)
    }
}

fn stages(rows: usize) -> impl Iterator<Item = Stage> {
    powers(1, rows).flat_map(|size| {
        powers(1, size + 1)
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
            .map(move |distance| Stage { size, distance })
    })
}

impl RowEvaluator<'_> {
    /// Returns the rows in ascending order.
    pub(super) fn through_network(&self, a: &Integers) -> Result<Integers, IntegerError> {
        let a = self.comparable(a)?;
        let (width, low) = (Width::new(a.bounds), a.bounds[0]);
        let narrow = width.own < a.kind.digits();
        let own = if narrow {
            let mut moved = self.integers.moved(&a, -low)?.digits;
            moved.truncate(width.own);
            self.integers.digits_of_columns(&moved, self.capacity(), false)?
        } else {
            a.digits.clone()
        };
        let signed = a.kind.is_signed() && !narrow;
        // Slots beyond the rows have the lower bound.
        let padding: Vec<i64> = a.kind.digits_of(low).map(|digit| if narrow { 0 } else { digit }).collect();
        let masked = own.iter().zip(&padding).map(|(digit, &padding)| {
            let own = self.masked(digit, &|slot| i64::from(slot < a.count))?.settled(self, 1);
            self.plus_clear(&own, &|slot| if slot < a.count { 0 } else { padding })
        });
        let mut columns: Vec<Digit> = masked.collect::<Result<_, IntegerError>>()?;
        self.fill(&mut columns, width.of_difference)?;
        for stage in stages(a.count) {
            let grown = |column: &Digit| {
                column.reach() > MOST_REACH / 2 || self.integers.noise(column) > MOST_NOISE / 2.0
            };
            if columns.iter().any(grown) {
                columns.truncate(width.own);
                columns = self.integers.digits_of_columns(&columns, self.capacity(), signed)?;
                self.fill(&mut columns, width.of_difference)?;
            }
            columns = self.exchanged(&columns, stage, a.count)?;
        }
        columns.truncate(a.kind.digits());
        self.fill(&mut columns, a.kind.digits())?;
        let sorted = Integers { digits: columns, ..a };
        let sorted = if narrow { self.integers.moved(&sorted, low)? } else { sorted };
        let signed = sorted.kind.is_signed();
        let digits = self.integers.digits_of_columns(&sorted.digits, self.capacity(), signed)?;
        Ok(Integers { digits, exact: true, ..sorted })
    }

    /// Adds columns of zeros at the top.
    fn fill(&self, columns: &mut Vec<Digit>, length: usize) -> Result<(), IntegerError> {
        if let Some(first) = columns.first() {
            let zero = self.integers.times(first, 0)?;
            columns.resize(length.max(columns.len()), zero);
        }
        Ok(())
    }

    /// Puts the pairs of a stage in order.
    fn exchanged(&self, columns: &[Digit], stage: Stage, rows: usize) -> Result<Vec<Digit>, IntegerError> {
        let distance = stage.distance as i64;
        let apart = columns
            .iter()
            .map(|column| self.integers.minus(&self.rotated(column, distance)?, column))
            .collect::<Result<Vec<Digit>, _>>()?;
        let Some((top, others)) = apart.split_last() else { return Ok(Vec::new()) };
        let mut carries = Carries::new(self.integers, self.capacity());
        let digits: Vec<Digit> =
            others.iter().map(|column| carries.next_digit(column)).collect::<Result<_, _>>()?;
        // The top is from −4 to 3; slots without a partner count from 4 to 11.
        let lone = |slot: usize| if stage.is_lower(slot, rows) { 0 } else { 2 * QUARTER };
        let negative = |m: i64| m >= BASE - QUARTER;
        let condition: &dyn Fn(i64) -> i64 = &|m| i64::from(negative(m));
        let least: &dyn Fn(i64) -> i64 = &|m| if negative(m) { m - BASE } else { 0 };
        let found = carries.look_up(&self.plus_clear(top, &lone)?, &[condition, least])?;
        let [condition, least] = &found[..] else { return Ok(Vec::new()) };
        let mut moved = self.integers.products(condition, &digits, self.capacity())?;
        moved.push(least.clone());
        let exchange = |(column, moved): (&Digit, &Digit)| {
            let sum = self.integers.plus(column, moved)?;
            self.integers.minus(&sum, &self.rotated(moved, -distance)?)
        };
        columns.iter().zip(&moved).map(exchange).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A network sorts everything if it sorts all vectors of zeros and ones.
    #[test]
    fn stages_sort_zeros_and_ones() {
        for rows in 1..=11 {
            for bits in 0..1_u32 << rows {
                let mut values: Vec<u32> = (0..rows).map(|i| bits >> i & 1).collect();
                for stage in stages(rows) {
                    for slot in (0..rows).filter(|&slot| stage.is_lower(slot, rows)) {
                        if values[slot] > values[slot + stage.distance] {
                            values.swap(slot, slot + stage.distance);
                        }
                    }
                }
                assert!(values.is_sorted(), "{rows} {bits:b}");
            }
        }
    }

    #[test]
    fn widths_hold_differences() {
        for (bounds, own, of_difference) in [
            ([0, 0], 1, 1),
            ([-2, 1], 1, 1),
            ([0, 4], 1, 2),
            ([0, 15], 1, 2),
            ([0, 63], 2, 2),
            ([-128, 127], 2, 3),
            ([0, (1 << 64) - 1], 16, 17),
        ] {
            let width = Width::new(bounds);
            assert_eq!((width.own, width.of_difference), (own, of_difference), "{bounds:?}");
        }
    }
}
