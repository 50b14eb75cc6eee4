//! Digits of which only the bounds are there.

use super::{HollowPoly, HollowRing};
use crate::error::{check_length, no_such_digit};
use crate::{DigitBound, Evaluation, Gadget, GadgetOptions, KeyPoly, PolyRing, RingError, RnsDigits};
use std::borrow::Cow;

/// The digits of [`RnsGadget`](crate::RnsGadget), at one level.
#[derive(Clone, Debug)]
pub struct HollowGadget {
    /// The ring it was made for.
    top: HollowRing,
    level: usize,
    key_ring: HollowRing,
    options: GadgetOptions,
    digits: RnsDigits,
    log2_special: f64,
}

impl HollowGadget {
    pub(super) fn new(ring: &HollowRing, options: &GadgetOptions) -> Result<Self, RingError> {
        let highest = ring.limbs(ring.level());
        let moduli: Vec<u64> = highest.iter().filter_map(|&limb| ring.moduli().get(limb)).copied().collect();
        let digits = RnsDigits::new(options, &moduli)?;
        let log2_special = sunzi_math::log2_product(&options.special_moduli);
        let key_ring = ring.extended(&options.special_moduli)?;
        let (top, level, options) = (ring.clone(), ring.level(), options.clone());
        Ok(Self { top, level, key_ring, options, digits, log2_special })
    }

    /// Where the moduli of this level stand among those of the highest.
    fn limbs(&self) -> Vec<usize> {
        let places = crate::ladder::places(self.top.limbs(self.level), self.top.limbs(self.top.level()));
        places.into_iter().flatten().collect()
    }
}

impl Gadget<HollowRing> for HollowGadget {
    type Digits = ();
    /// Its bytes.
    type KeyPart = usize;
    type Multiplier = HollowPoly<Evaluation>;

    fn options(&self) -> &GadgetOptions {
        &self.options
    }

    fn key_ring(&self) -> &HollowRing {
        &self.key_ring
    }

    fn level(&self) -> usize {
        self.level
    }

    fn at_level(&self, level: usize) -> Result<Self, RingError> {
        if !self.top.is_nested(level, self.top.level()) {
            self.top.at_level(level)?;
            return Err(RingError::NotNested { level, within: self.top.level() });
        }
        let key_ring = self.top.at_level(level)?.extended(&self.options.special_moduli)?;
        Ok(Self { level, key_ring, ..self.clone() })
    }

    fn log2_special(&self) -> f64 {
        self.log2_special
    }

    /// Moduli of a higher level's key ring are not looked at.
    fn restrict_key(&self, _: &HollowPoly<Evaluation>) -> Result<HollowPoly<Evaluation>, RingError> {
        Ok(self.key_ring.zero())
    }

    fn multiplier(&self, a: HollowPoly<Evaluation>) -> Result<HollowPoly<Evaluation>, RingError> {
        self.restrict_key(&a)
    }

    fn multiplied(a: &HollowPoly<Evaluation>) -> Cow<'_, HollowPoly<Evaluation>> {
        Cow::Borrowed(a)
    }

    fn digit_count(&self) -> usize {
        self.digits.limbs_of(&self.limbs()).len()
    }

    fn digit_bounds(&self) -> Vec<DigitBound> {
        self.digits.bounds_of(&self.limbs())
    }

    fn key_part(
        &self,
        zero: [HollowPoly<Evaluation>; 2],
        source: &HollowPoly<Evaluation>,
        i: usize,
    ) -> Result<[HollowPoly<Evaluation>; 2], RingError> {
        zero.iter().chain([source]).try_for_each(|a| self.key_ring.check(a))?;
        if i < self.digit_count() { Ok(zero) } else { Err(no_such_digit(self.digit_count(), i)) }
    }

    fn keep(&self, part: HollowPoly<Evaluation>, i: usize) -> Result<usize, RingError> {
        self.part_ring(i)?.check(&part)?;
        let limbs = self.key_ring.limbs(self.key_ring.level()).iter();
        Ok(KeyPoly::len_of(
            self.key_ring.degree(),
            limbs.filter_map(|&limb| self.key_ring.moduli().get(limb)).copied(),
        ))
    }

    fn kept(&self, _: &usize, i: usize) -> Result<HollowPoly<Evaluation>, RingError> {
        Ok(self.part_ring(i)?.zero())
    }

    fn kept_bytes(part: &usize) -> usize {
        *part
    }

    fn decompose(&self, a: &HollowPoly<Evaluation>) -> Result<(), RingError> {
        self.top.at_level(self.level)?.check(a)
    }

    fn product(&self, &(): &(), key: [&[usize]; 2]) -> Result<[HollowPoly<Evaluation>; 2], RingError> {
        // A key of a higher level may have more.
        let count = self.digit_count();
        key.into_iter()
            .try_for_each(|half| check_length("polynomials of a key half", count, half.len().min(count)))?;
        Ok([self.key_ring.zero(); 2])
    }
}
