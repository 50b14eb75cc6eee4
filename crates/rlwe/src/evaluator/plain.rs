//! Sums and products of a ciphertext and a plaintext.

use std::borrow::Cow;

use sunzi_encoding::Plaintext;
use zeroize::Zeroizing;

use super::{Evaluator, Exact, Homomorphic};
use crate::plain_factor::PlainTerms;
use crate::{Ciphertext, PlainFactor, Sign, Trace, plain_factor};

const SUM: &str = "a sum of products with plaintexts";

/// A plaintext prepared to multiply ciphertexts of any level; erased when dropped.
#[derive(Clone)]
pub struct PreparedPlaintext {
    factor: PlainFactor,
    plain_modulus: u64,
}

/// A term a·m of a sum of products of ciphertexts and prepared plaintexts.
pub type PlainTerm<'a, S> = (&'a Ciphertext<S>, &'a PreparedPlaintext);

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

    /// Returns Σ a_i·m_i for each list of ciphertexts a_i and prepared plaintexts m_i. Where all ciphertexts have one level and part count, what lists share is read
    /// from memory once.
    ///
    /// # Errors
    /// Every error of [`sum_of_plain_products`](Self::sum_of_plain_products), of any list.
    pub fn sums_of_plain_products(
        &self,
        sums: &[Vec<PlainTerm<'_, S>>],
    ) -> Result<Vec<Ciphertext<S>>, S::Error> {
        let mut all = sums.iter().flatten();
        let first = all.next().map(|(a, _)| *a);
        if first.is_some_and(|first| all.all(|(a, _)| alike(first, a))) {
            return self.products_alike(&sums.iter().map(Vec::as_slice).collect::<Vec<_>>());
        }
        sums.iter().map(|terms| self.sum_of_plain_products(terms.iter().copied())).collect()
    }

    /// Returns Σ a_i·m_i for one or more ciphertexts a_i of one level and part count.
    fn plain_products(&self, terms: &[PlainTerm<'_, S>]) -> Result<Ciphertext<S>, S::Error> {
        self.products_alike(&[terms])?.pop().ok_or_else(|| S::empty(SUM))
    }

    /// Returns Σ a_i·m_i for lists of one or more ciphertexts a_i, all of one level and part count.
    fn products_alike(&self, sums: &[&[PlainTerm<'_, S>]]) -> Result<Vec<Ciphertext<S>>, S::Error> {
        let context = self.context();
        let factors = sums.iter().map(|terms| terms.iter().map(|term| self.factor(term)).collect());
        let factors: Vec<PlainTerms<'_, S>> = factors.collect::<Result<_, S::Error>>()?;
        let first = factors.iter().flatten().next().ok_or_else(|| S::empty(SUM))?.0;
        let level = self.ring_of(first)?.level();
        let parts = plain_factor::sums_of_products(S::rlwe(context), level, &factors)?;
        let finish = |(parts, terms): (Vec<_>, &PlainTerms<'_, S>)| {
            let Some((first, _)) = terms.first() else { return Err(S::empty(SUM)) };
            let carry = |(a, factor): &(&Ciphertext<S>, &PlainFactor)| {
                (S::multiplied(a.metadata()), a.noise().times_norm(factor.norm()))
            };
            let carried: Vec<_> = terms.iter().map(carry).collect();
            let traces: Vec<&Trace> = terms.iter().map(|(a, _)| a.trace()).collect();
            let sum = Ciphertext::from_parts(parts, first.metadata().clone(), *first.noise(), first.key())?;
            S::finish_sum(context, sum, "multiply by a plaintext", &traces, &carried)
        };
        parts.into_iter().zip(&factors).map(finish).collect()
    }

    /// Returns the operands of a term, once they are of the evaluator's context.
    fn factor<'a>(
        &self,
        &(a, prepared): &PlainTerm<'a, S>,
    ) -> Result<(&'a Ciphertext<S>, &'a PlainFactor), S::Error> {
        S::check(self.context(), a)?;
        let expected = S::plain_modulus(self.context());
        if prepared.plain_modulus != expected {
            return Err(S::other_modulus(expected, prepared.plain_modulus));
        }
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
