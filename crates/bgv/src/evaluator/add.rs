//! Addition, subtraction, negation.

use std::borrow::Cow;

use sunzi_ring::PolyRing;
use sunzi_rlwe::RlweError;

use super::Evaluator;
use crate::{BgvError, Ciphertext};

impl<R: PolyRing> Evaluator<R> {
    /// a + b, of any part counts and levels.
    ///
    /// # Errors
    /// [`sunzi_rlwe::RlweError::KeyMismatch`]; [`BgvError::Undeclared`]; [`BgvError::BudgetExceeded`]; [`BgvError::PlainModulusMismatch`],
    /// [`BgvError::LevelMismatch`] or [`BgvError::Ring`] for ciphertexts of other parameters.
    pub fn add(&self, a: &Ciphertext<R>, b: &Ciphertext<R>) -> Result<Ciphertext<R>, BgvError> {
        self.joined(Cow::Borrowed(a), b, "add", Ciphertext::add_assign)
    }

    /// a ← a + b. On an error `a` is not changed.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn add_assign(&self, a: &mut Ciphertext<R>, b: &Ciphertext<R>) -> Result<(), BgvError> {
        *a = self.joined(Cow::Borrowed(a), b, "add", Ciphertext::add_assign)?;
        Ok(())
    }

    /// a − b, of any part counts and levels.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn sub(&self, a: &Ciphertext<R>, b: &Ciphertext<R>) -> Result<Ciphertext<R>, BgvError> {
        self.joined(Cow::Borrowed(a), b, "subtract", Ciphertext::sub_assign)
    }

    /// a ± b under the name of the operation that asks.
    fn joined(
        &self,
        a: Cow<'_, Ciphertext<R>>,
        b: &Ciphertext<R>,
        operation: &'static str,
        assign: impl Fn(&mut Ciphertext<R>, &R, &Ciphertext<R>) -> Result<(), RlweError>,
    ) -> Result<Ciphertext<R>, BgvError> {
        a.check_key(b.key(), "the second summand")?;
        let [left, right] = self.together(&a, b)?;
        let ring = self.context.ring_of(&left)?;
        let mut sum = left.into_owned();
        assign(&mut sum, &ring, &right)?;
        let usage = sum.metadata().usage.sum(&right.metadata().usage);
        let (level, place) = (right.metadata().level, right.metadata().place);
        sum.set_metadata(self.context.metadata(level, place, usage)?);
        self.context.finish(sum, operation, &[b.trace()])
    }

    /// −a.
    ///
    /// # Errors
    /// [`BgvError::PlainModulusMismatch`], [`BgvError::LevelMismatch`] or [`BgvError::Ring`] for a ciphertext of other
    /// parameters.
    pub fn negate(&self, a: &Ciphertext<R>) -> Result<Ciphertext<R>, BgvError> {
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
    pub fn sum<'a>(
        &self,
        terms: impl IntoIterator<Item = &'a Ciphertext<R>>,
    ) -> Result<Ciphertext<R>, BgvError> {
        let mut terms = terms.into_iter();
        let mut sum = terms.next().ok_or(BgvError::Empty { what: "a sum of ciphertexts" })?.clone();
        for term in terms {
            sum = self.joined(Cow::Owned(sum), term, "add", Ciphertext::add_assign)?;
        }
        Ok(sum)
    }
}
