//! Largest amount that a run holds at one time.

use std::collections::BTreeMap;

use super::Schedule;
use crate::{NodeId, Program};

/// Amounts that the parts of a run hold, in any unit such as bytes.
pub(crate) trait Holdings {
    /// Returns the amount that a node's value holds, from its computation to its last use.
    fn value(&self, id: NodeId) -> u64;
    /// Returns the amount that the sum of a node over chunks holds.
    fn total(&self, id: NodeId) -> u64;
    /// Returns the amount that computing a node and adding it to its sum holds, besides operands, value and sum.
    fn step(&self, id: NodeId) -> u64;
    /// Returns the amount that summing a total over slots holds, besides the total itself.
    fn finish(&self, id: NodeId) -> u64;
}

/// Returns the largest amount that a run holds at one time: values one after the other, and all sums from the first
/// chunk on.
pub(crate) fn peak(program: &Program, holdings: &impl Holdings) -> u64 {
    let schedule = Schedule::new(program);
    let totals: Vec<NodeId> = program.totals().into_iter().collect();
    let sums: u64 = totals.iter().map(|&id| holdings.total(id)).sum();
    let mut most = totals.iter().map(|&id| holdings.finish(id)).max().unwrap_or(0);
    let mut held = BTreeMap::new();
    let mut values = 0;
    for (step, &id) in schedule.order.iter().enumerate() {
        if !schedule.only_summed.contains(&id) {
            let value = holdings.value(id);
            values += value;
            held.insert(id, value);
        }
        most = most.max(values + holdings.step(id));
        schedule.free_unused(program, id, step, |id| values -= held.remove(&id).unwrap_or(0));
    }
    sums + most
}
