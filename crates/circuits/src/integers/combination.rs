//! Linear combinations of integers of any kinds, in another kind.

use super::evaluator::UNIT;
use super::integer::{Digit, check_bounds};
use super::kind::balanced_digits;
use super::sum::{MOST_NOISE, check_clear};
use super::{Conditions, IntegerError, IntegerEvaluator, IntegerKind, Integers};
use crate::integers::evaluator::MOST_REACH;

impl IntegerEvaluator<'_> {
    /// Returns Σ c_i·a_i + c in a kind, integer by integer, for clear integers c_i and c. Operands may be of other kinds. Nothing is looked up until digits have
    /// grown too far.
    ///
    /// Every result has to be within `bounds`, which the kind has to hold: they may be narrower than the bounds of the operands tell, where it is known that no row
    /// has several of these ends at once.
    ///
    /// # Errors
    /// [`IntegerError::Operand`] for no operand and for bounds outside of the kind; [`IntegerError::Mismatch`] for batches of different lengths; [`IntegerError::Bootstrap`] where digits had to be looked up.
    pub fn linear_combination(
        &self,
        terms: &[(i128, &Integers)],
        constant: i128,
        kind: IntegerKind,
        bounds: [i128; 2],
    ) -> Result<Integers, IntegerError> {
        check_bounds(kind, bounds)?;
        let sum = self.combined(terms, kind)?;
        // What is above the top of the kind is left out, as in columns.
        let beyond = check_clear(&sum, constant).is_err();
        let constant = if beyond { kind.wrapped(constant) } else { constant };
        Ok(Integers { bounds, exact: sum.exact && !beyond, ..self.moved(&sum, constant)? })
    }

    /// Returns Σ c_i·a_i in a kind, with the bounds of its terms, whether the kind holds them or not.
    pub(super) fn combined(
        &self,
        terms: &[(i128, &Integers)],
        kind: IntegerKind,
    ) -> Result<Integers, IntegerError> {
        let Some((_, first)) = terms.first() else {
            let expected = "at least 1".to_owned();
            return Err(IntegerError::Operand { what: "the number of operands", got: 0, expected });
        };
        let mut sum = self.constant_integers(first, kind, 0)?;
        for (factor, a) in terms {
            if a.count != first.count {
                let of = |a: &Integers| format!("{} integers", a.count);
                let advice = "give batches of one length";
                let (left, right) = (of(first), of(a));
                return Err(IntegerError::Mismatch {
                    operation: "a linear combination",
                    left,
                    right,
                    advice,
                });
            }
            sum = self.plus_multiple(sum, *factor, a)?;
        }
        Ok(sum)
    }

    /// Returns sum + c·a, in the kind of the sum.
    fn plus_multiple(&self, sum: Integers, c: i128, a: &Integers) -> Result<Integers, IntegerError> {
        let columns = sum.digits.len();
        let factors = balanced_digits(c);
        let norm: i64 = factors.iter().take(columns).map(|factor| factor.abs()).sum();
        let reach = |a: &Integers| a.digits.iter().map(Digit::reach).max().unwrap_or(0);
        let noise = |a: &Integers| self.largest_noise(a) * UNIT;
        let grows = |sum: &Integers, a: &Integers| {
            reach(sum) + norm * reach(a) > MOST_REACH || noise(sum) + norm as f64 * noise(a) > MOST_NOISE
        };
        let a = if !a.exact || grows(&sum, a) { self.carried(a)? } else { a.clone() };
        let sum = if grows(&sum, &a) {
            let exact = sum.exact && sum.kind.holds(sum.bounds);
            Integers { exact, ..self.carried(&sum)? }
        } else {
            sum
        };
        // Columns above the top are left out.
        let own = a.digits.iter().rposition(|digit| digit.range != [0, 0]).map_or(0, |top| top + 1);
        let whole = own + factors.len().max(1) - 1 <= columns;
        let ends = a.bounds.map(|end| end.saturating_mul(c));
        let low = sum.bounds[0].saturating_add(ends[0].min(ends[1]));
        let high = sum.bounds[1].saturating_add(ends[0].max(ends[1]));
        let added = self.convolved(&a.digits, &factors, columns)?;
        let digits = sum.digits.iter().zip(&added).map(|(sum, added)| self.plus(sum, added));
        Ok(Integers {
            digits: digits.collect::<Result<_, _>>()?,
            bounds: [low, high],
            exact: sum.exact && whole,
            ..sum
        })
    }

    /// Returns integers that are 0 or 1 by their bounds as conditions.
    ///
    /// # Errors
    /// [`IntegerError::Operand`] for other bounds; [`IntegerError::Bootstrap`] where digits had to be looked up.
    pub fn conditions_of(&self, a: &Integers) -> Result<Conditions, IntegerError> {
        for (end, beyond) in [(a.bounds[0], a.bounds[0] < 0), (a.bounds[1], a.bounds[1] > 1)] {
            if beyond {
                let expected = "0 or 1".to_owned();
                return Err(IntegerError::Operand { what: "a bound of conditions", got: end, expected });
            }
        }
        // Where all other digits are 0, the first one is the integer.
        let alone = a.exact && a.digits.iter().skip(1).all(|digit| digit.range == [0, 0]);
        let a = if alone || a.is_carried() { a.clone() } else { self.carried(a)? };
        let none = || IntegerError::Operand {
            what: "the number of digits",
            got: 0,
            expected: "at least 1".to_owned(),
        };
        let digit = a.digits.into_iter().next().ok_or_else(none)?;
        Ok(Conditions { count: a.count, digit: self.within(digit, [0, 1])? })
    }

    /// Returns clear integers of a kind as a batch that anybody can read, one for each integer of another batch.
    ///
    /// # Errors
    /// Every error of [`add_clear_batch`](Self::add_clear_batch).
    pub fn clear_batch(
        &self,
        like: &Integers,
        kind: IntegerKind,
        values: &[i128],
    ) -> Result<Integers, IntegerError> {
        self.add_clear_batch(&self.constant_integers(like, kind, 0)?, values)
    }
}
