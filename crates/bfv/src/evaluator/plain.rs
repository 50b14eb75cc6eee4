//! Operations between a ciphertext and a plaintext.

use sunzi_ring::PolyRing;
use zeroize::Zeroizing;

use super::Evaluator;
use crate::{BfvError, Ciphertext, Plaintext, noise};

impl<R: PolyRing> Evaluator<R> {
    /// a + m.
    ///
    /// # Errors
    /// [`sunzi_encoding::EncodingError::PlaintextMismatch`]; [`BfvError::PlainModulusMismatch`] or [`BfvError::Ring`] for a ciphertext
    /// of other parameters.
    pub fn add_plain(&self, a: &Ciphertext<R>, plaintext: &Plaintext) -> Result<Ciphertext<R>, BfvError> {
        self.shift(a, plaintext, R::add_assign, "add a plaintext")
    }

    /// a − m.
    ///
    /// # Errors
    /// As [`add_plain`](Self::add_plain).
    pub fn sub_plain(&self, a: &Ciphertext<R>, plaintext: &Plaintext) -> Result<Ciphertext<R>, BfvError> {
        self.shift(a, plaintext, R::sub_assign, "subtract a plaintext")
    }

    /// Adds or subtracts ⌊(q/t)·m⌉ in c_0.
    fn shift(
        &self,
        a: &Ciphertext<R>,
        plaintext: &Plaintext,
        operation: impl Fn(
            &R,
            &mut R::Poly<sunzi_ring::Evaluation>,
            &R::Poly<sunzi_ring::Evaluation>,
        ) -> Result<(), sunzi_ring::RingError>,
        name: &'static str,
    ) -> Result<Ciphertext<R>, BfvError> {
        self.context.check(a)?;
        self.context.check_plaintext(plaintext)?;
        let ring = self.context.ring();
        let scaled = self.context.scaled_message(plaintext)?;
        let mut result = a.clone();
        result.set_noise(noise::plain_sum(a.noise()));
        if let Some(c0) = result.parts_mut().first_mut() {
            operation(ring, c0, &scaled)?;
        }
        Ok(self.context.record(result, name, &[]))
    }

    /// a·m. The noise grows by the sum of the absolute coefficients of m, centred modulo t.
    ///
    /// # Errors
    /// [`sunzi_encoding::EncodingError::PlaintextMismatch`]; [`BfvError::PlainModulusMismatch`] or [`BfvError::Ring`] for a ciphertext
    /// of other parameters.
    pub fn multiply_plain(
        &self,
        a: &Ciphertext<R>,
        plaintext: &Plaintext,
    ) -> Result<Ciphertext<R>, BfvError> {
        self.context.check(a)?;
        self.context.check_plaintext(plaintext)?;
        let ring = self.context.ring();
        let centred = Zeroizing::new(plaintext.centred());
        let norm = centred.iter().map(|&c| c.unsigned_abs() as f64).sum::<f64>();
        let factor = Zeroizing::new(ring.to_evaluation(ring.from_signed(&centred)?)?);
        let mut product = a.clone();
        product.set_noise(a.noise().times_norm(norm));
        for part in product.parts_mut() {
            ring.mul_assign(part, &factor)?;
        }
        Ok(self.context.record(product, "multiply by a plaintext", &[]))
    }

    /// a·c for a constant c, taken modulo t and centred.
    ///
    /// # Errors
    /// [`BfvError::PlainModulusMismatch`] or [`BfvError::Ring`] for a ciphertext of other parameters.
    pub fn multiply_scalar(&self, a: &Ciphertext<R>, scalar: i64) -> Result<Ciphertext<R>, BfvError> {
        self.context.check(a)?;
        let t = i128::from(self.context.plain_modulus());
        let reduced = i128::from(scalar).rem_euclid(t);
        let centred = if 2 * reduced >= t { reduced - t } else { reduced };
        let mut product = a.clone();
        product.set_noise(a.noise().times_norm(centred.unsigned_abs() as f64));
        for part in product.parts_mut() {
            self.context.ring().mul_integer_assign(part, &centred.into())?;
        }
        Ok(self.context.record(product, "multiply by a constant", &[]))
    }
}
