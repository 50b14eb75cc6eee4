//! How the limbs of results are shared among threads: by groups of target moduli.

use std::ops::Range;

use rayon::prelude::*;

use super::Tables;
use crate::error::check_table;
use crate::parallel::{Parallelism, Work};
use crate::scratch::Scratch;
use crate::{Backend, RingError};

/// Limbs of a result that are computed together.
pub(super) struct Run {
    /// Their group of targets; none for moduli that the key ring lacks.
    pub(super) group: Option<usize>,
    /// Where they stand in the key ring.
    pub(super) targets: Vec<usize>,
    /// Where they stand in the result.
    pub(super) outs: Range<usize>,
}

/// Limbs of both halves of a result that are computed together.
pub(super) struct Task<'a> {
    pub(super) run: Run,
    pub(super) outs: Vec<[&'a mut [u64]; 2]>,
    /// What is left to share inside.
    pub(super) inside: Parallelism,
}

/// The limbs of a result, which stand at these places of the key ring, if at all, by groups.
pub(super) fn runs(tables: &Tables, places: &[Option<usize>]) -> Vec<Run> {
    let (longest, mut runs) = (tables.longest_group(), Vec::<Run>::new());
    for (out, &place) in places.iter().enumerate() {
        let group = place.and_then(|place| tables.groups.iter().position(|group| group.contains(&place)));
        match runs.last_mut() {
            Some(run) if run.group == group && run.outs.len() < longest => {
                run.targets.extend(place);
                run.outs.end = out + 1;
            }
            _ => runs.push(Run { group, targets: place.into_iter().collect(), outs: out..out + 1 }),
        }
    }
    runs
}

/// These limbs of two halves, which hold nothing else but rows after them.
pub(super) fn tasks<'a>(
    tables: &Tables,
    places: &[Option<usize>],
    halves: [&'a mut [u64]; 2],
) -> Result<Vec<Task<'a>>, RingError> {
    let n = tables.ring.degree();
    let [first, second] = halves;
    for half in [&*first, &*second] {
        check_table("limb of a half", places.len(), places.len().min(half.len() / n))?;
    }
    let mut limbs = first.chunks_exact_mut(n).zip(second.chunks_exact_mut(n)).map(|(a, b)| [a, b]);
    let runs = runs(tables, places);
    let inside = tables.ring.parallelism().inside(runs.len());
    let task = |run: Run| Task { outs: limbs.by_ref().take(run.outs.len()).collect(), run, inside };
    Ok(runs.into_iter().map(task).collect())
}

/// All of the key ring.
pub(super) fn everywhere(tables: &Tables) -> Vec<Option<usize>> {
    (0..tables.key_ring.basis().len()).map(Some).collect()
}

/// Runs `f` over tasks, shared among threads, with scratch memory of `words` for each.
pub(super) fn for_each_task(
    parallelism: Parallelism,
    tasks: Vec<Task<'_>>,
    words: usize,
    f: impl Fn(&mut Scratch, Task<'_>) -> Result<(), RingError> + Send + Sync,
) -> Result<(), RingError> {
    let outputs = tasks.iter().flat_map(|task| task.outs.iter().flatten()).map(|out| out.len()).sum();
    if tasks.len() > 1 && parallelism.shares_limbs(Work::Transform, outputs) {
        tasks.into_par_iter().try_for_each_init(|| Scratch::new(words), f)
    } else {
        let mut scratch = Scratch::new(words);
        tasks.into_iter().try_for_each(|task| f(&mut scratch, task))
    }
}
