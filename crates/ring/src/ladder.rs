//! Moduli of each level of a ring.
//!
//! In most rings level l has the first l moduli. A ring may also be given *rungs*: any sets of its moduli, so that few words hold any
//! number of bits and a few short moduli come and go between levels `[SS24]`. Level l + 1 then need not have the moduli of level l.

use std::ops::Range;
use std::sync::Arc;

use num_bigint::BigUint;
use sunzi_kernels::{Isa, Modulus};

use crate::basis::tag_of;
use crate::transform::Plan;
use crate::{Basis, RingError};

/// All moduli that levels are made of, and the moduli of every level.
pub(crate) struct Ladder {
    isa: Isa,
    plans: Vec<Arc<Plan>>,
    rungs: Vec<Rung>,
}

/// Moduli of one level of a ladder.
struct Rung {
    /// Indices of the moduli of the level, ascending.
    limbs: Vec<usize>,
    tag: u64,
}

impl Ladder {
    /// A ladder whose level l has the first l moduli.
    pub(crate) fn of_prefixes(plans: Vec<Arc<Plan>>, isa: Isa) -> Self {
        let limbs = (1..=plans.len()).map(|level| (0..level).collect());
        Self::of_limbs(&plans, limbs, isa)
    }

    fn of_limbs(plans: &[Arc<Plan>], limbs: impl Iterator<Item = Vec<usize>>, isa: Isa) -> Self {
        let rung = |limbs: Vec<usize>| {
            let values: Vec<u64> = pick(plans, &limbs).map(|plan| plan.modulus().value()).collect();
            Rung { limbs, tag: tag_of(&values) }
        };
        Self { isa, plans: plans.to_vec(), rungs: limbs.map(rung).collect() }
    }

    /// A ladder whose level l has the moduli with the indices `rungs[l − 1]`.
    ///
    /// # Errors
    /// [`RingError::OutOfRange`] unless every rung is an ascending list of indices, products ascend, and the last rung has all moduli.
    pub(crate) fn of_rungs(plans: Vec<Arc<Plan>>, rungs: &[Vec<usize>], isa: Isa) -> Result<Self, RingError> {
        let values: Vec<u64> = plans.iter().map(|plan| plan.modulus().value()).collect();
        check_rungs(&values, rungs)?;
        Ok(Self::of_limbs(&plans, rungs.iter().cloned(), isa))
    }

    /// A ladder of these levels up to one of them, and above it one more level for each modulus of another ring.
    pub(crate) fn extended(&self, level: usize, others: &[Arc<Plan>]) -> Self {
        let own = self.limbs(level).to_vec();
        let added = (1..=others.len())
            .map(|count| own.iter().copied().chain((self.plans.len()..).take(count)).collect());
        let below = self.rungs.iter().take(level).map(|rung| rung.limbs.clone());
        let plans: Vec<_> = self.plans.iter().chain(others).cloned().collect();
        Self::of_limbs(&plans, below.chain(added), self.isa)
    }

    /// The number of levels of the ladder.
    pub(crate) fn len(&self) -> usize {
        self.rungs.len()
    }

    fn rung(&self, level: usize) -> Option<&Rung> {
        self.rungs.get(level.checked_sub(1)?)
    }

    /// The indices of the moduli of a level, ascending; empty for a level that does not exist.
    pub(crate) fn limbs(&self, level: usize) -> &[usize] {
        self.rung(level).map_or(&[], |rung| &rung.limbs)
    }

    /// The tag that tells polynomials of a level of the ladder from polynomials of others.
    pub(crate) fn tag(&self, level: usize) -> Result<u64, RingError> {
        let missing = RingError::NoSuchLevel { got: level, highest: self.len() };
        self.rung(level).map(|rung| rung.tag).ok_or(missing)
    }

    /// The level up to `highest` that has this tag.
    pub(crate) fn level_of(&self, tag: u64, highest: usize) -> Option<usize> {
        (1..=highest).rev().find(|&level| self.rung(level).is_some_and(|rung| rung.tag == tag))
    }

    /// Whether a level up to `highest` has `limbs` moduli.
    pub(crate) fn has_length(&self, limbs: usize, highest: usize) -> bool {
        (1..=highest).any(|level| self.limbs(level).len() == limbs)
    }

    /// The transforms of the moduli of a level.
    pub(crate) fn plans(&self, level: usize) -> Vec<Arc<Plan>> {
        pick(&self.plans, self.limbs(level)).cloned().collect()
    }

    /// The basis made of the moduli of a level.
    pub(crate) fn basis(&self, level: usize) -> Result<Basis, RingError> {
        let moduli: Vec<Modulus> = pick(&self.plans, self.limbs(level)).map(|plan| plan.modulus()).collect();
        Basis::from_moduli(moduli, self.isa)
    }

    /// Whether every level l of the ladder has the first l moduli.
    pub(crate) fn is_of_prefixes(&self) -> bool {
        is_of_prefixes(self.rungs.iter().map(|rung| &*rung.limbs))
    }

    /// All moduli of the ladder, in order.
    pub(crate) fn moduli(&self) -> Vec<u64> {
        self.plans.iter().map(|plan| plan.modulus().value()).collect()
    }

    /// For every modulus of level `to`, its place in level `from`, if it is there.
    pub(crate) fn places(&self, to: usize, from: usize) -> Vec<Option<usize>> {
        places(self.limbs(to), self.limbs(from))
    }

    /// For every modulus of level `to`, its place in level `from`, in which level `to` must be nested.
    ///
    /// # Errors
    /// [`RingError::NotNested`] where a modulus of level `to` is missing in level `from`.
    pub(crate) fn nested(&self, to: usize, from: usize) -> Result<Vec<usize>, RingError> {
        let places: Option<Vec<usize>> = self.places(to, from).into_iter().collect();
        places.ok_or(RingError::NotNested { level: to, within: from })
    }
}

/// For each of the given indices, its place in another ascending list.
pub(crate) fn places(limbs: &[usize], within: &[usize]) -> Vec<Option<usize>> {
    limbs.iter().map(|limb| within.binary_search(limb).ok()).collect()
}

/// Whether the places are 0, 1, 2, …: then the limbs stand together.
pub(crate) fn is_prefix(places: &[usize]) -> bool {
    places.iter().enumerate().all(|(i, &place)| i == place)
}

/// Whether every list number l of these ascending lists has the first l indices.
pub(crate) fn is_of_prefixes<'a>(rungs: impl Iterator<Item = &'a [usize]>) -> bool {
    (1..)
        .zip(rungs)
        .all(|(level, limbs): (usize, _)| limbs.len() == level && limbs.last() == Some(&(level - 1)))
}

/// The range of places in an ascending list at which indices within a range stand.
pub(crate) fn within(limbs: &[usize], range: &Range<usize>) -> Range<usize> {
    let place = |bound: usize| limbs.partition_point(|&limb| limb < bound);
    place(range.start)..place(range.end)
}

fn pick<'a, T>(all: &'a [T], limbs: &'a [usize]) -> impl Iterator<Item = &'a T> {
    limbs.iter().filter_map(|&limb| all.get(limb))
}

/// Checks that the given sets of moduli, listed by indices, can be the levels of a ring: that each list ascends, that
/// products do, and that the last has all moduli.
///
/// # Errors
/// [`RingError::OutOfRange`] where one of the three conditions fails.
pub fn check_rungs(moduli: &[u64], rungs: &[Vec<usize>]) -> Result<(), RingError> {
    check_products(&moduli.iter().map(|&q| q.into()).collect::<Vec<_>>(), rungs)
}

/// Does [`check_rungs`] for moduli of any length.
///
/// # Errors
/// Every error of [`check_rungs`].
pub fn check_products(moduli: &[BigUint], rungs: &[Vec<usize>]) -> Result<(), RingError> {
    let refused = |expected: &str, level: usize| {
        Err(RingError::out_of_range("moduli of a level", expected, format_args!("others at level {level}")))
    };
    let mut below = BigUint::from(1_u8);
    for (level, rung) in (1..).zip(rungs) {
        let ascending = rung.windows(2).all(|pair| matches!(pair, [a, b] if a < b));
        if !ascending || rung.last().is_none_or(|&last| last >= moduli.len()) {
            return refused("an ascending list of indices of moduli", level);
        }
        let product: BigUint = rung.iter().filter_map(|&limb| moduli.get(limb)).product();
        if product <= below {
            return refused("a larger product than that of the level below", level);
        }
        below = product;
    }
    match rungs.last() {
        Some(rung) if rung.len() == moduli.len() => Ok(()),
        None if moduli.is_empty() => Ok(()),
        _ => refused("all moduli at the highest level", rungs.len()),
    }
}
