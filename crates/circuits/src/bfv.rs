//! BFV as circuits see it.

use sunzi_bfv::{BfvError, Ciphertext, Evaluator, Extended, Plaintext, PreparedPlaintext, ProductSum};
use sunzi_ring::PolyRing;
use sunzi_rlwe::{GaloisKeys, RelinearizationKey};

use crate::keys::exponent;
use crate::{Arithmetic, CircuitError, EvaluationKeys, Outcome, Rotation};

impl From<BfvError> for CircuitError<BfvError> {
    fn from(error: BfvError) -> Self {
        Self::Scheme(error)
    }
}

impl<R: PolyRing> Arithmetic for Evaluator<R> {
    type Ciphertext = Ciphertext<R>;
    type Plaintext = Plaintext;
    type Keys = EvaluationKeys<R>;
    type Error = BfvError;
    type Operand = Extended<R>;
    type Sum = ProductSum<R>;
    type Factor = PreparedPlaintext<R>;

    fn row_length(&self) -> usize {
        self.context().degree() / 2
    }

    fn plain_modulus(&self) -> u64 {
        self.context().plain_modulus()
    }

    fn bits_left(&self, a: &Ciphertext<R>) -> f64 {
        self.context().bits_left(a.noise())
    }

    fn can_relinearize(&self, keys: &EvaluationKeys<R>) -> bool {
        keys.relinearization.is_some()
    }

    fn can_rotate(&self, keys: &EvaluationKeys<R>, rotation: Rotation) -> bool {
        keys.has_exponent(exponent(self.context().degree(), rotation))
    }

    fn add(&self, a: &Ciphertext<R>, b: &Ciphertext<R>) -> Outcome<Self, Ciphertext<R>> {
        Ok(Self::add(self, a, b)?)
    }

    fn sub(&self, a: &Ciphertext<R>, b: &Ciphertext<R>) -> Outcome<Self, Ciphertext<R>> {
        Ok(Self::sub(self, a, b)?)
    }

    fn negate(&self, a: &Ciphertext<R>) -> Outcome<Self, Ciphertext<R>> {
        Ok(Self::negate(self, a)?)
    }

    fn add_plain(&self, a: &Ciphertext<R>, m: &Plaintext) -> Outcome<Self, Ciphertext<R>> {
        Ok(Self::add_plain(self, a, m)?)
    }

    fn sub_plain(&self, a: &Ciphertext<R>, m: &Plaintext) -> Outcome<Self, Ciphertext<R>> {
        Ok(Self::sub_plain(self, a, m)?)
    }

    fn add_scalar(&self, a: &Ciphertext<R>, c: i64) -> Outcome<Self, Ciphertext<R>> {
        let t = self.context().plain_modulus();
        let residue = i128::from(c).rem_euclid(i128::from(t)) as u64;
        let constant = Plaintext::constant(residue, self.context().degree(), t).map_err(BfvError::from)?;
        Ok(Self::add_plain(self, a, &constant)?)
    }

    fn multiply_scalar(&self, a: &Ciphertext<R>, c: i64) -> Outcome<Self, Ciphertext<R>> {
        Ok(Self::multiply_scalar(self, a, c)?)
    }

    fn factor(&self, m: &Plaintext) -> Outcome<Self, PreparedPlaintext<R>> {
        Ok(self.prepare_plain(m)?)
    }

    fn sum_of_plain_products(
        &self,
        terms: &[(&Ciphertext<R>, &PreparedPlaintext<R>)],
    ) -> Outcome<Self, Ciphertext<R>> {
        Ok(Self::sum_of_plain_products(self, terms.iter().copied())?)
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

    fn multiply_unrelinearized(&self, a: &Ciphertext<R>, b: &Ciphertext<R>) -> Outcome<Self, Ciphertext<R>> {
        Ok(Self::multiply_unrelinearized(self, a, b)?)
    }

    fn relinearize(&self, a: &Ciphertext<R>, keys: &EvaluationKeys<R>) -> Outcome<Self, Ciphertext<R>> {
        Ok(Self::relinearize(self, a, relinearization(keys)?)?)
    }

    fn multiply(
        &self,
        a: &Ciphertext<R>,
        b: &Ciphertext<R>,
        keys: &EvaluationKeys<R>,
    ) -> Outcome<Self, Ciphertext<R>> {
        Ok(Self::multiply(self, a, b, relinearization(keys)?)?)
    }

    fn sum_of_products(
        &self,
        terms: &[(&Ciphertext<R>, &Ciphertext<R>)],
        keys: &EvaluationKeys<R>,
    ) -> Outcome<Self, Ciphertext<R>> {
        Ok(self.dot_product(terms, relinearization(keys)?)?)
    }

    fn square(&self, a: &Ciphertext<R>, keys: &EvaluationKeys<R>) -> Outcome<Self, Ciphertext<R>> {
        Ok(Self::square(self, a, relinearization(keys)?)?)
    }

    fn rotate(
        &self,
        a: &Ciphertext<R>,
        rotation: Rotation,
        keys: &EvaluationKeys<R>,
    ) -> Outcome<Self, Ciphertext<R>> {
        let exponent = exponent(self.context().degree(), rotation);
        if exponent == 1 {
            return Ok(a.clone());
        }
        Ok(self.automorphism(a, exponent, galois(keys, rotation)?)?)
    }

    fn rotate_many(
        &self,
        a: &Ciphertext<R>,
        steps: &[i64],
        keys: &EvaluationKeys<R>,
    ) -> Outcome<Self, Vec<Ciphertext<R>>> {
        let moving = steps.iter().filter_map(|&s| Rotation::Rows(s).reduced(self.row_length()));
        let moving: Vec<Rotation> = moving.collect();
        match moving.as_slice() {
            // Nothing to share.
            [] | [_] => steps.iter().map(|&steps| self.rotate(a, Rotation::Rows(steps), keys)).collect(),
            [rotation, ..] => Ok(self.rotate_rows_many(a, steps, galois(keys, *rotation)?)?),
        }
    }
}

fn relinearization<R: PolyRing>(
    keys: &EvaluationKeys<R>,
) -> Result<&RelinearizationKey<R>, CircuitError<BfvError>> {
    keys.relinearization.as_ref().ok_or(CircuitError::MissingRelinearizationKey)
}

fn galois<R: PolyRing>(
    keys: &EvaluationKeys<R>,
    rotation: Rotation,
) -> Result<&GaloisKeys<R>, CircuitError<BfvError>> {
    keys.galois.as_ref().ok_or(CircuitError::MissingRotation { rotation })
}
