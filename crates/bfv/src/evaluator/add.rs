//! Addition, subtraction, negation.

use sunzi_rlwe::{Sign, Trace};

use super::Evaluator;
use crate::{BfvError, Ciphertext};

impl Evaluator {
    /// a + b, of any part counts.
    ///
    /// # Errors
    /// [`sunzi_rlwe::RlweError::KeyMismatch`]; [`BfvError::PlainModulusMismatch`] or [`BfvError::Ring`] for
    /// ciphertexts of other parameters.
    pub fn add(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, BfvError> {
        self.joined(a, b, "add", Sign::Plus)
    }

    /// a ← a + b. On an error `a` is not changed.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn add_assign(&self, a: &mut Ciphertext, b: &Ciphertext) -> Result<(), BfvError> {
        self.context.check(a)?;
        self.context.check(b)?;
        a.join_assign(self.context.ring(), b, Sign::Plus, |sum| Ok(self.finished(sum, "add", b.trace())))
    }

    /// a ± b under the name of the operation that asks.
    fn joined(
        &self,
        a: &Ciphertext,
        b: &Ciphertext,
        operation: &'static str,
        sign: Sign,
    ) -> Result<Ciphertext, BfvError> {
        self.context.check(a)?;
        self.context.check(b)?;
        a.joined(self.context.ring(), b, sign, |sum| Ok(self.finished(sum, operation, b.trace())))
    }

    fn finished(&self, mut sum: Ciphertext, operation: &'static str, second: &Trace) -> Ciphertext {
        sum.record(operation, self.context.bits_left(sum.noise()), &[second]);
        sum
    }

    /// a − b, of any part counts.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn sub(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, BfvError> {
        self.joined(a, b, "subtract", Sign::Minus)
    }

    /// −a.
    ///
    /// # Errors
    /// [`BfvError::PlainModulusMismatch`] or [`BfvError::Ring`] for a ciphertext of other parameters.
    pub fn negate(&self, a: &Ciphertext) -> Result<Ciphertext, BfvError> {
        self.context.check(a)?;
        let mut negated = a.clone();
        for part in negated.parts_mut() {
            self.context.ring().neg_assign(part)?;
        }
        Ok(negated)
    }

    /// The sum of one or more ciphertexts.
    ///
    /// # Errors
    /// As [`add`](Self::add); [`BfvError::Empty`] for none.
    pub fn sum<'a>(&self, terms: impl IntoIterator<Item = &'a Ciphertext>) -> Result<Ciphertext, BfvError> {
        let mut terms = terms.into_iter();
        let first = terms.next().ok_or(BfvError::Empty { what: "a sum of ciphertexts" })?;
        let Some(second) = terms.next() else { return Ok(first.clone()) };
        let mut sum = self.add(first, second)?;
        for term in terms {
            self.add_assign(&mut sum, term)?;
        }
        Ok(sum)
    }
}
