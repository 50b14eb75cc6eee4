//! Encryption under the public or the secret key.

use rand_core::CryptoRng;
use sunzi_ring::{Evaluation, PolyRing};
use sunzi_rlwe::encryption::{ZeroEncryption, zero_public, zero_secret};
use sunzi_rlwe::{KeyId, PublicKey, SecretKey};
use zeroize::Zeroizing;

use crate::{BfvError, Ciphertext, Context, Plaintext, noise};

impl<R: PolyRing> Context<R> {
    /// Encrypts under the public key.
    ///
    /// # Errors
    /// [`BfvError::PlaintextMismatch`] if the plaintext has another degree or modulus; [`BfvError::Rlwe`] for a
    /// key of another ring.
    pub fn encrypt<G: CryptoRng + ?Sized>(
        &self,
        plaintext: &Plaintext,
        key: &PublicKey<R>,
        rng: &mut G,
    ) -> Result<Ciphertext<R>, BfvError> {
        self.check_plaintext(plaintext)?;
        self.add_message(zero_public(self.rlwe(), key, rng)?, plaintext, key.id())
    }

    /// Encrypts under the secret key: less noise, for those who hold it.
    ///
    /// # Errors
    /// [`BfvError::PlaintextMismatch`] if the plaintext has another degree or modulus; [`BfvError::Rlwe`] for a
    /// key of another ring.
    pub fn encrypt_secret<G: CryptoRng + ?Sized>(
        &self,
        plaintext: &Plaintext,
        key: &SecretKey<R>,
        rng: &mut G,
    ) -> Result<Ciphertext<R>, BfvError> {
        self.check_plaintext(plaintext)?;
        self.add_message(zero_secret(self.rlwe(), key, rng)?, plaintext, key.id())
    }

    /// Adds ⌊(q/t)·m⌉ to an encryption of zero.
    fn add_message(
        &self,
        zero: ZeroEncryption<R>,
        plaintext: &Plaintext,
        key: KeyId,
    ) -> Result<Ciphertext<R>, BfvError> {
        let ring = self.ring();
        let (mut parts, bound) = zero;
        let [c0, _] = &mut parts;
        let scaled = self.scaled_message(plaintext)?;
        ring.add_assign(c0, &scaled)?;
        Ok(Ciphertext::from_parts(parts.into(), self.plain_modulus(), noise::encryption(&bound), key)?)
    }

    /// ⌊(q/t)·m⌉ in evaluation form, erased when dropped.
    pub(crate) fn scaled_message(
        &self,
        plaintext: &Plaintext,
    ) -> Result<Zeroizing<R::Poly<Evaluation>>, BfvError> {
        let ring = self.ring();
        let scaled = ring.scale_plaintext(plaintext.coefficients(), self.plain_modulus())?;
        Ok(Zeroizing::new(ring.to_evaluation(scaled)?))
    }

    /// Fails unless the plaintext has this context's degree and modulus.
    pub(crate) fn check_plaintext(&self, plaintext: &Plaintext) -> Result<(), BfvError> {
        plaintext.check(self.degree(), self.plain_modulus())
    }
}
