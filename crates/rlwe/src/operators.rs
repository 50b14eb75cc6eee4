//! Operators on ciphertexts: `+`, `-`, `*`, `<<` and `>>` between values of an evaluator that is bound to its keys.
//!
//! [`Evaluator::with`] binds an evaluator to evaluation keys, and [`WithKeys::bind`] takes ciphertexts into it. An operator
//! calls the evaluator's method at once and gives the same bits; the first error is kept, and [`Value::get`] returns the
//! ciphertext or that error, with the place of the operator and of its operands.
//!
//! What an operator costs is what its method costs. Nothing is merged: `&a * &b + &c * &d` relinearises twice, where
//! `sum_of_products` relinearises once.
//!
//! | operator | method | key switches | levels of CKKS | levels of BGV |
//! |---|---|---|---|---|
//! | `a + b`, `a - b`, `-a` | `add`, `sub`, `negate` | 0 | 0 | 0 |
//! | `a + m`, `a - m` of a plaintext m | `add_plain`, `sub_plain` | 0 | 0 | 0 |
//! | `a + c`, `a - c`, `c - a` of a number c | `add_scalar`; `add_constant` in CKKS | 0 | 0 | 0 |
//! | `a * b` | `multiply`; `square` for `&a * &a` | 1 | 1 | 1 |
//! | `a * m` of a plaintext m | `multiply_plain` | 0 | 1 | 0 |
//! | `a * c` of an integer c | `multiply_scalar`; `multiply_integer` in CKKS | 0 | 0 | 0 |
//! | `a * c` of an `f64`, CKKS only | `multiply_constant` | 0 | 1 | – |
//! | `a << k`, `a >> k` | `rotate_rows`; `rotate` in CKKS | 1, none for k = 0 | 0 | 0 |
//!
//! Operands of different levels are brought together by the methods, as ever. The left operand of `+`, `-` and the
//! operators with numbers is reused where it is a temporary (`&a * &b + &c` adds in the memory of the product) and
//! copied where it is borrowed.

mod error;
mod impls;

use std::borrow::Cow;
use std::fmt;
use std::panic::Location;

use rand_core::CryptoRng;

pub use error::{OperatorError, Place};

use crate::{
    Ciphertext, EvaluationKeys, Evaluator, GaloisKeys, Homomorphic, RelinearizationKey, RlweError, SecretKey,
};

/// A scheme whose operations operators stand for. Each function computes what the method of the scheme's evaluator
/// computes; an owned `a` may be reused for the result.
pub trait Operate: Homomorphic<Error: std::error::Error + 'static> {
    /// Multiplies two ciphertexts and relinearises the product.
    ///
    /// # Errors
    /// Every error of the scheme's `multiply`.
    fn multiply(
        evaluator: &Evaluator<Self>,
        a: &Ciphertext<Self>,
        b: &Ciphertext<Self>,
        key: &RelinearizationKey,
    ) -> Result<Ciphertext<Self>, Self::Error>;
    /// Squares a ciphertext and relinearises the square.
    ///
    /// # Errors
    /// Every error of the scheme's `square`.
    fn square(
        evaluator: &Evaluator<Self>,
        a: &Ciphertext<Self>,
        key: &RelinearizationKey,
    ) -> Result<Ciphertext<Self>, Self::Error>;
    /// Multiplies a ciphertext by a plaintext.
    ///
    /// # Errors
    /// Every error of the scheme's `multiply_plain`.
    fn multiply_plain(
        evaluator: &Evaluator<Self>,
        a: &Ciphertext<Self>,
        plaintext: &Self::Plaintext,
    ) -> Result<Ciphertext<Self>, Self::Error>;
    /// Adds an integer to every slot.
    ///
    /// # Errors
    /// Every error of the scheme's `add_scalar`, or `add_constant`.
    fn add_integer(
        evaluator: &Evaluator<Self>,
        a: Cow<'_, Ciphertext<Self>>,
        constant: i128,
    ) -> Result<Ciphertext<Self>, Self::Error>;
    /// Multiplies every slot by an integer.
    ///
    /// # Errors
    /// Every error of the scheme's `multiply_scalar`, or `multiply_integer`.
    fn multiply_integer(
        evaluator: &Evaluator<Self>,
        a: Cow<'_, Ciphertext<Self>>,
        constant: i64,
    ) -> Result<Ciphertext<Self>, Self::Error>;
    /// Rotates slots left by `steps`, right if negative.
    ///
    /// # Errors
    /// Every error of the scheme's `rotate_rows`, or `rotate`.
    fn rotate(
        evaluator: &Evaluator<Self>,
        a: &Ciphertext<Self>,
        steps: i64,
        keys: &GaloisKeys,
    ) -> Result<Ciphertext<Self>, Self::Error>;
    /// Returns the exponent k of the automorphism X → X^k that rotates slots left by `steps`.
    ///
    /// # Errors
    /// [`RlweError::NoRows`] in a ring without rows of slots.
    fn rotation_exponent(context: &Self::Context, steps: i64) -> Result<u64, RlweError>;
}

/// A scheme of real numbers, whose operators take an `f64` too: CKKS.
pub trait OperateReals: Operate {
    /// Adds a number to every slot.
    ///
    /// # Errors
    /// Every error of the scheme's `add_constant`.
    fn add_real(
        evaluator: &Evaluator<Self>,
        a: Cow<'_, Ciphertext<Self>>,
        constant: f64,
    ) -> Result<Ciphertext<Self>, Self::Error>;
    /// Multiplies every slot by a number.
    ///
    /// # Errors
    /// Every error of the scheme's `multiply_constant`.
    fn multiply_real(
        evaluator: &Evaluator<Self>,
        a: &Ciphertext<Self>,
        constant: f64,
    ) -> Result<Ciphertext<Self>, Self::Error>;
}

impl EvaluationKeys {
    /// Makes a relinearisation key, and Galois keys for rotations of a scheme's slots by these steps (left; right if
    /// negative): all that operators need. The contexts of schemes have it as `evaluation_keys`.
    ///
    /// # Errors
    /// [`RlweError::Ring`] if the secret belongs to another ring; [`RlweError::NoRows`] for rotations in a ring without rows.
    pub fn for_steps<S: Operate>(
        context: &S::Context,
        secret: &SecretKey,
        steps: impl IntoIterator<Item = i64>,
        rng: &mut dyn CryptoRng,
    ) -> Result<Self, RlweError> {
        let exponents: Result<Vec<u64>, _> =
            steps.into_iter().map(|steps| S::rotation_exponent(context, steps)).collect();
        Self::for_exponents(S::rlwe(context), secret, exponents?, rng)
    }
}

/// An evaluator bound to evaluation keys, whose [values](Value) operators compute with.
pub struct WithKeys<'a, S: Operate> {
    evaluator: &'a Evaluator<S>,
    keys: &'a EvaluationKeys,
}

impl<S: Operate> Clone for WithKeys<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: Operate> Copy for WithKeys<'_, S> {}

impl<S: Operate> fmt::Debug for WithKeys<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WithKeys").field("scheme", &S::NAME).finish_non_exhaustive()
    }
}

impl<S: Operate> Evaluator<S> {
    /// Binds an evaluator to evaluation keys, so that operators compute on its [values](Value).
    #[must_use]
    pub fn with<'a>(&'a self, keys: &'a EvaluationKeys) -> WithKeys<'a, S> {
        WithKeys { evaluator: self, keys }
    }
}

impl<'a, S: Operate> WithKeys<'a, S> {
    /// Takes a ciphertext as an operand, without a copy.
    #[track_caller]
    pub fn bind(&self, a: &'a Ciphertext<S>) -> Value<'a, S> {
        Value { with: *self, place: Location::caller(), state: Ok(Cow::Borrowed(a)) }
    }

    /// Takes an owned ciphertext as an operand, whose memory the first operator may reuse.
    #[track_caller]
    pub fn bind_owned(&self, a: Ciphertext<S>) -> Value<'a, S> {
        Value { with: *self, place: Location::caller(), state: Ok(Cow::Owned(a)) }
    }

    /// The evaluator that is bound.
    #[must_use]
    pub fn evaluator(&self) -> &'a Evaluator<S> {
        self.evaluator
    }

    /// The evaluation keys that the evaluator is bound to.
    #[must_use]
    pub fn keys(&self) -> &'a EvaluationKeys {
        self.keys
    }

    fn product(&self, a: &Ciphertext<S>, b: &Ciphertext<S>) -> Result<Ciphertext<S>, S::Error> {
        let key = self.keys.relinearization.as_ref().ok_or(RlweError::MissingRelinearizationKey)?;
        if std::ptr::eq(a, b) {
            return S::square(self.evaluator, a, key);
        }
        S::multiply(self.evaluator, a, b, key)
    }

    fn rotation(&self, a: &Ciphertext<S>, steps: i64) -> Result<Ciphertext<S>, S::Error> {
        match &self.keys.galois {
            Some(keys) => S::rotate(self.evaluator, a, steps, keys),
            None => {
                let none = GaloisKeys::none(S::rlwe(self.evaluator.context()), a.key());
                S::rotate(self.evaluator, a, steps, &none)
            }
        }
    }
}

/// An operand or result of operators: a ciphertext of a [bound evaluator](WithKeys), or the first error of the operators
/// that made it.
#[must_use = "an operator has computed; get returns its ciphertext or its error"]
pub struct Value<'a, S: Operate> {
    with: WithKeys<'a, S>,
    place: Place,
    state: Result<Cow<'a, Ciphertext<S>>, OperatorError<S::Error>>,
}

impl<S: Operate> Clone for Value<'_, S> {
    fn clone(&self) -> Self {
        Self { with: self.with, place: self.place, state: self.state.clone() }
    }
}

impl<S: Operate> fmt::Debug for Value<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state.as_ref().map(|_| S::NAME);
        f.debug_struct("Value").field("place", &self.place).field("state", &state).finish()
    }
}

impl<'a, S: Operate> Value<'a, S> {
    /// Returns the ciphertext that operators computed.
    ///
    /// # Errors
    /// The first error of the operators, which later ones pass on.
    pub fn get(self) -> Result<Ciphertext<S>, OperatorError<S::Error>> {
        self.state.map(Cow::into_owned)
    }

    /// Looks at the ciphertext that operators computed, without a copy.
    ///
    /// # Errors
    /// Every error of [`get`](Self::get).
    pub fn as_ciphertext(&self) -> Result<&Ciphertext<S>, OperatorError<S::Error>> {
        match &self.state {
            Ok(a) => Ok(a),
            Err(error) => Err(error.clone()),
        }
    }

    /// Returns the value as a left operand that is borrowed.
    fn borrowed(&self) -> Operand<'_, 'a, S> {
        let state = self.as_ciphertext().map(Cow::Borrowed);
        Operand { with: self.with, place: self.place, state }
    }

    /// Returns the value as a left operand that may be reused.
    fn owned(self) -> Operand<'a, 'a, S> {
        Operand { with: self.with, place: self.place, state: self.state }
    }
}

/// Left operand of an operator.
struct Operand<'c, 'a, S: Operate> {
    with: WithKeys<'a, S>,
    place: Place,
    state: Result<Cow<'c, Ciphertext<S>>, OperatorError<S::Error>>,
}

impl<'c, 'a, S: Operate> Operand<'c, 'a, S> {
    /// Computes an operator of one ciphertext.
    fn alone(
        self,
        operation: &'static str,
        place: Place,
        compute: impl FnOnce(WithKeys<'a, S>, Cow<'c, Ciphertext<S>>) -> Result<Ciphertext<S>, S::Error>,
    ) -> Value<'a, S> {
        let failed = |error| OperatorError::new(operation, place, [Some(self.place), None], error);
        let state = self.state.and_then(|a| compute(self.with, a).map(Cow::Owned).map_err(failed));
        Value { with: self.with, place, state }
    }

    /// Computes an operator of two ciphertexts.
    fn and(
        self,
        right: &Value<'_, S>,
        operation: &'static str,
        place: Place,
        compute: impl FnOnce(
            WithKeys<'a, S>,
            Cow<'c, Ciphertext<S>>,
            &Ciphertext<S>,
        ) -> Result<Ciphertext<S>, S::Error>,
    ) -> Value<'a, S> {
        let failed =
            |error| OperatorError::new(operation, place, [Some(self.place), Some(right.place)], error);
        let state = self.state.and_then(|a| {
            let b = right.as_ciphertext()?;
            compute(self.with, a, b).map(Cow::Owned).map_err(failed)
        });
        Value { with: self.with, place, state }
    }
}
