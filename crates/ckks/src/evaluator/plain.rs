//! CKKS operations between a ciphertext and a plaintext.

use std::borrow::Cow;

use sunzi_rlwe::{Log2, NoiseTerm};
use zeroize::Zeroizing;

use super::Evaluator;
use super::level::bounded_error;
use crate::precision::slot_error;
use crate::{Ciphertext, CkksError, Metadata, Plaintext};

/// The relative error of slots that were computed in doubles: what the encoder promises and more.
const DOUBLES: f64 = 16.0 * f64::EPSILON;

impl Evaluator {
    /// Multiplies a ciphertext by a plaintext slot by slot, a·m, and rescales. A plaintext at the canonical scale of
    /// the ciphertext's level leads from canonical scale to canonical scale; one of a higher level is converted to
    /// this level first.
    ///
    /// # Errors
    /// [`CkksError::LevelExhausted`] at level 0; every error of [`add_plain`](sunzi_rlwe::Evaluator::add_plain).
    pub fn multiply_plain(&self, a: &Ciphertext, plaintext: &Plaintext) -> Result<Ciphertext, CkksError> {
        const OPERATION: &str = "multiply by a plaintext";
        self.context().check(a)?;
        self.divisor(a.metadata().level, OPERATION)?;
        let product = self.times_plain(a, plaintext, OPERATION)?;
        self.finish(self.rescaled(&product, OPERATION)?, OPERATION, &[a.trace()])
    }

    /// Explicit mode: multiplies a ciphertext by a plaintext, a·m, at the level of a and the product of both scales.
    ///
    /// # Errors
    /// Every error of [`add_plain`](sunzi_rlwe::Evaluator::add_plain).
    pub fn multiply_plain_unscaled(
        &self,
        a: &Ciphertext,
        plaintext: &Plaintext,
    ) -> Result<Ciphertext, CkksError> {
        const OPERATION: &str = "multiply by a plaintext";
        self.context().check(a)?;
        self.finish(self.times_plain(a, plaintext, OPERATION)?, OPERATION, &[])
    }

    fn times_plain(
        &self,
        a: &Ciphertext,
        plaintext: &Plaintext,
        operation: &'static str,
    ) -> Result<Ciphertext, CkksError> {
        let (metadata, expansion) = (a.metadata(), self.context().ring().expansion());
        let (plaintext, own) =
            self.plain_at(plaintext, metadata.level, self.context().scale(metadata.level)?, operation)?;
        let ring = self.context().ring_at(metadata.level)?;
        let mut product = a.clone();
        for part in product.parts_mut() {
            ring.mul_assign(part, plaintext.poly())?;
        }
        let factor = plaintext.metadata();
        // The product is (m + e)(m′ + e′) for the errors e′ of the plaintext: ‖m·e′‖∞ ≤ ‖m‖·‖e′‖ ≤
        // max|m(ζ)|·√w·‖e′‖∞, w the weight of the basis, n in a whole ring. At each root, it is |m(ζ)|·|e′(ζ)|.
        let values = |of: &Metadata| of.precision.magnitude() * of.scale;
        let rounding = own.scaled(Log2::of((expansion.weight() as f64).sqrt() * values(metadata)));
        let rounding = NoiseTerm { peak: own.scaled(Log2::of(values(metadata))).peak, ..rounding };
        product.set_noise(a.noise().times_values(values(factor), expansion).plus(rounding));
        product.set_metadata(self.product_metadata(metadata, factor));
        Ok(product)
    }

    /// Converts a CKKS plaintext of a higher level to a given level and scale; returns it with its errors.
    pub(super) fn plain_at<'a>(
        &self,
        plaintext: &'a Plaintext,
        level: usize,
        scale: f64,
        operation: &'static str,
    ) -> Result<(Cow<'a, Plaintext>, NoiseTerm), CkksError> {
        let context = self.context();
        context.check_plaintext(plaintext)?;
        let (got, magnitude) = (plaintext.level(), plaintext.precision().magnitude());
        // The plaintext was computed in doubles and rounded to integers.
        let own = |scale: f64| NoiseTerm::rounding().plus(bounded_error(magnitude * scale * DOUBLES));
        if got == level {
            return Ok((Cow::Borrowed(plaintext), own(plaintext.scale())));
        }
        if got < level {
            return Err(CkksError::LevelTooLow { what: "the plaintext", got, wanted: level });
        }
        let change = self.scale_change([got, level], plaintext.scale(), scale, operation)?;
        let above = context.ring_at(change.level)?;
        let mut poly = Zeroizing::new(context.ring().restrict(plaintext.poly(), above.level())?);
        above.mul_integer_assign(&mut poly, &change.factor)?;
        let poly = Zeroizing::new(above.mod_switch(&poly, context.limbs(level)?)?);
        let &Metadata { slots, precision, .. } = plaintext.metadata();
        let rounding = slot_error(12_f64.sqrt().recip(), slots, scale);
        let error = change.relative_error * precision.magnitude();
        let precision = precision.plus_error(rounding).plus_dependent_error(error);
        let noise = own(scale).plus(own(scale)).plus(bounded_error(error * scale));
        Ok((Cow::Owned(Plaintext::from_parts(poly, Metadata { level, scale, slots, precision })), noise))
    }
}
