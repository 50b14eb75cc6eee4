//! Operations between a ciphertext and a plaintext.

use sunzi_ring::Ring;
use sunzi_rlwe::{NoiseBound, PlainFactor, plain_factor};
use zeroize::Zeroizing;

use super::Evaluator;
use crate::{BfvError, Ciphertext, Plaintext, noise};

/// A plaintext made ready to multiply ciphertexts; erased when dropped.
#[derive(Clone)]
pub struct PreparedPlaintext {
    factor: PlainFactor,
    plain_modulus: u64,
}

impl Evaluator {
    /// a + m.
    ///
    /// # Errors
    /// [`sunzi_encoding::EncodingError::PlaintextMismatch`]; [`BfvError::PlainModulusMismatch`] or [`BfvError::Ring`] for a ciphertext
    /// of other parameters.
    pub fn add_plain(&self, a: &Ciphertext, plaintext: &Plaintext) -> Result<Ciphertext, BfvError> {
        self.shift(a, plaintext, Ring::add_assign, "add a plaintext")
    }

    /// a − m.
    ///
    /// # Errors
    /// As [`add_plain`](Self::add_plain).
    pub fn sub_plain(&self, a: &Ciphertext, plaintext: &Plaintext) -> Result<Ciphertext, BfvError> {
        self.shift(a, plaintext, Ring::sub_assign, "subtract a plaintext")
    }

    /// Adds or subtracts ⌊(q/t)·m⌉ in c_0.
    fn shift(
        &self,
        a: &Ciphertext,
        plaintext: &Plaintext,
        operation: impl Fn(
            &Ring,
            &mut sunzi_ring::Poly<sunzi_ring::Evaluation>,
            &sunzi_ring::Poly<sunzi_ring::Evaluation>,
        ) -> Result<(), sunzi_ring::RingError>,
        name: &'static str,
    ) -> Result<Ciphertext, BfvError> {
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

    /// A plaintext made ready to multiply: transformed once, for any number of products.
    ///
    /// # Errors
    /// [`sunzi_encoding::EncodingError::PlaintextMismatch`].
    pub fn prepare_plain(&self, plaintext: &Plaintext) -> Result<PreparedPlaintext, BfvError> {
        self.context.check_plaintext(plaintext)?;
        let factor = PlainFactor::new(self.context.rlwe(), &Zeroizing::new(plaintext.centred()))?;
        Ok(PreparedPlaintext { factor, plain_modulus: plaintext.modulus() })
    }

    /// a·m. The noise grows by the sum of the absolute coefficients of m, centred modulo t.
    ///
    /// # Errors
    /// [`sunzi_encoding::EncodingError::PlaintextMismatch`]; [`BfvError::PlainModulusMismatch`] or
    /// [`BfvError::Ring`] for a ciphertext of other parameters.
    pub fn multiply_plain(&self, a: &Ciphertext, plaintext: &Plaintext) -> Result<Ciphertext, BfvError> {
        self.sum_of_plain_products([(a, &self.prepare_plain(plaintext)?)])
    }

    /// Σ a_i·m_i, without an intermediate ciphertext, for ciphertexts of equal part counts.
    ///
    /// # Errors
    /// [`BfvError::Empty`]; [`BfvError::PlainModulusMismatch`] or [`BfvError::Ring`] for operands of other
    /// parameters; [`sunzi_rlwe::RlweError::KeyMismatch`]; [`sunzi_rlwe::RlweError::WrongPartCount`].
    pub fn sum_of_plain_products<'a>(
        &self,
        terms: impl IntoIterator<Item = (&'a Ciphertext, &'a PreparedPlaintext)>,
    ) -> Result<Ciphertext, BfvError> {
        let (rlwe, mut factors, mut traces) = (self.context.rlwe(), Vec::new(), Vec::new());
        let mut noise: Option<NoiseBound> = None;
        for (a, prepared) in terms {
            self.context.check(a)?;
            self.context.check_plain_modulus(prepared.plain_modulus)?;
            let own = a.noise().times_norm(prepared.factor.norm());
            noise = Some(noise.map_or(own, |noise| noise.sum(&own)));
            factors.push((a, &prepared.factor));
            traces.push(a.trace());
        }
        let Some(((first, _), noise)) = factors.first().zip(noise) else {
            return Err(BfvError::Empty { what: "a sum of products with plaintexts" });
        };
        let parts = plain_factor::sum_of_products(rlwe, rlwe.level(), &factors)?;
        let sum = Ciphertext::from_parts(parts, self.context.plain_modulus(), noise, first.key())?;
        Ok(self.context.record(sum, "multiply by a plaintext", &traces))
    }

    /// a·c for a constant c, taken modulo t and centred.
    ///
    /// # Errors
    /// [`BfvError::PlainModulusMismatch`] or [`BfvError::Ring`] for a ciphertext of other parameters.
    pub fn multiply_scalar(&self, a: &Ciphertext, scalar: i64) -> Result<Ciphertext, BfvError> {
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
