//! Down the levels: modulus switches and the factors of levels.
//!
//! A ciphertext of level l stands at Q_(l+1) after a product or an encryption, and at Q_l once it is switched; the factor
//! of its level is the same in both places. Multiplication takes it at Q_l.

use std::borrow::Cow;

use sunzi_ring::PolyRing;
use sunzi_rlwe::{Log2, noise};

use super::Evaluator;
use crate::{BgvError, Ciphertext};

impl<R: PolyRing> Evaluator<R> {
    /// Switches a ciphertext to Q_level, where it takes the least room and time and still allows `level`
    /// multiplications. Multiplication does so itself: this is for ciphertexts that are kept or sent.
    ///
    /// # Errors
    /// [`BgvError::LevelTooLow`] for a ciphertext of a lower level; [`BgvError::BudgetExceeded`];
    /// [`BgvError::PlainModulusMismatch`], [`BgvError::LevelMismatch`] or [`BgvError::Ring`] for one of other parameters.
    pub fn mod_switch_to(&self, a: &Ciphertext<R>, level: usize) -> Result<Ciphertext<R>, BgvError> {
        self.context.check(a)?;
        let got = a.metadata().level;
        if got < level {
            return Err(BgvError::LevelTooLow { got, wanted: level });
        }
        let switched = self.switched(a, level)?.into_owned();
        self.context.finish(switched, "switch the modulus", &[])
    }

    /// A ciphertext of at least this level, switched to Q_level.
    pub(super) fn switched<'a>(
        &self,
        a: &'a Ciphertext<R>,
        level: usize,
    ) -> Result<Cow<'a, Ciphertext<R>>, BgvError> {
        self.moved(a, level, self.context.limbs(level))
    }

    /// A ciphertext at this level and so many moduli, fewer than or as many as it has: times the constant that gives it
    /// the level's factor, then the modulus switch.
    pub(crate) fn moved<'a>(
        &self,
        a: &'a Ciphertext<R>,
        level: usize,
        limbs: usize,
    ) -> Result<Cow<'a, Ciphertext<R>>, BgvError> {
        let (from, own) = (a.metadata().level, self.context.limbs_of(a)?);
        if from == level && own == limbs {
            return Ok(Cow::Borrowed(a));
        }
        let mut moved = if from == level { a.clone() } else { self.adjusted(a, level)? };
        if own > limbs {
            let ring = self.context.ring();
            for part in moved.parts_mut() {
                *part = ring.mod_switch(part, limbs)?;
            }
            let ratio = self.context.log2_modulus(limbs) - self.context.log2_modulus(own);
            let rounding = noise::mod_switch(self.context.degree(), moved.parts().len());
            let noise = moved.noise().scaled(Log2::from_bits(ratio)).plus_own(rounding);
            moved.set_noise(noise);
        }
        let usage = a.metadata().usage.restarted();
        moved.set_metadata(self.context.metadata(level, usage)?);
        Ok(Cow::Owned(moved))
    }

    /// The parts times the centred constant f_level/f.
    fn adjusted(&self, a: &Ciphertext<R>, level: usize) -> Result<Ciphertext<R>, BgvError> {
        let constant = self.centred(self.context.adjustment(a.metadata().level, level)?);
        let mut adjusted = a.clone();
        self.scale(&mut adjusted, constant)?;
        Ok(adjusted)
    }

    /// A residue modulo t in [−t/2, t/2).
    pub(super) fn centred(&self, residue: u64) -> i64 {
        let t = self.context.plain_modulus();
        // t is below 2^60.
        if residue >= t.div_ceil(2) { residue as i64 - t as i64 } else { residue as i64 }
    }

    /// a ← c·a, parts and noise.
    pub(super) fn scale(&self, a: &mut Ciphertext<R>, constant: i64) -> Result<(), BgvError> {
        if constant != 1 {
            let ring = self.context.rlwe().ring_at(self.context.limbs_of(a)?)?;
            for part in a.parts_mut() {
                ring.mul_integer_assign(part, &constant.into())?;
            }
            a.set_noise(a.noise().times_norm(constant.unsigned_abs() as f64));
        }
        Ok(())
    }

    /// Both at the lower of their levels and at as many moduli, ready to be added.
    pub(super) fn together<'a>(
        &self,
        a: &'a Ciphertext<R>,
        b: &'a Ciphertext<R>,
    ) -> Result<[Cow<'a, Ciphertext<R>>; 2], BgvError> {
        let (limbs_a, limbs_b) = (self.context.check(a)?, self.context.check(b)?);
        let (level_a, level_b) = (a.metadata().level, b.metadata().level);
        let level = level_a.min(level_b);
        // One that comes from above joins what a product left, so that its noise is that of a summand.
        let limbs = match level_a.cmp(&level_b) {
            std::cmp::Ordering::Less => limbs_a,
            std::cmp::Ordering::Equal => limbs_a.min(limbs_b),
            std::cmp::Ordering::Greater => limbs_b,
        };
        Ok([self.moved(a, level, limbs)?, self.moved(b, level, limbs)?])
    }
}
