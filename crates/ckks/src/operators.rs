//! Operators on CKKS ciphertexts, each of which calls a method of the evaluator.

use std::borrow::Cow;
use std::ops::{Add, Mul, Sub};
use std::panic::Location;

use rand_core::CryptoRng;
use sunzi_rlwe::{
    EvaluationKeys, GaloisKeys, Operate, OperateReals, RelinearizationKey, RlweError, SecretKey, operators,
};

use crate::rotation::rotation_exponent;
use crate::{Ciphertext, Ckks, CkksError, Context, Evaluator, Plaintext};

/// A CKKS evaluator that is bound to evaluation keys.
///
/// ```
/// use sunzi_ckks::{Context, Evaluator, Parameters, WithKeys};
/// use sunzi_rlwe::EvaluationKeys;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let evaluator = Evaluator::new(&Context::new(&Parameters::builder().depth(1).build()?)?);
/// let keys = EvaluationKeys::default();
/// let e: WithKeys<'_> = evaluator.with(&keys);
/// assert!(e.keys().relinearization.is_none());
/// # Ok(())
/// # }
/// ```
pub type WithKeys<'a> = operators::WithKeys<'a, Ckks>;

/// An operand or result of operators on CKKS ciphertexts.
///
/// ```
/// use sunzi_ckks::{Context, Encoder, Evaluator, Parameters};
/// use sunzi_rlwe::{PublicKey, SecretKey, randomness};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let context = Context::new(&Parameters::builder().depth(2).precision(20).build()?)?;
/// let mut rng = randomness::from_os()?;
/// let secret = SecretKey::generate(context.rlwe(), &mut rng)?;
/// let public = PublicKey::generate(context.rlwe(), &secret, &mut rng)?;
/// let keys = context.evaluation_keys(&secret, [1], &mut rng)?;
/// let encoder = Encoder::new(&context, 2)?;
/// let x = context.encrypt(&encoder.encode_real(&[0.5, -1.0])?, &public, &mut rng)?;
///
/// let evaluator = Evaluator::new(&context);
/// let e = evaluator.with(&keys);
/// let a = e.bind(&x);
/// // The square and the product with 0.5 take a level each; the integer and the rotation none.
/// let result = (&a * &a * 0.5 - 3 * &a + (&a << 1)).get()?;
///
/// let opened = encoder.decode_real(&context.decrypt(&result, &secret)?)?;
/// assert!((opened[0] - (0.125 - 1.5 - 1.0)).abs() < 1e-4);
/// assert!((opened[1] - (0.5 + 3.0 + 0.5)).abs() < 1e-4);
/// # Ok(())
/// # }
/// ```
pub type Value<'a> = operators::Value<'a, Ckks>;

/// The first error of a chain of operators on CKKS ciphertexts, with the places of the operator and its operands.
///
/// ```
/// use sunzi_ckks::{CkksError, Context, Encoder, Evaluator, LevelRange, OperatorError, Parameters};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let ranges = [LevelRange { levels: 1, scale_bits: 40 }];
/// # let security = sunzi_rlwe::Security::InsecureForResearchOnly;
/// # let context = Context::new(&Parameters::from_ranges(8, 50, &ranges, security)?.with_digits(3)?)?;
/// # let mut rng = sunzi_rlwe::randomness::from_os()?;
/// # let secret = sunzi_rlwe::SecretKey::generate(context.rlwe(), &mut rng)?;
/// # let encoder = Encoder::new(&context, 4)?;
/// # let a = context.encrypt_secret(&encoder.encode_real(&[0.5])?, &secret, &mut rng)?;
/// let keys = context.evaluation_keys(&secret, [1], &mut rng)?;
/// let evaluator = Evaluator::new(&context);
/// let e = evaluator.with(&keys);
/// let Err(error) = (-((e.bind(&a) << 3) + 1)).get() else { panic!("there is no key for three slots") };
/// let error: OperatorError = error;
/// assert_eq!(error.operation(), "a rotation");
/// assert!(matches!(error.error(), CkksError::MissingRotation { .. }));
/// assert!(error.to_string().contains("rotation by 3 slots"));
/// # Ok(())
/// # }
/// ```
pub type OperatorError = operators::OperatorError<CkksError>;

/// The shared evaluator that the evaluator of CKKS wraps.
type Shared = sunzi_rlwe::Evaluator<Ckks>;

impl Context {
    /// Makes all keys that a server computes with, for ciphertexts of every level: a relinearisation key, and Galois keys
    /// for rotations of the slots by these steps (left; right if negative).
    ///
    /// # Errors
    /// [`CkksError::Rlwe`] if the secret belongs to another ring.
    pub fn evaluation_keys(
        &self,
        secret: &SecretKey,
        steps: impl IntoIterator<Item = i64>,
        rng: &mut dyn CryptoRng,
    ) -> Result<EvaluationKeys, CkksError> {
        Ok(EvaluationKeys::for_steps::<Ckks>(self, secret, steps, rng)?)
    }
}

impl Operate for Ckks {
    fn multiply(
        evaluator: &Shared,
        a: &Ciphertext,
        b: &Ciphertext,
        key: &RelinearizationKey,
    ) -> Result<Ciphertext, CkksError> {
        Evaluator::new(evaluator.context()).multiply(a, b, key)
    }

    fn square(evaluator: &Shared, a: &Ciphertext, key: &RelinearizationKey) -> Result<Ciphertext, CkksError> {
        Evaluator::new(evaluator.context()).square(a, key)
    }

    fn multiply_plain(
        evaluator: &Shared,
        a: &Ciphertext,
        plaintext: &Plaintext,
    ) -> Result<Ciphertext, CkksError> {
        Evaluator::new(evaluator.context()).multiply_plain(a, plaintext)
    }

    /// Adds an integer; above 2^53 its nearest double.
    fn add_integer(
        evaluator: &Shared,
        a: Cow<'_, Ciphertext>,
        constant: i128,
    ) -> Result<Ciphertext, CkksError> {
        Self::add_real(evaluator, a, constant as f64)
    }

    fn multiply_integer(
        evaluator: &Shared,
        a: Cow<'_, Ciphertext>,
        constant: i64,
    ) -> Result<Ciphertext, CkksError> {
        Evaluator::new(evaluator.context()).multiply_integer(&a, constant)
    }

    fn rotate(
        evaluator: &Shared,
        a: &Ciphertext,
        steps: i64,
        keys: &GaloisKeys,
    ) -> Result<Ciphertext, CkksError> {
        Evaluator::new(evaluator.context()).rotate(a, steps, keys)
    }

    fn rotation_exponent(context: &Context, steps: i64) -> Result<u64, RlweError> {
        Ok(rotation_exponent(steps, context.ring().index()))
    }
}

impl OperateReals for Ckks {
    fn add_real(evaluator: &Shared, a: Cow<'_, Ciphertext>, constant: f64) -> Result<Ciphertext, CkksError> {
        evaluator.context().check(&a)?;
        let mut sum = a.into_owned();
        Evaluator::new(evaluator.context()).add_constant_assign(&mut sum, constant)?;
        Ok(sum)
    }

    fn multiply_real(evaluator: &Shared, a: &Ciphertext, constant: f64) -> Result<Ciphertext, CkksError> {
        Evaluator::new(evaluator.context()).multiply_constant(a, constant)
    }
}

/// Writes an operator of a ciphertext and a CKKS plaintext. A borrowed operand is copied where its sum is made in place.
macro_rules! plaintexts {
    ($Operator:ident, $method:ident, $call:ident $(, $clone:ident)?) => {
        impl<'a> $Operator<&Plaintext> for Value<'a> {
            type Output = Value<'a>;
            #[track_caller]
            fn $method(self, plaintext: &Plaintext) -> Value<'a> {
                self.$call(plaintext, Location::caller())
            }
        }
        impl<'a> $Operator<&Plaintext> for &Value<'a> {
            type Output = Value<'a>;
            #[track_caller]
            fn $method(self, plaintext: &Plaintext) -> Value<'a> {
                self$(.$clone())?.$call(plaintext, Location::caller())
            }
        }
    };
}

plaintexts!(Add, add, plus_plain, clone);
plaintexts!(Sub, sub, minus_plain, clone);
plaintexts!(Mul, mul, times_plain);
