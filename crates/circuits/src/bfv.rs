//! BFV as circuits see it.

use sunzi_bfv::{
    BfvError, Ciphertext, Evaluator, Extended, Plaintext, PreparedMultiplier, PreparedPlaintext, ProductSum,
};
use sunzi_ring::PolyRing;

use crate::exact::{exact_arithmetic, exact_automorphisms, relinearization};
use crate::{Arithmetic, Automorphisms, CircuitError, EvaluationKeys, GiantStep, Outcome, Rotation};

impl From<BfvError> for CircuitError<BfvError> {
    fn from(error: BfvError) -> Self {
        Self::Scheme(error)
    }
}

impl<R: PolyRing> Arithmetic for Evaluator<R> {
    type Error = BfvError;
    type Operand = Extended<R>;
    type Sum = ProductSum<R>;

    exact_arithmetic!();

    fn bits_left(&self, a: &Ciphertext<R>) -> f64 {
        self.context().bits_left(a.noise())
    }

    fn operand(&self, a: &Ciphertext<R>) -> Outcome<Self, Extended<R>> {
        Ok(self.extend(a)?)
    }

    fn add_product(
        &self,
        sum: &mut Option<ProductSum<R>>,
        a: &Extended<R>,
        b: &Extended<R>,
    ) -> Outcome<Self, ()> {
        Ok(Self::add_product(self, sum.get_or_insert_default(), a, b)?)
    }

    fn finish(&self, sum: ProductSum<R>, keys: &EvaluationKeys<R>) -> Outcome<Self, Ciphertext<R>> {
        Ok(self.relinearize_products(sum, relinearization(keys)?)?)
    }

    fn sum_of_products(
        &self,
        terms: &[(&Ciphertext<R>, &Ciphertext<R>)],
        keys: &EvaluationKeys<R>,
    ) -> Outcome<Self, Ciphertext<R>> {
        Ok(self.dot_product(terms, relinearization(keys)?)?)
    }
}

impl<R: PolyRing> Automorphisms for Evaluator<R> {
    exact_automorphisms!();
}
