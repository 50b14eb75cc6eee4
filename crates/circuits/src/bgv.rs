//! BGV as circuits see it.

use sunzi_bgv::{BgvError, Ciphertext, Evaluator, PreparedMultiplier, PreparedPlaintext};
use sunzi_encoding::Plaintext;

use crate::exact::{exact_arithmetic, exact_automorphisms, relinearization};
use crate::{Arithmetic, Automorphisms, CircuitError, EvaluationKeys, GiantStep, Outcome, Rotation};

impl From<BgvError> for CircuitError<BgvError> {
    fn from(error: BgvError) -> Self {
        Self::Scheme(error)
    }
}

/// An operand is switched to its level once; a sum of products has three parts and is relinearised once.
impl Arithmetic for Evaluator {
    type Error = BgvError;
    type Operand = Ciphertext;
    type Sum = Ciphertext;

    exact_arithmetic!();

    fn bits_left(&self, a: &Ciphertext) -> f64 {
        // What belongs to another ring does not decrypt.
        self.context().bits_left(a).unwrap_or(f64::NEG_INFINITY)
    }

    fn operand(&self, a: &Ciphertext) -> Outcome<Self, Ciphertext> {
        Ok(Self::operand(self, a)?)
    }

    fn add_product(&self, sum: &mut Option<Ciphertext>, a: &Ciphertext, b: &Ciphertext) -> Outcome<Self, ()> {
        let product = Self::multiply_unrelinearized(self, a, b)?;
        match sum {
            Some(sum) => self.add_assign(sum, &product)?,
            None => *sum = Some(product),
        }
        Ok(())
    }

    fn finish(&self, sum: Ciphertext, keys: &EvaluationKeys) -> Outcome<Self, Ciphertext> {
        Ok(Self::relinearize(self, &sum, relinearization(keys)?)?)
    }

    fn multiply_towards_product(
        &self,
        a: &Ciphertext,
        b: &Ciphertext,
        keys: &EvaluationKeys,
    ) -> Outcome<Self, Ciphertext> {
        Ok(Self::multiply_switched(self, a, b, relinearization(keys)?)?)
    }

    fn sum_of_products(
        &self,
        terms: &[(&Ciphertext, &Ciphertext)],
        keys: &EvaluationKeys,
    ) -> Outcome<Self, Ciphertext> {
        Ok(Self::sum_of_products(self, terms.iter().copied(), relinearization(keys)?)?)
    }
}

impl Automorphisms for Evaluator {
    exact_automorphisms!();
}
