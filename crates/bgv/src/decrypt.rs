//! BGV decryption, for the key holder and for results that are shared.

use std::borrow::Cow;

use num_bigint::BigUint;
use num_traits::ToPrimitive;
use rand_core::CryptoRng;
use sunzi_encoding::Plaintext;
use sunzi_math::{FixedFactor, mod_inv, mul_mod};
use sunzi_ring::{Coefficient, Poly, Ring, secret_coefficients};
use sunzi_rlwe::encryption::phase_values;
use sunzi_rlwe::sharing::Flooding;
use sunzi_rlwe::{DeclaredNoise, LedgerFile, Log2, NoiseBound, RlweError, SecretKey, SharingPolicy};
use zeroize::Zeroizing;

use crate::{BgvError, Ciphertext, Context};

/// A ciphertext to decrypt, and the number of moduli that hold its phase.
type Openable<'a> = (Cow<'a, Ciphertext>, usize);

impl Context {
    /// Decrypts a BGV ciphertext.
    ///
    /// The phase t·u(s) of a BGV ciphertext is a small integer polynomial modulo Q, so it is computed modulo the first
    /// few moduli that hold it: mostly one or two.
    ///
    /// A decrypted result tells the holder of the ciphertext nothing about the key only as long as it is not given
    /// back to whoever made the ciphertext: see `SECURITY.md` before sharing it.
    ///
    /// # Errors
    /// [`BgvError::BudgetExceeded`] when the noise bound does not guarantee the right answer, which no operation leaves
    /// behind; [`sunzi_rlwe::RlweError::KeyMismatch`] for another key's ciphertext;
    /// [`BgvError::PlainModulusMismatch`], [`BgvError::LevelMismatch`] or [`BgvError::Ring`] for one of other parameters.
    pub fn decrypt(&self, ciphertext: &Ciphertext, key: &SecretKey) -> Result<Plaintext, BgvError> {
        let place = self.check(ciphertext)?;
        ciphertext.check_key(key.id(), "the secret key")?;
        match self.openable(ciphertext, place)? {
            Some((lower, few)) => self.open(&lower, key, few, |_| Ok(None)),
            None => Err(self.exhausted(ciphertext, place)),
        }
    }

    /// Decrypts a BGV ciphertext for somebody else to see. The answer tells nothing of the noise, and so nothing of
    /// the key, to whoever made or chose the ciphertext; see [`sunzi_rlwe::sharing`] for the noise that is added and
    /// [`SharingPolicy`] for the guarantee.
    ///
    /// The parameter `noise` is the bound that the key holder declares, on u(s) as in all of this crate. The bound
    /// that the ciphertext carries does not count: only if it is larger, there is an error.
    ///
    /// # Errors
    /// [`RlweError::SharingRoom`] where a right answer is not sure, except with probability 2^-128, beside what is added; [`RlweError::NoiseDeclaredTooLow`];
    /// [`RlweError::SharingSpent`]; [`RlweError::Ledger`]; those of [`decrypt`](Self::decrypt) but for the noise. All are told before anything is opened.
    pub fn decrypt_for_sharing(
        &self,
        ciphertext: &Ciphertext,
        key: &SecretKey,
        noise: DeclaredNoise,
        ledger: &mut LedgerFile,
        rng: &mut dyn CryptoRng,
    ) -> Result<Plaintext, BgvError> {
        ciphertext.check_key(key.id(), "the secret key")?;
        let (lower, few, flooding) = self.flooding_for(ciphertext, noise, ledger.ledger().policy())?;
        ledger.spend(key.id())?;
        self.open(&lower, key, few, |ring| Ok(Some(flooding.sample(ring, rng)?)))
    }

    /// Fails where [`decrypt_for_sharing`](Self::decrypt_for_sharing) with a ledger of this policy would, whatever the key: before there is a ledger.
    ///
    /// # Errors
    /// Every error of [`decrypt_for_sharing`](Self::decrypt_for_sharing) that does not depend on the key.
    pub fn check_shareable(
        &self,
        ciphertext: &Ciphertext,
        noise: DeclaredNoise,
        policy: SharingPolicy,
    ) -> Result<(), BgvError> {
        self.flooding_for(ciphertext, noise, policy).map(drop)
    }

    /// The switched ciphertext to decrypt for sharing, the number of moduli to decrypt it by, and the flooding noise
    /// there.
    pub(crate) fn flooding_for<'a>(
        &self,
        ciphertext: &'a Ciphertext,
        noise: DeclaredNoise,
        policy: SharingPolicy,
    ) -> Result<(Cow<'a, Ciphertext>, usize, Flooding), BgvError> {
        let place = self.check(ciphertext)?;
        noise.check(ciphertext.noise(), self.ring().expansion())?;
        let flooding = Flooding::new(policy, noise, self.degree())?;
        let needed = Log2::from_bits(noise.bits()) + flooding.bound_of(self.rlwe().parties());
        if let Some(few) = self.fewest_moduli(needed, place)? {
            return Ok((Cow::Borrowed(ciphertext), few, flooding));
        }
        if let Some((lower, below, noise)) = self.declared_below(ciphertext, place, noise)? {
            let flooding = Flooding::new(policy, DeclaredNoise::from_bits(noise.bits()), self.degree())?;
            if let Some(few) = self.fewest_moduli(noise + flooding.bound_of(self.rlwe().parties()), below)? {
                return Ok((Cow::Owned(lower), few, flooding));
            }
        }
        let bits_short = needed.bits() - self.log2_noise_capacity(place);
        Err(RlweError::SharingRoom { bits_short, declared: noise.bits() }.into())
    }

    /// A ciphertext switched from a part of a word to the words below, its place there, and the bound on its noise there that follows from the declared
    /// one; none where its modulus is of whole words.
    pub(crate) fn declared_below(
        &self,
        ciphertext: &Ciphertext,
        place: usize,
        noise: DeclaredNoise,
    ) -> Result<Option<(Ciphertext, usize, Log2)>, BgvError> {
        if self.part_below(place).is_none() {
            return Ok(None);
        }
        // The switch scales what was declared, and what it rounds off counts as of a ciphertext without noise.
        let mut exact = ciphertext.clone();
        exact.set_noise(NoiseBound::none());
        let Some((mut lower, below)) = self.lowered(&exact, place)? else { return Ok(None) };
        let switched = self.place(below)?.bits - self.place(place)?.bits;
        let adjusted = self.centred(self.adjustment(ciphertext.metadata().level, below)?);
        let factor = Log2::from_bits(switched) * Log2::of(adjusted as f64);
        let bound = Log2::from_bits(noise.bits()) * factor + self.noise_bound(lower.noise());
        lower.set_noise(ciphertext.noise().scaled(factor).sum(lower.noise()));
        Ok(Some((lower, below, bound)))
    }

    /// The noise that the parameters declare for every ciphertext of a level, when all of the budget is used: the
    /// noise to declare where no smaller bound is known.
    ///
    /// # Errors
    /// [`BgvError::LevelMismatch`] for a level that is not there.
    pub fn declared_noise(&self, level: usize) -> Result<DeclaredNoise, BgvError> {
        let missing = BgvError::LevelMismatch { level, limbs: 0, factor: 0 };
        let noise = self.level_noise().get(level).ok_or(missing)?;
        Ok(DeclaredNoise::from_bits(self.noise_bound(&noise.used).bits()))
    }

    /// Decrypts a phase that is small modulo the first `few` moduli, with the noise that `flooding` adds there.
    fn open(
        &self,
        ciphertext: &Ciphertext,
        key: &SecretKey,
        few: usize,
        flooding: impl FnOnce(&Ring) -> Result<Option<Zeroizing<Poly<Coefficient>>>, BgvError>,
    ) -> Result<Plaintext, BgvError> {
        let ring = self.rlwe().ring_at(few)?;
        let values = phase_values(self.rlwe(), ciphertext.parts(), key, few)?;
        let scaler = self.scaler(few)?;
        let message = match flooding(&ring)? {
            Some(flooding) => {
                let mut phase = secret_coefficients(&ring, values)?;
                ring.add_assign(&mut phase, &flooding)?;
                scaler.decrypt(&phase)?
            }
            None => scaler.decrypt_values(&ring, values)?,
        };
        self.plaintext(ciphertext, few, message)
    }

    /// The plaintext of a ciphertext from what its phase modulo the first `few` moduli holds.
    pub(crate) fn plaintext(
        &self,
        ciphertext: &Ciphertext,
        few: usize,
        held: Vec<u64>,
    ) -> Result<Plaintext, BgvError> {
        let t = self.plain_modulus();
        let mut message = Zeroizing::new(held);
        let factor = FixedFactor::new(self.held_factor(ciphertext, few)?, t)?;
        message.iter_mut().for_each(|m| *m = factor.times(*m));
        Ok(Plaintext::new(std::mem::take(&mut *message), t)?)
    }

    /// The factor modulo t from what the phase modulo the first `few` moduli holds to the message: what is held is m′ with −Q·m′ = −Q_few·m″ for the m″
    /// found, and m = m′/f.
    pub(crate) fn held_factor(&self, ciphertext: &Ciphertext, few: usize) -> Result<u64, BgvError> {
        let (place, t) = (self.check(ciphertext)?, self.plain_modulus());
        let mod_t = |modulus: &BigUint| (modulus % t).to_u64().unwrap_or(0);
        let found = mod_t(self.rlwe().ring_at(few)?.modulus());
        let factor = mul_mod(found, mod_inv(mod_t(&self.place(place)?.modulus), t)?, t);
        Ok(mul_mod(factor, mod_inv(ciphertext.metadata().factor, t)?, t))
    }

    /// The fewest moduli whose product holds t·u(s), with the ciphertext or, where a part of a word would be needed,
    /// the ciphertext switched to the words below. None if the noise does not fit.
    fn openable<'a>(
        &self,
        ciphertext: &'a Ciphertext,
        place: usize,
    ) -> Result<Option<Openable<'a>>, BgvError> {
        if let Some(few) = self.fewest_moduli(self.noise_bound(ciphertext.noise()), place)? {
            return Ok(Some((Cow::Borrowed(ciphertext), few)));
        }
        let Some((lower, below)) = self.lowered(ciphertext, place)? else { return Ok(None) };
        let few = self.fewest_moduli(self.noise_bound(lower.noise()), below)?;
        Ok(few.map(|few| (Cow::Owned(lower), few)))
    }

    /// The next place below `place` in the chain of moduli whose last word counts as a whole; none unless only a part
    /// of the last word at `place` counts.
    fn part_below(&self, place: usize) -> Option<usize> {
        let part = self.place(place).is_ok_and(|own| own.share > 0);
        self.whole_below(place).filter(|_| part)
    }

    /// A ciphertext switched from a part of a word to the words below, unless its noise is too large already.
    fn lowered(
        &self,
        ciphertext: &Ciphertext,
        place: usize,
    ) -> Result<Option<(Ciphertext, usize)>, BgvError> {
        let room = self.room(place, ciphertext.noise());
        let Some(below) = self.part_below(place).filter(|_| room >= 0.0) else { return Ok(None) };
        let lower = self.moved(ciphertext, below, below)?.into_owned();
        Ok(Some((lower, below)))
    }

    /// The fewest whole moduli whose product holds t·u(s) with noise of at most `noise`.
    fn fewest_moduli(&self, noise: Log2, place: usize) -> Result<Option<usize>, BgvError> {
        let (own, half) = (self.place(place)?, (2.0 * self.plain_modulus() as f64).log2());
        let whole = if own.share == 0 { own.limbs } else { own.limbs - 1 };
        for few in (1..=whole).filter(|&few| self.ring().is_nested(few, own.limbs)) {
            // Below 2t nothing decrypts, not even what has no noise. What is no number is not enough either.
            let capacity = self.rlwe().log2_modulus_at(few)? - half;
            if capacity > 0.0 && noise.bits() <= capacity {
                let margin = self.scaler(few)?.bounds().decryption_margin.log2();
                if noise.bits() <= capacity + 1.0 + margin {
                    return Ok(Some(few));
                }
            }
        }
        Ok(None)
    }

    fn exhausted(&self, ciphertext: &Ciphertext, place: usize) -> BgvError {
        let metadata = ciphertext.metadata();
        BgvError::BudgetExceeded {
            operation: "decrypt",
            level: metadata.level,
            bits_short: -self.room(place, ciphertext.noise()),
        }
    }
}
