//! Encryption under the public or the secret key: that of BFV.

use rand_core::CryptoRng;
use sunzi_encoding::Plaintext;
use sunzi_ring::{Coefficient, PolyRing};
use sunzi_rlwe::encryption::{Encryption, encrypt_public, encrypt_secret};
use sunzi_rlwe::{KeyId, PublicKey, SecretKey};
use zeroize::Zeroizing;

use crate::{BgvError, Ciphertext, Context, Usage};

impl<R: PolyRing> Context<R> {
    /// Encrypts under the public key.
    ///
    /// # Errors
    /// [`sunzi_encoding::EncodingError::PlaintextMismatch`] if the plaintext has another degree or modulus;
    /// [`BgvError::Rlwe`] for a key of another ring; [`BgvError::BudgetExceeded`] for parameters without room for the
    /// noise of an encryption.
    pub fn encrypt<G: CryptoRng + ?Sized>(
        &self,
        plaintext: &Plaintext,
        key: &PublicKey<R>,
        rng: &mut G,
    ) -> Result<Ciphertext<R>, BgvError> {
        let t = self.plain_modulus();
        plaintext.check(self.degree(), t)?;
        self.encryption(encrypt_public(self.rlwe(), key, plaintext.coefficients(), t, rng)?, key.id())
    }

    /// Encrypts under the secret key: less noise, for those who hold it.
    ///
    /// # Errors
    /// As [`encrypt`](Self::encrypt).
    pub fn encrypt_secret<G: CryptoRng + ?Sized>(
        &self,
        plaintext: &Plaintext,
        key: &SecretKey<R>,
        rng: &mut G,
    ) -> Result<Ciphertext<R>, BgvError> {
        let t = self.plain_modulus();
        plaintext.check(self.degree(), t)?;
        self.encryption(encrypt_secret(self.rlwe(), key, plaintext.coefficients(), t, rng)?, key.id())
    }

    /// A ciphertext of the highest level: factor 1.
    fn encryption(&self, (parts, noise): Encryption<R>, key: KeyId) -> Result<Ciphertext<R>, BgvError> {
        let metadata = self.metadata(self.depth(), Usage::ONE)?;
        self.finish(Ciphertext::from_parts(parts.into(), metadata, noise, key)?, "encrypt", &[])
    }

    /// ⌊(Q/t)·(f·m mod t)⌉ for the product Q of so many moduli, erased when dropped.
    pub(crate) fn scaled(
        &self,
        plaintext: &Plaintext,
        limbs: usize,
        factor: u64,
    ) -> Result<Zeroizing<R::Poly<Coefficient>>, BgvError> {
        let t = self.plain_modulus();
        plaintext.check(self.degree(), t)?;
        let ring = self.rlwe().ring_at(limbs)?;
        if factor == 1 {
            return Ok(Zeroizing::new(ring.scale_plaintext(plaintext.coefficients(), t)?));
        }
        let message = plaintext.coefficients().iter().map(|&m| sunzi_math::mul_mod(m, factor, t));
        let message = Zeroizing::new(message.collect::<Vec<u64>>());
        Ok(Zeroizing::new(ring.scale_plaintext(&message, t)?))
    }
}
