//! Encryption under the public or the secret key.

use rand_core::CryptoRng;
use sunzi_ring::{Evaluation, PolyRing};
use sunzi_rlwe::encryption::{ZeroEncryption, message_public, zero_secret};
use sunzi_rlwe::{KeyId, PublicKey, SecretKey};
use zeroize::Zeroizing;

use crate::{BfvError, Ciphertext, Context, Plaintext, noise};

impl<R: PolyRing> Context<R> {
    /// Encrypts under the public key.
    ///
    /// # Errors
    /// [`sunzi_encoding::EncodingError::PlaintextMismatch`] if the plaintext has another degree or modulus; [`BfvError::Rlwe`] for a
    /// key of another ring.
    pub fn encrypt<G: CryptoRng + ?Sized>(
        &self,
        plaintext: &Plaintext,
        key: &PublicKey<R>,
        rng: &mut G,
    ) -> Result<Ciphertext<R>, BfvError> {
        self.check_plaintext(plaintext)?;
        let scaled = self.ring().scale_plaintext(plaintext.coefficients(), self.plain_modulus())?;
        let parts = message_public(self.rlwe(), key, &Zeroizing::new(scaled), rng)?;
        self.encryption(parts, key.id())
    }

    /// Encrypts under the secret key: less noise, for those who hold it.
    ///
    /// # Errors
    /// [`sunzi_encoding::EncodingError::PlaintextMismatch`] if the plaintext has another degree or modulus; [`BfvError::Rlwe`] for a
    /// key of another ring.
    pub fn encrypt_secret<G: CryptoRng + ?Sized>(
        &self,
        plaintext: &Plaintext,
        key: &SecretKey<R>,
        rng: &mut G,
    ) -> Result<Ciphertext<R>, BfvError> {
        self.check_plaintext(plaintext)?;
        let (mut parts, noise) = zero_secret(self.rlwe(), key, rng)?;
        let [c0, _] = &mut parts;
        self.ring().add_assign(c0, &*self.scaled_message(plaintext)?)?;
        self.encryption((parts, noise), key.id())
    }

    /// The ciphertext with these parts, whose noise is that of its encryption of zero.
    fn encryption(&self, (parts, bound): ZeroEncryption<R>, key: KeyId) -> Result<Ciphertext<R>, BfvError> {
        let fresh =
            Ciphertext::from_parts(parts.into(), self.plain_modulus(), noise::encryption(&bound), key)?;
        Ok(self.record(fresh, "encrypt", &[]))
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
        Ok(plaintext.check(self.degree(), self.plain_modulus())?)
    }
}
