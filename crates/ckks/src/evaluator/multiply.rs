//! The CKKS product: tensor, relinearise, rescale.

use std::borrow::Cow;

use sunzi_ring::on_pool;
use sunzi_rlwe::{Homomorphic as _, NoiseBound, RelinearizationKey, Sign, Trace, relinearization};

use super::Evaluator;
use crate::{Ciphertext, Ckks, CkksError, Metadata};

const EMPTY: CkksError = CkksError::Empty { what: "a sum of products" };
/// Number of products that are summed in one pass: their converted operands are in memory at once.
const PER_PASS: usize = 64;

impl Evaluator {
    /// Multiplies two CKKS ciphertexts slot by slot; a·b is relinearised and rescaled with one rounding, one level
    /// below the lower operand.
    ///
    /// # Errors
    /// [`CkksError::LevelExhausted`] at level 0; [`sunzi_rlwe::RlweError::KeyMismatch`];
    /// [`sunzi_rlwe::RlweError::WrongPartCount`] for operands that are not relinearised; [`CkksError::ScaleMismatch`] for one at
    /// a scale that cannot be brought to that of the other's level; [`CkksError::MessageTooLarge`];
    /// [`CkksError::LevelMismatch`] or [`CkksError::Ring`] for ciphertexts of another context.
    pub fn multiply(
        &self,
        a: &Ciphertext,
        b: &Ciphertext,
        key: &RelinearizationKey,
    ) -> Result<Ciphertext, CkksError> {
        self.sum_of_products([(a, b)], key)
    }

    /// Squares a CKKS ciphertext; a² is relinearised and rescaled as by [`multiply`](Self::multiply).
    ///
    /// # Errors
    /// Every error of [`multiply`](Self::multiply).
    pub fn square(&self, a: &Ciphertext, key: &RelinearizationKey) -> Result<Ciphertext, CkksError> {
        self.multiply(a, a, key)
    }

    /// Computes the sum of products Σ a_i·b_i of CKKS ciphertexts, relinearised and rescaled once, at the level below
    /// the lowest operand.
    ///
    /// # Errors
    /// Every error of [`multiply`](Self::multiply); [`CkksError::Empty`] for none.
    pub fn sum_of_products<'a>(
        &self,
        pairs: impl IntoIterator<Item = (&'a Ciphertext, &'a Ciphertext)>,
        key: &RelinearizationKey,
    ) -> Result<Ciphertext, CkksError> {
        let pairs: Vec<_> = pairs.into_iter().collect();
        on_pool(self.context().rlwe().switch_words(), || self.relinearized_products(&pairs, key))
    }

    fn relinearized_products(
        &self,
        pairs: &[(&Ciphertext, &Ciphertext)],
        key: &RelinearizationKey,
    ) -> Result<Ciphertext, CkksError> {
        const OPERATION: &str = "multiply";
        for operand in pairs.iter().flat_map(|&(a, b)| [a, b]) {
            self.context().check(operand)?;
            operand.check_key(key.id(), "the relinearisation key")?;
        }
        let lowest = pairs.iter().map(|(a, b)| a.metadata().level.min(b.metadata().level)).min();
        let Some(level) = lowest else { return Err(EMPTY) };
        self.divisor(level, OPERATION)?;
        let mut sum: Option<Ciphertext> = None;
        let traces: Vec<_> = pairs.iter().flat_map(|(a, b)| [a.trace(), b.trace()]).collect();
        for pairs in pairs.chunks(PER_PASS) {
            let at_level =
                |&(a, b)| Ok([self.at_level(a, level, OPERATION)?, self.at_level(b, level, OPERATION)?]);
            let operands: Vec<_> = pairs.iter().map(at_level).collect::<Result<_, CkksError>>()?;
            let operands: Vec<_> =
                operands.iter().map(|pair| pair.each_ref().map(|operand| &**operand)).collect();
            let products = self.tensors(&operands, 1, level, OPERATION)?;
            sum = Some(match sum {
                Some(sum) => self.joined(Cow::Owned(sum), &products, OPERATION, Sign::Plus)?,
                None => products,
            });
        }
        self.relinearized_lower(&sum.ok_or(EMPTY)?, key, OPERATION, &traces)
    }

    /// Converts a CKKS ciphertext to a level and its canonical scale; one of that level is returned as it is.
    fn at_level<'a>(
        &self,
        a: &'a Ciphertext,
        level: usize,
        operation: &'static str,
    ) -> Result<Cow<'a, Ciphertext>, CkksError> {
        if a.metadata().level == level {
            return Ok(Cow::Borrowed(a));
        }
        Ok(Cow::Owned(self.converted(a, level, self.context().scale(level)?, operation)?))
    }

    /// Explicit mode: multiplies two ciphertexts, a·b in three parts, at the level of both and the product of their
    /// scales.
    ///
    /// # Errors
    /// [`CkksError::LevelTooLow`] for operands of different levels: [`multiply_unscaled_at`](Self::multiply_unscaled_at) takes them at
    /// the scales they have; as [`multiply`](Self::multiply).
    pub fn multiply_unscaled(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, CkksError> {
        self.multiply_unscaled_at(a, b, 1, a.metadata().level.max(b.metadata().level))
    }

    /// Explicit mode: multiplies two ciphertexts and an integer, k·a·b in three parts at a level, moduli above it
    /// dropped as by [`drop_to`](Self::drop_to), and at the product of the scales.
    ///
    /// # Errors
    /// [`CkksError::LevelTooLow`] for an operand below the level; as [`multiply`](Self::multiply).
    pub fn multiply_unscaled_at(
        &self,
        a: &Ciphertext,
        b: &Ciphertext,
        factor: u32,
        level: usize,
    ) -> Result<Ciphertext, CkksError> {
        const OPERATION: &str = "multiply";
        self.context().check(a)?;
        self.context().check(b)?;
        a.check_key(b.key(), "the second factor")?;
        let got = a.metadata().level.min(b.metadata().level);
        if got < level {
            return Err(CkksError::LevelTooLow { what: "a factor", got, wanted: level });
        }
        let [left, right] = [self.nested(a, level)?, self.nested(b, level)?];
        let product = self.tensors(&[[&*left, &*right]], factor, level, OPERATION)?;
        self.finish(product, OPERATION, &[a.trace(), b.trace()])
    }

    /// Explicit mode: [`relinearize`](sunzi_rlwe::Evaluator::relinearize) and [`rescale`](Self::rescale) with one
    /// rounding.
    ///
    /// # Errors
    /// Every error of both operations.
    pub fn relinearize_rescale(
        &self,
        a: &Ciphertext,
        key: &RelinearizationKey,
    ) -> Result<Ciphertext, CkksError> {
        self.context().check(a)?;
        self.relinearized_lower(a, key, "relinearize and rescale", &[a.trace()])
    }

    fn relinearized_lower(
        &self,
        a: &Ciphertext,
        key: &RelinearizationKey,
        operation: &'static str,
        operands: &[&Trace],
    ) -> Result<Ciphertext, CkksError> {
        let (context, &Metadata { level, scale, .. }) = (self.context(), a.metadata());
        let scale = scale / self.divisor(level, operation)?;
        let limbs = context.limbs(level - 1)?;
        let mut result = relinearization::relinearize_to(context.rlwe(), a, key, limbs)?;
        if a.parts().len() > 2 {
            result.set_metadata(Ckks::relinearized(context, a.metadata())?);
        }
        self.lowered(&mut result, level - 1, scale, context.rlwe().noise_model().mod_switch(2).deviation)?;
        self.finish(result, operation, operands)
    }

    /// The sum k·Σ a·b in three parts for one pair or more of CKKS ciphertexts of two parts each, of level `level` or
    /// above.
    fn tensors(
        &self,
        pairs: &[[&Ciphertext; 2]],
        factor: u32,
        level: usize,
        operation: &'static str,
    ) -> Result<Ciphertext, CkksError> {
        let Some([first, _]) = pairs.first() else { return Err(EMPTY) };
        let mut carried = pairs.iter().map(|[a, b]| self.carried_by_product(a, b, factor, level));
        let carried = carried.try_fold(None, |sum: Option<(Metadata, NoiseBound)>, (metadata, noise)| {
            let Some((sum, all)) = sum else { return Ok(Some((metadata, noise))) };
            Ok::<_, CkksError>(Some((
                Ckks::join(self.context(), &sum, &metadata, operation)?,
                all.sum(&noise),
            )))
        })?;
        let Some((metadata, noise)) = carried else { return Err(EMPTY) };
        let (ring, limbs) = (self.context().ring(), self.context().limbs(level)?);
        let parts = pairs.iter().map(|[a, b]| Ok([a.two_parts(operation)?, b.two_parts(operation)?]));
        let parts: Vec<_> = parts.collect::<Result<_, CkksError>>()?;
        let parts = ring.sum_of_tensors(&parts, u64::from(factor), limbs)?;
        Ok(Ciphertext::from_parts(parts.into(), metadata, noise, first.key())?)
    }

    /// Metadata and noise of a CKKS product before it is rescaled.
    fn carried_by_product(
        &self,
        a: &Ciphertext,
        b: &Ciphertext,
        factor: u32,
        level: usize,
    ) -> (Metadata, NoiseBound) {
        let (ours, theirs) = (a.metadata(), b.metadata());
        let ring = self.context().ring().expansion();
        let values = |of: &Metadata| of.precision.magnitude() * of.scale;
        // The error of the product is (m + e)(m′ + e′) − m·m′ = e·m′ + e′·m + e·e′.
        let crossed =
            a.noise().times_values(values(theirs), ring).sum(&b.noise().times_values(values(ours), ring));
        let noise = crossed.sum(&a.noise().product(b.noise(), 1.0, ring)).times_norm(f64::from(factor));
        let metadata = self.product_metadata(ours, theirs);
        let precision = metadata.precision.scaled(f64::from(factor));
        (Metadata { level, precision, ..metadata }, noise)
    }

    /// Metadata of a CKKS product of operands of one level before it is rescaled.
    pub(super) fn product_metadata(&self, a: &Metadata, b: &Metadata) -> Metadata {
        let (slots, [p, q]) = a.joint_slots(b);
        let spread = (self.context().max_slots() as f64 / slots as f64).sqrt();
        Metadata { level: a.level, scale: a.scale * b.scale, slots, precision: p.product(&q, spread) }
    }
}
