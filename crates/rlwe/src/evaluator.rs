//! Evaluator of the operations on ciphertexts that all schemes share.
//!
//! An operation checks its operands, brings them to one level, computes part by part, and asks the scheme whether the result is
//! admitted. [`Homomorphic`] is a scheme's part in these steps, [`Exact`] what BFV and BGV add to it. The evaluator
//! of a scheme wraps [`Evaluator`] and adds what that scheme alone does, products above all.

mod add;
mod encrypted_matrix;
mod linear_map;
mod matrix;
mod plain;
mod plain_matrix;
mod rotate;

use std::borrow::Cow;

use rand_core::CryptoRng;
use sunzi_encoding::{EncodingError, Plaintext};
use sunzi_ring::{Ring, RingError};

pub use encrypted_matrix::{MatrixFactors, Transposition};
pub use linear_map::{GiantStep, PreparedMultiplier};
pub use matrix::{CommonRow, PreparedMatrix};
pub use plain::PreparedPlaintext;
pub use plain_matrix::PlainMatrix;
pub use rotate::Hoisted;

use crate::encryption::{encrypt_public, encrypt_secret};
use crate::{
    Ciphertext, EncryptionKey, NoiseBound, NoiseTerm, RelinearizationKey, RlweContext, RlweError, Scheme,
    SecretKey, Sign, Trace, relinearization,
};

/// Two aligned operands: each ciphertext is borrowed, or owned where it was brought to the level of the other.
pub type Pair<'a, 'b, S> = (Cow<'a, Ciphertext<S>>, Cow<'b, Ciphertext<S>>);

/// A scheme with homomorphic operations: what its ciphertexts carry through the operations that all schemes share.
pub trait Homomorphic: Scheme {
    /// Type of the scheme's contexts: ring, moduli and limits of a parameter set.
    type Context: Clone + std::fmt::Debug + Send + Sync;
    /// Type of the scheme's plaintexts, which are encoded messages.
    type Plaintext;
    /// Type of the errors of operations.
    type Error: From<RlweError> + From<RingError>;
    /// Name of an automorphism in traces, where it is not a rotation of rows.
    const AUTOMORPHISM: &'static str = "rotate";

    /// The RLWE context of a scheme's context: its ring and keys.
    fn rlwe(context: &Self::Context) -> &RlweContext;
    /// Checks that a ciphertext belongs to the context.
    ///
    /// # Errors
    /// The scheme's errors for a ciphertext of other parameters.
    fn check(context: &Self::Context, a: &Ciphertext<Self>) -> Result<(), Self::Error>;
    /// Checks two summands and brings them to one level, without copies of summands that have it. By default
    /// all ciphertexts have one level.
    ///
    /// # Errors
    /// The scheme's errors for ciphertexts of other parameters, other keys, or levels that do not meet.
    fn align<'a, 'b>(
        context: &Self::Context,
        a: Cow<'a, Ciphertext<Self>>,
        b: &'b Ciphertext<Self>,
        _operation: &'static str,
    ) -> Result<Pair<'a, 'b, Self>, Self::Error> {
        Self::check(context, &a)?;
        Self::check(context, b)?;
        Ok((a, Cow::Borrowed(b)))
    }
    /// Returns the metadata of the sum of two aligned ciphertexts; by default they are equal, and the first is taken.
    ///
    /// # Errors
    /// The scheme's errors for summands that do not fit together.
    fn join(
        _context: &Self::Context,
        a: &Self::Metadata,
        _b: &Self::Metadata,
        _operation: &'static str,
    ) -> Result<Self::Metadata, Self::Error> {
        Ok(a.clone())
    }
    /// Adds a plaintext to c_0 of a ciphertext that was checked, or subtracts it, with the noise and metadata that follow.
    ///
    /// # Errors
    /// The scheme's errors for a plaintext of other parameters.
    fn shift(
        context: &Self::Context,
        a: &mut Ciphertext<Self>,
        plaintext: &Self::Plaintext,
        sign: Sign,
        operation: &'static str,
    ) -> Result<(), Self::Error>;
    /// Returns the metadata of a ciphertext after the key switch of an automorphism.
    ///
    /// # Errors
    /// [`RlweError::Ring`] for a level that does not exist.
    fn rotated(_context: &Self::Context, metadata: &Self::Metadata) -> Result<Self::Metadata, Self::Error> {
        Ok(metadata.clone())
    }
    /// Returns the metadata of a ciphertext of three parts after its relinearisation.
    ///
    /// # Errors
    /// [`RlweError::Ring`] for a level that does not exist.
    fn relinearized(
        _context: &Self::Context,
        metadata: &Self::Metadata,
    ) -> Result<Self::Metadata, Self::Error> {
        Ok(metadata.clone())
    }
    /// Returns the metadata of a ciphertext to which noise was added that has nothing to do with its own.
    ///
    /// # Errors
    /// [`RlweError::Ring`] for a level that does not exist.
    fn noisier(
        _context: &Self::Context,
        metadata: &Self::Metadata,
        _added: NoiseTerm,
    ) -> Result<Self::Metadata, Self::Error> {
        Ok(metadata.clone())
    }
    /// Returns the bits of noise budget left in the result of an operation, for its trace.
    ///
    /// # Errors
    /// The scheme's refusal of a result that was not declared or might not decrypt.
    fn admit(
        context: &Self::Context,
        a: &Ciphertext<Self>,
        operation: &'static str,
    ) -> Result<f64, Self::Error>;
    /// Returns the error of a sum of no terms.
    fn empty(what: &'static str) -> Self::Error;
    /// Returns the scheme's error of an automorphism whose Galois key is missing.
    fn missing_key(error: RlweError) -> Self::Error {
        error.into()
    }
}

/// A scheme of exact integers modulo t: BFV and BGV.
pub trait Exact: Homomorphic<Plaintext = Plaintext, Error: From<EncodingError>> {
    /// The plaintext modulus t of a context.
    fn plain_modulus(context: &Self::Context) -> u64;
    /// Returns a context with the ring, keys and tables of this context, and the given plaintext modulus.
    ///
    /// # Errors
    /// The scheme's errors for a plaintext modulus that does not fit the ring.
    fn with_plain_modulus(context: &Self::Context, plain_modulus: u64) -> Result<Self::Context, Self::Error>;
    /// Returns the metadata of a fresh encryption of a scheme.
    ///
    /// # Errors
    /// The scheme's errors for a level that does not exist.
    fn fresh(context: &Self::Context) -> Result<Self::Metadata, Self::Error>;
    /// Encrypts a plaintext under a public or secret key.
    ///
    /// # Errors
    /// [`EncodingError::PlaintextMismatch`] for a plaintext of another degree or modulus; [`RlweError::Ring`] for a key
    /// of another ring; the scheme's refusal of the result.
    fn encrypt(
        context: &Self::Context,
        plaintext: &Plaintext,
        key: EncryptionKey<'_>,
        rng: &mut dyn CryptoRng,
    ) -> Result<Ciphertext<Self>, Self::Error> {
        let (rlwe, t) = (Self::rlwe(context), Self::plain_modulus(context));
        plaintext.check(rlwe.ring().degree(), t)?;
        let encryption = match key {
            EncryptionKey::Public(key) => encrypt_public(rlwe, key, plaintext.coefficients(), t, rng)?,
            EncryptionKey::Secret(key) => encrypt_secret(rlwe, key, plaintext.coefficients(), t, rng)?,
        };
        let fresh = Ciphertext::from_encryption(encryption, Self::fresh(context)?, key.id());
        finish(context, fresh, "encrypt", &[])
    }
    /// Decrypts a ciphertext.
    ///
    /// # Errors
    /// [`RlweError::KeyMismatch`]; the scheme's errors for a ciphertext of other parameters, and for noise that leaves no
    /// message.
    fn decrypt(
        context: &Self::Context,
        a: &Ciphertext<Self>,
        key: &SecretKey,
    ) -> Result<Plaintext, Self::Error>;
    /// Returns the error of an operand of another plaintext modulus.
    fn other_modulus(expected: u64, got: u64) -> Self::Error;
    /// Whether ciphertexts with the given metadata have one modulus and one scaling, so that their products are summed
    /// in one pass.
    fn at_one_level(_a: &Self::Metadata, _b: &Self::Metadata) -> bool {
        true
    }
    /// Returns the metadata of a ciphertext after a product with a plaintext.
    fn multiplied(metadata: &Self::Metadata) -> Self::Metadata {
        metadata.clone()
    }
    /// Returns the metadata of a ciphertext after a product with a constant of the given absolute value.
    fn scaled(metadata: &Self::Metadata, _factor: u64) -> Self::Metadata {
        metadata.clone()
    }
    /// Ends a sum of ciphertexts that was made in one pass, of terms with the given metadata.
    ///
    /// # Errors
    /// Every error of [`join`](Homomorphic::join) and [`admit`](Homomorphic::admit).
    fn finish_sum(
        context: &Self::Context,
        mut sum: Ciphertext<Self>,
        operation: &'static str,
        operands: &[&Trace],
        terms: &[(Self::Metadata, NoiseBound)],
    ) -> Result<Ciphertext<Self>, Self::Error> {
        let noises = terms.iter().map(|&(_, noise)| noise);
        sum.set_noise(noises.reduce(|a, b| a.sum(&b)).unwrap_or(*sum.noise()));
        finish(context, sum, operation, operands)
    }
}

/// An evaluator with the operations on ciphertexts that schemes share; no operation needs a secret.
#[derive(Clone, Debug)]
pub struct Evaluator<S: Homomorphic> {
    context: S::Context,
}

impl<S: Homomorphic> Evaluator<S> {
    /// Makes an evaluator over `context`; for schemes, whose evaluators wrap it.
    #[must_use]
    pub fn new(context: &S::Context) -> Self {
        Self { context: context.clone() }
    }

    /// The context in which the evaluator computes.
    #[must_use]
    pub fn context(&self) -> &S::Context {
        &self.context
    }

    /// The ring of the parts of a ciphertext.
    fn ring_of(&self, a: &Ciphertext<S>) -> Result<Ring, S::Error> {
        let rlwe = S::rlwe(&self.context);
        let level = a.parts().first().map_or(Ok(rlwe.level()), |c0| rlwe.ring().level_of(c0))?;
        Ok(rlwe.ring_at(level)?)
    }

    /// Relinearises a ciphertext of three parts to two; returns a ciphertext of two parts unchanged.
    ///
    /// # Errors
    /// [`RlweError::KeyMismatch`]; [`RlweError::WrongPartCount`] beyond three parts; the scheme's errors for a ciphertext of other
    /// parameters, and its refusal of the result.
    pub fn relinearize(
        &self,
        a: &Ciphertext<S>,
        key: &RelinearizationKey,
    ) -> Result<Ciphertext<S>, S::Error> {
        S::check(&self.context, a)?;
        let mut relinearized = relinearization::relinearize(S::rlwe(&self.context), a, key)?;
        if a.parts().len() > 2 {
            relinearized.set_metadata(S::relinearized(&self.context, a.metadata())?);
        }
        self.finish(relinearized, "relinearize", &[a.trace()])
    }

    /// Ends an operation: asks whether its result is admitted, and records the operation in the trace; for schemes.
    ///
    /// # Errors
    /// The scheme's refusal of the result.
    pub fn finish(
        &self,
        a: Ciphertext<S>,
        operation: &'static str,
        operands: &[&Trace],
    ) -> Result<Ciphertext<S>, S::Error> {
        finish(&self.context, a, operation, operands)
    }
}

/// Ends an operation that made a ciphertext: asks the scheme whether it is admitted, and records the operation in its
/// trace.
///
/// # Errors
/// The scheme's refusal of the result.
pub fn finish<S: Homomorphic>(
    context: &S::Context,
    mut a: Ciphertext<S>,
    operation: &'static str,
    operands: &[&Trace],
) -> Result<Ciphertext<S>, S::Error> {
    let left = S::admit(context, &a, operation)?;
    a.record(operation, left, operands);
    Ok(a)
}
