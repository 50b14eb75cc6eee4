//! Operations of a scheme that tests need beyond its arithmetic.

use rand_core::CryptoRng;
use sunzi_circuits::{Arithmetic, CircuitError, EvaluationKeys};
use sunzi_encoding::{EncodingError, Plaintext};
use sunzi_rlwe::{GaloisKeys, NoiseBound, PublicKey, RlweContext, RlweError, SecretKey};

/// A scheme under test: the context that encrypts, decrypts and measures noise.
pub trait Scheme {
    /// Evaluator of the scheme under test.
    type Evaluator: Arithmetic<Plaintext = Plaintext, Keys = EvaluationKeys, Error = Self::Error>;
    /// Error type of the scheme under test.
    type Error: std::error::Error + From<EncodingError> + From<RlweError> + 'static;

    /// Makes the evaluator of the scheme under test.
    fn evaluator(&self) -> Self::Evaluator;
    /// Returns the RLWE context, which has the ring and the security.
    fn rlwe(&self) -> &RlweContext;
    /// Encrypts a plaintext under the public key.
    ///
    /// # Errors
    /// Every error of public-key encryption in the scheme.
    fn encrypt(
        &self,
        message: &Plaintext,
        key: &PublicKey,
        rng: &mut dyn CryptoRng,
    ) -> Result<Encrypted<Self>, Self::Error>;
    /// Encrypts a plaintext under the secret key.
    ///
    /// # Errors
    /// Every error of secret-key encryption in the scheme.
    fn encrypt_secret(
        &self,
        message: &Plaintext,
        key: &SecretKey,
        rng: &mut dyn CryptoRng,
    ) -> Result<Encrypted<Self>, Self::Error>;
    /// Decrypts a ciphertext of the scheme under test.
    ///
    /// # Errors
    /// Every error of decryption in the scheme.
    fn decrypt(&self, ciphertext: &Encrypted<Self>, key: &SecretKey) -> Result<Plaintext, Self::Error>;
    /// Measures log2 of a ciphertext's true noise.
    ///
    /// # Errors
    /// Every error of the noise measurement in the scheme.
    fn measure_noise(
        &self,
        ciphertext: &Encrypted<Self>,
        message: &Plaintext,
        key: &SecretKey,
    ) -> Result<f64, Self::Error>;
    /// Returns the ciphertext of m(X^k) for a ciphertext of m.
    ///
    /// # Errors
    /// Every error of the automorphism in the scheme.
    fn automorphism(
        &self,
        ciphertext: &Encrypted<Self>,
        exponent: u64,
        keys: &GaloisKeys,
    ) -> Result<Encrypted<Self>, Self::Error>;
    /// Returns both bounds on a ciphertext's noise.
    fn noise<'a>(&self, ciphertext: &'a Encrypted<Self>) -> &'a NoiseBound;
}

/// Ciphertext type of a scheme under test.
pub type Encrypted<S> = <<S as Scheme>::Evaluator as Arithmetic>::Ciphertext;
/// Error of an operation of a scheme in a random circuit.
pub type Failure<S> = CircuitError<<S as Scheme>::Error>;

/// Implements the trait [`Scheme`] for a context whose methods have these names.
macro_rules! scheme {
    ($scheme:ident, $error:ident) => {
        impl Scheme for $scheme::Context {
            type Evaluator = $scheme::Evaluator;
            type Error = $scheme::$error;

            fn evaluator(&self) -> Self::Evaluator {
                $scheme::Evaluator::new(self)
            }

            fn rlwe(&self) -> &RlweContext {
                self.rlwe()
            }

            fn encrypt(
                &self,
                message: &Plaintext,
                key: &PublicKey,
                rng: &mut dyn CryptoRng,
            ) -> Result<Encrypted<Self>, Self::Error> {
                self.encrypt(message, key, rng)
            }

            fn encrypt_secret(
                &self,
                message: &Plaintext,
                key: &SecretKey,
                rng: &mut dyn CryptoRng,
            ) -> Result<Encrypted<Self>, Self::Error> {
                self.encrypt_secret(message, key, rng)
            }

            fn decrypt(
                &self,
                ciphertext: &Encrypted<Self>,
                key: &SecretKey,
            ) -> Result<Plaintext, Self::Error> {
                self.decrypt(ciphertext, key)
            }

            fn measure_noise(
                &self,
                ciphertext: &Encrypted<Self>,
                message: &Plaintext,
                key: &SecretKey,
            ) -> Result<f64, Self::Error> {
                self.measure_noise(ciphertext, message, key)
            }

            fn automorphism(
                &self,
                ciphertext: &Encrypted<Self>,
                exponent: u64,
                keys: &GaloisKeys,
            ) -> Result<Encrypted<Self>, Self::Error> {
                self.evaluator().automorphism(ciphertext, exponent, keys)
            }

            fn noise<'a>(&self, ciphertext: &'a Encrypted<Self>) -> &'a NoiseBound {
                ciphertext.noise()
            }
        }
    };
}

scheme!(sunzi_bfv, BfvError);
scheme!(sunzi_bgv, BgvError);
