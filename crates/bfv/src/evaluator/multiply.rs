//! The BFV product `[BEHZ16, Alg. 3]`: extend (S0, S1), tensor (S2), scale (S3, S4), relinearise (S5).

use sunzi_ring::{Coefficient, Evaluation, PolyRing, Scaler};
use sunzi_rlwe::{KeyId, NoiseBound, RelinearizationKey, Trace, relinearization};

use super::Evaluator;
use crate::noise::ProductModel;
use crate::{BfvError, Ciphertext};

/// A ciphertext extended to the wide ring: the costly first half of a product, done once for an
/// operand that enters several.
#[derive(Clone)]
pub struct Extended<R: PolyRing> {
    parts: [R::Poly<Evaluation>; 2],
    noise: NoiseBound,
    plain_modulus: u64,
    key: KeyId,
    trace: Trace,
}

impl<R: PolyRing> Evaluator<R> {
    /// a·b, relinearised.
    ///
    /// # Errors
    /// [`sunzi_rlwe::RlweError::KeyMismatch`]; [`sunzi_rlwe::RlweError::WrongPartCount`] for operands that
    /// are not relinearised; [`BfvError::PlainModulusMismatch`] or [`BfvError::Ring`] for ciphertexts of other
    /// parameters.
    pub fn multiply(
        &self,
        a: &Ciphertext<R>,
        b: &Ciphertext<R>,
        key: &RelinearizationKey<R>,
    ) -> Result<Ciphertext<R>, BfvError> {
        self.multiply_extended(&self.extend(a)?, &self.extend(b)?, key)
    }

    /// a², relinearised: half the extensions of a product.
    ///
    /// # Errors
    /// As [`multiply`](Self::multiply).
    pub fn square(&self, a: &Ciphertext<R>, key: &RelinearizationKey<R>) -> Result<Ciphertext<R>, BfvError> {
        let a = self.extend(a)?;
        self.multiply_extended(&a, &a, key)
    }

    /// a·b in three parts, to be relinearised later.
    ///
    /// # Errors
    /// As [`multiply`](Self::multiply).
    pub fn multiply_unrelinearized(
        &self,
        a: &Ciphertext<R>,
        b: &Ciphertext<R>,
    ) -> Result<Ciphertext<R>, BfvError> {
        self.multiply_extended_unrelinearized(&self.extend(a)?, &self.extend(b)?)
    }

    /// a·b of extended operands in three parts, to be relinearised later.
    ///
    /// # Errors
    /// As [`multiply`](Self::multiply).
    pub fn multiply_extended_unrelinearized(
        &self,
        a: &Extended<R>,
        b: &Extended<R>,
    ) -> Result<Ciphertext<R>, BfvError> {
        let (parts, noise) = self.scaled_tensor(a, b)?;
        let ring = self.context.ring();
        let parts = parts.into_iter().map(|part| ring.to_evaluation(part)).collect::<Result<_, _>>()?;
        let product = Ciphertext::from_parts(parts, self.context.plain_modulus(), noise, a.key)?;
        Ok(self.context.record(product, "multiply", &[&a.trace, &b.trace]))
    }

    /// Back from three parts to two.
    ///
    /// # Errors
    /// [`sunzi_rlwe::RlweError::KeyMismatch`]; [`sunzi_rlwe::RlweError::WrongPartCount`] beyond three parts.
    pub fn relinearize(
        &self,
        a: &Ciphertext<R>,
        key: &RelinearizationKey<R>,
    ) -> Result<Ciphertext<R>, BfvError> {
        self.context.check(a)?;
        let relinearized = relinearization::relinearize(self.context.rlwe(), a, key)?;
        Ok(self.context.record(relinearized, "relinearize", &[a.trace()]))
    }

    /// Steps S0 and S1 for one operand.
    ///
    /// # Errors
    /// [`sunzi_rlwe::RlweError::WrongPartCount`] for an operand that is not relinearised.
    pub fn extend(&self, a: &Ciphertext<R>) -> Result<Extended<R>, BfvError> {
        self.context.check(a)?;
        let [c0, c1] = a.two_parts("multiplication")?;
        let scaler = self.context.scaler();
        Ok(Extended {
            parts: [scaler.extend(c0)?, scaler.extend(c1)?],
            noise: *a.noise(),
            plain_modulus: *a.metadata(),
            key: a.key(),
            trace: a.trace().clone(),
        })
    }

    /// a·b of extended operands, relinearised.
    ///
    /// # Errors
    /// As [`multiply`](Self::multiply).
    pub fn multiply_extended(
        &self,
        a: &Extended<R>,
        b: &Extended<R>,
        key: &RelinearizationKey<R>,
    ) -> Result<Ciphertext<R>, BfvError> {
        if key.id() != a.key {
            return Err(sunzi_rlwe::RlweError::KeyMismatch { what: "the relinearisation key" }.into());
        }
        let rlwe = self.context.rlwe();
        let (parts, noise) = self.scaled_tensor(a, b)?;
        let parts = key.apply_to_coefficients(rlwe, parts)?;
        let noise = noise.plus(relinearization::added_noise(rlwe));
        let product = Ciphertext::from_parts(parts.into(), self.context.plain_modulus(), noise, a.key)?;
        Ok(self.context.record(product, "multiply", &[&a.trace, &b.trace]))
    }

    /// Steps S2 to S4: the tensor product in the wide ring, scaled by t/q back to q.
    fn scaled_tensor(
        &self,
        a: &Extended<R>,
        b: &Extended<R>,
    ) -> Result<([R::Poly<Coefficient>; 3], NoiseBound), BfvError> {
        self.context.check_plain_modulus(a.plain_modulus)?;
        self.context.check_plain_modulus(b.plain_modulus)?;
        if a.key != b.key {
            return Err(sunzi_rlwe::RlweError::KeyMismatch { what: "the second factor" }.into());
        }
        let scaler = self.context.scaler();
        let [c0, c1, c2] = tensor(scaler.wide(), &a.parts, &b.parts)?;
        let parts = [scaler.scale(c0)?, scaler.scale(c1)?, scaler.scale(c2)?];
        Ok((parts, self.product_model().product(&a.noise, &b.noise)))
    }

    /// The constants of the product's noise.
    fn product_model(&self) -> ProductModel {
        let scaler = self.context.scaler();
        ProductModel {
            degree: self.context.degree(),
            plain_modulus: self.context.plain_modulus() as f64,
            log2_modulus: self.context.rlwe().log2_modulus(),
            overflow: scaler.overflow(),
            scale_error: scaler.scale_error(),
        }
    }
}

/// (a_0 + a_1·Y)(b_0 + b_1·Y).
fn tensor<R: PolyRing>(
    ring: &R,
    [a0, a1]: &[R::Poly<Evaluation>; 2],
    [b0, b1]: &[R::Poly<Evaluation>; 2],
) -> Result<[R::Poly<Evaluation>; 3], BfvError> {
    let mut c0 = a0.clone();
    ring.mul_assign(&mut c0, b0)?;
    let mut c1 = a0.clone();
    ring.mul_assign(&mut c1, b1)?;
    ring.mul_add_assign(&mut c1, a1, b0)?;
    let mut c2 = a1.clone();
    ring.mul_assign(&mut c2, b1)?;
    Ok([c0, c1, c2])
}
