//! Addition, subtraction, negation.

use std::borrow::Cow;

use sunzi_rlwe::{NoiseBound, Sign, Trace};

use super::Evaluator;
use crate::{BgvError, Ciphertext, Usage};

impl Evaluator {
    /// a + b, of any part counts and levels.
    ///
    /// # Errors
    /// [`sunzi_rlwe::RlweError::KeyMismatch`]; [`BgvError::Undeclared`]; [`BgvError::BudgetExceeded`]; [`BgvError::PlainModulusMismatch`],
    /// [`BgvError::LevelMismatch`] or [`BgvError::Ring`] for ciphertexts of other parameters.
    pub fn add(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, BgvError> {
        self.joined(Cow::Borrowed(a), b, "add", Sign::Plus)
    }

    /// a ← a + b. On an error `a` is not changed.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn add_assign(&self, a: &mut Ciphertext, b: &Ciphertext) -> Result<(), BgvError> {
        const OPERATION: &str = "add";
        let (left, right) = self.together(Cow::Borrowed(a), b)?;
        let ring = self.context.ring_of(&left)?;
        let finish = |sum| self.finished(sum, &right, OPERATION, &[b.trace()]);
        match left {
            Cow::Owned(mut left) => {
                left.join_assign(&ring, &right, Sign::Plus, finish)?;
                *a = left;
            }
            Cow::Borrowed(_) => a.join_assign(&ring, &right, Sign::Plus, finish)?,
        }
        Ok(())
    }

    /// a − b, of any part counts and levels.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn sub(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, BgvError> {
        self.joined(Cow::Borrowed(a), b, "subtract", Sign::Minus)
    }

    /// a ± b under the name of the operation that asks.
    fn joined(
        &self,
        a: Cow<'_, Ciphertext>,
        b: &Ciphertext,
        operation: &'static str,
        sign: Sign,
    ) -> Result<Ciphertext, BgvError> {
        let (left, right) = self.together(a, b)?;
        let ring = self.context.ring_of(&left)?;
        let finish = |sum| self.finished(sum, &right, operation, &[b.trace()]);
        match left {
            Cow::Borrowed(left) => left.joined(&ring, &right, sign, finish),
            Cow::Owned(mut left) => {
                left.join_assign(&ring, &right, sign, finish)?;
                Ok(left)
            }
        }
    }

    /// Ends a sum that has the metadata of its first operand.
    fn finished(
        &self,
        mut sum: Ciphertext,
        second: &Ciphertext,
        operation: &'static str,
        traces: &[&Trace],
    ) -> Result<Ciphertext, BgvError> {
        let usage = sum.metadata().usage.sum(&second.metadata().usage);
        let (level, place) = (second.metadata().level, second.metadata().place);
        sum.set_metadata(self.context.metadata(level, place, usage)?);
        self.context.finish(sum, operation, traces)
    }

    /// Ends a sum that was made in one pass: notes the operation that made its terms by what the first of them carries, then what
    /// all of them do.
    pub(super) fn finish_terms(
        &self,
        mut sum: Ciphertext,
        operation: &'static str,
        traces: &[&Trace],
        terms: &[(Usage, NoiseBound)],
    ) -> Result<Ciphertext, BgvError> {
        let (level, place) = (sum.metadata().level, sum.metadata().place);
        let Some((&(usage, noise), others)) = terms.split_first() else { return Ok(sum) };
        sum.set_noise(noise);
        sum.set_metadata(self.context.metadata(level, place, usage)?);
        let mut sum = self.context.finish(sum, operation, traces)?;
        if others.is_empty() {
            return Ok(sum);
        }
        let join = |(usage, noise): (Usage, NoiseBound), other: &(Usage, NoiseBound)| {
            (usage.sum(&other.0), noise.sum(&other.1))
        };
        let (usage, noise) = others.iter().fold((usage, noise), join);
        sum.set_noise(noise);
        sum.set_metadata(self.context.metadata(level, place, usage)?);
        self.context.finish(sum, "add", &[])
    }

    /// −a.
    ///
    /// # Errors
    /// [`BgvError::PlainModulusMismatch`], [`BgvError::LevelMismatch`] or [`BgvError::Ring`] for a ciphertext of other
    /// parameters.
    pub fn negate(&self, a: &Ciphertext) -> Result<Ciphertext, BgvError> {
        self.context.check(a)?;
        let ring = self.context.ring_of(a)?;
        let mut negated = a.clone();
        for part in negated.parts_mut() {
            ring.neg_assign(part)?;
        }
        Ok(negated)
    }

    /// The sum of one or more ciphertexts.
    ///
    /// # Errors
    /// As [`add`](Self::add); [`BgvError::Empty`] for none.
    pub fn sum<'a>(&self, terms: impl IntoIterator<Item = &'a Ciphertext>) -> Result<Ciphertext, BgvError> {
        let mut terms = terms.into_iter();
        let first = terms.next().ok_or(BgvError::Empty { what: "a sum of ciphertexts" })?;
        let Some(second) = terms.next() else { return Ok(first.clone()) };
        terms.try_fold(self.add(first, second)?, |sum, term| {
            self.joined(Cow::Owned(sum), term, "add", Sign::Plus)
        })
    }
}
