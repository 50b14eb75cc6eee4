//! Sums, differences, and what is linear in clear integers: digits are added, and nothing is looked up until digits have grown too far.

use super::evaluator::{MOST_REACH, check_alike};
use super::integer::Digit;
use super::kind::{BASE, balanced_digits};
use super::{IntegerError, IntegerEvaluator, Integers};

/// Noise of the number d/8 up to which digits are added: a look-up tells digits apart up to 1/16.
pub(super) const MOST_NOISE: f64 = 1.0 / 64.0;

impl IntegerEvaluator<'_> {
    /// Returns a + b, integer by integer.
    ///
    /// # Errors
    /// [`IntegerError::Mismatch`] for batches of different kinds or lengths; [`IntegerError::Overflow`] where that is refused; [`IntegerError::Bootstrap`] where
    /// digits had to be looked up.
    pub fn add(&self, a: &Integers, b: &Integers) -> Result<Integers, IntegerError> {
        check_alike("a sum", a, b)?;
        let bounds = [a.bounds[0] + b.bounds[0], a.bounds[1] + b.bounds[1]];
        self.linear("a sum", [a, b], bounds, |a, b| self.plus(a, b))
    }

    /// Returns a − b, integer by integer.
    ///
    /// # Errors
    /// Every error of [`add`](Self::add).
    pub fn sub(&self, a: &Integers, b: &Integers) -> Result<Integers, IntegerError> {
        check_alike("a difference", a, b)?;
        let bounds = [a.bounds[0] - b.bounds[1], a.bounds[1] - b.bounds[0]];
        self.linear("a difference", [a, b], bounds, |a, b| self.minus(a, b))
    }

    /// Returns −a, integer by integer.
    ///
    /// # Errors
    /// [`IntegerError::Overflow`] where that is refused.
    pub fn negate(&self, a: &Integers) -> Result<Integers, IntegerError> {
        self.multiplied("a negation", a, -1)
    }

    /// Returns the sum of batches, integer by integer.
    ///
    /// # Errors
    /// Every error of [`add`](Self::add); [`IntegerError::Operand`] for none.
    pub fn sum<'b>(&self, batches: impl IntoIterator<Item = &'b Integers>) -> Result<Integers, IntegerError> {
        let mut batches = batches.into_iter();
        let Some(first) = batches.next() else {
            let expected = "at least 1".to_owned();
            return Err(IntegerError::Operand { what: "the number of batches to add", got: 0, expected });
        };
        batches.try_fold(first.clone(), |sum, next| self.add(&sum, next))
    }

    /// Returns a + c for a clear integer c.
    ///
    /// # Errors
    /// [`IntegerError::Operand`] for a c of more bits than the kind has; [`IntegerError::Overflow`] where that is refused.
    pub fn add_clear(&self, a: &Integers, c: i128) -> Result<Integers, IntegerError> {
        check_clear(a, c)?;
        let (bounds, holds) = self.bounded("a sum", a, Some([a.bounds[0] + c, a.bounds[1] + c]))?;
        Ok(Integers { bounds, exact: a.exact && holds, ..self.moved(a, c)? })
    }

    /// Returns c·a for a clear integer c. Digits grow by the digits of c.
    ///
    /// # Errors
    /// [`IntegerError::Operand`] for a c of more bits than the kind has; [`IntegerError::Overflow`] where that is refused; [`IntegerError::Bootstrap`] where
    /// digits had to be looked up.
    pub fn multiply_clear(&self, a: &Integers, c: i128) -> Result<Integers, IntegerError> {
        self.multiplied("a product", a, c)
    }

    fn multiplied(&self, operation: &'static str, a: &Integers, c: i128) -> Result<Integers, IntegerError> {
        check_clear(a, c)?;
        let ends = a.bounds.map(|end| end.checked_mul(c));
        let bounds = match ends {
            [Some(x), Some(y)] => Some([x.min(y), x.max(y)]),
            _ => None,
        };
        let (bounds, holds) = self.bounded(operation, a, bounds)?;
        let factors = balanced_digits(c);
        let norm: i64 = factors.iter().map(|factor| factor.abs()).sum();
        let grows =
            |digit: &Digit| digit.reach() * norm > MOST_REACH || self.noise(digit) * norm as f64 > MOST_NOISE;
        let a = if a.digits.iter().any(grows) { self.carried(a)? } else { a.clone() };
        let digits = self.convolved(&a.digits, &factors, a.kind.digits())?;
        // Columns above the top are left out.
        let exact = a.exact && holds && factors.len() <= 1;
        Ok(Integers { digits, bounds, exact, ..a })
    }

    /// Returns a·2^k.
    ///
    /// # Errors
    /// [`IntegerError::Operand`] for a k of the number of bits or more; as [`multiply_clear`](Self::multiply_clear).
    pub fn shift_left(&self, a: &Integers, k: u32) -> Result<Integers, IntegerError> {
        check_shift(a, k)?;
        self.multiplied("a shift to the left", a, 1 << k)
    }

    /// Returns Σ_j factors_j·digit_(k−j) for as many columns, at least one of which is not 0.
    pub(super) fn convolved(
        &self,
        digits: &[Digit],
        factors: &[i64],
        columns: usize,
    ) -> Result<Vec<Digit>, IntegerError> {
        let column = |k: usize| {
            let mut sum: Option<Digit> = None;
            for (j, &factor) in factors.iter().enumerate().filter(|(_, factor)| **factor != 0) {
                let Some(digit) = k.checked_sub(j).and_then(|i| digits.get(i)) else { continue };
                let term = self.times(digit, factor)?;
                sum = Some(match sum {
                    Some(sum) => self.plus(&sum, &term)?,
                    None => term,
                });
            }
            match (sum, digits.first()) {
                (Some(sum), _) => Ok(Some(sum)),
                (None, Some(digit)) => self.times(digit, 0).map(Some),
                (None, None) => Ok(None),
            }
        };
        Ok((0..columns)
            .map(column)
            .collect::<Result<Vec<_>, IntegerError>>()?
            .into_iter()
            .flatten()
            .collect())
    }

    /// Adds a clear integer to the digits, exactly.
    pub(super) fn moved(&self, a: &Integers, c: i128) -> Result<Integers, IntegerError> {
        let mut left = c;
        let last = a.digits.len().saturating_sub(1);
        let mut digits = Vec::with_capacity(a.digits.len());
        for (k, digit) in a.digits.iter().enumerate() {
            // The top takes what is left, at most 16 as c has no more bits than the kind.
            let own = if k == last { left } else { left.rem_euclid(i128::from(BASE)) };
            left = (left - own) / i128::from(BASE);
            digits.push(self.raised(digit.clone(), own as i64)?);
        }
        Ok(Integers { digits, ..a.clone() })
    }

    /// Combines two batches digit by digit, after carries where digits or their noise would grow too far.
    fn linear(
        &self,
        operation: &'static str,
        operands: [&Integers; 2],
        bounds: [i128; 2],
        combine: impl Fn(&Digit, &Digit) -> Result<Digit, IntegerError>,
    ) -> Result<Integers, IntegerError> {
        let [a, b] = operands;
        let (bounds, holds) = self.bounded(operation, a, Some(bounds))?;
        let grows = |(a, b): (&Digit, &Digit)| {
            a.reach() + b.reach() > MOST_REACH || self.noise(a) + self.noise(b) > MOST_NOISE
        };
        let [a, b] = if a.digits.iter().zip(&b.digits).any(grows) {
            [self.carried(a)?, self.carried(b)?]
        } else {
            [a.clone(), b.clone()]
        };
        let digits = a.digits.iter().zip(&b.digits).map(|(a, b)| combine(a, b)).collect::<Result<_, _>>()?;
        Ok(Integers { digits, bounds, exact: a.exact && b.exact && holds, ..a })
    }
}

/// Refuses a clear integer of more bits than a kind has, with or without a sign.
pub(super) fn check_clear(a: &Integers, c: i128) -> Result<(), IntegerError> {
    let most = 1_i128 << a.kind.bits();
    if (-most..most).contains(&c) {
        return Ok(());
    }
    let expected = format!("from {} to {}", -most, most - 1);
    Err(IntegerError::Operand { what: "a clear integer", got: c, expected })
}

/// Refuses a shift by as many bits as integers have, or more.
pub(super) fn check_shift(a: &Integers, k: u32) -> Result<(), IntegerError> {
    if k < a.kind.bits() {
        return Ok(());
    }
    let expected = format!("less than the {} bits of the integers", a.kind.bits());
    Err(IntegerError::Operand { what: "the number of bits to shift by", got: i128::from(k), expected })
}
