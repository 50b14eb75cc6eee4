//! Decryption.

use sunzi_ring::{PolyRing, Scaler};
use sunzi_rlwe::{SecretKey, encryption::phase};

use crate::{BfvError, Ciphertext, Context, Plaintext};

impl<R: PolyRing> Context<R> {
    /// Opens a ciphertext `[BEHZ16, Alg. 1]`.
    ///
    /// The result tells the holder of the ciphertext nothing about the key only as long as it is
    /// not given back to whoever made the ciphertext: see `SECURITY.md` before sharing it.
    ///
    /// # Errors
    /// [`BfvError::NoiseExhausted`] when the noise bound does not guarantee the right answer, naming the operations
    /// that spent the budget;
    /// [`sunzi_rlwe::RlweError::KeyMismatch`] for another key's ciphertext, [`BfvError::PlainModulusMismatch`]
    /// or [`BfvError::Ring`] for one of other parameters.
    pub fn decrypt(&self, ciphertext: &Ciphertext<R>, key: &SecretKey<R>) -> Result<Plaintext, BfvError> {
        let bits_left = self.bits_left(ciphertext);
        // Not `< 0.0`: a bound that is no number guarantees nothing either.
        if bits_left >= 0.0 {
            self.decrypt_unchecked(ciphertext, key)
        } else {
            Err(BfvError::NoiseExhausted { bits_short: -bits_left, trace: ciphertext.trace().clone() })
        }
    }

    /// Opens a ciphertext whatever its noise bound says: the answer may be garbage.
    ///
    /// # Errors
    /// As [`decrypt`](Self::decrypt), but for the noise.
    pub fn decrypt_unchecked(
        &self,
        ciphertext: &Ciphertext<R>,
        key: &SecretKey<R>,
    ) -> Result<Plaintext, BfvError> {
        self.check(ciphertext)?;
        ciphertext.check_key(key.id(), "the secret key")?;
        let phase = phase(self.rlwe(), ciphertext.parts(), key)?;
        Ok(Plaintext::new(self.scaler().decrypt(&phase)?, self.plain_modulus())?)
    }
}
