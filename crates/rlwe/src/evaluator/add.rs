//! Addition, subtraction and negation of ciphertexts.

use std::borrow::Cow;

use super::{Evaluator, Homomorphic};
use crate::{Ciphertext, Sign, Trace};

impl<S: Homomorphic> Evaluator<S> {
    /// Returns the sum a + b of ciphertexts of any part counts; the higher operand is brought to the level of the
    /// lower.
    ///
    /// # Errors
    /// [`RlweError::KeyMismatch`](crate::RlweError::KeyMismatch); the scheme's errors for ciphertexts of other parameters or without a
    /// common level, and its refusal of the result.
    pub fn add(&self, a: &Ciphertext<S>, b: &Ciphertext<S>) -> Result<Ciphertext<S>, S::Error> {
        self.joined(Cow::Borrowed(a), b, "add", Sign::Plus)
    }

    /// Returns the difference a − b of ciphertexts of any part counts; the higher operand is brought to the level of
    /// the lower.
    ///
    /// # Errors
    /// Every error of [`add`](Self::add).
    pub fn sub(&self, a: &Ciphertext<S>, b: &Ciphertext<S>) -> Result<Ciphertext<S>, S::Error> {
        self.joined(Cow::Borrowed(a), b, "subtract", Sign::Minus)
    }

    /// Adds ciphertext b to ciphertext a: a ← a + b. On an error `a` is not changed.
    ///
    /// # Errors
    /// Every error of [`add`](Self::add).
    pub fn add_assign(&self, a: &mut Ciphertext<S>, b: &Ciphertext<S>) -> Result<(), S::Error> {
        const OPERATION: &str = "add";
        let trace = a.trace().clone();
        let (left, right) = S::align(self.context(), Cow::Borrowed(&*a), b, OPERATION)?;
        let ring = self.ring_of(&left)?;
        let finish = |sum| self.finish_join(sum, right.metadata(), OPERATION, &[&trace, b.trace()]);
        match left {
            Cow::Borrowed(_) => a.join_assign(&ring, &right, Sign::Plus, finish)?,
            Cow::Owned(mut left) => {
                left.join_assign(&ring, &right, Sign::Plus, finish)?;
                *a = left;
            }
        }
        Ok(())
    }

    /// Returns the negated ciphertext −a.
    ///
    /// # Errors
    /// The scheme's errors for a ciphertext of other parameters.
    pub fn negate(&self, a: &Ciphertext<S>) -> Result<Ciphertext<S>, S::Error> {
        self.negated(Cow::Borrowed(a))
    }

    /// Returns the negated ciphertext −a, in the memory of an owned `a`.
    ///
    /// # Errors
    /// Every error of [`negate`](Self::negate).
    pub fn negated(&self, a: Cow<'_, Ciphertext<S>>) -> Result<Ciphertext<S>, S::Error> {
        S::check(self.context(), &a)?;
        let ring = self.ring_of(&a)?;
        let mut negated = a.into_owned();
        for part in negated.parts_mut() {
            ring.neg_assign(part)?;
        }
        Ok(negated)
    }

    /// Returns the sum of one or more ciphertexts.
    ///
    /// # Errors
    /// Every error of [`add`](Self::add); the scheme's error `Empty` for no ciphertexts.
    pub fn sum<'a>(
        &self,
        terms: impl IntoIterator<Item = &'a Ciphertext<S>>,
    ) -> Result<Ciphertext<S>, S::Error> {
        let mut terms = terms.into_iter();
        let first = terms.next().ok_or_else(|| S::empty("a sum of ciphertexts"))?;
        let Some(second) = terms.next() else { return Ok(first.clone()) };
        terms.try_fold(self.add(first, second)?, |sum, term| {
            self.joined(Cow::Owned(sum), term, "add", Sign::Plus)
        })
    }

    /// Returns the sum or difference a ± b of ciphertexts, named `operation` in the trace, in the memory of an owned
    /// `a`.
    ///
    /// # Errors
    /// Every error of [`add`](Self::add).
    pub fn joined(
        &self,
        a: Cow<'_, Ciphertext<S>>,
        b: &Ciphertext<S>,
        operation: &'static str,
        sign: Sign,
    ) -> Result<Ciphertext<S>, S::Error> {
        let trace = a.trace().clone();
        let (left, right) = S::align(self.context(), a, b, operation)?;
        let ring = self.ring_of(&left)?;
        let finish = |sum| self.finish_join(sum, right.metadata(), operation, &[&trace, b.trace()]);
        match left {
            Cow::Borrowed(left) => left.joined(&ring, &right, sign, finish),
            Cow::Owned(mut left) => {
                left.join_assign(&ring, &right, sign, finish)?;
                Ok(left)
            }
        }
    }

    /// Ends a sum of ciphertexts, which has the metadata of its first operand.
    fn finish_join(
        &self,
        mut sum: Ciphertext<S>,
        second: &S::Metadata,
        operation: &'static str,
        operands: &[&Trace],
    ) -> Result<Ciphertext<S>, S::Error> {
        sum.set_metadata(S::join(self.context(), sum.metadata(), second, operation)?);
        self.finish(sum, operation, operands)
    }
}
