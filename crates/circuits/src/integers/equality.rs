//! Equality of encrypted integers.
//!
//! A difference within ±16^m is 0 where its m lowest digits are, so that one look-up a digit tells whether it is not. Columns within ±15 need no carries: where
//! one is not 0 modulo 16, the integers differ, whatever the columns above say. How many digits differ is looked up at last, or enters the last digit where that
//! leaves values modulo 16 free.

use super::carry::Carries;
use super::compare::{difference_of, no_digits, shifted};
use super::evaluator::check_alike;
use super::integer::Digit;
use super::kind::{BASE, DIGIT_BITS};
use super::{Conditions, IntegerError, IntegerEvaluator, Integers};

impl IntegerEvaluator<'_> {
    /// Returns a = b, integer by integer.
    ///
    /// Differences within ±16^m take m + 1 look-ups, and m where m is 1 or the bounds leave enough values of the last digit free; 64 bits take 17.
    ///
    /// # Errors
    /// Every error of [`less`](Self::less).
    pub fn equal(&self, a: &Integers, b: &Integers) -> Result<Conditions, IntegerError> {
        check_alike("an equality", a, b)?;
        let bounds = difference_of([a.bounds, b.bounds]);
        if !(bounds[0]..=bounds[1]).contains(&0) {
            return self.constant(&a.digits, a.count, false);
        }
        self.zero(&self.columns_between(a, b)?, bounds, a.count)
    }

    /// Returns a = c for a clear integer c, without a look-up where the bounds of a decide.
    ///
    /// # Errors
    /// Every error of [`less_than_clear`](Self::less_than_clear).
    pub fn equal_to_clear(&self, a: &Integers, c: i128) -> Result<Conditions, IntegerError> {
        let [low, high] = a.bounds;
        if !(low..=high).contains(&c) {
            return self.constant(&a.digits, a.count, false);
        }
        let columns = a.digits.iter().zip(a.kind.digits_of(c));
        let columns: Vec<Digit> =
            columns.map(|(digit, own)| self.raised(digit.clone(), -own)).collect::<Result<_, _>>()?;
        self.zero(&columns, difference_of([a.bounds, [c, c]]), a.count)
    }

    /// Returns whether numbers between these bounds, 0 among them, are 0, given columns that make them up modulo 16^n.
    fn zero(&self, columns: &[Digit], bounds: [i128; 2], count: usize) -> Result<Conditions, IntegerError> {
        let within = |m: &usize| {
            let end = 1_i128 << (DIGIT_BITS as usize * m);
            -end < bounds[0] && bounds[1] < end
        };
        let m = (1..columns.len()).find(within).unwrap_or(columns.len());
        let Some((last, lower)) = columns.get(..m).and_then(<[Digit]>::split_last) else {
            return Err(no_digits());
        };
        // A carry may be missing from the last digit where those below differ, or one too many be in it, of digits between both ends.
        let [low, high] = shifted(bounds, m - 1);
        let step = free_step([low - i128::from(lower.len() > 1), high + 1], lower.len());
        let mut differing = Differing::new(*self, count, step.unwrap_or(1));
        for column in lower {
            differing.add(column)?;
        }
        let digit = if step.is_some() || differing.flags.is_empty() {
            differing.none_with(last)?
        } else {
            differing.add_last(last)?;
            differing.none()?
        };
        match digit {
            Some(digit) => Ok(Conditions { count, digit }),
            None => self.constant(columns, count, true),
        }
    }
}

/// Returns a step for which no v + s·step is a multiple of 16, for v between these bounds and s from 1 to `most`.
fn free_step([low, high]: [i128; 2], most: usize) -> Option<i64> {
    let base = i128::from(BASE);
    let misses = |sum: i128| (low + sum - 1).div_euclid(base) == (high + sum).div_euclid(base);
    (1..BASE).find(|step| (1..=most as i128).all(|s| misses(s * i128::from(*step))))
}

/// Digits of a difference, from the least, each looked up as a flag: 0 where it is 0 modulo 16, and the step elsewhere.
struct Differing<'a> {
    evaluator: IntegerEvaluator<'a>,
    count: usize,
    step: i64,
    carries: Carries<'a>,
    flags: Vec<Digit>,
}

impl<'a> Differing<'a> {
    fn new(evaluator: IntegerEvaluator<'a>, count: usize, step: i64) -> Self {
        Self { evaluator, count, step, carries: Carries::new(evaluator, count), flags: Vec::new() }
    }

    /// Looks a column up that another one follows, with its digit where it may carry.
    fn add(&mut self, column: &Digit) -> Result<(), IntegerError> {
        if self.carries.start_again_from_zero() && column.reach() < BASE {
            return self.add_last(column);
        }
        let step = self.step;
        let flags = self.carries.look_up(column, &[&|m| m, &|m| if m == 0 { 0 } else { step }])?;
        self.flags.extend(flags.into_iter().nth(1));
        Ok(())
    }

    /// Looks a column up whose carry nothing takes.
    fn add_last(&mut self, column: &Digit) -> Result<(), IntegerError> {
        let step = self.step;
        if let Some(column) = self.entering(column)? {
            let flag = |m| if m == 0 { 0 } else { step };
            self.flags.push(self.evaluator.look_up_one(&column, self.count, flag)?);
        }
        Ok(())
    }

    /// Returns a column with what is carried into it: `None` where it is 0 by its range.
    fn entering(&mut self, column: &Digit) -> Result<Option<Digit>, IntegerError> {
        match self.carries.start_again_from_zero() {
            true if column.range == [0, 0] => Ok(None),
            true => Ok(Some(column.clone())),
            false => self.carries.entered(Some(column)).map(Some),
        }
    }

    /// Returns whether no digit differs, the last column among them, by a look-up of it and all flags together: `None` where they are 0 by their ranges.
    fn none_with(mut self, last: &Digit) -> Result<Option<Digit>, IntegerError> {
        let sum = self.flags.iter().try_fold(last.clone(), |sum, flag| self.evaluator.plus(&sum, flag))?;
        let Some(sum) = self.entering(&sum)? else { return Ok(None) };
        self.evaluator.look_up_one(&sum, self.count, |m| i64::from(m == 0)).map(Some)
    }

    /// Returns whether no flag is 1: `None` where there is none.
    fn none(mut self) -> Result<Option<Digit>, IntegerError> {
        let evaluator = self.evaluator;
        // Sixteen flags are none modulo 16.
        if self.flags.len() == BASE as usize
            && let [a, b, ..] = self.flags.as_slice()
        {
            let opposite = |flag: &Digit| evaluator.raised(evaluator.times(flag, -1)?, 1);
            let both = opposite(&evaluator.product(&opposite(a)?, &opposite(b)?, self.count)?)?;
            self.flags.splice(..2, [both]);
        }
        let Some((first, others)) = self.flags.split_first() else { return Ok(None) };
        let sum = others.iter().try_fold(first.clone(), |sum, flag| evaluator.plus(&sum, flag))?;
        evaluator.look_up_one(&sum, self.count, |m| i64::from(m == 0)).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_steps_never_reach_a_multiple_of_sixteen() {
        let mut found = 0;
        for low in -17..=0 {
            for high in 0..=17 {
                for most in 0..4 {
                    let right = |step: i64| {
                        (1..=most).all(|s| (low..=high).all(|v: i64| (v + s * step).rem_euclid(BASE) != 0))
                    };
                    let step = free_step([low.into(), high.into()], most as usize);
                    assert_eq!(step.is_some(), (1..BASE).any(right), "{low} {high} {most}");
                    assert!(step.is_none_or(right), "{low} {high} {most}: {step:?}");
                    found += usize::from(step.is_some());
                }
            }
        }
        assert!(found > 0);
        // One digit below, of 15 values above: what differs there moves all of them past 0.
        assert_eq!([free_step([0, 14], 1), free_step([0, 15], 1)], [Some(1), None]);
    }
}
