//! Measurements of BFV noise that need, and therefore endanger, the secret key. For tests and research only.

use sunzi_rlwe::{SecretKey, encryption::phase, noise::measured};

use crate::{BfvError, Ciphertext, Context, Plaintext};

impl Context {
    /// Measures log2 of the true noise ‖c(s) − (q/t)·m‖∞ of a BFV ciphertext of `message`, modulo q; −∞ for none.
    ///
    /// # Errors
    /// [`sunzi_encoding::EncodingError::PlaintextMismatch`], [`sunzi_rlwe::RlweError::KeyMismatch`].
    pub fn measure_noise(
        &self,
        ciphertext: &Ciphertext,
        message: &Plaintext,
        key: &SecretKey,
    ) -> Result<f64, BfvError> {
        self.check_plaintext(message)?;
        self.check(ciphertext)?;
        ciphertext.check_key(key.id(), "the secret key")?;
        let phase = phase(self.rlwe(), ciphertext.parts(), key)?;
        let phase = self.ring().to_integers(&phase)?;
        let message = message.coefficients().iter().copied();
        Ok(measured(&phase, message, self.ring().modulus(), self.plain_modulus()))
    }
}
