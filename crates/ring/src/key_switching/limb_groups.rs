//! Groups of limbs of results, by target moduli, that a thread computes together.

use std::ops::Range;

use rayon::prelude::*;

use crate::error::check_table;
use crate::parallel::{Parallelism, Work};
use crate::scratch::Scratch;
use crate::{Backend, RingError, WordRing};

/// Limbs of a result that are computed together.
pub(super) struct LimbGroup {
    /// Their group of targets; none for moduli that the key ring lacks.
    pub(super) group: Option<usize>,
    /// Where they stand in the key ring.
    pub(super) targets: Vec<usize>,
    /// Where they stand in the result.
    pub(super) outs: Range<usize>,
}

/// Limbs of both halves of a result that are computed together.
pub(super) struct GroupOutputs<'a> {
    pub(super) limbs: LimbGroup,
    pub(super) outs: Vec<[&'a mut [u64]; 2]>,
    /// How work inside the group is shared.
    pub(super) inside: Parallelism,
}

/// The number of targets of the longest group.
pub(super) fn longest(groups: &[Range<usize>]) -> usize {
    groups.iter().map(Range::len).max().unwrap_or(0)
}

/// The limbs of a result, which stand at these places of the key ring, if at all, by groups.
pub(super) fn limb_groups(groups: &[Range<usize>], places: &[Option<usize>]) -> Vec<LimbGroup> {
    let (longest, mut all) = (longest(groups), Vec::<LimbGroup>::new());
    for (out, &place) in places.iter().enumerate() {
        let group = place.and_then(|place| groups.iter().position(|group| group.contains(&place)));
        match all.last_mut() {
            Some(last) if last.group == group && last.outs.len() < longest => {
                last.targets.extend(place);
                last.outs.end = out + 1;
            }
            _ => all.push(LimbGroup { group, targets: place.into_iter().collect(), outs: out..out + 1 }),
        }
    }
    all
}

/// The limbs of two halves of a result over the key ring by these groups of targets; the halves hold nothing else but rows after them.
pub(super) fn group_outputs<'a>(
    ring: &WordRing,
    groups: &[Range<usize>],
    places: &[Option<usize>],
    halves: [&'a mut [u64]; 2],
) -> Result<Vec<GroupOutputs<'a>>, RingError> {
    let n = ring.degree();
    let [first, second] = halves;
    for half in [&*first, &*second] {
        check_table("limb of a half", places.len(), places.len().min(half.len() / n))?;
    }
    let mut limbs = first.chunks_exact_mut(n).zip(second.chunks_exact_mut(n)).map(|(a, b)| [a, b]);
    let groups = limb_groups(groups, places);
    let inside = ring.parallelism().inside(groups.len());
    let outputs = |group: LimbGroup| GroupOutputs {
        outs: limbs.by_ref().take(group.outs.len()).collect(),
        limbs: group,
        inside,
    };
    Ok(groups.into_iter().map(outputs).collect())
}

/// Places of a result that is all of the key ring.
pub(super) fn all_places(ring: &WordRing) -> Vec<Option<usize>> {
    (0..ring.basis().len()).map(Some).collect()
}

/// Runs `f` over groups, shared among threads, with scratch memory of `words` for each.
pub(super) fn for_each_group(
    parallelism: Parallelism,
    groups: Vec<GroupOutputs<'_>>,
    words: usize,
    f: impl Fn(&mut Scratch, GroupOutputs<'_>) -> Result<(), RingError> + Send + Sync,
) -> Result<(), RingError> {
    let outputs = groups.iter().flat_map(|group| group.outs.iter().flatten()).map(|out| out.len()).sum();
    if groups.len() > 1 && parallelism.shares_limbs(Work::Transform, outputs) {
        groups.into_par_iter().try_for_each_init(|| Scratch::new(words), f)
    } else {
        let mut scratch = Scratch::new(words);
        groups.into_iter().try_for_each(|group| f(&mut scratch, group))
    }
}
