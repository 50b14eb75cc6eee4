//! Measurements that need, and therefore endanger, the secret key. For tests and research only.

use num_bigint::BigInt;
use num_traits::Signed;
use sunzi_rlwe::{SecretKey, encryption::phase};

use crate::{BfvError, Ciphertext, Context, Plaintext};

impl Context {
    /// log2 of the true noise ‖c(s) − (q/t)·m‖∞ of a ciphertext of `message`, modulo q; −∞ for none.
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
        let q = BigInt::from(self.ring().modulus().clone());
        let t = BigInt::from(self.plain_modulus());
        // t·v = t·c(s) − q·m modulo t·q, centred.
        let period = &q * &t;
        let worst = phase
            .iter()
            .zip(message.coefficients())
            .map(|(c, &m)| centred(c * &t - &q * m, &period).abs())
            .max()
            .unwrap_or_default();
        Ok(sunzi_math::log2(worst.magnitude()) - (self.plain_modulus() as f64).log2())
    }
}

/// A representative of `value` modulo `period` of least absolute value.
fn centred(value: BigInt, period: &BigInt) -> BigInt {
    let reduced = value % period;
    match &reduced * 2_u8 {
        ref twice if twice >= period => reduced - period,
        ref twice if -twice > *period => reduced + period,
        _ => reduced,
    }
}
