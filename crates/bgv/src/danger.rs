//! Measurements that need, and therefore endanger, the secret key. For tests and research only.

use num_bigint::BigInt;
use num_traits::Signed;
use sunzi_encoding::Plaintext;
use sunzi_math::mul_mod;
use sunzi_rlwe::{SecretKey, encryption::phase};

use crate::{BgvError, Ciphertext, Context};

impl Context {
    /// log2 of the true noise ‖u(s) − (Q/t)·m′‖∞ of a ciphertext of `message`, modulo Q; −∞ for none.
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
        let q = BigInt::from(self.place(place)?.modulus.clone());
        let factor = ciphertext.metadata().factor;
        // t·v = t·u(s) − Q·m′ modulo t·Q, centred.
        let period = &q * t;
        let worst = phase
            .iter()
            .zip(message.coefficients())
            .map(|(u, &m)| centred(u * t - &q * mul_mod(m, factor, t), &period).abs())
            .max()
            .unwrap_or_default();
        Ok(sunzi_math::log2(worst.magnitude()) - (t as f64).log2())
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
