//! What the evaluators of the exact schemes, BFV and BGV, have in common: methods of the same names.

use std::borrow::Cow;

use sunzi_rlwe::{GaloisKeys, KeyId, RelinearizationKey, RlweContext};

use crate::{CircuitError, EvaluationKeys, Rotation};

/// The methods of [`Arithmetic`](crate::Arithmetic) that an evaluator has by itself.
macro_rules! exact_arithmetic {
    () => {
        type Ciphertext = Ciphertext;
        type Plaintext = Plaintext;
        type Keys = EvaluationKeys;
        type Factor = PreparedPlaintext;
        type Multiplier = PreparedMultiplier;

        fn row_length(&self) -> usize {
            self.context().degree() / 2
        }

        fn plain_modulus(&self) -> u64 {
            self.context().plain_modulus()
        }

        fn can_relinearize(&self, keys: &EvaluationKeys) -> bool {
            keys.relinearization.is_some()
        }

        fn can_rotate(&self, keys: &EvaluationKeys, rotation: Rotation) -> bool {
            let exponent = crate::keys::exponent(self.context().ring().index(), rotation);
            exponent.is_ok_and(|exponent| keys.has_exponent(exponent))
        }

        fn add(&self, a: &Ciphertext, b: &Ciphertext) -> Outcome<Self, Ciphertext> {
            Ok(Self::add(self, a, b)?)
        }

        fn sub(&self, a: &Ciphertext, b: &Ciphertext) -> Outcome<Self, Ciphertext> {
            Ok(Self::sub(self, a, b)?)
        }

        fn negate(&self, a: &Ciphertext) -> Outcome<Self, Ciphertext> {
            Ok(Self::negate(self, a)?)
        }

        fn add_plain(&self, a: &Ciphertext, m: &Plaintext) -> Outcome<Self, Ciphertext> {
            Ok(Self::add_plain(self, a, m)?)
        }

        fn sub_plain(&self, a: &Ciphertext, m: &Plaintext) -> Outcome<Self, Ciphertext> {
            Ok(Self::sub_plain(self, a, m)?)
        }

        fn add_scalar(&self, a: &Ciphertext, c: i64) -> Outcome<Self, Ciphertext> {
            let t = self.context().plain_modulus();
            let residue = i128::from(c).rem_euclid(i128::from(t)) as u64;
            let constant =
                Plaintext::constant(residue, self.context().degree(), t).map_err(Self::Error::from)?;
            Ok(Self::add_plain(self, a, &constant)?)
        }

        fn multiply_scalar(&self, a: &Ciphertext, c: i64) -> Outcome<Self, Ciphertext> {
            Ok(Self::multiply_scalar(self, a, c)?)
        }

        fn factor(&self, m: &Plaintext) -> Outcome<Self, PreparedPlaintext> {
            Ok(self.prepare_plain(m)?)
        }

        fn sum_of_plain_products(
            &self,
            terms: &[(&Ciphertext, &PreparedPlaintext)],
        ) -> Outcome<Self, Ciphertext> {
            Ok(Self::sum_of_plain_products(self, terms.iter().copied())?)
        }

        fn multiplier(&self, m: &Plaintext) -> Outcome<Self, PreparedMultiplier> {
            Ok(self.prepare_multiplier(m)?)
        }

        fn linear_map<'a>(
            &self,
            a: &Ciphertext,
            steps: &[GiantStep<'a, i64, Self>],
            keys: &EvaluationKeys,
        ) -> Outcome<Self, Ciphertext> {
            let index = self.context().ring().index();
            let exponent = |steps: i64| {
                crate::keys::exponent(index, Rotation::Rows(steps)).map_err(<Self as Arithmetic>::Error::from)
            };
            let mut by_exponents: Vec<GiantStep<'a, u64, Self>> = Vec::with_capacity(steps.len());
            for (giant, terms) in steps {
                let terms = terms.iter().map(|&(baby, m)| Ok((exponent(baby)?, m)));
                by_exponents.push((exponent(*giant)?, terms.collect::<Result<_, Self::Error>>()?));
            }
            let keys = crate::exact::galois_or_none(keys, self.context().rlwe(), a.key());
            Ok(Self::linear_map(self, a, &by_exponents, &keys)?)
        }

        fn multiply_unrelinearized(&self, a: &Ciphertext, b: &Ciphertext) -> Outcome<Self, Ciphertext> {
            Ok(Self::multiply_unrelinearized(self, a, b)?)
        }

        fn relinearize(&self, a: &Ciphertext, keys: &EvaluationKeys) -> Outcome<Self, Ciphertext> {
            Ok(Self::relinearize(self, a, crate::exact::relinearization(keys)?)?)
        }

        fn multiply(
            &self,
            a: &Ciphertext,
            b: &Ciphertext,
            keys: &EvaluationKeys,
        ) -> Outcome<Self, Ciphertext> {
            Ok(Self::multiply(self, a, b, crate::exact::relinearization(keys)?)?)
        }

        fn square(&self, a: &Ciphertext, keys: &EvaluationKeys) -> Outcome<Self, Ciphertext> {
            Ok(Self::square(self, a, crate::exact::relinearization(keys)?)?)
        }

        fn rotate(
            &self,
            a: &Ciphertext,
            rotation: Rotation,
            keys: &EvaluationKeys,
        ) -> Outcome<Self, Ciphertext> {
            let index = self.context().ring().index();
            let exponent =
                crate::keys::exponent(index, rotation).map_err(<Self as Arithmetic>::Error::from)?;
            if exponent == 1 {
                return Ok(a.clone());
            }
            Ok(self.automorphism(a, exponent, crate::exact::galois(keys, rotation)?)?)
        }

        fn rotate_many(
            &self,
            a: &Ciphertext,
            steps: &[i64],
            keys: &EvaluationKeys,
        ) -> Outcome<Self, Vec<Ciphertext>> {
            let moving = steps.iter().filter_map(|&s| Rotation::Rows(s).reduced(self.row_length()));
            let moving: Vec<Rotation> = moving.collect();
            match moving.as_slice() {
                // Nothing to share.
                [] | [_] => steps.iter().map(|&steps| self.rotate(a, Rotation::Rows(steps), keys)).collect(),
                [rotation, ..] => {
                    let (hoisted, keys) = (self.hoist(a)?, crate::exact::galois(keys, *rotation)?);
                    Ok(steps
                        .iter()
                        .map(|&steps| hoisted.rotate_rows(steps, keys))
                        .collect::<Result<_, _>>()?)
                }
            }
        }
    };
}

/// The methods of [`Automorphisms`](crate::Automorphisms), which an evaluator has by itself.
macro_rules! exact_automorphisms {
    () => {
        fn can_apply(&self, keys: &EvaluationKeys, exponent: u64) -> bool {
            keys.has_exponent(exponent)
        }

        fn automorphism(
            &self,
            a: &Ciphertext,
            exponent: u64,
            keys: &EvaluationKeys,
        ) -> Outcome<Self, Ciphertext> {
            if exponent == 1 {
                return Ok(a.clone());
            }
            let missing = CircuitError::MissingAutomorphism { exponent };
            Ok(Self::automorphism(self, a, exponent, keys.galois.as_ref().ok_or(missing)?)?)
        }

        fn linear_map_by_exponents(
            &self,
            a: &Ciphertext,
            steps: &[GiantStep<'_, u64, Self>],
            keys: &EvaluationKeys,
        ) -> Outcome<Self, Ciphertext> {
            let keys = crate::exact::galois_or_none(keys, self.context().rlwe(), a.key());
            Ok(Self::linear_map(self, a, steps, &keys)?)
        }

        fn automorphisms(
            &self,
            a: &Ciphertext,
            exponents: &[u64],
            keys: &EvaluationKeys,
        ) -> Outcome<Self, Vec<Ciphertext>> {
            let moving = exponents.iter().copied().find(|&exponent| exponent != 1);
            let Some(exponent) = moving else { return Ok(vec![a.clone(); exponents.len()]) };
            let missing = CircuitError::MissingAutomorphism { exponent };
            let (hoisted, keys) = (self.hoist(a)?, keys.galois.as_ref().ok_or(missing)?);
            Ok(exponents
                .iter()
                .map(|&exponent| hoisted.automorphism(exponent, keys))
                .collect::<Result<_, _>>()?)
        }
    };
}

pub(crate) use {exact_arithmetic, exact_automorphisms};

pub(crate) fn relinearization<E: std::error::Error>(
    keys: &EvaluationKeys,
) -> Result<&RelinearizationKey, CircuitError<E>> {
    keys.relinearization.as_ref().ok_or(CircuitError::MissingRelinearizationKey)
}

pub(crate) fn galois<E: std::error::Error>(
    keys: &EvaluationKeys,
    rotation: Rotation,
) -> Result<&GaloisKeys, CircuitError<E>> {
    keys.galois.as_ref().ok_or(CircuitError::MissingRotation { rotation })
}

/// The keys of automorphisms, or none of them where none are there: the identity needs none.
pub(crate) fn galois_or_none<'a>(
    keys: &'a EvaluationKeys,
    context: &RlweContext,
    id: KeyId,
) -> Cow<'a, GaloisKeys> {
    match &keys.galois {
        Some(keys) => Cow::Borrowed(keys),
        None => Cow::Owned(GaloisKeys::none(context, id)),
    }
}
