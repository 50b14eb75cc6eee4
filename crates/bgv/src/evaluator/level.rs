//! Modulus switches of BGV ciphertexts to lower levels, and the factors of levels.
//!
//! A BGV ciphertext of level l has the modulus Q_(l+1) after a product or an encryption, and Q_l once it is switched;
//! the factor of its level does not change by the switch. Multiplication takes it at Q_l.

use std::borrow::Cow;
use std::cmp::Ordering;

use num_traits::ToPrimitive;
use sunzi_rlwe::evaluator::Pair;
use sunzi_rlwe::{Log2, NoiseBound};

use super::Evaluator;
use crate::{Bgv, BgvError, Ciphertext, Context, Usage};

impl Evaluator {
    /// Switches a BGV ciphertext to Q_level, where it takes the least room and time and still allows `level`
    /// multiplications. Multiplication does so itself: call this for ciphertexts that are stored or sent.
    ///
    /// # Errors
    /// [`BgvError::LevelTooLow`] for a ciphertext of a lower level; [`BgvError::BudgetExceeded`];
    /// [`BgvError::PlainModulusMismatch`], [`BgvError::LevelMismatch`] or [`BgvError::Ring`] for one of other parameters.
    pub fn mod_switch_to(&self, a: &Ciphertext, level: usize) -> Result<Ciphertext, BgvError> {
        self.context().check(a)?;
        let got = a.metadata().level;
        if got < level {
            return Err(BgvError::LevelTooLow { got, wanted: level });
        }
        let switched = self.context().switched(a, level)?.into_owned();
        self.context().finish(switched, "switch the modulus", &[])
    }

    /// Brings BGV ciphertexts to one level and modulus, as [`add`](sunzi_rlwe::Evaluator::add) does: for sums in one pass, whose terms must have one.
    ///
    /// # Errors
    /// Every error of [`mod_switch_to`](Self::mod_switch_to) but for levels; [`sunzi_rlwe::RlweError::KeyMismatch`].
    pub fn summands(&self, all: &[Ciphertext]) -> Result<Vec<Ciphertext>, BgvError> {
        let context = self.context();
        // The lowest of all leads: whatever is brought to it stands where their sum would.
        let lowest = all.iter().min_by_key(|a| (a.metadata().level, a.metadata().place));
        let Some(lowest) = lowest else { return Ok(Vec::new()) };
        let aligned = |a: &Ciphertext| {
            let (_, aligned) = context.aligned(Cow::Borrowed(lowest), a)?;
            context.finish(aligned.into_owned(), "switch the modulus", &[])
        };
        all.iter().map(aligned).collect()
    }
}

impl Context {
    /// Switches a BGV ciphertext to Q_level, for a `level` that is not above its own.
    pub(crate) fn switched<'a>(
        &self,
        a: &'a Ciphertext,
        level: usize,
    ) -> Result<Cow<'a, Ciphertext>, BgvError> {
        self.moved(a, level, level.min(a.metadata().place))
    }

    /// Switches a BGV ciphertext to a level and a modulus that are not above its own: multiplies by the constant that
    /// gives it the level's factor, then switches the modulus.
    pub(crate) fn moved<'a>(
        &self,
        a: &'a Ciphertext,
        level: usize,
        place: usize,
    ) -> Result<Cow<'a, Ciphertext>, BgvError> {
        let (from, own) = (a.metadata().level, a.metadata().place);
        if from == level && own == place {
            return Ok(Cow::Borrowed(a));
        }
        let mut moved = if from == level { Cow::Borrowed(a) } else { Cow::Owned(self.adjusted(a, level)?) };
        let mut current = own;
        while current > place {
            (moved, current) = self.step_down(moved, current, place)?;
        }
        let mut moved = moved.into_owned();
        moved.set_metadata(self.metadata(level, place, Usage::ONE)?);
        Ok(Cow::Owned(moved))
    }

    /// Switches the modulus from one place towards another: all the way where no word is shared, one prime of a shared
    /// word at a time otherwise. Returns the ciphertext and its place.
    fn step_down<'a>(
        &self,
        a: Cow<'a, Ciphertext>,
        from: usize,
        to: usize,
    ) -> Result<(Cow<'a, Ciphertext>, usize), BgvError> {
        let ring = self.ring();
        let (high, next, low) = (self.place(from)?, self.place(from - 1)?, self.place(to)?);
        let (end, below) = if high.share == 0 && low.share == 0 { (to, low) } else { (from - 1, next) };
        if high.bits == below.bits {
            return Ok((a, end));
        }
        let parts = if high.limbs == below.limbs || high.share > 0 {
            let share = if high.limbs == below.limbs { below.share } else { 1 };
            let dropped = (&high.modulus / &below.modulus).to_u64().unwrap_or(0);
            let divide = |part| ring.divide_by_factor(part, dropped, share);
            a.parts().iter().map(divide).collect::<Result<_, _>>()?
        } else {
            ring.mod_switch_all(&a.parts().iter().collect::<Vec<_>>(), below.limbs)?
        };
        let mut switched = a.with_parts(parts)?;
        let rounding = self.rlwe().noise_model().mod_switch(a.parts().len());
        switched.set_noise(a.noise().scaled(Log2::from_bits(below.bits - high.bits)).plus_own(rounding));
        Ok((Cow::Owned(switched), end))
    }

    /// The place at which products of these pairs keep most bits, with dynamic switching: lower ones scale the noise
    /// of operands until roundings are all that is left of it.
    pub(crate) fn best_place(&self, pairs: &[(&Ciphertext, &Ciphertext)]) -> Result<usize, BgvError> {
        let operands = || pairs.iter().flat_map(|&(a, b)| [a, b]);
        let highest = operands().map(|a| a.metadata().place).min().unwrap_or(0);
        let mut best = (f64::NEG_INFINITY, highest);
        for place in 0..=highest {
            let bits = self.place(place)?.bits;
            let noise = |a: &Ciphertext| -> Result<NoiseBound, BgvError> {
                let own = self.place(a.metadata().place)?.bits;
                let rounding = self.rlwe().noise_model().mod_switch(a.parts().len());
                let scaled = || a.noise().scaled(Log2::from_bits(bits - own)).plus_own(rounding);
                Ok(if own == bits { *a.noise() } else { scaled() })
            };
            let mut sum: Option<NoiseBound> = None;
            for (a, b) in pairs {
                let product =
                    noise(a)?.product(&noise(b)?, self.plain_modulus() as f64, self.ring().expansion());
                sum = Some(sum.map_or(product, |sum| sum.sum(&product)));
            }
            let room = sum.map_or(f64::NEG_INFINITY, |sum| self.room(place, &sum));
            if room > best.0 {
                best = (room, place);
            }
        }
        Ok(best.1)
    }

    /// Multiplies the parts of a ciphertext by the centred constant f_level/f.
    fn adjusted(&self, a: &Ciphertext, level: usize) -> Result<Ciphertext, BgvError> {
        let constant = self.centred(self.adjustment(a.metadata().level, level)?);
        let mut adjusted = a.clone();
        adjusted.scale_assign(&self.ring_of(a)?, constant)?;
        Ok(adjusted)
    }

    /// The representative of a residue modulo t in [−t/2, t/2).
    pub(crate) fn centred(&self, residue: u64) -> i64 {
        let t = self.plain_modulus();
        // The cast is exact: t is below 2^60.
        if residue >= t.div_ceil(2) { residue as i64 - t as i64 } else { residue as i64 }
    }

    /// Switches two BGV ciphertexts to the lower of their levels and to one place, ready to be added.
    pub(crate) fn aligned<'a, 'b>(
        &self,
        a: Cow<'a, Ciphertext>,
        b: &'b Ciphertext,
    ) -> Result<Pair<'a, 'b, Bgv>, BgvError> {
        a.check_key(b.key(), "the second summand")?;
        let (place_a, place_b) = (self.check(&a)?, self.check(b)?);
        let (level_a, level_b) = (a.metadata().level, b.metadata().level);
        let level = level_a.min(level_b);
        // A summand that comes from above joins what a product left, so that its noise is that of a summand.
        let place = match level_a.cmp(&level_b) {
            Ordering::Less if !self.budget().is_dynamic() => place_a,
            Ordering::Greater if !self.budget().is_dynamic() => place_b,
            _ => place_a.min(place_b),
        };
        let stays = level_a == level && place_a == place;
        let a = if stays { a } else { Cow::Owned(self.moved(&a, level, place)?.into_owned()) };
        Ok((a, self.moved(b, level, place)?))
    }
}
