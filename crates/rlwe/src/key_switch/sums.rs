//! Sums of the polynomials of a key, for key switches by merged digits (ia.cr/2023/1328).

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use sunzi_ring::{Gadget, PackedPoly, RingError};

use crate::{RlweError, memory};

/// Sums of both halves of a key over blocks of digits, by first digit and end of the block.
#[derive(Clone, Default)]
pub(super) struct KeySums(BTreeMap<[usize; 2], [PackedPoly; 2]>);

impl KeySums {
    /// Makes the sums that merged digits of the given levels need, besides those that are there.
    pub(super) fn extend(
        &mut self,
        gadget: &Gadget,
        levels: impl IntoIterator<Item = usize>,
        key: [&[PackedPoly]; 2],
    ) -> Result<(), RlweError> {
        let mut blocks = BTreeSet::new();
        for level in levels {
            let lower = match gadget.at_level(level) {
                Err(RingError::NotNested { .. }) => continue,
                lower => lower?,
            };
            let merged = lower.merged(level)?.map(|merged| merged.key_digits()).unwrap_or_default();
            // Short blocks first: longer ones are sums of theirs.
            blocks.extend(merged.into_iter().map(|block| (block.len(), [block.start, block.end])));
        }
        blocks.retain(|(length, block)| *length > 1 && !self.0.contains_key(block));
        let each = key.iter().filter_map(|half| half.first()).map(PackedPoly::byte_len).sum::<usize>();
        memory::require((each * blocks.len()) as u64)?;
        for (_, block) in blocks {
            let sum = self.sum(gadget, block, key)?;
            self.0.insert(block, sum);
        }
        Ok(())
    }

    /// Returns the packed sum of both halves of the key over a block of digits: of two halves of the block where their sums are
    /// there, else of single digits.
    fn sum(
        &self,
        gadget: &Gadget,
        [start, end]: [usize; 2],
        key: [&[PackedPoly]; 2],
    ) -> Result<[PackedPoly; 2], RlweError> {
        let middle = start.midpoint(end);
        let missing = RingError::LengthMismatch {
            what: "polynomials of a key half",
            expected: end,
            got: key.map(<[PackedPoly]>::len).into_iter().min().unwrap_or(0),
        };
        let digits = || self.of_blocks(&(start..end).map(|digit| digit..digit + 1).collect::<Vec<_>>(), key);
        let terms = self.of_blocks(&[start..middle, middle..end], key).or_else(digits);
        let [first, second] = terms.ok_or(missing)?.map(|terms| sum(gadget, &terms, start));
        Ok([first?, second?])
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Length of the sums in memory, in bytes.
    pub(super) fn byte_len(&self) -> usize {
        self.0.values().flatten().map(PackedPoly::byte_len).sum()
    }

    /// Returns both halves of the key for these blocks, of one digit or of several; `None` where a sum is missing.
    pub(super) fn of_blocks(
        &self,
        blocks: &[Range<usize>],
        key: [&[PackedPoly]; 2],
    ) -> Option<[Vec<PackedPoly>; 2]> {
        let part = |block: &Range<usize>| match self.0.get(&[block.start, block.end]) {
            Some([first, second]) => Some((first.clone(), second.clone())),
            None if block.len() == 1 => {
                let [first, second] = key.map(|half| half.get(block.start).cloned());
                first.zip(second)
            }
            None => None,
        };
        let (first, second) = blocks.iter().map(part).collect::<Option<_>>()?;
        Some([first, second])
    }
}

/// Returns the packed sum of polynomials of half a key, in the place of a digit.
fn sum(gadget: &Gadget, terms: &[PackedPoly], digit: usize) -> Result<PackedPoly, RlweError> {
    Ok(gadget.sum_parts(&terms.iter().collect::<Vec<_>>(), digit)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use chacha20::ChaCha20Rng;
    use rand_core::SeedableRng;
    use sunzi_ring::{GadgetOptions, Ring};

    /// Tests all sums of a key of 17 digits against sums of single polynomials, made for all levels at once or for one after the other.
    #[test]
    fn sums_of_sums_are_sums_of_single_polynomials() {
        let mut moduli = sunzi_math::primes_below(1 << 47, 128, 18).unwrap();
        let options = GadgetOptions { special_moduli: moduli.split_off(17), ..GadgetOptions::default() };
        let ring = Ring::new(128, &moduli).unwrap();
        let gadget = ring.gadget(&options).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(7);
        let half = || {
            let part = |digit| gadget.pack_part(gadget.key_ring().uniform(&mut rng), digit).unwrap();
            (0..gadget.digit_count()).map(part).collect::<Vec<_>>()
        };
        let halves: Vec<Vec<PackedPoly>> = std::iter::repeat_with(half).take(2).collect();
        let key = [halves[0].as_slice(), &halves[1]];
        let (mut all, mut one_by_one) = (KeySums::default(), KeySums::default());
        all.extend(&gadget, 1..17, key).unwrap();
        // The lowest levels take the longest blocks, which come before their halves here.
        (1..17).for_each(|level| one_by_one.extend(&gadget, [level], key).unwrap());
        let lengths: BTreeSet<usize> = all.0.keys().map(|[start, end]| end - start).collect();
        assert!([2, 4, 8].iter().all(|length| lengths.contains(length)), "{lengths:?}");
        assert!(all.0.keys().eq(one_by_one.0.keys()));
        for (&[start, end], sums) in &all.0 {
            for ((half, got), other) in key.iter().zip(sums).zip(&one_by_one.0[&[start, end]]) {
                let mut expected = gadget.key_ring().zero();
                for digit in start..end {
                    let part = gadget.unpack_part(&half[digit], digit).unwrap();
                    gadget.key_ring().add_assign(&mut expected, &part).unwrap();
                }
                for sum in [got, other] {
                    assert_eq!(gadget.unpack_part(sum, start).unwrap().words(), expected.words());
                }
            }
        }
        let bytes = all.byte_len();
        all.extend(&gadget, 1..17, key).unwrap();
        assert_eq!(all.byte_len(), bytes);
        assert!(bytes < key.iter().copied().flatten().map(PackedPoly::byte_len).sum());
        assert!(all.extend(&gadget, [18], key).is_err());
    }
}
