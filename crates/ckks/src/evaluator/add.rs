//! Addition, subtraction, negation.

use std::borrow::Cow;

use sunzi_ring::PolyRing;
use sunzi_rlwe::RlweError;

use super::Evaluator;
use crate::context::same_scale;
use crate::{Ciphertext, CkksError, Metadata};

impl<R: PolyRing> Evaluator<R> {
    /// a + b, of any part counts and levels.
    ///
    /// # Errors
    /// [`CkksError::ScaleMismatch`] for operands of one level and different scales, or of scales too far apart;
    /// [`sunzi_rlwe::RlweError::KeyMismatch`]; [`CkksError::MessageTooLarge`]; [`CkksError::LevelMismatch`] or
    /// [`CkksError::Ring`] for ciphertexts of another context.
    pub fn add(&self, a: &Ciphertext<R>, b: &Ciphertext<R>) -> Result<Ciphertext<R>, CkksError> {
        self.joined(Cow::Borrowed(a), b, "add", Ciphertext::add_assign)
    }

    /// a ← a + b. On an error `a` is not changed.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn add_assign(&self, a: &mut Ciphertext<R>, b: &Ciphertext<R>) -> Result<(), CkksError> {
        *a = self.joined(Cow::Borrowed(a), b, "add", Ciphertext::add_assign)?;
        Ok(())
    }

    /// a − b, of any part counts and levels.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn sub(&self, a: &Ciphertext<R>, b: &Ciphertext<R>) -> Result<Ciphertext<R>, CkksError> {
        self.joined(Cow::Borrowed(a), b, "subtract", Ciphertext::sub_assign)
    }

    /// −a.
    ///
    /// # Errors
    /// [`CkksError::LevelMismatch`] or [`CkksError::Ring`] for a ciphertext of another context.
    pub fn negate(&self, a: &Ciphertext<R>) -> Result<Ciphertext<R>, CkksError> {
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
    pub fn sum<'a>(
        &self,
        terms: impl IntoIterator<Item = &'a Ciphertext<R>>,
    ) -> Result<Ciphertext<R>, CkksError> {
        let mut terms = terms.into_iter();
        let mut sum = terms.next().ok_or(CkksError::Empty { what: "a sum of ciphertexts" })?.clone();
        for term in terms {
            sum = self.joined(Cow::Owned(sum), term, "add", Ciphertext::add_assign)?;
        }
        Ok(sum)
    }

    /// a ± b under the name of the operation that asks.
    pub(super) fn joined(
        &self,
        a: Cow<'_, Ciphertext<R>>,
        b: &Ciphertext<R>,
        operation: &'static str,
        assign: impl Fn(&mut Ciphertext<R>, &R, &Ciphertext<R>) -> Result<(), RlweError>,
    ) -> Result<Ciphertext<R>, CkksError> {
        self.context.check(&a)?;
        self.context.check(b)?;
        a.check_key(b.key(), "the second summand")?;
        let (ours, theirs) = (a.metadata().level, b.metadata().level);
        let trace = a.trace().clone();
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
        let metadata = self.sum_metadata(left.metadata(), right.metadata(), operation)?;
        let mut sum = left.into_owned();
        assign(&mut sum, self.context.ring_at(metadata.level)?, &right)?;
        sum.set_metadata(metadata);
        self.context.finish(sum, operation, &[&trace, b.trace()])
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
