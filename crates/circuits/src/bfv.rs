//! BFV as circuits see it: a factor is extended once, a sum of products scaled and relinearised once.

use sunzi_bfv::{Bfv, BfvError, Ciphertext, Evaluator, Extended, ProductSum};
use sunzi_rlwe::RelinearizationKey;

use crate::{CircuitError, ExactEvaluator};

impl From<BfvError> for CircuitError<BfvError> {
    fn from(error: BfvError) -> Self {
        Self::Scheme(error)
    }
}

impl ExactEvaluator for Evaluator {
    type Scheme = Bfv;
    type Operand = Extended;
    type Sum = ProductSum;

    fn bits_left(&self, a: &Ciphertext) -> f64 {
        self.context().bits_left(a)
    }

    fn operand(&self, a: &Ciphertext) -> Result<Extended, BfvError> {
        self.extend(a)
    }

    fn add_product(&self, sum: &mut Option<ProductSum>, a: &Extended, b: &Extended) -> Result<(), BfvError> {
        Self::add_product(self, sum.get_or_insert_default(), a, b)
    }

    fn finish(&self, sum: ProductSum, key: &RelinearizationKey) -> Result<Ciphertext, BfvError> {
        self.relinearize_products(sum, key)
    }

    fn unrelinearized(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, BfvError> {
        Self::multiply_unrelinearized(self, a, b)
    }

    fn product(
        &self,
        a: &Ciphertext,
        b: &Ciphertext,
        key: &RelinearizationKey,
    ) -> Result<Ciphertext, BfvError> {
        Self::multiply(self, a, b, key)
    }

    fn squared(&self, a: &Ciphertext, key: &RelinearizationKey) -> Result<Ciphertext, BfvError> {
        Self::square(self, a, key)
    }

    fn dot_product(
        &self,
        terms: &[(&Ciphertext, &Ciphertext)],
        key: &RelinearizationKey,
    ) -> Result<Ciphertext, BfvError> {
        Self::dot_product(self, terms, key)
    }
}
