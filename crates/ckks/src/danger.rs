//! Measurements of CKKS errors that need, and therefore endanger, the secret key. For tests and research only.

use num_bigint::BigInt;
use num_traits::Signed;
use sunzi_rlwe::SecretKey;
use sunzi_rlwe::encryption::phase;

use crate::context::same_scale;
use crate::{Ciphertext, CkksError, Context, Plaintext};

impl Context {
    /// Measures log2 of the true error ‖ct(s) − m‖∞ of a CKKS ciphertext that should hold `message`, a plaintext of
    /// its level and scale; −∞ for none. Beside the error of the ciphertext it has the rounding of the plaintext, up
    /// to 1/2.
    ///
    /// # Errors
    /// [`CkksError::ScaleMismatch`]; [`CkksError::LevelTooLow`] for a message of another level;
    /// [`sunzi_rlwe::RlweError::KeyMismatch`]; [`CkksError::LevelMismatch`] or [`CkksError::Ring`] for operands of another context.
    pub fn measure_noise(
        &self,
        ciphertext: &Ciphertext,
        message: &Plaintext,
        key: &SecretKey,
    ) -> Result<f64, CkksError> {
        self.check(ciphertext)?;
        self.check_plaintext(message)?;
        ciphertext.check_key(key.id(), "the secret key")?;
        let metadata = ciphertext.metadata();
        if message.level() != metadata.level {
            let (got, wanted) = (message.level(), metadata.level);
            return Err(CkksError::LevelTooLow { what: "the message", got, wanted });
        }
        if !same_scale(metadata.scale, message.scale()) {
            let [left, right] = [metadata.scale.log2(), message.scale().log2()];
            return Err(CkksError::ScaleMismatch { operation: "a measurement", left, right });
        }
        let ring = self.ring_at(metadata.level)?;
        let mut error = (*phase(self.rlwe(), ciphertext.parts(), key)?).clone();
        ring.sub_assign(&mut error, &ring.to_coefficient(message.poly().clone())?)?;
        let worst = ring.to_integers(&error)?.iter().map(BigInt::abs).max().unwrap_or_default();
        Ok(sunzi_math::log2(worst.magnitude()))
    }
}
