//! Sums and products of a ciphertext and a plaintext.

use std::borrow::Cow;

use sunzi_encoding::Plaintext;
use sunzi_ring::{Evaluation, Poly};
use zeroize::Zeroizing;

use super::{Evaluator, Exact, Homomorphic};
use crate::{Ciphertext, PlainFactor, Sign, Trace, plain_factor};

const SUM: &str = "a sum of products with plaintexts";

/// A plaintext prepared to multiply ciphertexts of any level; erased when dropped.
#[derive(Clone)]
pub struct PreparedPlaintext {
    factor: PlainFactor,
    plain_modulus: u64,
}

/// A term a·m of a sum of products of ciphertexts and prepared plaintexts.
type PlainTerm<'a, S> = (&'a Ciphertext<S>, &'a PreparedPlaintext);

/// Whether two ciphertexts are of one level and part count.
fn alike<S: Exact>(a: &Ciphertext<S>, b: &Ciphertext<S>) -> bool {
    a.parts().len() == b.parts().len() && S::at_one_level(a.metadata(), b.metadata())
}

impl<S: Homomorphic> Evaluator<S> {
    /// Returns the sum a + m of a ciphertext a and a plaintext m.
    ///
    /// # Errors
    /// The scheme's errors for operands of other parameters, and its refusal of the result.
    pub fn add_plain(&self, a: &Ciphertext<S>, plaintext: &S::Plaintext) -> Result<Ciphertext<S>, S::Error> {
        self.shifted(Cow::Borrowed(a), plaintext, Sign::Plus)
    }

    /// Returns the difference a − m of a ciphertext a and a plaintext m.
    ///
    /// # Errors
    /// Every error of [`add_plain`](Self::add_plain).
    pub fn sub_plain(&self, a: &Ciphertext<S>, plaintext: &S::Plaintext) -> Result<Ciphertext<S>, S::Error> {
        self.shifted(Cow::Borrowed(a), plaintext, Sign::Minus)
    }

    /// Returns the sum or difference a ± m of a ciphertext and a plaintext, in the memory of an owned `a`.
    ///
    /// # Errors
    /// Every error of [`add_plain`](Self::add_plain).
    pub fn shifted(
        &self,
        a: Cow<'_, Ciphertext<S>>,
        plaintext: &S::Plaintext,
        sign: Sign,
    ) -> Result<Ciphertext<S>, S::Error> {
        S::check(self.context(), &a)?;
        let operation = match sign {
            Sign::Plus => "add a plaintext",
            Sign::Minus => "subtract a plaintext",
        };
        let mut result = a.into_owned();
        S::shift(self.context(), &mut result, plaintext, sign, operation)?;
        self.finish(result, operation, &[])
    }
}

impl<S: Exact> Evaluator<S> {
    /// Prepares a plaintext for products with ciphertexts: transforms it once, for any number of products.
    ///
    /// # Errors
    /// [`EncodingError::PlaintextMismatch`](sunzi_encoding::EncodingError) for a plaintext of another degree or modulus.
    pub fn prepare_plain(&self, plaintext: &Plaintext) -> Result<PreparedPlaintext, S::Error> {
        let factor = PlainFactor::new(S::rlwe(self.context()), &self.centred(plaintext)?)?;
        Ok(PreparedPlaintext { factor, plain_modulus: plaintext.modulus() })
    }

    /// Returns the coefficients of a plaintext of the evaluator's context, in [−t/2, t/2).
    pub(super) fn centred(&self, plaintext: &Plaintext) -> Result<Zeroizing<Vec<i64>>, S::Error> {
        let degree = S::rlwe(self.context()).ring().degree();
        plaintext.check(degree, S::plain_modulus(self.context()))?;
        Ok(Zeroizing::new(plaintext.centred()))
    }

    /// Returns the product a·m of a ciphertext and a plaintext. Noise grows by the 1-norm of m, centred modulo t.
    ///
    /// # Errors
    /// Every error of [`prepare_plain`](Self::prepare_plain) and [`multiply_prepared`](Self::multiply_prepared).
    pub fn multiply_plain(
        &self,
        a: &Ciphertext<S>,
        plaintext: &Plaintext,
    ) -> Result<Ciphertext<S>, S::Error> {
        self.multiply_prepared(a, &self.prepare_plain(plaintext)?)
    }

    /// Returns the product a·m of a ciphertext a and a prepared plaintext m.
    ///
    /// # Errors
    /// The scheme's errors for operands of other parameters, and its refusal of the result.
    pub fn multiply_prepared(
        &self,
        a: &Ciphertext<S>,
        prepared: &PreparedPlaintext,
    ) -> Result<Ciphertext<S>, S::Error> {
        self.plain_products(&[(a, prepared)])
    }

    /// Returns Σ a_i·m_i of ciphertexts a_i and prepared plaintexts m_i: terms in a row of one level and part count in
    /// one pass.
    ///
    /// # Errors
    /// Every error of [`multiply_prepared`](Self::multiply_prepared) and [`add`](Self::add); the scheme's error `Empty` for no terms.
    pub fn sum_of_plain_products<'a>(
        &self,
        terms: impl IntoIterator<Item = (&'a Ciphertext<S>, &'a PreparedPlaintext)>,
    ) -> Result<Ciphertext<S>, S::Error> {
        let terms: Vec<_> = terms.into_iter().collect();
        let mut sum: Option<Ciphertext<S>> = None;
        for terms in terms.chunk_by(|(a, _), (b, _)| alike(a, b)) {
            let products = self.plain_products(terms)?;
            match &mut sum {
                Some(sum) => self.add_assign(sum, &products)?,
                None => sum = Some(products),
            }
        }
        sum.ok_or_else(|| S::empty(SUM))
    }

    /// Returns Σ a_i·m_i for one or more ciphertexts a_i of one level and part count.
    fn plain_products(&self, terms: &[PlainTerm<'_, S>]) -> Result<Ciphertext<S>, S::Error> {
        let context = self.context();
        let factors = terms.iter().map(|term| self.factor(term));
        let factors: Vec<_> = factors.collect::<Result<_, S::Error>>()?;
        let first = factors.first().ok_or_else(|| S::empty(SUM))?.0;
        let level = self.ring_of(first)?.level();
        let parts = plain_factor::sum_of_products(S::rlwe(context), level, &factors)?;
        self.summed(parts, factors.iter().map(|(a, factor)| (*a, factor.norm())))
    }

    /// Returns a sum Σ a_i·m_i whose parts are computed, from its terms: ciphertexts a_i and the 1-norms of m_i.
    pub(super) fn summed<'a>(
        &self,
        parts: Vec<Poly<Evaluation>>,
        terms: impl Iterator<Item = (&'a Ciphertext<S>, f64)> + Clone,
    ) -> Result<Ciphertext<S>, S::Error>
    where
        S: 'a,
    {
        let Some((first, _)) = terms.clone().next() else { return Err(S::empty(SUM)) };
        let carry =
            |(a, norm): (&Ciphertext<S>, f64)| (S::multiplied(a.metadata()), a.noise().times_norm(norm));
        let carried: Vec<_> = terms.clone().map(carry).collect();
        let traces: Vec<&Trace> = terms.map(|(a, _)| a.trace()).collect();
        let sum = Ciphertext::from_parts(parts, first.metadata().clone(), *first.noise(), first.key())?;
        S::finish_sum(self.context(), sum, "multiply by a plaintext", &traces, &carried)
    }

    /// Returns the operands of a term, once they are of the evaluator's context.
    fn factor<'a>(
        &self,
        &(a, prepared): &PlainTerm<'a, S>,
    ) -> Result<(&'a Ciphertext<S>, &'a PlainFactor), S::Error> {
        S::check(self.context(), a)?;
        self.check_plain(prepared.plain_modulus)?;
        Ok((a, &prepared.factor))
    }

    /// Returns the product a·c of a ciphertext and a constant c, taken modulo t and centred.
    ///
    /// # Errors
    /// The scheme's errors for a ciphertext of other parameters, and its refusal of the result.
    pub fn multiply_scalar(&self, a: &Ciphertext<S>, scalar: i64) -> Result<Ciphertext<S>, S::Error> {
        self.scaled(Cow::Borrowed(a), scalar)
    }

    /// Returns the product a·c of a ciphertext and a constant, in the memory of an owned `a`.
    ///
    /// # Errors
    /// Every error of [`multiply_scalar`](Self::multiply_scalar).
    pub fn scaled(&self, a: Cow<'_, Ciphertext<S>>, scalar: i64) -> Result<Ciphertext<S>, S::Error> {
        S::check(self.context(), &a)?;
        let constant = centred(scalar, S::plain_modulus(self.context()));
        let ring = self.ring_of(&a)?;
        let mut product = a.into_owned();
        product.scale_assign(&ring, constant)?;
        product.set_metadata(S::scaled(product.metadata(), constant.unsigned_abs()));
        self.finish(product, "multiply by a constant", &[])
    }

    /// Returns the sum a + c of a ciphertext and the constant polynomial c, taken modulo t: c is added to every slot, or
    /// to coefficient 0 where coefficients are encoded.
    ///
    /// # Errors
    /// Every error of [`add_plain`](Self::add_plain).
    pub fn add_scalar(&self, a: &Ciphertext<S>, scalar: i64) -> Result<Ciphertext<S>, S::Error> {
        self.raised(Cow::Borrowed(a), scalar.into())
    }

    /// Returns the sum a + c of a ciphertext and a constant, in the memory of an owned `a`.
    ///
    /// # Errors
    /// Every error of [`add_scalar`](Self::add_scalar).
    pub fn raised(&self, a: Cow<'_, Ciphertext<S>>, scalar: i128) -> Result<Ciphertext<S>, S::Error> {
        let t = S::plain_modulus(self.context());
        let degree = S::rlwe(self.context()).ring().degree();
        let residue = scalar.rem_euclid(t.into()) as u64;
        self.shifted(a, &Plaintext::constant(residue, degree, t)?, Sign::Plus)
    }
}

/// Returns a number modulo t, centred to [−t/2, t/2), for t below 2^63.
fn centred(number: i64, t: u64) -> i64 {
    let residue = i128::from(number).rem_euclid(i128::from(t)) as u64;
    if residue >= t.div_ceil(2) { residue as i64 - t as i64 } else { residue as i64 }
}
