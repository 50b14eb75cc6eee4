//! The BFV product `[BEHZ16, Alg. 3; KPZ21, Alg. 1 to 3]`: extend both operands, tensor, scale, relinearise.

use sunzi_ring::{Apart, Evaluation, Poly, Side, on_pool};
use sunzi_rlwe::{KeyId, NoiseBound, RelinearizationKey, RlweError, Trace};

use super::{Evaluator, Extended};
use crate::{BfvError, Ciphertext};

/// A BFV product, or a sum of products, in three scaled parts modulo a level.
pub(super) struct Scaled {
    pub(super) parts: [Apart; 3],
    pub(super) level: usize,
    pub(super) noise: NoiseBound,
    pub(super) key: KeyId,
    pub(super) trace: Trace,
}

impl Evaluator {
    /// Multiplies two BFV ciphertexts and relinearises the product a·b.
    ///
    /// # Errors
    /// [`RlweError::KeyMismatch`]; [`RlweError::WrongPartCount`] for operands that are not relinearised;
    /// [`BfvError::PlainModulusMismatch`] or [`BfvError::Ring`] for ciphertexts of other parameters.
    pub fn multiply(
        &self,
        a: &Ciphertext,
        b: &Ciphertext,
        key: &RelinearizationKey,
    ) -> Result<Ciphertext, BfvError> {
        on_pool(self.context().rlwe().switch_words(), || self.product(a, b, Some(key)))
    }

    /// Squares a BFV ciphertext and relinearises a²: with algorithms that treat both operands alike, half the
    /// extensions of a product.
    ///
    /// # Errors
    /// Every error of [`multiply`](Self::multiply).
    pub fn square(&self, a: &Ciphertext, key: &RelinearizationKey) -> Result<Ciphertext, BfvError> {
        if self.has_sides() {
            return self.multiply(a, a, key);
        }
        let level = self.product_level(a, a);
        on_pool(self.context().rlwe().switch_words(), || {
            let extension = self.extended(a, Side::Left, level)?;
            self.scale(self.tensor([a, a], [&extension, &extension], level)?, Some(key))
        })
    }

    /// Multiplies two BFV ciphertexts: a·b in three parts, to be relinearised later.
    ///
    /// # Errors
    /// Every error of [`multiply`](Self::multiply).
    pub fn multiply_unrelinearized(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, BfvError> {
        on_pool(self.context().rlwe().switch_words(), || self.product(a, b, None))
    }

    /// Multiplies two extended operands and relinearises the product a·b.
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
        on_pool(self.context().rlwe().switch_words(), || {
            self.scale(self.tensor_of_extended(a, b, level)?, Some(key))
        })
    }

    /// Multiplies two extended operands: a·b in three parts, to be relinearised later.
    ///
    /// # Errors
    /// Every error of [`multiply`](Self::multiply).
    pub fn multiply_extended_unrelinearized(
        &self,
        a: &Extended,
        b: &Extended,
    ) -> Result<Ciphertext, BfvError> {
        let level = self.product_level(a.ciphertext(), b.ciphertext());
        on_pool(self.context().rlwe().switch_words(), || {
            self.scale(self.tensor_of_extended(a, b, level)?, None)
        })
    }

    /// Multiplies two BFV ciphertexts: a·b in three parts, or relinearised to two where there is a key.
    fn product(
        &self,
        a: &Ciphertext,
        b: &Ciphertext,
        key: Option<&RelinearizationKey>,
    ) -> Result<Ciphertext, BfvError> {
        self.check_factors(a, b)?;
        check_key(a.key(), key)?;
        let (left, right) = (a.two_parts("multiplication")?, b.two_parts("multiplication")?);
        let level = self.product_level(a, b);
        let parts = self.context().scaler().multiply(left, right, level, key.is_some())?;
        let noise = self.tensor_noise(a, b, level);
        let trace = Trace::joined([a.trace(), b.trace()]);
        self.assembled(Scaled { parts, level, noise, key: a.key(), trace }, key)
    }

    /// Makes a ciphertext modulo q of three scaled parts, relinearised where there is a key: the third part is whole
    /// then.
    pub(super) fn assembled(
        &self,
        product: Scaled,
        key: Option<&RelinearizationKey>,
    ) -> Result<Ciphertext, BfvError> {
        let (base, model) = (self.context().ring().at_level(product.level)?, self.level_model(product.level));
        let [(c0, multiple0), (c1, multiple1), (c2, multiple2)] = product.parts;
        let (parts, added) = match key {
            Some(key) => {
                let parts = key.apply_to_coefficients(self.context().rlwe(), [c0, c1, c2])?;
                (Vec::from(parts), model.product.rounding().plus(model.relinearization))
            }
            None => {
                let parts = [c0, c1, c2].into_iter().map(|part| base.to_evaluation(part));
                (parts.collect::<Result<_, _>>()?, model.product.rounding())
            }
        };
        let raised = |(mut part, multiple): (_, Option<_>)| {
            if let Some(multiple) = multiple {
                base.add_assign(&mut part, &multiple)?;
            }
            self.raised(part)
        };
        let multiples = [multiple0, multiple1, multiple2];
        let parts = parts.into_iter().zip(multiples).map(raised).collect::<Result<Vec<_>, BfvError>>()?;
        let noise = product.noise.plus(added);
        let result = Ciphertext::from_parts(parts, self.context().plain_modulus(), noise, product.key)?;
        Ok(self.context().record(result, "multiply", &[&product.trace]))
    }

    /// The polynomial (q/q_1⋯q_ℓ)·a modulo q, for a polynomial `a` modulo q_1⋯q_ℓ.
    fn raised(&self, a: Poly<Evaluation>) -> Result<Poly<Evaluation>, BfvError> {
        let ring = self.context().ring();
        Ok(if ring.level_of(&a)? == ring.level() { a } else { ring.scale_up(&a)? })
    }

    /// The noise of a BFV product before it is scaled.
    pub(super) fn tensor_noise(&self, a: &Ciphertext, b: &Ciphertext, level: usize) -> NoiseBound {
        let model = &self.level_model(level).product;
        model.tensor(&model.operand(a.noise(), Side::Left), &model.operand(b.noise(), Side::Right))
    }

    pub(super) fn check_factors(&self, a: &Ciphertext, b: &Ciphertext) -> Result<(), BfvError> {
        self.context().check(a)?;
        self.context().check(b)?;
        Ok(a.check_key(b.key(), "the second factor")?)
    }
}

/// Fails if a relinearisation key belongs to another secret than the operands of a product.
pub(super) fn check_key(operands: KeyId, key: Option<&RelinearizationKey>) -> Result<(), BfvError> {
    if key.is_none_or(|key| key.id() == operands) {
        return Ok(());
    }
    Err(RlweError::KeyMismatch { what: "the relinearisation key" }.into())
}
