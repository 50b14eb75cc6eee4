//! BGV as circuits see it: a factor is switched to its level once, a sum of products relinearised once.

use sunzi_bgv::{Bgv, BgvError, Ciphertext, Evaluator};
use sunzi_rlwe::RelinearizationKey;

use crate::{CircuitError, ExactEvaluator};

impl From<BgvError> for CircuitError<BgvError> {
    fn from(error: BgvError) -> Self {
        Self::Scheme(error)
    }
}

impl ExactEvaluator for Evaluator {
    type Scheme = Bgv;
    type Operand = Ciphertext;
    type Sum = Ciphertext;

    fn bits_left(&self, a: &Ciphertext) -> f64 {
        // A ciphertext of another ring does not decrypt.
        self.context().bits_left(a).unwrap_or(f64::NEG_INFINITY)
    }

    fn operand(&self, a: &Ciphertext) -> Result<Ciphertext, BgvError> {
        Self::operand(self, a)
    }

    fn add_product(
        &self,
        sum: &mut Option<Ciphertext>,
        a: &Ciphertext,
        b: &Ciphertext,
    ) -> Result<(), BgvError> {
        let product = Self::multiply_unrelinearized(self, a, b)?;
        match sum {
            Some(sum) => self.add_assign(sum, &product)?,
            None => *sum = Some(product),
        }
        Ok(())
    }

    fn finish(&self, sum: Ciphertext, key: &RelinearizationKey) -> Result<Ciphertext, BgvError> {
        (**self).relinearize(&sum, key)
    }

    fn unrelinearized(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, BgvError> {
        Self::multiply_unrelinearized(self, a, b)
    }

    fn product(
        &self,
        a: &Ciphertext,
        b: &Ciphertext,
        key: &RelinearizationKey,
    ) -> Result<Ciphertext, BgvError> {
        Self::multiply(self, a, b, key)
    }

    fn factor_of_product(
        &self,
        a: &Ciphertext,
        b: &Ciphertext,
        key: &RelinearizationKey,
    ) -> Result<Ciphertext, BgvError> {
        self.multiply_switched(a, b, key)
    }

    fn dot_product(
        &self,
        terms: &[(&Ciphertext, &Ciphertext)],
        key: &RelinearizationKey,
    ) -> Result<Ciphertext, BgvError> {
        self.sum_of_products(terms.iter().copied(), key)
    }
}
