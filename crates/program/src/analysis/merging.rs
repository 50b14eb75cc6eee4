//! Merged digits in a run: levels whose relinearisations go by sums of the key's polynomials, where these pay.
//!
//! Rotations stay as they are: their keys are made for the level of sums, which drops no digit of theirs.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use sunzi_circuits::EvaluationKeys;
use sunzi_ring::RnsDigits;
use sunzi_rlwe::RlweContext;
use sunzi_rlwe::switch_cost::SwitchCost;

use super::Parameters;
use crate::ProgramError;

/// Time of one limb of a sum of two polynomials of a key, in transforms.
const ADDITION: f64 = 0.8;
/// Number of polynomials in words that a sum takes while it is made, kept for reuse: two terms and what is packed of them.
const SCRATCH: u64 = 3;
/// Largest part of the work of relinearisations, sums included, at which digits are merged.
pub(super) const WORTH: f64 = 0.95;

/// Relinearisations of a run by merged digits.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Merging {
    /// Levels of the ring at which relinearisations go by merged digits.
    levels: Vec<usize>,
    /// Number of bytes of the sums.
    pub(crate) bytes: u64,
    /// Number of bytes of the sums and of the polynomials that are kept from making them.
    pub(crate) memory_bytes: u64,
    /// Counted work of relinearisations with the sums, over that by the level's own digits.
    pub(crate) share: f64,
}

impl Merging {
    /// Compares the work of relinearisations, given by how many levels they are below fresh ciphertexts, for so many chunks;
    /// `None` where merged digits do not pay.
    pub(super) fn of(
        parameters: &Parameters,
        chunks: usize,
        relinearizations: &BTreeMap<usize, f64>,
    ) -> Option<Self> {
        let (options, moduli, n) = (parameters.key_switching(), parameters.moduli(), parameters.degree());
        let digits = RnsDigits::new(options, moduli).ok()?;
        let times = (chunks * parameters.plain_moduli().len().max(1)) as f64;
        let (mut own, mut merged) = (0.0, 0.0);
        let (mut levels, mut sums) = (BTreeSet::new(), BTreeSet::new());
        for (&drop, &count) in relinearizations {
            let limbs = parameters.limbs_below(drop);
            let cost = SwitchCost::of_limbs(options, moduli, &limbs, n).ok()?.in_transforms(n);
            own += count * times * cost;
            // A relinearisation ends at the level below, which may have anew what merged digits divide by.
            let below = parameters.limbs_below(drop + 1);
            let divides =
                |merging: &sunzi_ring::Merging| merging.further.iter().any(|limb| below.contains(limb));
            let Some(merging) = digits.merging(&limbs).filter(|merging| !divides(merging)) else {
                merged += count * times * cost;
                continue;
            };
            merged += count * times * merging.cost.in_transforms(1);
            levels.insert(parameters.ring_level_below(drop));
            sums.extend(merging.blocks.iter().filter(|block| block.len() > 1).map(|b| [b.start, b.end]));
        }
        let share = (merged + sums.len() as f64 * 2.0 * digits.key_limbs() as f64 * ADDITION) / own;
        let all: Vec<usize> = (0..moduli.len()).collect();
        let bytes = parameters.key_digit_memory(&all) * sums.len() as u64;
        let memory_bytes = bytes + SCRATCH * 8 * (n * digits.key_limbs()) as u64;
        let pays = !levels.is_empty() && share <= WORTH;
        pays.then(|| Self { levels: levels.into_iter().collect(), bytes, memory_bytes, share })
    }

    /// Returns the reason that a plan states for its sums.
    pub(super) fn reason(&self) -> String {
        format!(
            "sums of the relinearisation key, {} bytes, leave {:.2} of the work of relinearisations",
            self.bytes, self.share
        )
    }

    /// Returns keys with the sums that a plan takes.
    ///
    /// # Errors
    /// [`ProgramError::Scheme`] for keys of other parameters, and where the machine lacks the memory.
    pub(crate) fn keys<'a>(
        merging: Option<&Self>,
        context: &RlweContext,
        keys: &'a EvaluationKeys,
    ) -> Result<Cow<'a, EvaluationKeys>, ProgramError> {
        let (Some(merging), Some(key)) = (merging, &keys.relinearization) else {
            return Ok(Cow::Borrowed(keys));
        };
        let key = key.clone().with_merged_digits_at(context, merging.levels.iter().copied());
        let relinearization = Some(key.map_err(ProgramError::of_rlwe)?);
        Ok(Cow::Owned(EvaluationKeys { relinearization, galois: keys.galois.clone() }))
    }
}
