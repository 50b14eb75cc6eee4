//! Addition, subtraction, negation.

use sunzi_ring::PolyRing;
use sunzi_rlwe::RlweError;

use super::Evaluator;
use crate::{BfvError, Ciphertext};

impl<R: PolyRing> Evaluator<R> {
    /// a + b, of any part counts.
    ///
    /// # Errors
    /// [`sunzi_rlwe::RlweError::KeyMismatch`]; [`BfvError::PlainModulusMismatch`] or [`BfvError::Ring`] for
    /// ciphertexts of other parameters.
    pub fn add(&self, a: &Ciphertext<R>, b: &Ciphertext<R>) -> Result<Ciphertext<R>, BfvError> {
        let mut sum = a.clone();
        self.add_assign(&mut sum, b)?;
        Ok(sum)
    }

    /// a ← a + b. On an error `a` is not to be used.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn add_assign(&self, a: &mut Ciphertext<R>, b: &Ciphertext<R>) -> Result<(), BfvError> {
        self.join(a, b, "add", Ciphertext::add_assign)
    }

    /// a ← a ± b under the name of the operation that asks.
    fn join(
        &self,
        a: &mut Ciphertext<R>,
        b: &Ciphertext<R>,
        operation: &'static str,
        assign: impl Fn(&mut Ciphertext<R>, &R, &Ciphertext<R>) -> Result<(), RlweError>,
    ) -> Result<(), BfvError> {
        self.context.check(a)?;
        self.context.check(b)?;
        assign(a, self.context.ring(), b)?;
        a.record(operation, self.context.bits_left(a.noise()), &[b.trace()]);
        Ok(())
    }

    /// a − b, of any part counts.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn sub(&self, a: &Ciphertext<R>, b: &Ciphertext<R>) -> Result<Ciphertext<R>, BfvError> {
        let mut difference = a.clone();
        self.join(&mut difference, b, "subtract", Ciphertext::sub_assign)?;
        Ok(difference)
    }

    /// −a.
    ///
    /// # Errors
    /// [`BfvError::PlainModulusMismatch`] or [`BfvError::Ring`] for a ciphertext of other parameters.
    pub fn negate(&self, a: &Ciphertext<R>) -> Result<Ciphertext<R>, BfvError> {
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
    pub fn sum<'a>(
        &self,
        terms: impl IntoIterator<Item = &'a Ciphertext<R>>,
    ) -> Result<Ciphertext<R>, BfvError> {
        let mut terms = terms.into_iter();
        let mut sum = terms.next().ok_or(BfvError::Empty { what: "a sum of ciphertexts" })?.clone();
        for term in terms {
            self.add_assign(&mut sum, term)?;
        }
        Ok(sum)
    }
}
