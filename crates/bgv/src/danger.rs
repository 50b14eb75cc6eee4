//! Measurements of BGV noise that need, and therefore endanger, the secret key. For tests and research only.

use sunzi_encoding::Plaintext;
use sunzi_math::mul_mod;
use sunzi_rlwe::{SecretKey, encryption::phase, noise::measured};

use crate::{BgvError, Ciphertext, Context};

impl Context {
    /// Measures log2 of the true noise ‖u(s) − (Q/t)·m′‖∞ of a BGV ciphertext of `message`, modulo Q; −∞ for none.
    ///
    /// # Errors
    /// [`sunzi_encoding::EncodingError::PlaintextMismatch`], [`sunzi_rlwe::RlweError::KeyMismatch`].
    pub fn measure_noise(
        &self,
        ciphertext: &Ciphertext,
        message: &Plaintext,
        key: &SecretKey,
    ) -> Result<f64, BgvError> {
        let (t, place) = (self.plain_modulus(), self.check(ciphertext)?);
        message.check(self.degree(), t)?;
        ciphertext.check_key(key.id(), "the secret key")?;
        let ring = self.ring_of(ciphertext)?;
        let phase = ring.to_integers(&*phase(self.rlwe(), ciphertext.parts(), key)?)?;
        let factor = ciphertext.metadata().factor;
        let message = message.coefficients().iter().map(|&m| mul_mod(m, factor, t));
        Ok(measured(&phase, message, &self.place(place)?.modulus, t))
    }
}
