//! Carries: digits from 0 to 15 of columns of any size.
//!
//! With v_k = a_k + Σ_{j<k} (a_j − d_j)/16^(k−j) and d_k = v_k mod 16, all carries are linear combinations of columns and digits, so that a column
//! takes one look-up and two levels for all carries together.

use sunzi_ckks::Ciphertext;

use super::integer::{Digit, carry_range};
use super::kind::BASE;
use super::{IntegerError, IntegerEvaluator, Integers};

/// A column with its digit taken away, a multiple of 16 with the carries that came into it.
struct Rest(Ciphertext);

/// Columns whose carries are taken one after the other, from the least.
pub(super) struct Carries<'a> {
    evaluator: IntegerEvaluator<'a>,
    count: usize,
    rests: Vec<Rest>,
    /// Range of the carry into the next column.
    range: [i64; 2],
    /// The last digit that was looked up.
    last: Option<Digit>,
}

impl<'a> Carries<'a> {
    pub(super) fn new(evaluator: IntegerEvaluator<'a>, count: usize) -> Self {
        Self { evaluator, count, rests: Vec::new(), range: [0, 0], last: None }
    }

    /// Returns the digit from 0 to 15 of the next column, and keeps what is carried.
    pub(super) fn next_digit(&mut self, column: &Digit) -> Result<Digit, IntegerError> {
        let digit = match self.zero(column)? {
            Some(zero) => zero,
            None => self.evaluator.look_up_one(&self.entered(Some(column))?, self.count, |m| m)?,
        };
        self.keep(column, &digit)?;
        Ok(digit)
    }

    /// Returns the digit of a column that is 0 by its range, which takes no look-up.
    fn zero(&self, column: &Digit) -> Result<Option<Digit>, IntegerError> {
        let known = (column.range, self.range) == ([0, 0], [0, 0]);
        // It is made of a digit with all its levels.
        self.last.as_ref().filter(|_| known).map(|last| self.evaluator.times(last, 0)).transpose()
    }

    /// Returns the digit at the top of an integer, which has the sign if the integers have one.
    pub(super) fn top_digit(&mut self, column: &Digit, signed: bool) -> Result<Digit, IntegerError> {
        if let Some(zero) = self.zero(column)? {
            return Ok(zero);
        }
        let centred = |m: i64| if signed && m >= BASE / 2 { m - BASE } else { m };
        self.evaluator.look_up_one(&self.entered(Some(column))?, self.count, centred)
    }

    /// Returns the digit from 0 to 15 of the next column and further tables of it, and keeps what is carried.
    pub(super) fn look_up(
        &mut self,
        column: &Digit,
        functions: &[&dyn Fn(i64) -> i64],
    ) -> Result<Vec<Digit>, IntegerError> {
        let entered = self.entered(Some(column))?;
        let digits = self.evaluator.look_up(&entered, self.count, functions)?;
        let digit = digits.first().ok_or_else(|| IntegerError::results(functions.len(), 0))?;
        self.keep(column, digit)?;
        Ok(digits)
    }

    /// Keeps what is carried of a column, given its digit.
    fn keep(&mut self, column: &Digit, digit: &Digit) -> Result<(), IntegerError> {
        let rest = self.evaluator.minus(column, digit)?;
        self.rests.push(Rest(rest.ciphertext));
        self.range = carry_range([self.range[0] + column.range[0], self.range[1] + column.range[1]]);
        self.last = Some(digit.clone());
        Ok(())
    }

    /// Returns whether nothing is carried, and forgets the columns so far if that is so.
    pub(super) fn start_again_from_zero(&mut self) -> bool {
        let none = self.range == [0, 0];
        if none {
            self.rests.clear();
        }
        none
    }

    /// Returns the carry out of all columns so far.
    pub(super) fn carry(&self) -> Result<Digit, IntegerError> {
        self.entered(None)
    }

    /// Returns a column with the carries of all columns before, at the lowest level that look-ups take.
    pub(super) fn entered(&self, column: Option<&Digit>) -> Result<Digit, IntegerError> {
        let (evaluator, to) = (self.evaluator.evaluator(), self.evaluator.lowest_level());
        let context = evaluator.context();
        let mut terms = Vec::with_capacity(self.rests.len() + 1);
        let mut share = 1.0;
        for Rest(rest) in self.rests.iter().rev() {
            share /= BASE as f64;
            terms.push((share, rest));
        }
        let mut range = self.range;
        if let Some(column) = column {
            terms.push((1.0, &column.ciphertext));
            range = [range[0] + column.range[0], range[1] + column.range[1]];
        }
        let scale = context.scale(to)? * context.divisor(to + 1)?;
        let sum = evaluator.linear_combination(&terms, to + 1, scale)?;
        self.evaluator.declared(evaluator.rescale(&sum)?, range)
    }
}

impl IntegerEvaluator<'_> {
    /// Returns the same integers with digits from 0 to 15, free of the noise of what was added: one look-up for each digit.
    ///
    /// Operations do this themselves where they must. It is worth a call before an integer that is a sum goes into several products.
    ///
    /// # Errors
    /// [`IntegerError::Bootstrap`] for noise that may lead a digit to the next one, and for keys of another secret.
    pub fn carried(&self, a: &Integers) -> Result<Integers, IntegerError> {
        let digits = self.digits_of_columns(&a.digits, a.count, a.kind.is_signed())?;
        Ok(Integers { digits, exact: true, ..a.clone() })
    }

    /// Returns the same integers with digits from 0 to 15, looked up unless they are: digits are equal just where integers are.
    pub(super) fn with_digits(&self, a: &Integers) -> Result<Integers, IntegerError> {
        if a.is_carried() { Ok(a.clone()) } else { self.carried(a) }
    }

    /// Returns the digits of columns, the top one with the sign if there is one.
    pub(super) fn digits_of_columns(
        &self,
        columns: &[Digit],
        count: usize,
        signed: bool,
    ) -> Result<Vec<Digit>, IntegerError> {
        let mut carries = Carries::new(*self, count);
        let Some((top, others)) = columns.split_last() else { return Ok(Vec::new()) };
        let mut digits: Vec<Digit> =
            others.iter().map(|column| carries.next_digit(column)).collect::<Result<_, _>>()?;
        digits.push(carries.top_digit(top, signed)?);
        Ok(digits)
    }

    /// Returns integers whose digits make up their value, not only modulo 2^bits, at a level from which carries can be taken.
    pub(super) fn settled(&self, a: &Integers) -> Result<Integers, IntegerError> {
        if a.exact { Ok(a.clone()) } else { self.carried(a) }
    }
}
