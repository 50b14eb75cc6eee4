//! BGV as circuits see it.

use sunzi_bgv::{BgvError, Ciphertext, Evaluator, PreparedMultiplier, PreparedPlaintext};
use sunzi_encoding::Plaintext;
use sunzi_ring::PolyRing;

use crate::exact::{exact_arithmetic, exact_automorphisms, relinearization};
use crate::{Arithmetic, Automorphisms, CircuitError, EvaluationKeys, GiantStep, Outcome, Rotation};

impl From<BgvError> for CircuitError<BgvError> {
    fn from(error: BgvError) -> Self {
        Self::Scheme(error)
    }
}

/// An operand is switched to its level once; a sum of products has three parts and is relinearised once.
impl<R: PolyRing> Arithmetic for Evaluator<R> {
    type Error = BgvError;
    type Operand = Ciphertext<R>;
    type Sum = Ciphertext<R>;

    exact_arithmetic!();

    fn bits_left(&self, a: &Ciphertext<R>) -> f64 {
        // What belongs to another ring does not decrypt.
        self.context().bits_left(a).unwrap_or(f64::NEG_INFINITY)
    }

    fn operand(&self, a: &Ciphertext<R>) -> Outcome<Self, Ciphertext<R>> {
        Ok(Self::operand(self, a)?)
    }

    fn add_product(
        &self,
        sum: &mut Option<Ciphertext<R>>,
        a: &Ciphertext<R>,
        b: &Ciphertext<R>,
    ) -> Outcome<Self, ()> {
        let product = Self::multiply_unrelinearized(self, a, b)?;
        match sum {
            Some(sum) => self.add_assign(sum, &product)?,
            None => *sum = Some(product),
        }
        Ok(())
    }

    fn finish(&self, sum: Ciphertext<R>, keys: &EvaluationKeys<R>) -> Outcome<Self, Ciphertext<R>> {
        Ok(Self::relinearize(self, &sum, relinearization(keys)?)?)
    }

    fn multiply_towards_product(
        &self,
        a: &Ciphertext<R>,
        b: &Ciphertext<R>,
        keys: &EvaluationKeys<R>,
    ) -> Outcome<Self, Ciphertext<R>> {
        Ok(Self::multiply_switched(self, a, b, relinearization(keys)?)?)
    }

    fn sum_of_products(
        &self,
        terms: &[(&Ciphertext<R>, &Ciphertext<R>)],
        keys: &EvaluationKeys<R>,
    ) -> Outcome<Self, Ciphertext<R>> {
        Ok(Self::sum_of_products(self, terms.iter().copied(), relinearization(keys)?)?)
    }
}

impl<R: PolyRing> Automorphisms for Evaluator<R> {
    exact_automorphisms!();
}
