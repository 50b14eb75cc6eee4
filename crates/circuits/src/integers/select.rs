//! Selection by conditions, minima and maxima.

use super::evaluator::{FIRST_ORDER_NOISE, check_alike, check_count};
use super::integer::Digit;
use super::{Conditions, IntegerError, IntegerEvaluator, IntegerKind, Integers, Overflow};

impl IntegerEvaluator<'_> {
    /// Returns a where the condition holds, else b: b + c·(a − b), digit by digit.
    ///
    /// # Errors
    /// [`IntegerError::Mismatch`] for batches of different kinds or lengths; [`IntegerError::Bootstrap`] for keys of another secret.
    pub fn select(
        &self,
        condition: &Conditions,
        a: &Integers,
        b: &Integers,
    ) -> Result<Integers, IntegerError> {
        check_alike("a selection", a, b)?;
        check_count("a selection", condition, a.count)?;
        let [a, b] = [self.choice(a)?, self.choice(b)?];
        let condition = self.fresh(condition)?;
        let chosen = self.products(&condition.digit, &self.differences(&a, &b)?, a.count)?;
        let mut digits = Vec::with_capacity(chosen.len());
        for (chosen, (a, b)) in chosen.iter().zip(a.digits.iter().zip(&b.digits)) {
            let sum = self.plus(chosen, b)?;
            // It is one of both.
            let range = [a.range[0].min(b.range[0]), a.range[1].max(b.range[1])];
            digits.push(self.declared(sum.ciphertext, range)?);
        }
        let bounds = [a.bounds[0].min(b.bounds[0]), a.bounds[1].max(b.bounds[1])];
        Ok(Integers { digits, bounds, exact: a.exact && b.exact, ..a })
    }

    /// Returns the lesser of a and b, integer by integer.
    ///
    /// # Errors
    /// Every error of [`select`](Self::select).
    pub fn min(&self, a: &Integers, b: &Integers) -> Result<Integers, IntegerError> {
        let [a, b] = [self.settled(a)?, self.settled(b)?];
        let chosen = self.select(&self.less(&a, &b)?, &a, &b)?;
        let [[a0, a1], [b0, b1]] = [a.bounds, b.bounds];
        Ok(Integers { bounds: [a0.min(b0), a1.min(b1)], ..chosen })
    }

    /// Returns the greater of a and b, integer by integer.
    ///
    /// # Errors
    /// Every error of [`select`](Self::select).
    pub fn max(&self, a: &Integers, b: &Integers) -> Result<Integers, IntegerError> {
        let [a, b] = [self.settled(a)?, self.settled(b)?];
        let chosen = self.select(&self.less(&a, &b)?, &b, &a)?;
        let [[a0, a1], [b0, b1]] = [a.bounds, b.bounds];
        Ok(Integers { bounds: [a0.max(b0), a1.max(b1)], ..chosen })
    }

    /// Returns |a|, integer by integer, of integers with a sign; the least integer wraps to itself.
    ///
    /// # Errors
    /// [`IntegerError::Overflow`] for bounds with the least integer, where that is refused; every error of [`select`](Self::select).
    pub fn abs(&self, a: &Integers) -> Result<Integers, IntegerError> {
        let a = self.settled(a)?;
        if a.bounds[0] >= 0 {
            return Ok(a);
        }
        let largest = a.bounds[0].abs().max(a.bounds[1]);
        let (bounds, holds) = self.bounded("an absolute value", &a, Some([0, largest]))?;
        let negative = self.less_than_clear(&a, 0)?;
        let chosen = self.select(&negative, &self.with_overflow(Overflow::Wrap).negate(&a)?, &a)?;
        Ok(Integers { bounds, exact: chosen.exact && holds, ..chosen })
    }

    /// Returns max(a, 0), integer by integer.
    ///
    /// # Errors
    /// Every error of [`select`](Self::select).
    pub fn relu(&self, a: &Integers) -> Result<Integers, IntegerError> {
        let a = self.settled(a)?;
        if a.bounds[0] >= 0 {
            return Ok(a);
        }
        self.max_clear(&a, 0)
    }

    /// Returns a where the condition holds, else 0.
    ///
    /// # Errors
    /// Every error of [`select`](Self::select).
    pub fn masked(&self, condition: &Conditions, a: &Integers) -> Result<Integers, IntegerError> {
        check_count("a selection", condition, a.count)?;
        let a = self.choice(a)?;
        let digits = self.products(&self.fresh(condition)?.digit, &a.digits, a.count)?;
        let bounds = [a.bounds[0].min(0), a.bounds[1].max(0)];
        Ok(Integers { digits, bounds, ..a })
    }

    /// Returns a where the condition holds, else the clear integer c.
    ///
    /// # Errors
    /// [`IntegerError::Operand`] for a c that the kind does not hold; every error of [`select`](Self::select).
    pub fn select_or_clear(
        &self,
        condition: &Conditions,
        a: &Integers,
        c: i128,
    ) -> Result<Integers, IntegerError> {
        let [least, largest] = a.kind.range();
        if !(least..=largest).contains(&c) {
            let expected = format!("from {least} to {largest}");
            return Err(IntegerError::Operand { what: "a clear integer", got: c, expected });
        }
        let chosen = self.moved(&self.masked(condition, &self.moved(a, -c)?)?, c)?;
        Ok(Integers { bounds: [a.bounds[0].min(c), a.bounds[1].max(c)], ..chosen })
    }

    /// Returns the lesser of a and a clear integer c.
    ///
    /// # Errors
    /// Every error of [`select_or_clear`](Self::select_or_clear).
    pub fn min_clear(&self, a: &Integers, c: i128) -> Result<Integers, IntegerError> {
        let a = self.settled(a)?;
        let chosen = self.select_or_clear(&self.less_than_clear(&a, c)?, &a, c)?;
        Ok(Integers { bounds: a.bounds.map(|end| end.min(c)), ..chosen })
    }

    /// Returns the greater of a and a clear integer c.
    ///
    /// # Errors
    /// Every error of [`select_or_clear`](Self::select_or_clear).
    pub fn max_clear(&self, a: &Integers, c: i128) -> Result<Integers, IntegerError> {
        let a = self.settled(a)?;
        let greater = self.not(&self.less_than_clear(&a, c)?)?;
        let chosen = self.select_or_clear(&greater, &a, c)?;
        Ok(Integers { bounds: a.bounds.map(|end| end.max(c)), ..chosen })
    }

    /// Returns conditions as integers of a kind: 1 where they hold, else 0.
    ///
    /// # Errors
    /// [`IntegerError::Ckks`] for a ciphertext of another context.
    pub fn integers_of(&self, condition: &Conditions, kind: IntegerKind) -> Result<Integers, IntegerError> {
        let zero = self.times(&condition.digit, 0)?;
        let mut digits = vec![condition.digit.clone()];
        digits.resize(kind.digits(), zero);
        Ok(Integers { kind, count: condition.count, digits, bounds: [0, 1], exact: true })
    }

    /// Returns one clear integer for each integer of a batch, in ciphertexts without noise that anybody can read.
    pub(super) fn constant_integers(
        &self,
        a: &Integers,
        kind: IntegerKind,
        value: i128,
    ) -> Result<Integers, IntegerError> {
        let zero = a.digits.first().map(|digit| self.times(digit, 0)).transpose()?;
        let digits = vec![zero; kind.digits()].into_iter().flatten().collect();
        let zeros = Integers { kind, count: a.count, digits, bounds: [value, value], exact: true };
        self.moved(&zeros, value)
    }

    /// Returns integers at a level that a product takes, with little noise.
    pub(super) fn choice(&self, a: &Integers) -> Result<Integers, IntegerError> {
        let unfit = |digit: &Digit| {
            digit.ciphertext.metadata().level < self.lowest_level() + 2
                || self.noise(digit) > FIRST_ORDER_NOISE
        };
        if a.digits.iter().any(unfit) { self.carried(a) } else { Ok(a.clone()) }
    }

    /// Returns conditions at a level that a product takes.
    pub(super) fn fresh(&self, condition: &Conditions) -> Result<Conditions, IntegerError> {
        if condition.digit.ciphertext.metadata().level >= self.lowest_level() + 2 {
            return Ok(condition.clone());
        }
        let digit = self.look_up_one(&condition.digit, condition.count, |m| m.min(1))?;
        Ok(Conditions { digit, ..condition.clone() })
    }
}
