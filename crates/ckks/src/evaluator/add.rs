//! Addition, subtraction, negation.

use std::borrow::Cow;

use sunzi_rlwe::{Sign, Trace};

use super::Evaluator;
use crate::context::same_scale;
use crate::{Ciphertext, CkksError, Metadata};

/// Two operands, borrowed or brought to a level.
type Pair<'a, 'b> = (Cow<'a, Ciphertext>, Cow<'b, Ciphertext>);

impl Evaluator {
    /// a + b, of any part counts and levels.
    ///
    /// # Errors
    /// [`CkksError::ScaleMismatch`] for operands of one level and different scales, or of scales too far apart;
    /// [`sunzi_rlwe::RlweError::KeyMismatch`]; [`CkksError::MessageTooLarge`]; [`CkksError::LevelMismatch`] or
    /// [`CkksError::Ring`] for ciphertexts of another context.
    pub fn add(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, CkksError> {
        self.joined(Cow::Borrowed(a), b, "add", Sign::Plus)
    }

    /// a ← a + b. On an error `a` is not changed.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn add_assign(&self, a: &mut Ciphertext, b: &Ciphertext) -> Result<(), CkksError> {
        const OPERATION: &str = "add";
        if a.metadata().level > b.metadata().level {
            *a = self.joined(Cow::Borrowed(a), b, OPERATION, Sign::Plus)?;
            return Ok(());
        }
        let (_, right) = self.together(Cow::Borrowed(a), b, OPERATION)?;
        let ring = self.context.ring_at(a.metadata().level)?;
        let trace = a.trace().clone();
        a.join_assign(ring, &right, Sign::Plus, |sum| {
            self.finished(sum, right.metadata(), OPERATION, &[&trace, b.trace()])
        })
    }

    /// a − b, of any part counts and levels.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn sub(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, CkksError> {
        self.joined(Cow::Borrowed(a), b, "subtract", Sign::Minus)
    }

    /// −a.
    ///
    /// # Errors
    /// [`CkksError::LevelMismatch`] or [`CkksError::Ring`] for a ciphertext of another context.
    pub fn negate(&self, a: &Ciphertext) -> Result<Ciphertext, CkksError> {
        self.context.check(a)?;
        let ring = self.context.ring_at(a.metadata().level)?;
        let mut negated = a.clone();
        for part in negated.parts_mut() {
            ring.neg_assign(part)?;
        }
        Ok(negated)
    }

    /// The sum of one or more ciphertexts.
    ///
    /// # Errors
    /// As [`add`](Self::add); [`CkksError::Empty`] for none.
    pub fn sum<'a>(&self, terms: impl IntoIterator<Item = &'a Ciphertext>) -> Result<Ciphertext, CkksError> {
        let mut terms = terms.into_iter();
        let first = terms.next().ok_or(CkksError::Empty { what: "a sum of ciphertexts" })?;
        let Some(second) = terms.next() else { return Ok(first.clone()) };
        terms.try_fold(self.add(first, second)?, |sum, term| {
            self.joined(Cow::Owned(sum), term, "add", Sign::Plus)
        })
    }

    /// a ± b under the name of the operation that asks.
    pub(super) fn joined(
        &self,
        a: Cow<'_, Ciphertext>,
        b: &Ciphertext,
        operation: &'static str,
        sign: Sign,
    ) -> Result<Ciphertext, CkksError> {
        let trace = a.trace().clone();
        let (left, right) = self.together(a, b, operation)?;
        let ring = self.context.ring_at(left.metadata().level)?;
        let finish = |sum| self.finished(sum, right.metadata(), operation, &[&trace, b.trace()]);
        match left {
            Cow::Borrowed(left) => left.joined(ring, &right, sign, finish),
            Cow::Owned(mut left) => {
                left.join_assign(ring, &right, sign, finish)?;
                Ok(left)
            }
        }
    }

    /// Both at the level of the lower one.
    fn together<'a, 'b>(
        &self,
        a: Cow<'a, Ciphertext>,
        b: &'b Ciphertext,
        operation: &'static str,
    ) -> Result<Pair<'a, 'b>, CkksError> {
        self.context.check(&a)?;
        self.context.check(b)?;
        a.check_key(b.key(), "the second summand")?;
        let (ours, theirs) = (a.metadata().level, b.metadata().level);
        let left = if ours > theirs {
            Cow::Owned(self.brought(&a, theirs, b.metadata().scale, operation)?)
        } else {
            a
        };
        let right = if theirs > ours {
            Cow::Owned(self.brought(b, ours, left.metadata().scale, operation)?)
        } else {
            Cow::Borrowed(b)
        };
        Ok((left, right))
    }

    /// Ends a sum that has the metadata of its first operand.
    fn finished(
        &self,
        mut sum: Ciphertext,
        second: &Metadata,
        operation: &'static str,
        traces: &[&Trace],
    ) -> Result<Ciphertext, CkksError> {
        sum.set_metadata(self.sum_metadata(sum.metadata(), second, operation)?);
        self.context.finish(sum, operation, traces)
    }

    /// What a sum of operands of one level carries; fails unless they have one scale.
    pub(super) fn sum_metadata(
        &self,
        a: &Metadata,
        b: &Metadata,
        operation: &'static str,
    ) -> Result<Metadata, CkksError> {
        if !same_scale(a.scale, b.scale) {
            let [left, right] = [a.scale.log2(), b.scale.log2()];
            return Err(CkksError::ScaleMismatch { operation, left, right });
        }
        let (slots, [p, q]) = a.joint_slots(b);
        Ok(Metadata { slots, precision: p.sum(&q), ..a.clone() })
    }
}
