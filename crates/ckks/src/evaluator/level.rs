//! Rescaling of CKKS ciphertexts, and operands of different levels.
//!
//! The automatic mode of CKKS keeps every ciphertext at the canonical scale of its level. Operations of the explicit
//! mode are named so in their documentation: at any scale, and one step at a time.

use std::borrow::Cow;

use num_bigint::BigInt;
use sunzi_rlwe::{Log2, NoiseTerm};

use super::{Evaluator, with_errors};
use crate::context::{integer, same_scale};
use crate::plaintext::check_scale;
use crate::{Ciphertext, CkksError, Metadata};

/// The least factor by which an operand is multiplied to change its scale: the factor is rounded to an integer, so
/// that its relative error is at most 1/2 over this.
const LEAST_FACTOR: f64 = (1 << 12) as f64;

/// A change of an operand to a lower level and another scale: a multiplication by an integer, then a rescaling.
pub(super) struct ScaleChange {
    /// Level at which the operand is multiplied.
    pub(super) level: usize,
    /// Integer by which the operand is multiplied.
    pub(super) factor: BigInt,
    factor_float: f64,
    /// Relative error of the integer factor.
    pub(super) relative_error: f64,
}

impl Evaluator {
    /// Explicit mode: rescales a ciphertext to a/q_l at level l − 1, its scale divided by q_l too.
    ///
    /// # Errors
    /// [`CkksError::LevelExhausted`] at level 0; [`CkksError::Value`] if the scale falls below 1;
    /// [`CkksError::LevelMismatch`] or [`CkksError::Ring`] for a ciphertext of another context.
    pub fn rescale(&self, a: &Ciphertext) -> Result<Ciphertext, CkksError> {
        const OPERATION: &str = "rescale";
        self.context().check(a)?;
        self.finish(self.rescaled(a, OPERATION)?, OPERATION, &[a.trace()])
    }

    pub(super) fn rescaled(&self, a: &Ciphertext, operation: &'static str) -> Result<Ciphertext, CkksError> {
        let level = a.metadata().level;
        self.divisor(level, operation)?;
        self.rescaled_to(a, level - 1)
    }

    /// Rescales a ciphertext to a·Q_to/Q_l at a lower level, its scale multiplied by Q_to/Q_l too.
    fn rescaled_to(&self, a: &Ciphertext, to: usize) -> Result<Ciphertext, CkksError> {
        let (context, level) = (self.context(), a.metadata().level);
        let scale = a.metadata().scale / context.ratio(level, to)?;
        let limbs = context.limbs(to)?;
        let parts = context.ring().mod_switch_all(&a.parts().iter().collect::<Vec<_>>(), limbs)?;
        let ratio = context.log2_modulus_at(to)? - context.log2_modulus_at(level)?;
        let rounding = context.rlwe().noise_model().mod_switch(parts.len());
        let noise = a.noise().scaled(Log2::from_bits(ratio)).plus_own(rounding);
        let mut rescaled = Ciphertext::from_parts(parts, a.metadata().clone(), noise, a.key())?;
        self.lowered(&mut rescaled, to, scale, rounding.deviation)?;
        Ok(rescaled)
    }

    /// The divisor q_l of a rescaling, or an error where no level is left.
    pub(super) fn divisor(&self, level: usize, operation: &'static str) -> Result<f64, CkksError> {
        match level {
            0 => Err(CkksError::LevelExhausted { operation, needed: 1, level }),
            _ => self.context().divisor(level),
        }
    }

    /// Gives a rescaled ciphertext the metadata of a lower level: this scale, and further errors of this deviation in
    /// every coefficient.
    pub(super) fn lowered(
        &self,
        a: &mut Ciphertext,
        level: usize,
        scale: f64,
        deviation: Log2,
    ) -> Result<(), CkksError> {
        check_scale(scale)?;
        let old = a.metadata();
        let scale = self.context().snapped(level, scale)?;
        let precision = with_errors(old, scale, deviation);
        let metadata = Metadata { level, scale, slots: old.slots, precision };
        a.set_metadata(metadata);
        Ok(())
    }

    /// Explicit mode: drops the moduli of a ciphertext that are not of Q_level, at the scale it has, where all moduli
    /// of the level are among its own. Where some are not, a is multiplied by the integer next to Q_l/Q_level and
    /// switched there, which costs a rounding.
    ///
    /// # Errors
    /// [`CkksError::LevelTooLow`]; [`CkksError::MessageTooLarge`]; [`CkksError::LevelMismatch`] or [`CkksError::Ring`]
    /// for a ciphertext of another context.
    pub fn drop_to(&self, a: &Ciphertext, level: usize) -> Result<Ciphertext, CkksError> {
        self.context().check(a)?;
        self.finish(self.dropped(a, level)?, "drop moduli", &[a.trace()])
    }

    fn dropped(&self, a: &Ciphertext, level: usize) -> Result<Ciphertext, CkksError> {
        const OPERATION: &str = "drop moduli";
        let &Metadata { level: got, scale, .. } = a.metadata();
        if got < level {
            return Err(CkksError::LevelTooLow { what: "the ciphertext", got, wanted: level });
        }
        let limbs = self.context().limbs(level)?;
        if !self.context().is_nested(level, self.context().limbs(got)?) {
            return self.converted(a, level, scale, OPERATION);
        }
        let mut parts = Vec::with_capacity(a.parts().len());
        for part in a.parts() {
            parts.push(self.context().ring().restrict(part, limbs)?);
        }
        let metadata = Metadata { level, ..a.metadata().clone() };
        Ok(Ciphertext::from_parts(parts, metadata, *a.noise(), a.key())?)
    }

    /// Converts a CKKS ciphertext to a level below its own, at the canonical scale. Operations do so themselves: call
    /// this for ciphertexts that are stored, sent, or meet several others.
    ///
    /// # Errors
    /// Every error of [`set_scale`](Self::set_scale); a ciphertext of that level and scale passes unchanged.
    pub fn level_to(&self, a: &Ciphertext, level: usize) -> Result<Ciphertext, CkksError> {
        let scale = self.context().scale(level)?;
        let &Metadata { level: own, scale: from, .. } = a.metadata();
        if own == level && same_scale(from, scale) {
            self.context().check(a)?;
            return Ok(a.clone());
        }
        self.set_scale(a, level, scale)
    }

    /// Explicit mode: converts a ciphertext to a lower level and any scale: drops moduli to the level above,
    /// multiplies by the integer next to scale·q/own scale, and rescales.
    ///
    /// # Errors
    /// [`CkksError::LevelTooLow`] unless the level is below that of the ciphertext; [`CkksError::ScaleMismatch`] for a scale so
    /// small that the integer would be too coarse; [`CkksError::MessageTooLarge`]; [`CkksError::LevelMismatch`] or
    /// [`CkksError::Ring`] for a ciphertext of another context.
    pub fn set_scale(&self, a: &Ciphertext, level: usize, scale: f64) -> Result<Ciphertext, CkksError> {
        const OPERATION: &str = "set the scale";
        self.context().check(a)?;
        check_scale(scale)?;
        self.finish(self.converted(a, level, scale, OPERATION)?, OPERATION, &[a.trace()])
    }

    /// Explicit mode: returns a ciphertext as it is, where all moduli of a level are among its own, else as
    /// [`drop_to`](Self::drop_to) makes it. Operations at that level do this to their operands; an operand that meets
    /// several of them is switched once if it is taken there before.
    ///
    /// # Errors
    /// Every error of [`drop_to`](Self::drop_to), but a ciphertext of a lower level passes unchanged.
    pub fn nested<'a>(&self, a: &'a Ciphertext, level: usize) -> Result<Cow<'a, Ciphertext>, CkksError> {
        let own = a.metadata().level;
        if own < level || self.context().is_nested(level, self.context().limbs(own)?) {
            return Ok(Cow::Borrowed(a));
        }
        Ok(Cow::Owned(self.dropped(a, level)?))
    }

    /// Converts a CKKS ciphertext to a lower level and a given scale.
    pub(super) fn converted(
        &self,
        a: &Ciphertext,
        level: usize,
        scale: f64,
        operation: &'static str,
    ) -> Result<Ciphertext, CkksError> {
        let &Metadata { level: got, scale: from, precision, .. } = a.metadata();
        if got <= level {
            return Err(CkksError::LevelTooLow { what: "the ciphertext", got, wanted: level });
        }
        let change = self.scale_change([got, level], from, scale, operation)?;
        let mut moved = self.dropped(a, change.level)?;
        let ring = self.context().ring_at(change.level)?;
        for part in moved.parts_mut() {
            ring.mul_integer_assign(part, &change.factor)?;
        }
        moved.set_noise(a.noise().times_norm(change.factor_float));
        moved.set_metadata(Metadata { scale: from * change.factor_float, ..moved.metadata().clone() });
        let mut moved = self.rescaled_to(&moved, level)?;
        let error = change.relative_error * precision.magnitude();
        moved.set_noise(moved.noise().plus(bounded_error(error * scale)));
        let precision = moved.metadata().precision.plus_dependent_error(error);
        let scale = self.context().snapped(level, scale)?;
        moved.set_metadata(Metadata { scale, precision, ..moved.metadata().clone() });
        Ok(moved)
    }

    /// Computes the scale change from a level and scale to a lower level and another scale: by the lowest level above
    /// the lower one that is nested in the higher one.
    pub(super) fn scale_change(
        &self,
        [high, low]: [usize; 2],
        from: f64,
        scale: f64,
        operation: &'static str,
    ) -> Result<ScaleChange, CkksError> {
        let level = self.context().level_between(low, high)?;
        let wanted = scale * self.context().ratio(level, low)? / from;
        let factor_float = wanted.round();
        if !(LEAST_FACTOR..f64::MAX).contains(&factor_float) {
            let [left, right] = [from.log2(), scale.log2()];
            return Err(CkksError::ScaleMismatch { operation, left, right });
        }
        let relative_error = (factor_float / wanted - 1.0).abs();
        Ok(ScaleChange { level, factor: integer(factor_float)?, factor_float, relative_error })
    }
}

/// The noise term of an error whose values, and so whose coefficients, are at most `bound`.
pub(super) fn bounded_error(bound: f64) -> NoiseTerm {
    NoiseTerm::rounding().scaled(Log2::of(2.0 * bound))
}
