//! Placement of bootstraps: by counted cost, where levels run out.
//!
//! Nodes are computed in order. A number is bootstrapped where it is computed, once: all its users take it so. First every number waits until a user cannot do
//! without (lazily), which is least on chains. Then every other number is tried: bootstrapped as well, it may save several others, as where many later numbers
//! come from it; that with the fewest bootstraps in all is kept, until none saves any.

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::refresh::Limits;

/// Number of simulated nodes up to which other places are tried.
const MOST_WORK: usize = 200_000_000;
/// Number of simulated nodes up to which other places are tried for each of many sets that are compared, before one is taken.
pub(in crate::analysis) const BRIEF: usize = MOST_WORK / 20;

/// Levels that a node takes.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::analysis) enum Work {
    /// Work of a node that is read, or known to the server: it has no levels to wait for.
    Read,
    /// Work of a node that takes levels at once.
    Levels(usize),
    /// Work of a comparison: polynomials in a row, between which its value may be bootstrapped.
    Stages(Vec<usize>),
}

/// Node as its levels are counted: encrypted operands, levels, and the level at which it may end.
#[derive(Clone, Debug)]
pub(in crate::analysis) struct Task {
    pub(in crate::analysis) operands: Vec<usize>,
    pub(in crate::analysis) work: Work,
    pub(in crate::analysis) floor: usize,
}

/// Bootstraps of tasks, and the levels that follow.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::analysis) struct Placement {
    /// Tasks whose values are bootstrapped.
    pub(in crate::analysis) at: BTreeSet<usize>,
    /// Levels of values, bootstrapped or not.
    pub(in crate::analysis) levels: Vec<usize>,
    /// Levels of values before their bootstrap.
    before: Vec<usize>,
    /// Levels at which tasks may end.
    pub(in crate::analysis) floors: Vec<usize>,
    /// Number of bootstraps, with those inside comparisons.
    pub(in crate::analysis) count: usize,
}

/// Places the bootstraps of tasks, those of `start` among them.
///
/// # Errors
/// The task that takes more levels than a bootstrap leaves.
pub(in crate::analysis) fn place(
    tasks: &[Task],
    limits: Limits,
    start: &BTreeSet<usize>,
) -> Result<Placement, usize> {
    place_within(tasks, limits, start, MOST_WORK)
}

/// Places bootstraps as [`place`] does, but for other places where these take more than `most` simulated nodes.
///
/// # Errors
/// Every error of [`place`].
pub(in crate::analysis) fn place_within(
    tasks: &[Task],
    limits: Limits,
    start: &BTreeSet<usize>,
    most: usize,
) -> Result<Placement, usize> {
    let best = lazily(tasks, limits, start)?;
    let work = tasks.len().saturating_mul(tasks.len()).saturating_mul(best.at.len().max(1));
    if best.count < 2 || work > most {
        return Ok(best);
    }
    let waits = |at: &usize| tasks.get(*at).is_some_and(|task| task.work != Work::Read);
    let others = (0..tasks.len()).filter(|at| waits(at) && !best.at.contains(at));
    let tried = others.filter_map(|other| {
        let with: BTreeSet<usize> = start.iter().copied().chain([other]).collect();
        lazily(tasks, limits, &with).ok().map(|placement| (placement.count, with))
    });
    match tried.min_by_key(|(count, _)| *count) {
        // What saves bootstraps may go on doing so beside others.
        Some((count, with)) if count < best.count => place_within(tasks, limits, &with, most),
        _ => Ok(best),
    }
}

/// Bootstraps values where a task cannot do without.
fn lazily(tasks: &[Task], limits: Limits, start: &BTreeSet<usize>) -> Result<Placement, usize> {
    let mut chosen = Chosen { at: start.clone(), floors: BTreeMap::new() };
    loop {
        let stuck = match simulate(tasks, limits, &chosen) {
            Ok(placement) => return Ok(placement),
            Err(stuck) => stuck,
        };
        let known = chosen.clone();
        raise_operands(tasks, limits, &stuck, stuck.task, &mut chosen);
        if chosen == known {
            return Err(stuck.task);
        }
    }
}

/// Tasks whose values are bootstrapped, and comparisons that must end at some level, for which they are bootstrapped inside.
#[derive(Clone, PartialEq)]
struct Chosen {
    at: BTreeSet<usize>,
    floors: BTreeMap<usize, usize>,
}

/// Task that has too few levels, and the levels before it.
struct Stuck {
    task: usize,
    placement: Placement,
}

/// Computes the levels of all tasks.
fn simulate(tasks: &[Task], limits: Limits, chosen: &Chosen) -> Result<Placement, Stuck> {
    let at = &chosen.at;
    let (levels, before, floors) = (Vec::new(), Vec::new(), Vec::new());
    let mut placement = Placement { at: at.clone(), levels, before, floors, count: at.len() };
    for (index, task) in tasks.iter().enumerate() {
        let refreshed = at.contains(&index);
        let floor = task.floor.max(chosen.floors.get(&index).copied().unwrap_or(0));
        let floor = if refreshed { floor.max(limits.lowest) } else { floor };
        placement.floors.push(floor);
        let from = from(task, &placement.levels, limits);
        let before = match &task.work {
            Work::Read => Some(limits.left),
            Work::Levels(depth) => from.checked_sub(*depth).filter(|level| *level >= floor),
            Work::Stages(depths) => limits.within(from, depths, floor).map(|(inside, level)| {
                placement.count += inside.iter().filter(|inside| **inside).count();
                level
            }),
        };
        let Some(before) = before else { return Err(Stuck { task: index, placement }) };
        placement.before.push(before);
        placement.levels.push(if refreshed { limits.left } else { before });
    }
    Ok(placement)
}

/// Returns the level at which a task starts.
fn from(task: &Task, levels: &[usize], limits: Limits) -> usize {
    task.operands.iter().filter_map(|operand| levels.get(*operand)).copied().min().unwrap_or(limits.left)
}

/// Chooses what to bootstrap so that a task has more levels: its lowest operands, or what these come from where they are too low themselves.
fn raise_operands(tasks: &[Task], limits: Limits, stuck: &Stuck, task: usize, chosen: &mut Chosen) {
    let Some(own) = tasks.get(task) else { return };
    let Placement { at, levels, before, .. } = &stuck.placement;
    let stays = task == stuck.task && !at.contains(&task);
    let floor = if stays { own.floor } else { own.floor.max(limits.lowest) };
    let needed = match &own.work {
        Work::Read => return,
        Work::Levels(depth) => depth + floor,
        // Whatever is below the top may be what is missing.
        Work::Stages(_) => limits.left,
    };
    for &operand in &own.operands {
        let (level, before) = (levels.get(operand).copied(), before.get(operand).copied());
        let (Some(level), Some(before)) = (level, before) else { continue };
        if level >= needed || level == limits.left || chosen.at.contains(&operand) {
            continue;
        }
        let ends_above = |task: &Task| {
            let Work::Stages(depths) = &task.work else { return false };
            limits.within(limits.left, depths, needed).is_some()
        };
        let floor = chosen.floors.get(&operand).copied().unwrap_or(0);
        if floor < needed && tasks.get(operand).is_some_and(ends_above) {
            chosen.floors.insert(operand, needed);
        } else if before >= limits.lowest {
            chosen.at.insert(operand);
        } else {
            raise_operands(tasks, limits, stuck, operand, chosen);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { left: 5, lowest: 1 };

    fn task(operands: &[usize], depth: usize) -> Task {
        Task { operands: operands.to_vec(), work: Work::Levels(depth), floor: 0 }
    }

    fn read() -> Task {
        Task { operands: Vec::new(), work: Work::Read, floor: 0 }
    }

    fn placed(tasks: &[Task]) -> Placement {
        place(tasks, LIMITS, &BTreeSet::new()).unwrap()
    }

    #[test]
    fn chains_take_as_few_bootstraps_as_levels_allow() {
        for depth in 0..40_usize {
            let mut tasks = vec![read()];
            tasks.extend((0..depth).map(|operand| task(&[operand, 0], 1)));
            let placement = placed(&tasks);
            // The last stretch may end at level 0, all others at level 1.
            assert_eq!(placement.count, depth.saturating_sub(5).div_ceil(4).min(depth), "{depth}");
        }
    }

    #[test]
    fn what_many_come_from_is_bootstrapped_once() {
        // One number at level 2, from which six take two levels each, and a product of each needs two more.
        let mut tasks = vec![read(), task(&[0], 3)];
        tasks.extend((0..6).map(|_| task(&[1], 1)));
        tasks.extend((2..8).map(|operand| task(&[operand], 3)));
        let placement = placed(&tasks);
        assert_eq!(placement.at, BTreeSet::from([1]));
        assert_eq!(placement.count, 1);
    }

    #[test]
    fn numbers_too_low_to_bootstrap_are_bootstrapped_before() {
        let tasks = [read(), task(&[0], 4), task(&[1], 1), task(&[2], 2)];
        let placement = placed(&tasks);
        assert_eq!((placement.at, placement.levels), (BTreeSet::from([1]), vec![5, 5, 4, 2]));
    }

    #[test]
    fn more_levels_than_a_bootstrap_leaves_are_refused() {
        assert_eq!(place(&[read(), task(&[0], 6)], LIMITS, &BTreeSet::new()), Err(1));
        let stages = Task { operands: vec![0], work: Work::Stages(vec![2, 3, 4]), floor: 0 };
        let placement = placed(&[read(), stages.clone(), task(&[1], 1)]);
        assert_eq!((placement.count, placement.levels), (2, vec![5, 1, 0]));
        // What comes next may need the last polynomial to start higher.
        let next = [read(), stages.clone(), task(&[1], 1), task(&[2], 1)];
        let placement = place(&next, LIMITS, &BTreeSet::new()).unwrap();
        assert_eq!((placement.count, placement.levels), (3, vec![5, 5, 4, 3]));
        let short = Task { work: Work::Stages(vec![2, 3]), ..stages.clone() };
        let placement = placed(&[read(), short, task(&[1], 1)]);
        assert_eq!((placement.count, placement.levels), (1, vec![5, 2, 1]));
        let wide = Task { work: Work::Stages(vec![2, 5, 4]), ..stages };
        assert_eq!(place(&[read(), wide], LIMITS, &BTreeSet::new()), Err(1));
    }
}
