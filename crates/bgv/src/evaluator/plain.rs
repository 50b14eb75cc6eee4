//! Operations between a ciphertext and a plaintext.

use sunzi_encoding::Plaintext;
use sunzi_ring::{Evaluation, Poly, Ring, RingError};
use sunzi_rlwe::{NoiseTerm, PlainFactor, Trace, plain_factor};
use zeroize::Zeroizing;

use super::Evaluator;
use crate::{BgvError, Ciphertext};

/// A plaintext made ready to multiply ciphertexts of any level; erased when dropped.
#[derive(Clone)]
pub struct PreparedPlaintext {
    factor: PlainFactor,
    plain_modulus: u64,
}

/// Addition or subtraction of a ring.
type Joining = fn(&Ring, &mut Poly<Evaluation>, &Poly<Evaluation>) -> Result<(), RingError>;

impl Evaluator {
    /// a + m.
    ///
    /// # Errors
    /// [`sunzi_encoding::EncodingError::PlaintextMismatch`]; [`BgvError::Undeclared`]; [`BgvError::BudgetExceeded`];
    /// [`BgvError::PlainModulusMismatch`], [`BgvError::LevelMismatch`] or [`BgvError::Ring`] for a ciphertext of other
    /// parameters.
    pub fn add_plain(&self, a: &Ciphertext, plaintext: &Plaintext) -> Result<Ciphertext, BgvError> {
        self.shift(a, plaintext, Ring::add_assign, "add a plaintext")
    }

    /// a − m.
    ///
    /// # Errors
    /// As [`add_plain`](Self::add_plain).
    pub fn sub_plain(&self, a: &Ciphertext, plaintext: &Plaintext) -> Result<Ciphertext, BgvError> {
        self.shift(a, plaintext, Ring::sub_assign, "subtract a plaintext")
    }

    /// Adds or subtracts ⌊(Q/t)·(f·m mod t)⌉ in c_0.
    fn shift(
        &self,
        a: &Ciphertext,
        plaintext: &Plaintext,
        joining: Joining,
        operation: &'static str,
    ) -> Result<Ciphertext, BgvError> {
        let place = self.context.check(a)?;
        let ring = self.context.ring_of(a)?;
        let scaled = self.context.scaled(plaintext, place, a.metadata().factor)?;
        let mut result = a.clone();
        result.set_noise(a.noise().plus(NoiseTerm::rounding()));
        if let Some(c0) = result.parts_mut().first_mut() {
            joining(&ring, c0, &scaled)?;
        }
        self.context.finish(result, operation, &[])
    }

    /// A plaintext made ready to multiply: transformed once, for any number of products.
    ///
    /// # Errors
    /// [`sunzi_encoding::EncodingError::PlaintextMismatch`].
    pub fn prepare_plain(&self, plaintext: &Plaintext) -> Result<PreparedPlaintext, BgvError> {
        plaintext.check(self.context.degree(), self.context.plain_modulus())?;
        let factor = PlainFactor::new(self.context.rlwe(), &Zeroizing::new(plaintext.centred()))?;
        Ok(PreparedPlaintext { factor, plain_modulus: plaintext.modulus() })
    }

    /// a·m. The noise grows by the sum of the absolute coefficients of m, centred modulo t.
    ///
    /// # Errors
    /// As [`add_plain`](Self::add_plain).
    pub fn multiply_plain(&self, a: &Ciphertext, plaintext: &Plaintext) -> Result<Ciphertext, BgvError> {
        self.multiply_prepared(a, &self.prepare_plain(plaintext)?)
    }

    /// a·m for a prepared plaintext.
    ///
    /// # Errors
    /// As [`add_plain`](Self::add_plain).
    pub fn multiply_prepared(
        &self,
        a: &Ciphertext,
        prepared: &PreparedPlaintext,
    ) -> Result<Ciphertext, BgvError> {
        self.plain_products(&[(a, prepared)])
    }

    /// Σ a_i·m_i.
    ///
    /// # Errors
    /// As [`add_plain`](Self::add_plain); [`sunzi_rlwe::RlweError::KeyMismatch`]; [`BgvError::Empty`] for none.
    pub fn sum_of_plain_products<'a>(
        &self,
        terms: impl IntoIterator<Item = (&'a Ciphertext, &'a PreparedPlaintext)>,
    ) -> Result<Ciphertext, BgvError> {
        let terms: Vec<_> = terms.into_iter().collect();
        let shape = |a: &Ciphertext| (a.metadata().level, a.metadata().place, a.parts().len());
        let mut sum: Option<Ciphertext> = None;
        for terms in terms.chunk_by(|(a, _), (b, _)| shape(a) == shape(b)) {
            let products = self.plain_products(terms)?;
            sum = Some(match sum {
                Some(sum) => self.add(&sum, &products)?,
                None => products,
            });
        }
        sum.ok_or(BgvError::Empty { what: "a sum of products with plaintexts" })
    }

    /// Σ a_i·m_i for one or more ciphertexts of one level, place and part count.
    fn plain_products(&self, terms: &[(&Ciphertext, &PreparedPlaintext)]) -> Result<Ciphertext, BgvError> {
        let Some((first, _)) = terms.first() else {
            return Err(BgvError::Empty { what: "a sum of products with plaintexts" });
        };
        let (expected, mut factors, mut carried) = (self.context.plain_modulus(), Vec::new(), Vec::new());
        for (a, prepared) in terms {
            self.context.check(a)?;
            let got = prepared.plain_modulus;
            if got != expected {
                return Err(BgvError::PlainModulusMismatch { expected, got });
            }
            let mut usage = a.metadata().usage;
            usage.plain_products = usage.plain_products.saturating_add(1);
            carried.push((usage, a.noise().times_norm(prepared.factor.norm())));
            factors.push((*a, &prepared.factor));
        }
        let limbs = self.context.place(first.metadata().place)?.limbs;
        let parts = plain_factor::sum_of_products(self.context.rlwe(), limbs, &factors)?;
        let traces: Vec<&Trace> = terms.iter().map(|(a, _)| a.trace()).collect();
        let sum = Ciphertext::from_parts(parts, first.metadata().clone(), *first.noise(), first.key())?;
        self.finish_terms(sum, "multiply by a plaintext", &traces, &carried)
    }

    /// a·c for a constant c, taken modulo t and centred.
    ///
    /// # Errors
    /// [`BgvError::Undeclared`]; [`BgvError::BudgetExceeded`]; [`BgvError::PlainModulusMismatch`], [`BgvError::LevelMismatch`] or
    /// [`BgvError::Ring`] for a ciphertext of other parameters.
    pub fn multiply_scalar(&self, a: &Ciphertext, scalar: i64) -> Result<Ciphertext, BgvError> {
        self.context.check(a)?;
        // Below t < 2^60.
        let residue = i128::from(scalar).rem_euclid(i128::from(self.context.plain_modulus())) as u64;
        let constant = self.centred(residue);
        let mut product = a.clone();
        self.scale(&mut product, constant)?;
        let mut metadata = a.metadata().clone();
        metadata.usage = metadata.usage.times(constant.unsigned_abs());
        product.set_metadata(metadata);
        self.context.finish(product, "multiply by a constant", &[])
    }
}
