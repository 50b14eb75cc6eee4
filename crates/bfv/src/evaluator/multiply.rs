//! The BFV product `[BEHZ16, Alg. 3; KPZ21, Alg. 1 to 3]`: extend both operands, tensor, scale, relinearise.

use sunzi_ring::Side;
use sunzi_rlwe::RelinearizationKey;

use super::{Evaluator, Extended};
use crate::{BfvError, Ciphertext};

impl Evaluator {
    /// The product a·b of two ciphertexts, relinearised.
    ///
    /// # Errors
    /// [`sunzi_rlwe::RlweError::KeyMismatch`]; [`sunzi_rlwe::RlweError::WrongPartCount`] for operands that
    /// are not relinearised; [`BfvError::PlainModulusMismatch`] or [`BfvError::Ring`] for ciphertexts of other
    /// parameters.
    pub fn multiply(
        &self,
        a: &Ciphertext,
        b: &Ciphertext,
        key: &RelinearizationKey,
    ) -> Result<Ciphertext, BfvError> {
        self.context().rlwe().on_pool(|| self.product(a, b, Some(key)))
    }

    /// The square a² of a ciphertext, relinearised: with algorithms that treat both operands alike, half the
    /// extensions of a product.
    ///
    /// # Errors
    /// Every error of [`multiply`](Self::multiply).
    pub fn square(&self, a: &Ciphertext, key: &RelinearizationKey) -> Result<Ciphertext, BfvError> {
        if self.has_sides() {
            return self.multiply(a, a, key);
        }
        let level = self.product_level(a, a);
        self.context().rlwe().on_pool(|| {
            let form = self.extended(a, Side::Left, level)?;
            self.scale(self.tensor([a, a], [&form, &form], level)?, Some(key))
        })
    }

    /// The product a·b of two ciphertexts in three parts, to be relinearised later.
    ///
    /// # Errors
    /// Every error of [`multiply`](Self::multiply).
    pub fn multiply_unrelinearized(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, BfvError> {
        self.context().rlwe().on_pool(|| self.product(a, b, None))
    }

    /// The product a·b of two extended operands, relinearised.
    ///
    /// # Errors
    /// Every error of [`multiply`](Self::multiply).
    pub fn multiply_extended(
        &self,
        a: &Extended,
        b: &Extended,
        key: &RelinearizationKey,
    ) -> Result<Ciphertext, BfvError> {
        let level = self.product_level(a.ciphertext(), b.ciphertext());
        self.context().rlwe().on_pool(|| self.scale(self.tensor_of_extended(a, b, level)?, Some(key)))
    }

    /// The product a·b of two extended operands in three parts, to be relinearised later.
    ///
    /// # Errors
    /// Every error of [`multiply`](Self::multiply).
    pub fn multiply_extended_unrelinearized(
        &self,
        a: &Extended,
        b: &Extended,
    ) -> Result<Ciphertext, BfvError> {
        let level = self.product_level(a.ciphertext(), b.ciphertext());
        self.context().rlwe().on_pool(|| self.scale(self.tensor_of_extended(a, b, level)?, None))
    }
}
