//! The BGV product: switch both operands, tensor times t, relinearise.

use sunzi_ring::PolyRing;
use sunzi_rlwe::{RelinearizationKey, relinearization};

use super::Evaluator;
use crate::{BgvError, Ciphertext, Usage};

impl<R: PolyRing> Evaluator<R> {
    /// a·b, relinearised. Operands are switched to the common level first.
    ///
    /// # Errors
    /// [`BgvError::DepthExceeded`]; [`BgvError::BudgetExceeded`]; [`sunzi_rlwe::RlweError::KeyMismatch`];
    /// [`sunzi_rlwe::RlweError::WrongPartCount`] for operands that are not relinearised;
    /// [`BgvError::PlainModulusMismatch`], [`BgvError::LevelMismatch`] or [`BgvError::Ring`] for ciphertexts of other
    /// parameters.
    pub fn multiply(
        &self,
        a: &Ciphertext<R>,
        b: &Ciphertext<R>,
        key: &RelinearizationKey<R>,
    ) -> Result<Ciphertext<R>, BgvError> {
        a.check_key(key.id(), "the relinearisation key")?;
        let product = self.product(a, b, "multiply")?;
        self.relinearized(&product, key, "multiply")
    }

    /// a·b, relinearised and switched for the multiplication that follows, with one rounding: what
    /// [`multiply`](Self::multiply) and then [`operand`](Self::operand) make, in fewer transforms. For a product that is
    /// multiplied next; sums and rotations are better made before the switch, where noise matters less.
    ///
    /// # Errors
    /// As [`multiply`](Self::multiply).
    pub fn multiply_switched(
        &self,
        a: &Ciphertext<R>,
        b: &Ciphertext<R>,
        key: &RelinearizationKey<R>,
    ) -> Result<Ciphertext<R>, BgvError> {
        const OPERATION: &str = "multiply";
        a.check_key(key.id(), "the relinearisation key")?;
        let context = &self.context;
        let product = self.product(a, b, OPERATION)?;
        let level = product.metadata().level;
        let (high, low) = (context.place(level + 1)?, context.place(level)?);
        if high.rest > 0 || low.rest > 0 {
            // A factor of a word cannot be dropped with the special moduli.
            return self.operand(&self.relinearized(&product, key, OPERATION)?);
        }
        let mut switched = relinearization::relinearize_to(context.rlwe(), &product, key, low.limbs)?;
        switched.set_metadata(context.metadata(level, level, Usage::ONE)?);
        context.finish(switched, OPERATION, &[product.trace()])
    }

    /// a², relinearised.
    ///
    /// # Errors
    /// As [`multiply`](Self::multiply).
    pub fn square(&self, a: &Ciphertext<R>, key: &RelinearizationKey<R>) -> Result<Ciphertext<R>, BgvError> {
        self.multiply(a, a, key)
    }

    /// a·b in three parts, to be relinearised later: sums of such products are relinearised once.
    ///
    /// # Errors
    /// As [`multiply`](Self::multiply).
    pub fn multiply_unrelinearized(
        &self,
        a: &Ciphertext<R>,
        b: &Ciphertext<R>,
    ) -> Result<Ciphertext<R>, BgvError> {
        self.product(a, b, "multiply")
    }

    /// Σ a_i·b_i, relinearised once.
    ///
    /// # Errors
    /// As [`multiply`](Self::multiply); [`BgvError::Empty`] for none.
    pub fn sum_of_products<'a>(
        &self,
        terms: impl IntoIterator<Item = (&'a Ciphertext<R>, &'a Ciphertext<R>)>,
        key: &RelinearizationKey<R>,
    ) -> Result<Ciphertext<R>, BgvError> {
        let mut sum: Option<Ciphertext<R>> = None;
        for (a, b) in terms {
            let product = self.product(a, b, "multiply")?;
            sum = Some(match sum {
                Some(sum) => self.add(&sum, &product)?,
                None => product,
            });
        }
        self.relinearize(&sum.ok_or(BgvError::Empty { what: "a sum of products" })?, key)
    }

    /// Back from three parts to two.
    ///
    /// # Errors
    /// [`sunzi_rlwe::RlweError::KeyMismatch`]; [`sunzi_rlwe::RlweError::WrongPartCount`] beyond three parts;
    /// [`BgvError::BudgetExceeded`].
    pub fn relinearize(
        &self,
        a: &Ciphertext<R>,
        key: &RelinearizationKey<R>,
    ) -> Result<Ciphertext<R>, BgvError> {
        self.context.check(a)?;
        self.relinearized(a, key, "relinearize")
    }

    /// A ciphertext switched for multiplication at its level, which [`multiply`](Self::multiply) does as well: once
    /// for an operand that enters several products of that level.
    ///
    /// # Errors
    /// As [`mod_switch_to`](Self::mod_switch_to).
    pub fn operand(&self, a: &Ciphertext<R>) -> Result<Ciphertext<R>, BgvError> {
        self.mod_switch_to(a, a.metadata().level)
    }

    fn relinearized(
        &self,
        a: &Ciphertext<R>,
        key: &RelinearizationKey<R>,
        operation: &'static str,
    ) -> Result<Ciphertext<R>, BgvError> {
        let two = relinearization::relinearize(self.context.rlwe(), a, key)?;
        self.context.finish(two, operation, &[a.trace()])
    }

    /// t·(a_0 + a_1·Y)(b_0 + b_1·Y) at the common level.
    fn product(
        &self,
        a: &Ciphertext<R>,
        b: &Ciphertext<R>,
        operation: &'static str,
    ) -> Result<Ciphertext<R>, BgvError> {
        let (context, t) = (&self.context, self.context.plain_modulus());
        context.check(a)?;
        context.check(b)?;
        a.check_key(b.key(), "the second factor")?;
        let level = a.metadata().level.min(b.metadata().level);
        let Some(below) = level.checked_sub(1) else {
            let depth = context.depth();
            return Err(BgvError::DepthExceeded { operation, needed: depth + 1, depth });
        };
        a.two_parts("multiplication")?;
        b.two_parts("multiplication")?;
        let square = std::ptr::eq(a, b);
        let (a, b) = (self.switched(a, level)?, if square { None } else { Some(self.switched(b, level)?) });
        let b = b.as_ref().unwrap_or(&a);
        let ring = context.rlwe().ring_at(context.place(level)?.limbs)?;
        let ([a0, a1], [b0, b1]) = (a.two_parts("multiplication")?, b.two_parts("multiplication")?);
        let parts = ring.tensor([a0, a1], [b0, b1], t)?;
        let noise = a.noise().product(b.noise(), t as f64, context.ring().expansion());
        let metadata = context.metadata(below, level, Usage::ONE)?;
        let product = Ciphertext::from_parts(parts.into(), metadata, noise, a.key())?;
        context.finish(product, operation, &[a.trace(), b.trace()])
    }
}
