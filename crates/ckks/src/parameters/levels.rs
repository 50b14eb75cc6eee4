//! Whether levels and scales of CKKS parameters fit their moduli.

use sunzi_rlwe::moduli;

use super::{Parameters, SCALE_BITS};
use crate::error::CkksError;

impl Parameters {
    /// Checks the sets of moduli of the ring, and that levels are among them.
    pub(super) fn check_chain(&self) -> Result<(), CkksError> {
        if self.rungs.is_empty() {
            return check_levels(&self.levels, self.moduli.len(), self.moduli.len());
        }
        if self.rungs.len() > moduli::MAX_RUNGS {
            let (got, expected) = (self.rungs.len().to_string(), "there are at most 512");
            return Err(CkksError::Request { what: "levels of the ring", got, expected });
        }
        sunzi_ring::check_rungs(&self.moduli, &self.rungs).map_err(CkksError::Ring)?;
        check_levels(&self.levels, 1, self.rungs.len())?;
        // The highest set may be one for keys alone. What it has beyond all levels would serve none.
        let of_none = self.moduli.len().saturating_sub(self.union(&(0..=self.depth())).len());
        if of_none == 0 {
            return Ok(());
        }
        let (got, expected) = (of_none.to_string(), "every modulus is one of a level");
        Err(CkksError::Request { what: "moduli of no level", got, expected })
    }
}

/// Checks that CKKS levels are ascending levels of the ring, the last from `least` to `moduli`.
pub(crate) fn check_levels(levels: &[usize], least: usize, moduli: usize) -> Result<(), CkksError> {
    let ascending = levels.windows(2).all(|pair| matches!(pair, [low, high] if low < high));
    let starts = levels.first().is_some_and(|&limbs| limbs > 0);
    if ascending && starts && levels.last().is_some_and(|last| (least..=moduli).contains(last)) {
        return Ok(());
    }
    // The error lists at most as many levels as are of use in a message.
    Err(CkksError::LevelsUnusable {
        levels: levels.iter().copied().take(moduli::MAX_MODULI).collect(),
        moduli,
    })
}

/// Checks that every CKKS level can hold a message at its canonical scale.
pub(crate) fn check_scales(scales: &[f64], log2_moduli: &[f64], message_bits: f64) -> Result<(), CkksError> {
    let (least, most) = (f64::from(*SCALE_BITS.start()), f64::from(*SCALE_BITS.end()));
    for (level, (scale, log2_modulus)) in scales.iter().zip(log2_moduli).enumerate() {
        let bits = scale.log2();
        let limit = most.min(log2_modulus - 1.0 - message_bits);
        if !(least..=limit).contains(&bits) {
            return Err(CkksError::ScaleUnusable { level, bits, least, limit });
        }
    }
    Ok(())
}
