//! Operations with constants: the same number in every slot.

use num_bigint::BigInt;
use num_complex::Complex64;
use sunzi_ring::{Evaluation, PolyRing, RingError};
use sunzi_rlwe::NoiseTerm;

use super::Evaluator;
use super::level::off_by;
use crate::context::integer;
use crate::plaintext::check_scale;
use crate::{Ciphertext, CkksError, Metadata, Precision};

impl<R: PolyRing> Evaluator<R> {
    /// a + c.
    ///
    /// # Errors
    /// [`CkksError::Value`] for a constant that is not finite; [`CkksError::MessageTooLarge`]; [`CkksError::LevelMismatch`] or
    /// [`CkksError::Ring`] for a ciphertext of another context.
    pub fn add_constant(
        &self,
        a: &Ciphertext<R>,
        constant: impl Into<Complex64>,
    ) -> Result<Ciphertext<R>, CkksError> {
        self.context.check(a)?;
        let (constant, metadata) = (constant.into(), a.metadata());
        let ring = self.context.ring_at(metadata.level)?;
        let rounded = Rounded::new(constant, metadata.scale)?;
        let mut sum = a.clone();
        for c0 in sum.parts_mut().iter_mut().take(1) {
            ring.add_integer_assign(c0, &rounded.re)?;
            if rounded.im != BigInt::ZERO {
                // c_0 + im·i = (c_0·(−i) + im)·i.
                ring.mul_monomial_assign(c0, 3 * self.context.degree() as u64 / 2)?;
                ring.add_integer_assign(c0, &rounded.im)?;
                self.turn(ring, c0)?;
            }
        }
        sum.set_noise(a.noise().plus(NoiseTerm::rounding()));
        let precision = metadata.precision.sum(&rounded.precision);
        sum.set_metadata(Metadata { precision, ..metadata.clone() });
        self.context.finish(sum, "add a constant", &[])
    }

    /// c·a for any complex c, rescaled to the canonical scale of the level below.
    ///
    /// # Errors
    /// [`CkksError::LevelExhausted`] at level 0; as [`add_constant`](Self::add_constant).
    pub fn multiply_constant(
        &self,
        a: &Ciphertext<R>,
        constant: impl Into<Complex64>,
    ) -> Result<Ciphertext<R>, CkksError> {
        const OPERATION: &str = "multiply by a constant";
        self.context.check(a)?;
        let level = a.metadata().level;
        let divisor = self.divisor(level, OPERATION)?;
        let scale = self.context.scale(level - 1)? * divisor / a.metadata().scale;
        let product = self.times_constant(a, constant.into(), scale)?;
        self.context.finish(self.rescaled(&product, OPERATION)?, OPERATION, &[a.trace()])
    }

    /// Explicit mode: c·a with the constant at this scale, at the level of a and the product of both scales.
    ///
    /// # Errors
    /// [`CkksError::Value`] for a scale below 1; as [`add_constant`](Self::add_constant).
    pub fn multiply_constant_unscaled(
        &self,
        a: &Ciphertext<R>,
        constant: impl Into<Complex64>,
        scale: f64,
    ) -> Result<Ciphertext<R>, CkksError> {
        self.context.check(a)?;
        self.context.finish(self.times_constant(a, constant.into(), scale)?, "multiply by a constant", &[])
    }

    /// Parts times ⌊re·scale⌉ + ⌊im·scale⌉·X^(n/2).
    fn times_constant(
        &self,
        a: &Ciphertext<R>,
        constant: Complex64,
        scale: f64,
    ) -> Result<Ciphertext<R>, CkksError> {
        check_scale(scale)?;
        let metadata = a.metadata();
        let ring = self.context.ring_at(metadata.level)?;
        let rounded = Rounded::new(constant, scale)?;
        let mut product = a.clone();
        for part in product.parts_mut() {
            let imaginary = (rounded.im != BigInt::ZERO).then(|| part.clone());
            ring.mul_integer_assign(part, &rounded.re)?;
            if let Some(mut imaginary) = imaginary {
                ring.mul_integer_assign(&mut imaginary, &rounded.im)?;
                self.turn(ring, &mut imaginary)?;
                ring.add_assign(part, &imaginary)?;
            }
        }
        // Rounding the constant changes it by at most √½.
        let rounding = off_by(0.5_f64.sqrt() * metadata.precision.magnitude() * metadata.scale);
        let noise = a.noise().times_values(constant.norm() * scale + 1.0, self.context.degree());
        product.set_noise(noise.plus(rounding));
        let precision = metadata.precision.product(&rounded.precision, 1.0);
        product.set_metadata(Metadata { scale: metadata.scale * scale, precision, ..metadata.clone() });
        Ok(product)
    }

    /// k·a for an integer k: exact, and without a level.
    ///
    /// # Errors
    /// [`CkksError::MessageTooLarge`]; [`CkksError::LevelMismatch`] or [`CkksError::Ring`] for a ciphertext of another
    /// context.
    pub fn multiply_integer(&self, a: &Ciphertext<R>, factor: i64) -> Result<Ciphertext<R>, CkksError> {
        self.context.check(a)?;
        let (metadata, mut product) = (a.metadata(), a.clone());
        let ring = self.context.ring_at(metadata.level)?;
        for part in product.parts_mut() {
            ring.mul_integer_assign(part, &factor.into())?;
        }
        let norm = factor.unsigned_abs() as f64;
        product.set_noise(a.noise().times_norm(norm));
        let precision = metadata.precision.scaled(norm);
        product.set_metadata(Metadata { precision, ..metadata.clone() });
        self.context.finish(product, "multiply by an integer", &[])
    }

    /// i·a: exact, without a level, and as cheap as a multiplication by an integer.
    ///
    /// # Errors
    /// [`CkksError::LevelMismatch`] or [`CkksError::Ring`] for a ciphertext of another context.
    pub fn multiply_by_i(&self, a: &Ciphertext<R>) -> Result<Ciphertext<R>, CkksError> {
        self.context.check(a)?;
        let ring = self.context.ring_at(a.metadata().level)?;
        let mut product = a.clone();
        for part in product.parts_mut() {
            self.turn(ring, part)?;
        }
        Ok(product)
    }

    /// a ← X^(n/2)·a: i times the value in every slot.
    fn turn(&self, ring: &R, a: &mut R::Poly<Evaluation>) -> Result<(), RingError> {
        ring.mul_monomial_assign(a, self.context.degree() as u64 / 2)
    }
}

/// A constant times a scale, both halves rounded.
struct Rounded {
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
}
