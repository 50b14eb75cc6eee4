//! Bounds on digits, which multiply the errors of keys.

use std::ops::Range;

use super::digits::{Digit, RnsDigits};
use super::merging::SLACK;
use crate::DigitBound;

impl RnsDigits {
    /// Bounds on q_I·d for every digit d, where q_I is the product of the dropped moduli.
    #[must_use]
    pub fn bounds(&self) -> Vec<DigitBound> {
        self.bounds_at(self.moduli().len())
    }

    /// Bounds on q_I·d for the digits of the first `level` moduli.
    #[must_use]
    pub fn bounds_at(&self, level: usize) -> Vec<DigitBound> {
        self.bounds_of(&first(level))
    }

    /// Bounds on q_I·d for the digits of the moduli with these ascending indices, or on what they count as where
    /// digits can be merged.
    #[must_use]
    pub fn bounds_of(&self, moduli: &[usize]) -> Vec<DigitBound> {
        let slack = if self.merging(moduli).is_some() { SLACK } else { 0.0 };
        let bound = |(_, digit, places): (usize, &Digit, Range<usize>)| {
            let own = moduli.get(places).unwrap_or_default();
            let values = self.moduli_of(own);
            if own.len() > 1 {
                return self.bound_of_product(own, slack);
            }
            let digit = values.iter().fold(*digit, |digit, &q| digit.of_one(digit.source, q));
            let log2_factor: f64 = self.dropped(digit.source).map(|q| (q as f64).log2()).sum();
            DigitBound {
                log2_bound: (digit.bias as f64).log2() + log2_factor + slack,
                // A whole residue is centred; [−ω/2, ω/2) has mean −1/2.
                log2_mean: if digit.is_whole() { f64::NEG_INFINITY } else { log2_factor - 1.0 },
            }
        };
        self.present(moduli).map(bound).collect()
    }

    /// Bounds on the digits of these blocks, merged, for a level with the moduli of these ascending indices.
    pub(super) fn merged_bounds(&self, limbs: &[usize], blocks: &[Range<usize>]) -> Vec<DigitBound> {
        let bound = |block: &Range<usize>| {
            let own = self.present(limbs).filter(|(number, ..)| block.contains(number));
            let own = own.flat_map(|(_, _, places)| limbs.get(places).unwrap_or_default());
            self.bound_of_product(&own.copied().collect::<Vec<_>>(), 0.0)
        };
        blocks.iter().map(bound).collect()
    }

    /// The bound on a centred remainder by the product of the moduli with these indices, and a slack in bits.
    fn bound_of_product(&self, limbs: &[usize], slack: f64) -> DigitBound {
        let log2: f64 = self.moduli_of(limbs).iter().map(|&q| (q as f64).log2()).sum();
        // A quotient in doubles that is off by one leaves a remainder that is 2^-40 of the product beyond half of it.
        DigitBound { log2_bound: log2 - 1.0 + 1e-11 + slack, log2_mean: f64::NEG_INFINITY }
    }
}

/// Returns the indices of the first `level` moduli: 0, 1, ….
fn first(level: usize) -> Vec<usize> {
    (0..level).collect()
}
