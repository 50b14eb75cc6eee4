//! Operators on BGV ciphertexts, each of which calls a method of the evaluator.

use std::borrow::Cow;

use rand_core::CryptoRng;
use sunzi_rlwe::{
    EvaluationKeys, GaloisKeys, Operate, RelinearizationKey, RlweError, SecretKey, galois, operators,
};

use crate::{Bgv, BgvError, Ciphertext, Context, Evaluator, Plaintext};

/// A BGV evaluator that is bound to evaluation keys.
///
/// ```
/// use sunzi_bgv::{BatchEncoder, Context, Encoder, Evaluator, Parameters, WithKeys};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let parameters = Parameters::builder().depth(1).fresh_additions(1).plain_modulus(257).log2_degree(7);
/// # let parameters = parameters.security(sunzi_rlwe::Security::InsecureForResearchOnly).build()?;
/// # let context = Context::new(&parameters)?;
/// # let mut rng = sunzi_rlwe::randomness::from_os()?;
/// # let secret = sunzi_rlwe::SecretKey::generate(context.rlwe(), &mut rng)?;
/// # let encoder = BatchEncoder::new(context.degree(), context.plain_modulus())?;
/// # let a = context.encrypt_secret(&encoder.encode(&[1, 2])?, &secret, &mut rng)?;
/// let keys = context.evaluation_keys(&secret, [1], &mut rng)?;
/// let evaluator = Evaluator::new(&context);
/// let e: WithKeys<'_> = evaluator.with(&keys);
/// let sum = (e.bind(&a) + e.bind_owned(a.clone())).get()?;
/// assert_eq!(encoder.decode(&context.decrypt(&sum, &secret)?)?[..2], [2, 4]);
/// # Ok(())
/// # }
/// ```
pub type WithKeys<'a> = operators::WithKeys<'a, Bgv>;

/// An operand or result of operators on BGV ciphertexts.
///
/// ```
/// use sunzi_bgv::{BatchEncoder, Context, Encoder, Evaluator, Parameters};
/// use sunzi_rlwe::{PublicKey, SecretKey, randomness};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // 3·a is a sum of three, and its sum with the product one more.
/// let parameters = Parameters::builder().depth(1).plain_bits(17).fresh_additions(2).fresh_rotations(1);
/// let context = Context::new(&parameters.additions_per_level(1).build()?)?;
/// let mut rng = randomness::from_os()?;
/// let secret = SecretKey::generate(context.rlwe(), &mut rng)?;
/// let public = PublicKey::generate(context.rlwe(), &secret, &mut rng)?;
/// let keys = context.evaluation_keys(&secret, [1], &mut rng)?;
/// let encoder = BatchEncoder::new(context.degree(), context.plain_modulus())?;
/// let x = context.encrypt(&encoder.encode(&[1, 2, 3])?, &public, &mut rng)?;
/// let y = context.encrypt(&encoder.encode(&[4, 5, 6])?, &public, &mut rng)?;
///
/// let evaluator = Evaluator::new(&context);
/// let e = evaluator.with(&keys);
/// let (a, b) = (e.bind(&x), e.bind(&y));
/// let result = (&a * &b + 3 * &a - 1).get()?;
/// let moved = (&a << 1).get()?;
///
/// assert_eq!(encoder.decode(&context.decrypt(&result, &secret)?)?[..3], [6, 15, 26]);
/// assert_eq!(encoder.decode(&context.decrypt(&moved, &secret)?)?[..2], [2, 3]);
/// # Ok(())
/// # }
/// ```
pub type Value<'a> = operators::Value<'a, Bgv>;

/// The first error of a chain of operators on BGV ciphertexts, with the places of the operator and its operands.
///
/// ```
/// use sunzi_bgv::{BatchEncoder, BgvError, Context, Encoder, Evaluator, OperatorError, Parameters};
/// use sunzi_rlwe::RlweError;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let parameters = Parameters::builder().depth(0).plain_modulus(257).log2_degree(7);
/// # let parameters = parameters.security(sunzi_rlwe::Security::InsecureForResearchOnly).build()?;
/// # let context = Context::new(&parameters)?;
/// # let mut rng = sunzi_rlwe::randomness::from_os()?;
/// # let secret = sunzi_rlwe::SecretKey::generate(context.rlwe(), &mut rng)?;
/// # let encoder = BatchEncoder::new(context.degree(), context.plain_modulus())?;
/// # let a = context.encrypt_secret(&encoder.encode(&[1, 2])?, &secret, &mut rng)?;
/// let keys = context.evaluation_keys(&secret, [1], &mut rng)?;
/// let evaluator = Evaluator::new(&context);
/// let e = evaluator.with(&keys);
/// let Err(error) = (-((e.bind(&a) << 3) + 1)).get() else { panic!("there is no key for three slots") };
/// let error: OperatorError = error;
/// assert_eq!(error.operation(), "a rotation");
/// assert!(matches!(error.error(), BgvError::Rlwe(RlweError::MissingGaloisKey { .. })));
/// assert!(error.to_string().contains("rotation by 3 slots"));
/// # Ok(())
/// # }
/// ```
pub type OperatorError = operators::OperatorError<BgvError>;

/// The evaluator of BGV that wraps a shared one.
type Shared = sunzi_rlwe::Evaluator<Bgv>;

impl Context {
    /// Makes all keys that a server computes with: a relinearisation key, and Galois keys for rotations of both rows by
    /// these steps (left; right if negative).
    ///
    /// # Errors
    /// [`BgvError::Rlwe`] if the secret belongs to another ring, and for rotations in a ring without rows.
    pub fn evaluation_keys(
        &self,
        secret: &SecretKey,
        steps: impl IntoIterator<Item = i64>,
        rng: &mut dyn CryptoRng,
    ) -> Result<EvaluationKeys, BgvError> {
        Ok(EvaluationKeys::for_steps::<Bgv>(self, secret, steps, rng)?)
    }
}

impl Operate for Bgv {
    fn multiply(
        evaluator: &Shared,
        a: &Ciphertext,
        b: &Ciphertext,
        key: &RelinearizationKey,
    ) -> Result<Ciphertext, BgvError> {
        Evaluator::new(evaluator.context()).multiply(a, b, key)
    }

    fn square(evaluator: &Shared, a: &Ciphertext, key: &RelinearizationKey) -> Result<Ciphertext, BgvError> {
        Evaluator::new(evaluator.context()).square(a, key)
    }

    fn multiply_plain(
        evaluator: &Shared,
        a: &Ciphertext,
        plaintext: &Plaintext,
    ) -> Result<Ciphertext, BgvError> {
        evaluator.multiply_plain(a, plaintext)
    }

    fn add_integer(
        evaluator: &Shared,
        a: Cow<'_, Ciphertext>,
        constant: i128,
    ) -> Result<Ciphertext, BgvError> {
        evaluator.raised(a, constant)
    }

    fn multiply_integer(
        evaluator: &Shared,
        a: Cow<'_, Ciphertext>,
        constant: i64,
    ) -> Result<Ciphertext, BgvError> {
        evaluator.scaled(a, constant)
    }

    fn rotate(
        evaluator: &Shared,
        a: &Ciphertext,
        steps: i64,
        keys: &GaloisKeys,
    ) -> Result<Ciphertext, BgvError> {
        evaluator.rotate_rows(a, steps, keys)
    }

    fn rotation_exponent(context: &Context, steps: i64) -> Result<u64, RlweError> {
        galois::rotation_exponent(context.ring().index(), steps)
    }
}
