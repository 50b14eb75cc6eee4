//! Heights to which bootstraps raise: of one set with any number of levels left, that with the least counted work of a run.
//!
//! All bootstraps of a program raise to one height, which is also that of fresh numbers. A set with fewer levels has fewer moduli in every step and smaller
//! keys. A lower target by the keys of a higher set would need moduli that every level above has, and levels of sets exchange theirs.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use sunzi_circuits::bootstrap::BootstrapParameters;
use sunzi_rlwe::words::counted;

use super::placement::{BRIEF, place_within};
use super::{limits, rotated, sum_level, tasks};
use crate::Program;
use crate::analysis::approximate::Lowered;
use crate::analysis::refresh::Limits;
use crate::analysis::weigh::{bootstrap, butterflies};
use crate::analysis::{Facts, Layout, Parameters, Plan};

/// Less than the work of a bootstrap to the lowest height over that to the highest: 0.66 of n16-128-fast, 0.69 of n16-128-precise.
const LEAST_SHARE: f64 = 0.6;

/// At least what a level fewer takes from that work.
const LEVEL_SHARE: f64 = 0.085;

/// Nodes times bootstraps up to which heights are compared: placing bootstraps takes as much time.
const MOST_NODES: usize = 1_000_000;

/// Set with some number of levels left, and what a run of a program takes in it.
#[derive(Clone, Debug)]
pub(super) struct Height {
    pub(super) parameters: BootstrapParameters,
    /// Counted butterflies of a run.
    pub(super) work: f64,
    /// Number of bootstraps of a chunk.
    pub(super) count: usize,
    chunks: usize,
}

impl Height {
    pub(super) fn levels(&self) -> usize {
        self.parameters.set().levels_left()
    }
}

/// A set, and its variants with fewer levels as far as they were asked for: their moduli take a tenth of a second to find.
pub(super) struct Ladder {
    pub(super) whole: BootstrapParameters,
    lower: BTreeMap<usize, BootstrapParameters>,
    /// Whether fewer levels were weighed.
    compared: bool,
}

impl Ladder {
    pub(super) fn new(whole: BootstrapParameters) -> Self {
        Self { whole, lower: BTreeMap::new(), compared: false }
    }

    /// Counts the run of a lowered program in the whole set, and wherever fewer levels may take less: the cheapest first, and the lowest of those that cost as much.
    ///
    /// # Errors
    /// The task that takes more levels than the whole set leaves.
    pub(super) fn heights(
        &mut self,
        program: &Program,
        known: &[Facts],
        lowered: &Lowered,
        parts: usize,
    ) -> Result<Vec<Height>, usize> {
        let whole = height(program, known, lowered, parts, &self.whole)?;
        if known.len().saturating_mul(whole.count) > MOST_NODES {
            return Ok(vec![whole]);
        }
        self.compared = true;
        let (each, top) = (bootstrap(&self.whole) * whole.chunks as f64, whole.levels());
        let counts = self.counts(program, known, lowered, whole.work / (LEAST_SHARE * each));
        let mut all = vec![whole];
        for (count, levels) in counts {
            let best = all.iter().map(|height| height.work).fold(f64::INFINITY, f64::min);
            // Moduli are found for those alone that may cost less.
            if count as f64 * least_share(top - levels) * each >= best {
                continue;
            }
            let Some(parameters) = self.with_levels(levels) else { continue };
            all.extend(height(program, known, lowered, parts, parameters));
        }
        all.sort_by(|a, b| a.work.total_cmp(&b.work).then(a.levels().cmp(&b.levels())));
        Ok(all)
    }

    /// Returns the fewest levels, below those of the whole set, with which a program takes each number of bootstraps below `most`.
    fn counts(
        &self,
        program: &Program,
        known: &[Facts],
        lowered: &Lowered,
        most: f64,
    ) -> BTreeMap<usize, usize> {
        let Limits { left, lowest } = limits(self.whole.set());
        let mut fewest = BTreeMap::new();
        for left in (lowest + 1..left).rev() {
            let limits = Limits { left, lowest };
            let tasks = tasks(program, known, lowered, limits, 0);
            // What takes too many levels at once does so in all that are lower.
            let Ok(placement) = place_within(&tasks, limits, &BTreeSet::new(), BRIEF) else { break };
            if placement.count as f64 >= most {
                break;
            }
            fewest.insert(placement.count, left);
        }
        fewest
    }

    fn with_levels(&mut self, levels: usize) -> Option<&BootstrapParameters> {
        match self.lower.entry(levels) {
            Entry::Occupied(known) => Some(known.into_mut()),
            Entry::Vacant(place) => Some(place.insert(self.whole.with_levels_left(levels).ok()?)),
        }
    }

    /// Returns the reason for the height of a plan, given all that hold its program.
    pub(super) fn told(&self, plan: &Plan, heights: &[Height]) -> Option<String> {
        let Parameters::Bootstrapped(own) = &plan.parameters else { return None };
        let (name, top, work) = (self.whole.name(), self.whole.set().levels_left(), work(plan));
        let others = heights.iter().filter(|height| height.parameters != *own);
        if *own != self.whole {
            let whole = others.clone().find(|height| height.parameters == self.whole)?;
            return Some(format!(
                "a bootstrap raises to {} levels, not to the {top} of {name}, which would take {} in each chunk and {:.2} times the counted work",
                own.set().levels_left(),
                counted(whole.count, "bootstrap", "bootstraps"),
                whole.work / work
            ));
        }
        let all = format!("a bootstrap raises to all {top} levels of {name}");
        match others.min_by(|a, b| a.work.total_cmp(&b.work)) {
            Some(next) => Some(format!(
                "{all}: {} would take {} in each chunk and {:.2} times the counted work",
                next.levels(),
                counted(next.count, "bootstrap", "bootstraps"),
                next.work / work
            )),
            None => self.compared.then(|| format!("{all}: fewer would take more bootstraps and more work")),
        }
    }
}

/// Returns less than the work of a bootstrap to so many levels below the highest, over that to the highest.
fn least_share(fewer: usize) -> f64 {
    (1.0 - LEVEL_SHARE * fewer as f64).max(LEAST_SHARE)
}

/// Returns the counted butterflies of a run of a plan, with its bootstraps.
pub(super) fn work(plan: &Plan) -> f64 {
    let count = plan.bootstraps.as_ref().map_or(0, |bootstraps| bootstraps.count);
    let each = match &plan.parameters {
        Parameters::Bootstrapped(own) => bootstrap(own),
        _ => 0.0,
    };
    butterflies(plan) + count as f64 * each
}

/// Counts a run of a lowered program in the parameters of a set.
///
/// # Errors
/// The task that takes more levels than the set leaves.
fn height(
    program: &Program,
    known: &[Facts],
    lowered: &Lowered,
    parts: usize,
    parameters: &BootstrapParameters,
) -> Result<Height, usize> {
    let limits = limits(parameters.set());
    let layout = Layout::of_parts(program.schema().rows as usize, parameters.ckks().max_slots(), parts);
    // Where sums fit no level, the plan says so.
    let summed = sum_level(program, parameters, &layout, limits).unwrap_or(0);
    let tasks = tasks(program, known, lowered, limits, summed);
    let placement = place_within(&tasks, limits, &BTreeSet::new(), BRIEF)?;
    let mut lowered = lowered.clone();
    lowered.sum_level = summed;
    for (step, level) in lowered.steps.iter_mut().zip(&placement.levels) {
        if let Some(step) = step {
            step.drop = limits.left.saturating_sub(*level);
        }
    }
    let (rotations, rotation_limbs) = rotated(program, parameters, &layout, summed);
    let all = Parameters::Bootstrapped(parameters.clone());
    let plan = Plan {
        rotations,
        rotation_limbs,
        lowered: Some(lowered),
        ..Plan::bare(program, all, layout, Vec::new())
    };
    let bootstraps = (placement.count * layout.chunks) as f64 * bootstrap(parameters);
    let (work, count, chunks) = (butterflies(&plan) + bootstraps, placement.count, layout.chunks);
    Ok(Height { parameters: parameters.clone(), work, count, chunks })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests what counts rest on: of as many bootstraps the lowest cost least, and none costs less than a share of the highest.
    #[test]
    fn bootstraps_to_fewer_levels_take_less_work() {
        for name in ["n16-128-fast", "n16-128-precise", "insecure-fast-9"] {
            let mut ladder = Ladder::new(BootstrapParameters::named(name).unwrap());
            let Limits { left, lowest } = limits(ladder.whole.set());
            let whole = bootstrap(&ladder.whole);
            let lower = |levels| bootstrap(ladder.with_levels(levels).unwrap()) / whole;
            let shares: Vec<f64> = (lowest + 1..left).map(lower).collect();
            assert!(shares.is_sorted() && shares.iter().all(|share| *share < 1.0), "{name}: {shares:?}");
            let least = |at: usize| least_share(left - (lowest + 1 + at));
            assert!(shares.iter().enumerate().all(|(at, share)| *share > least(at)), "{name}: {shares:?}");
        }
    }
}
