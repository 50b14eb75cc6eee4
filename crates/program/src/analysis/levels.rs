//! Levels of lowered programs, and sums of stored numbers.

use super::Layout;
use super::approximate::{Action, Lowered, integral};
use crate::{Node, NodeId, Program};

/// Returns the number of levels of a lowered program, were there no bootstraps, and the node that takes the most.
pub(super) fn depth_without(program: &Program, lowered: &Lowered) -> (usize, NodeId) {
    let mut depths = vec![0_usize; lowered.steps.len()];
    for (index, step) in lowered.steps.iter().enumerate() {
        let Some(step) = step else { continue };
        let operands = program.graph().node(NodeId(index as u32)).map(Node::operands).unwrap_or_default();
        let before = operands.iter().filter_map(|id| depths.get(id.index())).copied().max().unwrap_or(0);
        let own = match &step.action {
            Action::Input | Action::Clear => 0,
            Action::Linear { factors, .. } => usize::from(!integral(factors)),
            Action::Product { .. } => 1,
            Action::Curve { curve, .. } => curve.depth(),
            Action::Sign { sign, .. } => sign.depth(),
        };
        if let Some(depth) = depths.get_mut(index) {
            *depth = before + own;
        }
    }
    let deepest = depths.iter().enumerate().max_by_key(|(_, depth)| **depth);
    deepest.map_or((0, NodeId(0)), |(index, depth)| (*depth, NodeId(index as u32)))
}

/// Returns log2 of the largest sum of stored numbers over all rows, plus one bit.
pub(super) fn sum_bits(layout: &Layout) -> u32 {
    let slots = layout.chunks.checked_mul(layout.span).and_then(usize::checked_next_power_of_two);
    slots.map_or(63, usize::ilog2) + 1
}

/// Returns the expression of a program that takes the most levels.
pub(super) fn deepest(program: &Program, lowered: &Lowered) -> String {
    let deepest = program.used().into_iter().max_by_key(|&id| lowered.step(id).map(|step| step.drop));
    deepest.map(|id| program.graph().describe(id, program.schema())).unwrap_or_default()
}
