//! Sums of the polynomials of a key, for key switches by merged digits (ia.cr/2023/1328).

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use sunzi_ring::{Gadget, KeyPart, RingError};

use crate::{RlweError, memory};

/// Sums of both halves of a key over blocks of digits, by first digit and end of the block.
#[derive(Clone, Default)]
pub(super) struct KeySums(BTreeMap<[usize; 2], [KeyPart; 2]>);

impl KeySums {
    /// Makes the sums that merged digits of any level below that of the gadget need.
    pub(super) fn new(gadget: &Gadget, key: [&[KeyPart]; 2]) -> Result<Self, RlweError> {
        let mut blocks = BTreeSet::new();
        for level in 1..gadget.level() {
            let lower = match gadget.at_level(level) {
                Err(RingError::NotNested { .. }) => continue,
                lower => lower?,
            };
            let merged = lower.merged()?.map(|merged| merged.key_digits()).unwrap_or_default();
            blocks.extend(
                merged.into_iter().filter(|block| block.len() > 1).map(|block| [block.start, block.end]),
            );
        }
        let each = key.iter().filter_map(|half| half.first()).map(KeyPart::byte_len).sum::<usize>();
        memory::require((each * blocks.len()) as u64)?;
        let sum = |[start, end]: [usize; 2]| {
            let [first, second] = key.map(|half| sum(gadget, half, start..end));
            Ok(([start, end], [first?, second?]))
        };
        Ok(Self(blocks.into_iter().map(sum).collect::<Result<_, RlweError>>()?))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Length of the sums in memory, in bytes.
    pub(super) fn byte_len(&self) -> usize {
        self.0.values().flatten().map(KeyPart::byte_len).sum()
    }

    /// Returns both halves of the key for these blocks, of one digit or of several; `None` where a sum is missing.
    pub(super) fn of_blocks(
        &self,
        blocks: &[Range<usize>],
        key: [&[KeyPart]; 2],
    ) -> Option<[Vec<KeyPart>; 2]> {
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

/// Returns the packed sum of the polynomials of half a key over a block of digits.
fn sum(gadget: &Gadget, half: &[KeyPart], block: Range<usize>) -> Result<KeyPart, RlweError> {
    let mut sum = gadget.key_ring().zero();
    for digit in block.clone() {
        let missing = RingError::LengthMismatch {
            what: "polynomials of a key half",
            expected: block.end,
            got: half.len(),
        };
        let part = gadget.unpack_part(half.get(digit).ok_or(missing)?, digit)?;
        gadget.key_ring().add_assign(&mut sum, &part)?;
    }
    Ok(gadget.pack_part(sum, block.start)?)
}
