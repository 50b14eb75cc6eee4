//! Operations of a scheme that tests need beyond its arithmetic.

use std::ops::Deref;

use rand_core::CryptoRng;
use sunzi_circuits::{Arithmetic, CircuitError, EvaluationKeys};
use sunzi_encoding::{EncodingError, Plaintext};
use sunzi_rlwe::{
    Ciphertext, Evaluator, Exact, GaloisKeys, Homomorphic as _, NoiseBound, PublicKey, RlweContext,
    RlweError, SecretKey,
};

/// A scheme under test: the context that encrypts, decrypts and measures noise.
pub trait Scheme: Sized {
    /// The scheme as a type.
    type Own: Exact<Context = Self, Error = Self::Error>;
    /// Evaluator of the scheme.
    type Evaluator: Arithmetic<
            Ciphertext = Ciphertext<Self::Own>,
            Plaintext = Plaintext,
            Keys = EvaluationKeys,
            Error = Self::Error,
        > + Deref<Target = Evaluator<Self::Own>>;
    /// Error type of the scheme.
    type Error: std::error::Error + From<EncodingError> + From<RlweError> + 'static;

    /// Makes the evaluator.
    fn evaluator(&self) -> Self::Evaluator;
    /// Returns ring and security.
    fn rlwe(&self) -> &RlweContext {
        Self::Own::rlwe(self)
    }
    /// Encrypts under the public key.
    ///
    /// # Errors
    /// Every error of the scheme.
    fn encrypt(
        &self,
        message: &Plaintext,
        key: &PublicKey,
        rng: &mut dyn CryptoRng,
    ) -> Result<Encrypted<Self>, Self::Error> {
        Self::Own::encrypt(self, message, key.into(), rng)
    }
    /// Encrypts under the secret key.
    ///
    /// # Errors
    /// Every error of the scheme.
    fn encrypt_secret(
        &self,
        message: &Plaintext,
        key: &SecretKey,
        rng: &mut dyn CryptoRng,
    ) -> Result<Encrypted<Self>, Self::Error> {
        Self::Own::encrypt(self, message, key.into(), rng)
    }
    /// Decrypts a ciphertext.
    ///
    /// # Errors
    /// Every error of the scheme.
    fn decrypt(&self, ciphertext: &Encrypted<Self>, key: &SecretKey) -> Result<Plaintext, Self::Error> {
        Self::Own::decrypt(self, ciphertext, key)
    }
    /// Measures log2 of the true noise.
    ///
    /// # Errors
    /// Every error of the scheme.
    fn measure_noise(
        &self,
        ciphertext: &Encrypted<Self>,
        message: &Plaintext,
        key: &SecretKey,
    ) -> Result<f64, Self::Error>;
    /// Returns the ciphertext of m(X^k).
    ///
    /// # Errors
    /// Every error of the scheme.
    fn automorphism(
        &self,
        ciphertext: &Encrypted<Self>,
        exponent: u64,
        keys: &GaloisKeys,
    ) -> Result<Encrypted<Self>, Self::Error> {
        (*self.evaluator()).automorphism(ciphertext, exponent, keys)
    }
    /// Returns both bounds on the noise.
    fn noise<'a>(&self, ciphertext: &'a Encrypted<Self>) -> &'a NoiseBound {
        ciphertext.noise()
    }
}

/// A ciphertext of a scheme.
pub type Encrypted<S> = <<S as Scheme>::Evaluator as Arithmetic>::Ciphertext;
/// Error of an operation of a scheme.
pub type Failure<S> = CircuitError<<S as Scheme>::Error>;

impl Scheme for sunzi_bfv::Context {
    type Own = sunzi_bfv::Bfv;
    type Evaluator = sunzi_bfv::Evaluator;
    type Error = sunzi_bfv::BfvError;

    fn evaluator(&self) -> Self::Evaluator {
        sunzi_bfv::Evaluator::new(self)
    }

    fn measure_noise(
        &self,
        ciphertext: &sunzi_bfv::Ciphertext,
        message: &Plaintext,
        key: &SecretKey,
    ) -> Result<f64, Self::Error> {
        self.measure_noise(ciphertext, message, key)
    }
}

impl Scheme for sunzi_bgv::Context {
    type Own = sunzi_bgv::Bgv;
    type Evaluator = sunzi_bgv::Evaluator;
    type Error = sunzi_bgv::BgvError;

    fn evaluator(&self) -> Self::Evaluator {
        sunzi_bgv::Evaluator::new(self)
    }

    fn measure_noise(
        &self,
        ciphertext: &sunzi_bgv::Ciphertext,
        message: &Plaintext,
        key: &SecretKey,
    ) -> Result<f64, Self::Error> {
        self.measure_noise(ciphertext, message, key)
    }
}
