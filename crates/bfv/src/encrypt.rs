//! BFV encryption under the public or the secret key.

use rand_core::CryptoRng;
use sunzi_ring::{Evaluation, Poly};
use sunzi_rlwe::encryption::scaled_message;
use sunzi_rlwe::{Exact, PublicKey, SecretKey};
use zeroize::Zeroizing;

use crate::{Bfv, BfvError, Ciphertext, Context, Plaintext};

impl Context {
    /// Encrypts a plaintext under the public key: modulo qp where there is a special modulus p, scaled down to q
    /// `[KPZ21, 3.1]`.
    ///
    /// # Errors
    /// [`sunzi_encoding::EncodingError::PlaintextMismatch`] if the plaintext has another degree or modulus; [`BfvError::Rlwe`] for a
    /// key of another ring.
    pub fn encrypt(
        &self,
        plaintext: &Plaintext,
        key: &PublicKey,
        rng: &mut dyn CryptoRng,
    ) -> Result<Ciphertext, BfvError> {
        Bfv::encrypt(self, plaintext, key.into(), rng)
    }

    /// Encrypts a plaintext under the secret key, with less noise than under the public key.
    ///
    /// # Errors
    /// [`sunzi_encoding::EncodingError::PlaintextMismatch`] if the plaintext has another degree or modulus; [`BfvError::Rlwe`] for a
    /// key of another ring.
    pub fn encrypt_secret(
        &self,
        plaintext: &Plaintext,
        key: &SecretKey,
        rng: &mut dyn CryptoRng,
    ) -> Result<Ciphertext, BfvError> {
        Bfv::encrypt(self, plaintext, key.into(), rng)
    }

    /// The scaled message ⌊(q/t)·m⌉ in evaluation form, erased when dropped.
    pub(crate) fn scaled_message(
        &self,
        plaintext: &Plaintext,
    ) -> Result<Zeroizing<Poly<Evaluation>>, BfvError> {
        Ok(scaled_message(self.ring(), plaintext.coefficients(), self.plain_modulus())?)
    }

    /// Fails unless a plaintext has the degree and the plaintext modulus of this context.
    pub(crate) fn check_plaintext(&self, plaintext: &Plaintext) -> Result<(), BfvError> {
        Ok(plaintext.check(self.degree(), self.plain_modulus())?)
    }
}
