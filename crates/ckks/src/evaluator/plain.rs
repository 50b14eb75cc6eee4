//! Operations between a ciphertext and a plaintext.

use std::borrow::Cow;

use sunzi_ring::PolyRing;
use sunzi_rlwe::{Log2, NoiseTerm};
use zeroize::Zeroizing;

use super::Evaluator;
use crate::precision::slot_error;
use crate::{Ciphertext, CkksError, Metadata, Plaintext};

impl<R: PolyRing> Evaluator<R> {
    /// a + m. A plaintext of a higher level is brought to the level and scale of the ciphertext, which costs it a rounding.
    ///
    /// # Errors
    /// [`CkksError::ScaleMismatch`]; [`CkksError::LevelTooLow`] for a plaintext of a lower level; [`CkksError::MessageTooLarge`];
    /// [`CkksError::LevelMismatch`] or [`CkksError::Ring`] for operands of another context.
    pub fn add_plain(&self, a: &Ciphertext<R>, plaintext: &Plaintext<R>) -> Result<Ciphertext<R>, CkksError> {
        self.shifted(a, plaintext, false, "add a plaintext")
    }

    /// a − m, as [`add_plain`](Self::add_plain).
    ///
    /// # Errors
    /// As [`add_plain`](Self::add_plain).
    pub fn sub_plain(&self, a: &Ciphertext<R>, plaintext: &Plaintext<R>) -> Result<Ciphertext<R>, CkksError> {
        self.shifted(a, plaintext, true, "subtract a plaintext")
    }

    fn shifted(
        &self,
        a: &Ciphertext<R>,
        plaintext: &Plaintext<R>,
        negative: bool,
        operation: &'static str,
    ) -> Result<Ciphertext<R>, CkksError> {
        self.context.check(a)?;
        let &Metadata { level, scale, .. } = a.metadata();
        let plaintext = self.plain_at(plaintext, level, scale, operation)?;
        let metadata = self.sum_metadata(a.metadata(), plaintext.metadata(), operation)?;
        let ring = self.context.ring_at(level)?;
        let mut result = a.clone();
        for c0 in result.parts_mut().iter_mut().take(1) {
            let poly = plaintext.poly();
            if negative { ring.sub_assign(c0, poly) } else { ring.add_assign(c0, poly) }?;
        }
        result.set_noise(a.noise().plus(NoiseTerm::rounding()));
        result.set_metadata(metadata);
        self.context.finish(result, operation, &[])
    }

    /// a·m slot by slot, rescaled. A plaintext at the canonical scale of the ciphertext's level leads from canonical scale to
    /// canonical scale; one of a higher level is brought there first.
    ///
    /// # Errors
    /// [`CkksError::LevelExhausted`] at level 0; as [`add_plain`](Self::add_plain).
    pub fn multiply_plain(
        &self,
        a: &Ciphertext<R>,
        plaintext: &Plaintext<R>,
    ) -> Result<Ciphertext<R>, CkksError> {
        const OPERATION: &str = "multiply by a plaintext";
        self.context.check(a)?;
        self.divisor(a.metadata().level, OPERATION)?;
        let product = self.times_plain(a, plaintext, OPERATION)?;
        self.context.finish(self.rescaled(&product, OPERATION)?, OPERATION, &[])
    }

    /// Explicit mode: a·m at the level of a and the product of both scales.
    ///
    /// # Errors
    /// As [`add_plain`](Self::add_plain).
    pub fn multiply_plain_unscaled(
        &self,
        a: &Ciphertext<R>,
        plaintext: &Plaintext<R>,
    ) -> Result<Ciphertext<R>, CkksError> {
        const OPERATION: &str = "multiply by a plaintext";
        self.context.check(a)?;
        self.context.finish(self.times_plain(a, plaintext, OPERATION)?, OPERATION, &[])
    }

    fn times_plain(
        &self,
        a: &Ciphertext<R>,
        plaintext: &Plaintext<R>,
        operation: &'static str,
    ) -> Result<Ciphertext<R>, CkksError> {
        let (metadata, n) = (a.metadata(), self.context.degree());
        let plaintext =
            self.plain_at(plaintext, metadata.level, self.context.scale(metadata.level)?, operation)?;
        let ring = self.context.ring_at(metadata.level)?;
        let mut product = a.clone();
        for part in product.parts_mut() {
            ring.mul_assign(part, plaintext.poly())?;
        }
        let factor = plaintext.metadata();
        // (m + e)(m′ + e′) for the rounding e′ of the plaintext.
        let values = |of: &Metadata| of.precision.magnitude() * of.scale;
        let rounding = NoiseTerm::rounding().scaled(Log2::of((n as f64).sqrt() * values(metadata)));
        product.set_noise(a.noise().times_values(values(factor), n).plus(rounding));
        product.set_metadata(self.product_metadata(metadata, factor));
        Ok(product)
    }

    /// A plaintext at this level: its own, or brought there from a higher one to this scale.
    fn plain_at<'a>(
        &self,
        plaintext: &'a Plaintext<R>,
        level: usize,
        scale: f64,
        operation: &'static str,
    ) -> Result<Cow<'a, Plaintext<R>>, CkksError> {
        let context = &self.context;
        context.check_plaintext(plaintext)?;
        let got = plaintext.level();
        if got == level {
            return Ok(Cow::Borrowed(plaintext));
        }
        if got < level {
            return Err(CkksError::LevelTooLow { what: "the plaintext", got, wanted: level });
        }
        let way = self.way(plaintext.scale(), level, scale, operation)?;
        let above = context.ring_at(level + 1)?;
        let mut poly = Zeroizing::new(context.ring().restrict(plaintext.poly(), above.level())?);
        above.mul_integer_assign(&mut *poly, &way.factor)?;
        let poly = Zeroizing::new(above.mod_switch(&poly, context.limbs(level)?)?);
        let &Metadata { slots, precision, .. } = plaintext.metadata();
        let rounding = slot_error(12_f64.sqrt().recip(), slots, scale);
        let off = way.off * precision.magnitude();
        let precision = precision.plus_error(rounding).plus_dependent_error(off);
        Ok(Cow::Owned(Plaintext::from_parts(poly, Metadata { level, scale, slots, precision })))
    }
}
