//! Sums of BFV products, scaled and relinearised once for all their terms `[KPZ21, app. F]`.

use sunzi_ring::{Evaluation, Poly, Side};
use sunzi_rlwe::{KeyId, NoiseBound, RelinearizationKey, RlweError, Trace};

use super::extend::Extension;
use super::multiply::{Scaled, check_key};
use super::{Evaluator, Extended};
use crate::{BfvError, Ciphertext};

/// A factor of a BFV product: a ciphertext and its extension for one side.
type Factor<'a> = (&'a Ciphertext, &'a Extension);

const EMPTY: BfvError = BfvError::Empty { what: "a sum of products" };

/// A BFV product, or a sum of products, before scaling: three parts in the ring of products of one level.
#[derive(Clone)]
pub(super) struct Tensor {
    parts: [Poly<Evaluation>; 3],
    level: usize,
    terms: u64,
    noise: NoiseBound,
    key: KeyId,
    /// Trace of the operand with the fewest bits left.
    trace: Trace,
}

/// A sum of BFV products that is scaled as late as possible: once for all terms of one level, except for sums of more
/// products than the ring of products holds. By default it holds any number.
#[derive(Clone, Default)]
pub struct ProductSum {
    tensor: Option<Tensor>,
    /// Sum of the products that had to be scaled before, in three parts.
    scaled: Option<Ciphertext>,
}

impl Evaluator {
    /// Adds the product of two extended operands to a sum of products, sum ← sum + a·b, without scaling. On an error
    /// `sum` is not to be used.
    ///
    /// # Errors
    /// Every error of [`multiply`](Self::multiply).
    pub fn add_product(&self, sum: &mut ProductSum, a: &Extended, b: &Extended) -> Result<(), BfvError> {
        let level = self.product_level(a.ciphertext(), b.ciphertext());
        let capacity = self.context().scaler().product_capacity();
        match &mut sum.tensor {
            Some(tensor) if tensor.terms < capacity && tensor.level >= level => {
                let [(a, left), (b, right)] = self.sides(a, b, tensor.level)?;
                self.add_to_tensor(tensor, [a, b], [left, right])
            }
            full => {
                let next = self.tensor_of_extended(a, b, level)?;
                if let Some(full) = full.replace(next) {
                    self.add_scaled(&mut sum.scaled, full)?;
                }
                Ok(())
            }
        }
    }

    /// Scales a sum of products: a ciphertext of three parts, to be relinearised later.
    ///
    /// # Errors
    /// [`BfvError::Empty`] without a product; [`BfvError::Ring`] for a sum of other parameters.
    pub fn scale_products(&self, sum: ProductSum) -> Result<Ciphertext, BfvError> {
        let ProductSum { tensor, scaled } = sum;
        let last = self.scale(tensor.ok_or(EMPTY)?, None)?;
        match scaled {
            Some(mut sum) => {
                self.add_assign(&mut sum, &last)?;
                Ok(sum)
            }
            None => Ok(last),
        }
    }

    /// Scales and relinearises a sum of products.
    ///
    /// # Errors
    /// Every error of [`scale_products`](Self::scale_products); [`RlweError::KeyMismatch`].
    pub fn relinearize_products(
        &self,
        sum: ProductSum,
        key: &RelinearizationKey,
    ) -> Result<Ciphertext, BfvError> {
        match sum {
            ProductSum { tensor: Some(tensor), scaled: None } => self.scale(tensor, Some(key)),
            sum => self.relinearize(&self.scale_products(sum)?, key),
        }
    }

    /// Computes the dot product Σ a_i·b_i of BFV ciphertexts, scaled and relinearised once.
    ///
    /// # Errors
    /// Every error of [`multiply`](Self::multiply); [`BfvError::Empty`] without a pair.
    pub fn dot_product(
        &self,
        pairs: &[(&Ciphertext, &Ciphertext)],
        key: &RelinearizationKey,
    ) -> Result<Ciphertext, BfvError> {
        let level = pairs.iter().map(|(a, b)| self.product_level(a, b)).max().ok_or(EMPTY)?;
        let capacity = self.context().scaler().product_capacity();
        let mut sum = ProductSum::default();
        for &(a, b) in pairs {
            let (left, right) = (self.extended(a, Side::Left, level)?, self.extended(b, Side::Right, level)?);
            match &mut sum.tensor {
                Some(tensor) if tensor.terms < capacity => {
                    self.add_to_tensor(tensor, [a, b], [&left, &right])?;
                }
                full => {
                    let next = self.tensor([a, b], [&left, &right], level)?;
                    if let Some(full) = full.replace(next) {
                        self.add_scaled(&mut sum.scaled, full)?;
                    }
                }
            }
        }
        self.relinearize_products(sum, key)
    }

    /// The product of two extended operands before scaling.
    pub(super) fn tensor_of_extended(
        &self,
        a: &Extended,
        b: &Extended,
        level: usize,
    ) -> Result<Tensor, BfvError> {
        let [(a, left), (b, right)] = self.sides(a, b, level)?;
        self.tensor([a, b], [left, right], level)
    }

    /// Extends both operands of a product, the left one first, in the order that needs fewer extensions.
    fn sides<'a>(&self, a: &'a Extended, b: &'a Extended, level: usize) -> Result<[Factor<'a>; 2], BfvError> {
        let ready = |left: &Extended, right: &Extended| {
            u32::from(left.is_ready(Side::Left, level)) + u32::from(right.is_ready(Side::Right, level))
        };
        let (a, b) = if ready(b, a) > ready(a, b) { (b, a) } else { (a, b) };
        let (left, right) = (self.extension(a, Side::Left, level)?, self.extension(b, Side::Right, level)?);
        Ok([(a.ciphertext(), left), (b.ciphertext(), right)])
    }

    /// The product of two ciphertexts before scaling, from their extensions for a level, the left one first.
    pub(super) fn tensor(
        &self,
        [a, b]: [&Ciphertext; 2],
        [left, right]: [&Extension; 2],
        level: usize,
    ) -> Result<Tensor, BfvError> {
        self.check_factors(a, b)?;
        let wide = self.context().scaler().wide(level)?;
        let ([a0, a1], [b0, b1]) = (left, right);
        let parts = wide.tensor([a0, a1], [b0, b1], 1)?;
        let noise = self.tensor_noise(a, b, level);
        let trace = Trace::joined([a.trace(), b.trace()]);
        Ok(Tensor { parts, level, terms: 1, noise, key: a.key(), trace })
    }

    /// Adds a product to a sum that is not scaled yet: sum ← sum + a·b.
    fn add_to_tensor(
        &self,
        sum: &mut Tensor,
        [a, b]: [&Ciphertext; 2],
        [left, right]: [&Extension; 2],
    ) -> Result<(), BfvError> {
        self.check_factors(a, b)?;
        if a.key() != sum.key {
            return Err(RlweError::KeyMismatch { what: "the next product" }.into());
        }
        let wide = self.context().scaler().wide(sum.level)?;
        let [c0, c1, c2] = &mut sum.parts;
        let ([a0, a1], [b0, b1]) = (left, right);
        wide.mul_add_assign(c0, a0, b0)?;
        wide.mul_add_assign(c1, a0, b1)?;
        wide.mul_add_assign(c1, a1, b0)?;
        wide.mul_add_assign(c2, a1, b1)?;
        sum.terms += 1;
        sum.noise = sum.noise.sum(&self.tensor_noise(a, b, sum.level));
        sum.trace = Trace::joined([&sum.trace, a.trace(), b.trace()]);
        Ok(())
    }

    /// Scales a product and adds it to a sum of scaled products: sum ← sum + the scaled tensor.
    fn add_scaled(&self, sum: &mut Option<Ciphertext>, tensor: Tensor) -> Result<(), BfvError> {
        let scaled = self.scale(tensor, None)?;
        match sum {
            Some(sum) => self.add_assign(sum, &scaled)?,
            None => *sum = Some(scaled),
        }
        Ok(())
    }

    /// Scales a sum of products: a ciphertext of three parts, or of two relinearised at the level of the products
    /// where there is a key.
    pub(super) fn scale(
        &self,
        sum: Tensor,
        key: Option<&RelinearizationKey>,
    ) -> Result<Ciphertext, BfvError> {
        check_key(sum.key, key)?;
        let Tensor { parts, level, noise, key: own, trace, .. } = sum;
        let parts = self.context().scaler().scale_parts(parts, level, key.is_some())?;
        self.assembled(Scaled { parts, level, noise, key: own, trace }, key)
    }
}
