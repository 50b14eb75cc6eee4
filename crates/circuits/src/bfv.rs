//! BFV as circuits see it.

use sunzi_bfv::{
    BfvError, Ciphertext, Evaluator, Extended, Plaintext, PreparedMultiplier, PreparedPlaintext, ProductSum,
};

use crate::exact::{exact_arithmetic, exact_automorphisms, relinearization};
use crate::{Arithmetic, Automorphisms, CircuitError, EvaluationKeys, GiantStep, Outcome, Rotation};

impl From<BfvError> for CircuitError<BfvError> {
    fn from(error: BfvError) -> Self {
        Self::Scheme(error)
    }
}

impl Arithmetic for Evaluator {
    type Error = BfvError;
    type Operand = Extended;
    type Sum = ProductSum;

    exact_arithmetic!();

    fn bits_left(&self, a: &Ciphertext) -> f64 {
        self.context().bits_left(a.noise())
    }

    fn operand(&self, a: &Ciphertext) -> Outcome<Self, Extended> {
        Ok(self.extend(a)?)
    }

    fn add_product(&self, sum: &mut Option<ProductSum>, a: &Extended, b: &Extended) -> Outcome<Self, ()> {
        Ok(Self::add_product(self, sum.get_or_insert_default(), a, b)?)
    }

    fn finish(&self, sum: ProductSum, keys: &EvaluationKeys) -> Outcome<Self, Ciphertext> {
        Ok(self.relinearize_products(sum, relinearization(keys)?)?)
    }

    fn sum_of_products(
        &self,
        terms: &[(&Ciphertext, &Ciphertext)],
        keys: &EvaluationKeys,
    ) -> Outcome<Self, Ciphertext> {
        Ok(self.dot_product(terms, relinearization(keys)?)?)
    }
}

impl Automorphisms for Evaluator {
    exact_automorphisms!();
}
