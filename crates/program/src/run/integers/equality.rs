//! Equality in programs, which is x ≥ 0 less x > 0, as one condition.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Decimal, Node, NodeId, Program};

/// Returns the comparisons x ≥ 0 and x > 0 that are only used in sums Σ c·(x ≥ 0) − Σ c·(x > 0) with equal numbers of both: whether x = 0 may stand for the first,
/// and 0 for the second.
pub(super) fn equalities(program: &Program) -> BTreeSet<NodeId> {
    let graph = program.graph();
    let of_comparison = |id: NodeId| match graph.node(id) {
        Some(Node::Positive { of, .. }) => Some(*of),
        _ => None,
    };
    let (mut together, mut others) = (BTreeSet::new(), BTreeSet::new());
    others.extend(program.totals());
    others.extend(program.columns());
    for node in program.used().into_iter().filter_map(|id| graph.node(id)) {
        let Node::Linear { terms, .. } = node else {
            others.extend(node.operands());
            continue;
        };
        let mut sums: BTreeMap<NodeId, Option<Decimal>> = BTreeMap::new();
        for (id, factor) in terms {
            if let Some(of) = of_comparison(*id) {
                let sum = sums.entry(of).or_insert(Some(Decimal::ZERO));
                *sum = sum.and_then(|sum| sum.checked_add(*factor));
            }
        }
        for (id, _) in terms {
            let sum = of_comparison(*id).and_then(|of| sums.get(&of).copied().flatten());
            let own = if sum == Some(Decimal::ZERO) { &mut together } else { &mut others };
            own.insert(*id);
        }
    }
    // Both of a number, or none.
    let apart: BTreeSet<NodeId> = others.into_iter().filter_map(of_comparison).collect();
    together.retain(|id| of_comparison(*id).is_some_and(|of| !apart.contains(&of)));
    together
}
