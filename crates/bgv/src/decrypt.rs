//! Decryption.

use sunzi_encoding::Plaintext;
use sunzi_math::{mod_inv, mul_mod};
use sunzi_ring::{PolyRing, Scaler};
use sunzi_rlwe::{SecretKey, encryption::phase};
use zeroize::Zeroizing;

use crate::{BgvError, Ciphertext, Context};

impl<R: PolyRing> Context<R> {
    /// Opens a ciphertext.
    ///
    /// t·u(s) is a small integer polynomial modulo Q, so it is computed modulo the first few moduli that hold it:
    /// mostly one or two.
    ///
    /// The result tells the holder of the ciphertext nothing about the key only as long as it is
    /// not given back to whoever made the ciphertext: see `SECURITY.md` before sharing it.
    ///
    /// # Errors
    /// [`BgvError::BudgetExceeded`] when the noise bound does not guarantee the right answer, which no operation leaves
    /// behind; [`sunzi_rlwe::RlweError::KeyMismatch`] for another key's ciphertext;
    /// [`BgvError::PlainModulusMismatch`], [`BgvError::LevelMismatch`] or [`BgvError::Ring`] for one of other parameters.
    pub fn decrypt(&self, ciphertext: &Ciphertext<R>, key: &SecretKey<R>) -> Result<Plaintext, BgvError> {
        let limbs = self.check(ciphertext)?;
        ciphertext.check_key(key.id(), "the secret key")?;
        let few = self.enough(ciphertext, limbs)?;
        let mut parts = Vec::with_capacity(ciphertext.parts().len());
        for part in ciphertext.parts() {
            parts.push(self.ring().restrict(part, few)?);
        }
        let phase = phase(self.rlwe(), &parts, key)?;
        let t = self.plain_modulus();
        let message = Zeroizing::new(self.scaler(few)?.decrypt(&phase)?);
        // What is held is m′ with −Q·m′ = −Q_few·m″ for the m″ found, and m = m′/f.
        let factor = mul_mod(self.modulus_mod_t(few)?, mod_inv(self.modulus_mod_t(limbs)?, t)?, t);
        let factor = mul_mod(factor, mod_inv(ciphertext.metadata().factor, t)?, t);
        let coefficients = message.iter().map(|&m| mul_mod(m, factor, t)).collect();
        Ok(Plaintext::new(coefficients, t)?)
    }

    /// The fewest moduli whose product holds t·u(s).
    fn enough(&self, ciphertext: &Ciphertext<R>, limbs: usize) -> Result<usize, BgvError> {
        let noise = self.noise_bound(ciphertext.noise()).bits();
        for few in 1..=limbs {
            // Below 2t nothing decrypts, not even what has no noise. What is no number is not enough either.
            let capacity = self.log2_noise_capacity(few);
            if capacity > 0.0 && noise <= capacity {
                let margin = self.scaler(few)?.bounds().decryption_margin.log2();
                let capacity = self.log2_modulus(few) - (self.plain_modulus() as f64).log2() + margin;
                if noise <= capacity {
                    return Ok(few);
                }
            }
        }
        let metadata = ciphertext.metadata();
        Err(BgvError::BudgetExceeded {
            operation: "decrypt",
            level: metadata.level,
            bits_short: -self.room(limbs, ciphertext.noise()),
            cause: metadata.usage.excess().copied(),
        })
    }

    /// The product of the first `limbs` moduli modulo t.
    fn modulus_mod_t(&self, limbs: usize) -> Result<u64, BgvError> {
        let ring = self.rlwe().ring_at(limbs)?;
        Ok(num_traits::ToPrimitive::to_u64(&(ring.modulus() % self.plain_modulus())).unwrap_or(0))
    }
}
