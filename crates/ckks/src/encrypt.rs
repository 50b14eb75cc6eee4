//! CKKS encryption: an encryption of zero, plus the message.
//!
//! A CKKS encryption of zero under the public key is made modulo Qp for a special modulus p and scaled down, which
//! leaves little more of the errors than a rounding.

use rand_core::CryptoRng;
use sunzi_rlwe::encryption::{Encryption, zero_public, zero_secret};
use sunzi_rlwe::{KeyId, NoiseTerm, PublicKey, SecretKey, randomness};

use crate::precision::slot_error;
use crate::{Ciphertext, CkksError, Context, Metadata, Plaintext, Precision};

impl Context {
    /// Encrypts a CKKS plaintext under the public key. The ciphertext tells the declared bound of messages, never how
    /// large this message is.
    ///
    /// # Errors
    /// [`CkksError::MessageBound`] for slots above the declared bound; [`CkksError::LevelMismatch`] for a plaintext of another
    /// context; [`CkksError::Rlwe`] for a key of another ring.
    pub fn encrypt(
        &self,
        plaintext: &Plaintext,
        key: &PublicKey,
        rng: &mut dyn CryptoRng,
    ) -> Result<Ciphertext, CkksError> {
        self.check_message(plaintext)?;
        let mut zero = zero_public(self.rlwe(), key, rng)?;
        let limbs = self.limbs(plaintext.level())?;
        if limbs < self.ring().level() {
            let [c0, c1] = &zero.parts;
            zero.parts = [self.ring().restrict(c0, limbs)?, self.ring().restrict(c1, limbs)?];
        }
        self.encryption(plaintext, zero, key.id(), randomness::tag(rng))
    }

    /// Encrypts a CKKS plaintext under the secret key, with less noise than under the public key.
    ///
    /// # Errors
    /// Every error of [`encrypt`](Self::encrypt).
    pub fn encrypt_secret(
        &self,
        plaintext: &Plaintext,
        key: &SecretKey,
        rng: &mut dyn CryptoRng,
    ) -> Result<Ciphertext, CkksError> {
        self.check_message(plaintext)?;
        let limbs = self.limbs(plaintext.level())?;
        self.encryption(plaintext, zero_secret(self.rlwe(), key, limbs, rng)?, key.id(), randomness::tag(rng))
    }

    fn check_message(&self, plaintext: &Plaintext) -> Result<(), CkksError> {
        self.check_plaintext(plaintext)?;
        let (got, bound) = (plaintext.precision().magnitude(), self.message_bound());
        // A number on the bound may be rounded beyond it.
        if got <= bound * (1.0 + 4.0 * f64::EPSILON) {
            Ok(())
        } else {
            Err(CkksError::MessageBound { got, bound })
        }
    }

    fn encryption(
        &self,
        plaintext: &Plaintext,
        mut zero: Encryption,
        key: KeyId,
        tag: u64,
    ) -> Result<Ciphertext, CkksError> {
        let (level, scale, slots) = (plaintext.level(), plaintext.scale(), plaintext.slots());
        let [c0, _] = &mut zero.parts;
        self.ring_at(level)?.add_assign(c0, plaintext.poly())?;
        zero.noise = zero.noise.plus_own(NoiseTerm::rounding());
        // The plaintext's own error counts only as far as it does not depend on the message: that it is rounded.
        let own = slot_error(zero.noise.deviation.bits().exp2(), slots, scale);
        let precision = Precision::fresh(self.message_bound(), own, tag);
        let metadata = Metadata { level, scale, slots, precision };
        self.finish(Ciphertext::from_encryption(zero, metadata, key), "encrypt", &[])
    }
}
