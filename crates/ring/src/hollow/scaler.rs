//! Products of BFV for dry runs: only their bounds exist.

use std::ops::RangeInclusive;

use super::HollowRing;
use super::ring::NUMBERS;
use crate::{
    Backend, Coefficient, Evaluation, Multiplication, Poly, Ring, RingError, ScalerBackend, ScalerOptions,
    ScalingBounds, Side,
};

/// The scale-invariant operations of [`RnsScaler`](crate::RnsScaler), except that any number of products may be
/// summed before they are scaled.
#[derive(Clone, Debug)]
pub struct HollowScaler {
    ring: Ring,
    bounds: ScalingBounds,
    lowest: usize,
}

impl HollowScaler {
    pub(crate) fn new(handle: &Ring, t: u64, options: &ScalerOptions) -> Result<Self, RingError> {
        let ring: &HollowRing = handle.storage_as()?;
        if !ring.is_of_prefixes() {
            let expected = "the first moduli, for scale-invariant products";
            return Err(RingError::out_of_range("moduli of a level", expected, "other sets of them"));
        }
        let moduli = ring.moduli().get(..ring.level()).unwrap_or_default();
        let bounds = ScalingBounds::new(options, moduli, t)?;
        let below = |&level: &usize| ring.of_level(level).is_ok_and(|base| *base.modulus() <= (2 * t).into());
        let lowest = match options.multiplication {
            Multiplication::HpsOverQLeveled => (1..ring.level()).take_while(below).count() + 1,
            _ => ring.level(),
        };
        Ok(Self { ring: handle.clone(), bounds, lowest })
    }
}

impl ScalerBackend for HollowScaler {
    fn levels(&self) -> RangeInclusive<usize> {
        self.lowest..=self.ring.level()
    }

    /// Returns the dry ring of a level, in place of a wide one: the difference never shows.
    fn wide(&self, level: usize) -> Result<Ring, RingError> {
        if self.levels().contains(&level) {
            return self.ring.at_level(level);
        }
        Err(RingError::out_of_range("level of a product", format_args!("one of {:?}", self.levels()), level))
    }

    fn extend(&self, a: &Poly<Evaluation>, _: Side, level: usize) -> Result<Poly<Evaluation>, RingError> {
        self.ring.restrict(a, self.ring.level())?;
        Ok(self.wide(level)?.zero())
    }

    fn scale(&self, a: Poly<Evaluation>, level: usize) -> Result<Poly<Coefficient>, RingError> {
        let wide = self.wide(level)?;
        wide.restrict(&a, wide.level())?;
        Ok(wide.zero())
    }

    fn decrypt(&self, a: &Poly<Coefficient>) -> Result<Vec<u64>, RingError> {
        self.ring.restrict(a, self.ring.level())?;
        Err(RingError::Dry(NUMBERS))
    }

    fn product_capacity(&self) -> u64 {
        u64::MAX
    }

    fn bounds(&self) -> &ScalingBounds {
        &self.bounds
    }
}
