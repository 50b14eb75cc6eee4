//! Products of ciphertexts with polynomials that are no secret-key matter: the same in every scheme.

use std::borrow::Cow;

use sunzi_ring::{Evaluation, PolyRing};
use zeroize::Zeroizing;

use crate::{Ciphertext, RlweContext, RlweError, Scheme};

/// A small polynomial in evaluation form, ready to multiply any number of ciphertexts of any level; erased when
/// dropped.
#[derive(Clone)]
pub struct PlainFactor<R: PolyRing> {
    poly: Zeroizing<R::Poly<Evaluation>>,
    norm: f64,
}

/// A ring and a polynomial of it.
type AtLevel<'a, R> = (R, Cow<'a, Zeroizing<<R as PolyRing>::Poly<Evaluation>>>);

impl<R: PolyRing> PlainFactor<R> {
    /// Transforms the polynomial with these coefficients, centred modulo the plaintext modulus.
    ///
    /// # Errors
    /// [`RlweError::Ring`] if their number is not the ring degree.
    pub fn new(context: &RlweContext<R>, centred: &[i64]) -> Result<Self, RlweError> {
        let ring = context.ring();
        let norm = centred.iter().map(|&c| c.unsigned_abs() as f64).sum();
        Ok(Self { poly: Zeroizing::new(ring.to_evaluation(ring.from_signed(centred)?)?), norm })
    }

    /// The ring of a level, and the polynomial in it.
    fn at_level(&self, context: &RlweContext<R>, level: usize) -> Result<AtLevel<'_, R>, RlweError> {
        if level == context.level() {
            return Ok((context.ring().clone(), Cow::Borrowed(&self.poly)));
        }
        let restricted = context.ring().restrict(&self.poly, level)?;
        Ok((context.ring_at(level)?, Cow::Owned(Zeroizing::new(restricted))))
    }

    /// Σ|m_i|: what the noise of a product grows by.
    #[must_use]
    pub fn norm(&self) -> f64 {
        self.norm
    }
}

/// a ← a·m for a ciphertext of this level, of any part count.
///
/// # Errors
/// [`RlweError::Ring`] for a ciphertext of another ring or level. On an error `a` is not to be used.
pub fn multiply_assign<S: Scheme, R: PolyRing>(
    context: &RlweContext<R>,
    level: usize,
    a: &mut Ciphertext<S, R>,
    factor: &PlainFactor<R>,
) -> Result<(), RlweError> {
    let noise = a.noise().times_norm(factor.norm);
    let (ring, poly) = factor.at_level(context, level)?;
    for part in a.parts_mut() {
        ring.mul_assign(part, &poly)?;
    }
    a.set_noise(noise);
    Ok(())
}

/// a ← a + b·m, for operands of this level, of equal part count and metadata.
///
/// # Errors
/// [`RlweError::KeyMismatch`]; [`RlweError::WrongPartCount`]; [`RlweError::Ring`] for ciphertexts of another
/// ring or level. On an error `a` is not to be used.
pub fn multiply_add_assign<S: Scheme, R: PolyRing>(
    context: &RlweContext<R>,
    level: usize,
    a: &mut Ciphertext<S, R>,
    b: &Ciphertext<S, R>,
    factor: &PlainFactor<R>,
) -> Result<(), RlweError> {
    a.check_key(b.key(), "the second summand")?;
    if a.parts().len() != b.parts().len() {
        return Err(RlweError::WrongPartCount {
            operation: "a sum of products with plaintexts",
            expected: "equally many",
            got: b.parts().len(),
            remedy: "relinearize all of its terms or none",
        });
    }
    let noise = a.noise().sum(&b.noise().times_norm(factor.norm));
    let (ring, poly) = factor.at_level(context, level)?;
    for (sum, part) in a.parts_mut().iter_mut().zip(b.parts()) {
        ring.mul_add_assign(sum, part, &poly)?;
    }
    a.set_noise(noise);
    Ok(())
}
