//! CKKS operations with constants: one number in every slot.

use num_bigint::BigInt;
use num_complex::Complex64;
use sunzi_ring::{Evaluation, Poly, Ring, RingError};
use sunzi_rlwe::NoiseTerm;

use super::Evaluator;
use super::level::bounded_error;
use crate::context::integer;
use crate::plaintext::check_scale;
use crate::{Ciphertext, CkksError, Metadata, Precision};

impl Evaluator {
    /// Adds a constant c to every slot of a ciphertext: a + c.
    ///
    /// # Errors
    /// [`CkksError::Value`] for a constant that is not finite; [`RlweError::RealRing`](sunzi_rlwe::RlweError::RealRing) in a [`CkksError::Rlwe`] for an imaginary part where slots are
    /// real; [`CkksError::MessageTooLarge`]; [`CkksError::LevelMismatch`] or
    /// [`CkksError::Ring`] for a ciphertext of another context.
    pub fn add_constant(
        &self,
        a: &Ciphertext,
        constant: impl Into<Complex64>,
    ) -> Result<Ciphertext, CkksError> {
        self.context().check(a)?;
        let mut sum = a.clone();
        self.add_constant_assign(&mut sum, constant)?;
        Ok(sum)
    }

    /// Adds a constant to every slot of a ciphertext in place, a ← a + c. On an error `a` is not changed.
    ///
    /// # Errors
    /// Every error of [`add_constant`](Self::add_constant).
    pub fn add_constant_assign(
        &self,
        a: &mut Ciphertext,
        constant: impl Into<Complex64>,
    ) -> Result<(), CkksError> {
        const OPERATION: &str = "add a constant";
        self.context().check(a)?;
        let (constant, metadata) = (constant.into(), a.metadata().clone());
        let ring = self.context().ring_at(metadata.level)?;
        let rounded = self.rounded(constant, metadata.scale)?;
        let precision = metadata.precision.sum(&rounded.precision);
        self.context().check_magnitude(OPERATION, precision.magnitude(), metadata.level, metadata.scale)?;
        for c0 in a.parts_mut().iter_mut().take(1) {
            ring.add_integer_assign(c0, &rounded.re)?;
            if rounded.im != BigInt::ZERO {
                // The imaginary part is added by (c_0·(−i) + im)·i = c_0 + im·i.
                ring.mul_monomial_assign(c0, 3 * self.context().degree() as u64 / 2)?;
                ring.add_integer_assign(c0, &rounded.im)?;
                self.multiply_part_by_i(ring, c0)?;
            }
        }
        a.set_noise(a.noise().plus(NoiseTerm::rounding()));
        a.set_metadata(Metadata { precision, ..metadata });
        a.record(OPERATION, precision.bits(), &[]);
        Ok(())
    }

    /// Multiplies a ciphertext by a complex constant, c·a, and rescales it to the canonical scale of the level below.
    ///
    /// # Errors
    /// [`CkksError::LevelExhausted`] at level 0; as [`add_constant`](Self::add_constant).
    pub fn multiply_constant(
        &self,
        a: &Ciphertext,
        constant: impl Into<Complex64>,
    ) -> Result<Ciphertext, CkksError> {
        const OPERATION: &str = "multiply by a constant";
        self.context().check(a)?;
        let level = a.metadata().level;
        let divisor = self.divisor(level, OPERATION)?;
        let scale = self.context().scale(level - 1)? * divisor / a.metadata().scale;
        let product = self.times_constant(a, constant.into(), scale)?;
        self.finish(self.rescaled(&product, OPERATION)?, OPERATION, &[a.trace()])
    }

    /// Explicit mode: multiplies a ciphertext by a constant at a given scale, c·a, at the level of a and the product
    /// of both scales.
    ///
    /// # Errors
    /// [`CkksError::Value`] for a scale below 1; as [`add_constant`](Self::add_constant).
    pub fn multiply_constant_unscaled(
        &self,
        a: &Ciphertext,
        constant: impl Into<Complex64>,
        scale: f64,
    ) -> Result<Ciphertext, CkksError> {
        self.context().check(a)?;
        let product = self.times_constant(a, constant.into(), scale)?;
        self.finish(product, "multiply by a constant", &[a.trace()])
    }

    /// Multiplies the parts of a ciphertext by ⌊re·scale⌉ + ⌊im·scale⌉·X^(n/2).
    fn times_constant(
        &self,
        a: &Ciphertext,
        constant: Complex64,
        scale: f64,
    ) -> Result<Ciphertext, CkksError> {
        check_scale(scale)?;
        let metadata = a.metadata();
        let ring = self.context().ring_at(metadata.level)?;
        let rounded = self.rounded(constant, scale)?;
        let limbs = ring.level();
        let mut parts = Vec::with_capacity(a.parts().len());
        for part in a.parts() {
            let mut product = ring.linear_combination(&[(&rounded.re, part)], limbs)?;
            if rounded.im != BigInt::ZERO {
                let mut imaginary = ring.linear_combination(&[(&rounded.im, part)], limbs)?;
                self.multiply_part_by_i(ring, &mut imaginary)?;
                ring.add_assign(&mut product, &imaginary)?;
            }
            parts.push(product);
        }
        // Rounding the constant changes it by at most √½.
        let rounding = bounded_error(0.5_f64.sqrt() * metadata.precision.magnitude() * metadata.scale);
        let noise = a.noise().times_values(constant.norm() * scale + 1.0, self.context().ring().expansion());
        let precision = metadata.precision.product(&rounded.precision, 1.0);
        let metadata = Metadata { scale: metadata.scale * scale, precision, ..metadata.clone() };
        Ok(Ciphertext::from_parts(parts, metadata, noise.plus(rounding), a.key())?)
    }

    /// Multiplies a ciphertext by an integer, k·a: exact, and without a level.
    ///
    /// # Errors
    /// [`CkksError::MessageTooLarge`]; [`CkksError::LevelMismatch`] or [`CkksError::Ring`] for a ciphertext of another
    /// context.
    pub fn multiply_integer(&self, a: &Ciphertext, factor: i64) -> Result<Ciphertext, CkksError> {
        self.context().check(a)?;
        let norm = factor.unsigned_abs() as f64;
        let (metadata, ring, factor) = (a.metadata(), self.context().ring(), BigInt::from(factor));
        let limbs = self.context().limbs(metadata.level)?;
        let mut parts = Vec::with_capacity(a.parts().len());
        for part in a.parts() {
            parts.push(ring.linear_combination(&[(&factor, part)], limbs)?);
        }
        let precision = metadata.precision.scaled(norm);
        let metadata = Metadata { precision, ..metadata.clone() };
        let product = Ciphertext::from_parts(parts, metadata, a.noise().times_norm(norm), a.key())?;
        self.finish(product, "multiply by an integer", &[a.trace()])
    }

    /// Multiplies a ciphertext by the imaginary unit, i·a: exact, without a level, and as cheap as a multiplication by
    /// an integer.
    ///
    /// # Errors
    /// [`RlweError::RealRing`](sunzi_rlwe::RlweError::RealRing) in a [`CkksError::Rlwe`] where slots are real;
    /// [`CkksError::LevelMismatch`] or [`CkksError::Ring`] for a ciphertext of another context.
    pub fn multiply_by_i(&self, a: &Ciphertext) -> Result<Ciphertext, CkksError> {
        self.context().check(a)?;
        self.context().rlwe().check_whole("multiply by i")?;
        let ring = self.context().ring_at(a.metadata().level)?;
        let mut product = a.clone();
        for part in product.parts_mut() {
            self.multiply_part_by_i(ring, part)?;
        }
        Ok(product)
    }

    /// Rounds a constant times a scale. Real slots take no imaginary part.
    fn rounded(&self, constant: Complex64, scale: f64) -> Result<Rounded, CkksError> {
        if constant.im != 0.0 {
            self.context().rlwe().check_whole("a constant with an imaginary part")?;
        }
        Rounded::new(constant, scale)
    }

    /// Multiplies a polynomial by X^(n/2), which multiplies the value in every slot by i.
    fn multiply_part_by_i(&self, ring: &Ring, a: &mut Poly<Evaluation>) -> Result<(), RingError> {
        ring.mul_monomial_assign(a, self.context().degree() as u64 / 2)
    }
}

/// A constant times a scale, real and imaginary part rounded to integers.
pub(super) struct Rounded {
    re: BigInt,
    im: BigInt,
    precision: Precision,
}

impl Rounded {
    fn new(constant: Complex64, scale: f64) -> Result<Self, CkksError> {
        let [re, im] = [integer(constant.re * scale)?, integer(constant.im * scale)?];
        // Both halves are off by up to 1/2: a variance of 1/12 each, and none for integers.
        let exact = (constant * scale).re.fract() == 0.0 && (constant * scale).im.fract() == 0.0;
        let error = if exact { 0.0 } else { 6_f64.sqrt().recip() / scale };
        Ok(Self { re, im, precision: Precision::plain(constant.norm(), error) })
    }

    /// Rounds a real constant times a scale to an integer; returns it with its precision.
    pub(super) fn real(constant: f64, scale: f64) -> Result<(BigInt, Precision), CkksError> {
        let Self { re, precision, .. } = Self::new(constant.into(), scale)?;
        Ok((re, precision))
    }
}
