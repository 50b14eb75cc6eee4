//! Products of ciphertexts with polynomials that are no secret-key matter: the same in every scheme.

use sunzi_ring::{Evaluation, Factors, PolyRing};
use zeroize::Zeroizing;

use crate::{Ciphertext, RlweContext, RlweError, Scheme};

/// A small polynomial in evaluation form, ready to multiply any number of ciphertexts of any level; erased when
/// dropped.
#[derive(Clone)]
pub struct PlainFactor<R: PolyRing> {
    poly: Zeroizing<R::Poly<Evaluation>>,
    norm: f64,
}

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

    /// Σ|m_i|: what the noise of a product grows by.
    #[must_use]
    pub fn norm(&self) -> f64 {
        self.norm
    }
}

/// Σ a_i·m_i part by part, for ciphertexts of this level and of equal part counts, in one pass over all of them.
///
/// # Errors
/// [`RlweError::KeyMismatch`]; [`RlweError::WrongPartCount`]; [`RlweError::Ring`] for ciphertexts of another ring or a lower
/// level.
pub fn sum_of_products<S: Scheme, R: PolyRing>(
    context: &RlweContext<R>,
    level: usize,
    terms: &[(&Ciphertext<S, R>, &PlainFactor<R>)],
) -> Result<Vec<R::Poly<Evaluation>>, RlweError> {
    let Some((first, _)) = terms.first() else { return Ok(Vec::new()) };
    let mut lists: Vec<Factors<'_, R>> = first.parts().iter().map(|_| Vec::new()).collect();
    for (term, factor) in terms {
        first.check_key(term.key(), "the second summand")?;
        if term.parts().len() != lists.len() {
            return Err(RlweError::WrongPartCount {
                operation: "a sum of products with plaintexts",
                expected: "equally many",
                got: term.parts().len(),
                remedy: "relinearize all of its terms or none",
            });
        }
        lists.iter_mut().zip(term.parts()).for_each(|(list, part)| list.push([part, &*factor.poly]));
    }
    Ok(context.ring().inner_products(&lists, level)?)
}
