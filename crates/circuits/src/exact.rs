//! Arithmetic of BFV and BGV for circuits: [`Arithmetic`] for the evaluator of every exact scheme.

use std::borrow::Cow;
use std::ops::Deref;

use sunzi_encoding::Plaintext;
use sunzi_rlwe::evaluator::{PreparedMultiplier, PreparedPlaintext};
use sunzi_rlwe::{Ciphertext, Evaluator, Exact, GaloisKeys, Homomorphic, RelinearizationKey};

use crate::{Arithmetic, Automorphisms, CircuitError, EvaluationKeys, GiantStep, Outcome, Rotation};

/// An evaluator of an exact scheme, by the steps of its products; all else schemes share.
pub trait ExactEvaluator: Deref<Target = Evaluator<<Self as ExactEvaluator>::Scheme>> + Sync {
    /// Exact scheme of the evaluator.
    type Scheme: Exact<Error: std::error::Error + Send + Sync + 'static>;
    /// Type of a ciphertext made ready to be multiplied with others.
    type Operand: Send + Sync;
    /// Type of a sum of products that is not finished.
    type Sum: Send;

    /// Number of bits that a ciphertext has left before decryption would refuse it.
    fn bits_left(&self, a: &Encrypted<Self>) -> f64;
    /// Does the part of a product that depends on one factor alone.
    ///
    /// # Errors
    /// Every error of the scheme, as in all methods of this trait.
    fn operand(&self, a: &Encrypted<Self>) -> Result<Self::Operand, Failure<Self>>;
    /// Adds the product a·b to a sum, where none counts as zero. On an error the sum must not be used.
    ///
    /// # Errors
    /// Every error of the scheme.
    fn add_product(
        &self,
        sum: &mut Option<Self::Sum>,
        a: &Self::Operand,
        b: &Self::Operand,
    ) -> Result<(), Failure<Self>>;
    /// Turns a sum of products into a ciphertext that may be multiplied again.
    ///
    /// # Errors
    /// Every error of the scheme.
    fn finish(&self, sum: Self::Sum, key: &RelinearizationKey) -> Computed<Self>;
    /// Returns the product a·b of two ciphertexts in three parts.
    ///
    /// # Errors
    /// Every error of the scheme.
    fn unrelinearized(&self, a: &Encrypted<Self>, b: &Encrypted<Self>) -> Computed<Self>;
    /// Returns the product a·b of two ciphertexts, relinearised.
    ///
    /// # Errors
    /// Every error of the scheme.
    fn product(&self, a: &Encrypted<Self>, b: &Encrypted<Self>, key: &RelinearizationKey) -> Computed<Self>;
    /// Returns the product a·b of two ciphertexts, relinearised, to be multiplied next.
    ///
    /// # Errors
    /// Every error of the scheme.
    fn factor_of_product(
        &self,
        a: &Encrypted<Self>,
        b: &Encrypted<Self>,
        key: &RelinearizationKey,
    ) -> Computed<Self> {
        self.product(a, b, key)
    }
    /// Returns the square a² of a ciphertext, relinearised.
    ///
    /// # Errors
    /// Every error of the scheme.
    fn squared(&self, a: &Encrypted<Self>, key: &RelinearizationKey) -> Computed<Self> {
        self.product(a, a, key)
    }
    /// Returns the sum Σ a_i·b_i of products of ciphertexts, relinearised once.
    ///
    /// # Errors
    /// Every error of the scheme.
    fn dot_product(
        &self,
        terms: &[(&Encrypted<Self>, &Encrypted<Self>)],
        key: &RelinearizationKey,
    ) -> Computed<Self>;
}

/// A ciphertext of an evaluator's scheme.
type Encrypted<E> = Ciphertext<<E as ExactEvaluator>::Scheme>;
/// A ciphertext, or the error of an evaluator's scheme.
type Computed<E> = Result<Encrypted<E>, Failure<E>>;
/// A ciphertext, or the error of a circuit in an evaluator's scheme.
type Circuit<E> = Outcome<E, Encrypted<E>>;
/// Type of the errors of an evaluator's scheme.
type Failure<E> = <<E as ExactEvaluator>::Scheme as Homomorphic>::Error;

impl<E: ExactEvaluator> Arithmetic for E {
    type Ciphertext = Encrypted<E>;
    type Plaintext = Plaintext;
    type Keys = EvaluationKeys;
    type Error = Failure<E>;
    type Operand = E::Operand;
    type Sum = E::Sum;
    type Factor = PreparedPlaintext;
    type Multiplier = PreparedMultiplier;

    fn row_length(&self) -> usize {
        ring_degree(self) / 2
    }

    fn plain_modulus(&self) -> u64 {
        E::Scheme::plain_modulus(self.context())
    }

    fn bits_left(&self, a: &Encrypted<E>) -> f64 {
        ExactEvaluator::bits_left(self, a)
    }

    fn can_relinearize(&self, keys: &EvaluationKeys) -> bool {
        keys.relinearization.is_some()
    }

    fn can_rotate(&self, keys: &EvaluationKeys, rotation: Rotation) -> bool {
        exponent(self, rotation).is_ok_and(|exponent| keys.has_exponent(exponent))
    }

    fn add(&self, a: &Encrypted<E>, b: &Encrypted<E>) -> Circuit<E> {
        self.deref().add(a, b).map_err(CircuitError::Scheme)
    }

    fn sub(&self, a: &Encrypted<E>, b: &Encrypted<E>) -> Circuit<E> {
        self.deref().sub(a, b).map_err(CircuitError::Scheme)
    }

    fn negate(&self, a: &Encrypted<E>) -> Circuit<E> {
        self.deref().negate(a).map_err(CircuitError::Scheme)
    }

    fn add_plain(&self, a: &Encrypted<E>, m: &Plaintext) -> Circuit<E> {
        self.deref().add_plain(a, m).map_err(CircuitError::Scheme)
    }

    fn sub_plain(&self, a: &Encrypted<E>, m: &Plaintext) -> Circuit<E> {
        self.deref().sub_plain(a, m).map_err(CircuitError::Scheme)
    }

    fn add_scalar(&self, a: &Encrypted<E>, c: i64) -> Circuit<E> {
        self.deref().add_scalar(a, c).map_err(CircuitError::Scheme)
    }

    fn multiply_scalar(&self, a: &Encrypted<E>, c: i64) -> Circuit<E> {
        self.deref().multiply_scalar(a, c).map_err(CircuitError::Scheme)
    }

    fn factor(&self, m: &Plaintext) -> Outcome<E, PreparedPlaintext> {
        self.prepare_plain(m).map_err(CircuitError::Scheme)
    }

    fn sum_of_plain_products(&self, terms: &[(&Encrypted<E>, &PreparedPlaintext)]) -> Circuit<E> {
        self.deref().sum_of_plain_products(terms.iter().copied()).map_err(CircuitError::Scheme)
    }

    fn multiplier(&self, m: &Plaintext) -> Outcome<E, PreparedMultiplier> {
        self.prepare_multiplier(m).map_err(CircuitError::Scheme)
    }

    fn linear_map<'a>(
        &self,
        a: &Encrypted<E>,
        steps: &[GiantStep<'a, i64, E>],
        keys: &EvaluationKeys,
    ) -> Circuit<E> {
        let row = |steps: i64| exponent(self, Rotation::Rows(steps));
        let mut by_exponents: Vec<GiantStep<'a, u64, E>> = Vec::with_capacity(steps.len());
        for (giant, terms) in steps {
            let terms = terms.iter().map(|&(baby, m)| Ok((row(baby)?, m)));
            by_exponents.push((row(*giant)?, terms.collect::<Outcome<E, _>>()?));
        }
        self.linear_map_by_exponents(a, &by_exponents, keys)
    }

    fn operand(&self, a: &Encrypted<E>) -> Outcome<E, E::Operand> {
        ExactEvaluator::operand(self, a).map_err(CircuitError::Scheme)
    }

    fn add_product(&self, sum: &mut Option<E::Sum>, a: &E::Operand, b: &E::Operand) -> Outcome<E, ()> {
        ExactEvaluator::add_product(self, sum, a, b).map_err(CircuitError::Scheme)
    }

    fn finish(&self, sum: E::Sum, keys: &EvaluationKeys) -> Circuit<E> {
        ExactEvaluator::finish(self, sum, relinearization(keys)?).map_err(CircuitError::Scheme)
    }

    fn multiply_unrelinearized(&self, a: &Encrypted<E>, b: &Encrypted<E>) -> Circuit<E> {
        self.unrelinearized(a, b).map_err(CircuitError::Scheme)
    }

    fn relinearize(&self, a: &Encrypted<E>, keys: &EvaluationKeys) -> Circuit<E> {
        self.deref().relinearize(a, relinearization(keys)?).map_err(CircuitError::Scheme)
    }

    fn multiply(&self, a: &Encrypted<E>, b: &Encrypted<E>, keys: &EvaluationKeys) -> Circuit<E> {
        self.product(a, b, relinearization(keys)?).map_err(CircuitError::Scheme)
    }

    fn multiply_towards_product(
        &self,
        a: &Encrypted<E>,
        b: &Encrypted<E>,
        keys: &EvaluationKeys,
    ) -> Circuit<E> {
        self.factor_of_product(a, b, relinearization(keys)?).map_err(CircuitError::Scheme)
    }

    fn square(&self, a: &Encrypted<E>, keys: &EvaluationKeys) -> Circuit<E> {
        self.squared(a, relinearization(keys)?).map_err(CircuitError::Scheme)
    }

    fn sum_of_products(&self, terms: &[(&Encrypted<E>, &Encrypted<E>)], keys: &EvaluationKeys) -> Circuit<E> {
        self.dot_product(terms, relinearization(keys)?).map_err(CircuitError::Scheme)
    }

    fn rotate(&self, a: &Encrypted<E>, rotation: Rotation, keys: &EvaluationKeys) -> Circuit<E> {
        let exponent = exponent(self, rotation)?;
        if exponent == 1 {
            return Ok(a.clone());
        }
        let keys = keys.galois.as_ref().ok_or(CircuitError::MissingRotation { rotation })?;
        self.deref().automorphism(a, exponent, keys).map_err(CircuitError::Scheme)
    }

    fn rotate_many(
        &self,
        a: &Encrypted<E>,
        steps: &[i64],
        keys: &EvaluationKeys,
    ) -> Outcome<E, Vec<Encrypted<E>>> {
        let row = self.row_length();
        let moving: Vec<Rotation> =
            steps.iter().filter_map(|&steps| Rotation::Rows(steps).reduced(row)).collect();
        let [rotation, _, ..] = moving.as_slice() else {
            // Nothing to share.
            return steps.iter().map(|&steps| self.rotate(a, Rotation::Rows(steps), keys)).collect();
        };
        let missing = CircuitError::MissingRotation { rotation: *rotation };
        let (hoisted, keys) =
            (self.hoist(a).map_err(CircuitError::Scheme)?, keys.galois.as_ref().ok_or(missing)?);
        let rotated = steps.iter().map(|&steps| hoisted.rotate_rows(steps, keys));
        rotated.collect::<Result<_, _>>().map_err(CircuitError::Scheme)
    }
}

impl<E: ExactEvaluator> Automorphisms for E {
    fn can_apply(&self, keys: &EvaluationKeys, exponent: u64) -> bool {
        keys.has_exponent(exponent)
    }

    fn automorphism(&self, a: &Encrypted<E>, exponent: u64, keys: &EvaluationKeys) -> Circuit<E> {
        if exponent == 1 {
            return Ok(a.clone());
        }
        let keys = keys.galois.as_ref().ok_or(CircuitError::MissingAutomorphism { exponent })?;
        self.deref().automorphism(a, exponent, keys).map_err(CircuitError::Scheme)
    }

    fn linear_map_by_exponents(
        &self,
        a: &Encrypted<E>,
        steps: &[GiantStep<'_, u64, E>],
        keys: &EvaluationKeys,
    ) -> Circuit<E> {
        // The identity needs no key.
        let keys = match &keys.galois {
            Some(keys) => Cow::Borrowed(keys),
            None => Cow::Owned(GaloisKeys::none(E::Scheme::rlwe(self.context()), a.key())),
        };
        self.deref().linear_map(a, steps, &keys).map_err(CircuitError::Scheme)
    }

    fn automorphisms(
        &self,
        a: &Encrypted<E>,
        exponents: &[u64],
        keys: &EvaluationKeys,
    ) -> Outcome<E, Vec<Encrypted<E>>> {
        let moving = exponents.iter().copied().find(|&exponent| exponent != 1);
        let Some(exponent) = moving else { return Ok(vec![a.clone(); exponents.len()]) };
        let missing = CircuitError::MissingAutomorphism { exponent };
        let (hoisted, keys) =
            (self.hoist(a).map_err(CircuitError::Scheme)?, keys.galois.as_ref().ok_or(missing)?);
        let images = exponents.iter().map(|&exponent| hoisted.automorphism(exponent, keys));
        images.collect::<Result<_, _>>().map_err(CircuitError::Scheme)
    }
}

/// Returns the ring degree n of an evaluator.
fn ring_degree<E: ExactEvaluator>(evaluator: &E) -> usize {
    E::Scheme::rlwe(evaluator.context()).ring().degree()
}

/// Returns the exponent k of the automorphism X → X^k that moves slots by a rotation.
fn exponent<E: ExactEvaluator>(evaluator: &E, rotation: Rotation) -> Outcome<E, u64> {
    let index = E::Scheme::rlwe(evaluator.context()).ring().index();
    rotation.exponent(index).map_err(|error| CircuitError::Scheme(error.into()))
}

fn relinearization<E: std::error::Error>(
    keys: &EvaluationKeys,
) -> Result<&RelinearizationKey, CircuitError<E>> {
    keys.relinearization.as_ref().ok_or(CircuitError::MissingRelinearizationKey)
}
