//! Merged digits: key switches below the highest level by fewer digits, with sums of the same keys.
//!
//! The keys of digits D_i and D_j encrypt P·g_i·s′ and P·g_j·s′, where g_i is 1 modulo the moduli of its digit and 0
//! modulo all others. Their sum is a key for the digit of both (1_Di + 1_Dj = 1_(Di ∪ Dj), ia.cr/2023/1328). Its digits
//! are as large as the product of both, so moduli that level l has dropped serve as further special moduli, of product
//! E: the digits are those of E·c, which is 0 modulo E, and the end is a division by P·E. Blocks of 2, 4, 8, … digits
//! are merged, so that all sums together are fewer than the digits.

use std::ops::Range;

use super::digits::{Digit, RnsDigits};
use super::switch_cost::{DigitShape, SwitchCost};

/// Ratio of counted costs up to which digits are merged.
const WORTH: f64 = 0.85;
/// Bits by which bounds on digits are larger where digits are merged: dropped moduli may be shorter than others by as much.
pub(super) const SLACK: f64 = 1.0 / 256.0;

/// Digits of a level that are merged.
#[derive(Clone, Debug)]
pub struct Merging {
    /// Indices of the dropped moduli that serve as special moduli, ascending.
    pub further: Vec<usize>,
    /// Numbers of the digits that make one digit each.
    pub blocks: Vec<Range<usize>>,
    /// Cost of a key switch by the merged digits, for degree 1.
    pub cost: SwitchCost,
}

impl RnsDigits {
    /// The merged digits of least counted cost for a level with the moduli of these ascending indices; `None` where the
    /// level's own digits cost about as much.
    #[must_use]
    pub fn merging(&self, limbs: &[usize]) -> Option<Merging> {
        let mut dropped = self.dropped_digits(limbs);
        if dropped.is_empty() || self.special_moduli().is_empty() {
            return None;
        }
        dropped.sort_by_key(|&limb| std::cmp::Reverse(self.modulus(limb)));
        let present: Vec<Present> =
            self.present(limbs).map(|digit| Present::new(self, limbs, digit)).collect();
        let plain = SwitchCost::of_level(self, limbs).in_transforms(1);
        let mut best: Option<Merging> = None;
        let (mut fewest, mut log2_further) = (present.len(), 0.0);
        for (i, &limb) in dropped.iter().enumerate() {
            log2_further += (self.modulus(limb) as f64).log2();
            let blocks = blocks(&present, log2_further);
            // As many blocks by more moduli cost more.
            if blocks.len() >= fewest {
                continue;
            }
            fewest = blocks.len();
            let merging = self.merging_by(limbs, &present, dropped.iter().copied().take(i + 1), blocks);
            let least = best.as_ref().map_or(WORTH * plain, |best| best.cost.in_transforms(1));
            if merging.cost.in_transforms(1) < least {
                best = Some(merging);
            }
        }
        best
    }

    /// The merging by these further moduli into these blocks, with its cost.
    fn merging_by(
        &self,
        limbs: &[usize],
        present: &[Present],
        further: impl Iterator<Item = usize>,
        blocks: Vec<Range<usize>>,
    ) -> Merging {
        let mut further: Vec<usize> = further.collect();
        further.sort_unstable();
        let special = [&*self.moduli_of(&further), self.special_moduli()].concat();
        let count = |block: &Range<usize>| {
            present.iter().filter(|digit| block.contains(&digit.number)).map(|digit| digit.limbs).sum()
        };
        let counts: Vec<usize> = blocks.iter().map(count).collect();
        let shape = DigitShape { limbs: &counts, whole: true, dropped_limbs: 0 };
        let mut cost = SwitchCost::of_digits(&self.moduli_of(limbs), &special, &shape);
        // The product E·c.
        cost.multiplications += limbs.len() as f64;
        Merging { further, blocks, cost }
    }
}

/// A digit that a level has.
struct Present {
    number: usize,
    limbs: usize,
    log2: f64,
}

impl Present {
    fn new(digits: &RnsDigits, limbs: &[usize], (number, _, places): (usize, &Digit, Range<usize>)) -> Self {
        let own = limbs.get(places).unwrap_or_default();
        let log2 = own.iter().map(|&limb| (digits.modulus(limb) as f64).log2()).sum();
        Self { number, limbs: own.len(), log2 }
    }
}

/// Merges digits of a level, as many as a further divisor allows: blocks of 2^k digits from a multiple of 2^k on.
fn blocks(present: &[Present], log2_further: f64) -> Vec<Range<usize>> {
    let mut blocks: Vec<Range<usize>> = Vec::new();
    let mut rest = present;
    while let Some(first) = rest.first() {
        let lengths = (0..usize::BITS).map(|k| 1 << k);
        let fits = |&length: &usize| {
            let own = rest.get(..length).unwrap_or_default();
            let stand_together = own.last().is_some_and(|last| last.number + 1 == first.number + length);
            first.number.is_multiple_of(length) && stand_together && is_quiet(own, log2_further)
        };
        let length = lengths.take_while(|&length| length <= rest.len()).filter(fits).last().unwrap_or(1);
        blocks.push(first.number..first.number + length);
        rest = rest.get(length..).unwrap_or_default();
    }
    blocks
}

/// Whether errors of the digit merged of these are no larger than theirs: with r keys, r·D/E for Σ D_j. Then their
/// variances are no larger either, since r·(D/E)² is at most (Σ D_j)²/r and that at most Σ D_j².
fn is_quiet(digits: &[Present], log2_further: f64) -> bool {
    if digits.len() < 2 {
        return true;
    }
    let largest = digits.iter().map(|digit| digit.log2).fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = digits.iter().map(|digit| (digit.log2 - largest).exp2()).sum();
    let product: f64 = digits.iter().map(|digit| digit.log2).sum();
    // The other half of the slack is for what is rounded here.
    (digits.len() as f64).log2() + product - log2_further <= largest + sum.log2() + SLACK / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GadgetOptions;
    use sunzi_math::{DEFAULT_PRIME_BOUND, primes_below};

    fn digits(limbs: usize, special: usize) -> RnsDigits {
        let mut special_moduli = primes_below(DEFAULT_PRIME_BOUND, 1 << 16, limbs + special).unwrap();
        let moduli = special_moduli.split_off(special);
        RnsDigits::new(&GadgetOptions { special_moduli, ..GadgetOptions::default() }, &moduli).unwrap()
    }

    /// Tests what is merged of 17 + 2 moduli in nine digits: at level 14 the last two digits are dropped, two further
    /// moduli make pairs, and six would make fours.
    #[test]
    fn pairs_of_digits_take_as_many_further_moduli_as_one() {
        let digits = digits(17, 2);
        let level = |level: usize| digits.merging(&(0..level).collect::<Vec<_>>());
        assert!(level(17).is_none() && level(16).is_none());
        let merging = level(14).unwrap();
        assert_eq!(merging.further, [14, 15]);
        assert_eq!(merging.blocks, [0..2, 2..4, 4..6, 6..7]);
        let merging = level(8).unwrap();
        assert!(merging.further.len() == 6 && matches!(&merging.blocks[..], [block] if *block == (0..4)));
        assert!(level(1).is_none() && level(2).is_none());
    }

    /// Tests the cost of merged digits: 4 + 2 transforms of 14 + 4 limbs and 4·18 key limbs for 7 + 2 of 14 + 2 and 7·16.
    #[test]
    fn merged_digits_cost_what_is_counted() {
        let digits = digits(17, 2);
        let limbs: Vec<usize> = (0..14).collect();
        let (merged, plain) = (digits.merging(&limbs).unwrap().cost, SwitchCost::of_level(&digits, &limbs));
        assert_eq!((plain.transforms, merged.transforms), (9.0 * 16.0, 6.0 * 18.0));
        assert_eq!((plain.key_bytes, merged.key_bytes), (12.0 * 7.0 * 16.0, 12.0 * 4.0 * 18.0));
    }

    /// Tests that no error grows: the sum over merged digits is at most that over digits, and just so.
    #[test]
    fn errors_of_merged_digits_are_at_most_those_of_digits() {
        let of = |bits: &[f64]| -> Vec<Present> {
            (0..).zip(bits).map(|(number, &log2)| Present { number, limbs: 1, log2 }).collect()
        };
        assert!(is_quiet(&of(&[47.0, 47.0]), 47.0) && !is_quiet(&of(&[47.0, 47.0]), 46.99));
        assert!(is_quiet(&of(&[40.0, 30.0]), 31.0) && !is_quiet(&of(&[40.0, 30.0]), 30.9));
        assert_eq!(blocks(&of(&[47.0; 5]), 47.0), [0..2, 2..4, 4..5]);
        assert_eq!(blocks(&of(&[47.0; 5]), 141.0), [0..4, 4..5]);
        // Digits 1 and 2 make no block, nor do digits with a gap between.
        assert_eq!(blocks(&of(&[47.0; 3])[1..], 141.0), [1..2, 2..3]);
        let gap: Vec<Present> = of(&[47.0; 4]).into_iter().filter(|digit| digit.number != 1).collect();
        assert_eq!(blocks(&gap, 141.0), [0..1, 2..4]);
    }
}
