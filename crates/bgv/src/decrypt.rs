//! Decryption.

use num_bigint::BigUint;
use num_traits::ToPrimitive;
use sunzi_encoding::Plaintext;
use sunzi_math::{mod_inv, mul_mod};
use sunzi_ring::{PolyRing, Scaler};
use sunzi_rlwe::{SecretKey, encryption::phase};
use zeroize::Zeroizing;

use crate::{BgvError, Ciphertext, Context, Evaluator};

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
        let place = self.check(ciphertext)?;
        ciphertext.check_key(key.id(), "the secret key")?;
        let Some(few) = self.enough(ciphertext, place)? else {
            return self.decrypt_below(ciphertext, key, place);
        };
        let mut parts = Vec::with_capacity(ciphertext.parts().len());
        for part in ciphertext.parts() {
            parts.push(self.ring().restrict(part, few)?);
        }
        let phase = phase(self.rlwe(), &parts, key)?;
        let t = self.plain_modulus();
        let message = Zeroizing::new(self.scaler(few)?.decrypt(&phase)?);
        // What is held is m′ with −Q·m′ = −Q_few·m″ for the m″ found, and m = m′/f.
        let mod_t = |modulus: &BigUint| (modulus % t).to_u64().unwrap_or(0);
        let found = mod_t(self.rlwe().ring_at(few)?.modulus());
        let factor = mul_mod(found, mod_inv(mod_t(&self.place(place)?.modulus), t)?, t);
        let factor = mul_mod(factor, mod_inv(ciphertext.metadata().factor, t)?, t);
        let coefficients = message.iter().map(|&m| mul_mod(m, factor, t)).collect();
        Ok(Plaintext::new(coefficients, t)?)
    }

    /// Opens what needs the part of a word that counts: after the switch to the words below.
    fn decrypt_below(
        &self,
        ciphertext: &Ciphertext<R>,
        key: &SecretKey<R>,
        place: usize,
    ) -> Result<Plaintext, BgvError> {
        let below = self.whole_below(place).filter(|_| self.room(place, ciphertext.noise()) >= 0.0);
        let Some(below) = below else { return Err(self.exhausted(ciphertext, place)) };
        let lower = Evaluator::new(self).moved(ciphertext, below, below)?.into_owned();
        self.decrypt(&lower, key)
    }

    /// The fewest moduli whose product holds t·u(s); none if that takes a part of a word.
    fn enough(&self, ciphertext: &Ciphertext<R>, place: usize) -> Result<Option<usize>, BgvError> {
        let noise = self.noise_bound(ciphertext.noise()).bits();
        let (own, half) = (self.place(place)?, (2.0 * self.plain_modulus() as f64).log2());
        let whole = if own.rest == 0 { own.limbs } else { own.limbs - 1 };
        for few in 1..=whole {
            // Below 2t nothing decrypts, not even what has no noise. What is no number is not enough either.
            let capacity = self.rlwe().log2_modulus_at(few)? - half;
            if capacity > 0.0 && noise <= capacity {
                let margin = self.scaler(few)?.bounds().decryption_margin.log2();
                if noise <= capacity + 1.0 + margin {
                    return Ok(Some(few));
                }
            }
        }
        if own.rest > 0 { Ok(None) } else { Err(self.exhausted(ciphertext, place)) }
    }

    fn exhausted(&self, ciphertext: &Ciphertext<R>, place: usize) -> BgvError {
        let metadata = ciphertext.metadata();
        BgvError::BudgetExceeded {
            operation: "decrypt",
            level: metadata.level,
            bits_short: -self.room(place, ciphertext.noise()),
        }
    }
}
