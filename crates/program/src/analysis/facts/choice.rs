//! Ranges of choices: a sum with a product by a condition is one of two sums.
//!
//! y + c·(x − y) is y or x, whereas the range of the sum as it stands is that of y and of x − y together.

use std::collections::BTreeMap;

use super::{Exact, Facts, exact};
use crate::graph::Node;
use crate::schema::Schema;
use crate::{Decimal, NodeId};

/// Number of nodes before the difference of a choice among which its two sums are looked for.
const NEAR: usize = 64;

/// Returns the range of a sum that holds a product by a condition, narrowed to the two sums that it may be.
pub(super) fn narrowed(
    node: &Node,
    own: Exact,
    (schema, nodes): (&Schema, &[Node]),
    range_of: &dyn Fn(NodeId) -> Option<Exact>,
) -> Option<Exact> {
    let Node::Linear { terms, constant } = node else { return None };
    // The last product is that of the choice: those before are in what it chooses from.
    let choice = terms
        .iter()
        .rev()
        .find_map(|&(id, sign)| Some((id, sign, conditional(nodes.get(id.index())?, range_of)?)));
    let (product, sign, of) =
        choice.filter(|(_, sign, _)| *sign == Decimal::ONE || *sign == Decimal::MINUS_ONE)?;
    let rest: BTreeMap<NodeId, Decimal> = terms.iter().copied().filter(|(id, _)| *id != product).collect();
    let mut with = (rest.clone(), *constant);
    match nodes.get(of.index())? {
        Node::Linear { terms, constant } => {
            terms.iter().try_for_each(|&(id, factor)| add(&mut with.0, id, factor.checked_mul(sign)?))?;
            with.1 = with.1.checked_add(constant.checked_mul(sign)?)?;
        }
        _ => add(&mut with.0, of, sign)?,
    }
    let range = |terms: BTreeMap<NodeId, Decimal>, constant: Decimal| {
        let terms: Vec<(NodeId, Decimal)> = terms.into_iter().filter(|(_, c)| *c != Decimal::ZERO).collect();
        let ranges = terms.iter().map(|(id, _)| range_of(*id)).collect();
        let sum = Node::Linear { terms, constant };
        // What is chosen from may be a choice itself, whose range is narrower than that of its terms.
        let near = nodes.get(of.index().saturating_sub(NEAR)..of.index()).unwrap_or_default();
        let same =
            near.iter().rposition(|other| *other == sum).map(|at| of.index().saturating_sub(NEAR) + at);
        let sum = match same {
            Some(at) => range_of(NodeId(at as u32))?,
            None => exact(&sum, (schema, nodes), ranges, true)?,
        };
        let unit = 10_i128.checked_pow(own.decimals.checked_sub(sum.decimals)?)?;
        Some([sum.low.checked_mul(unit)?, sum.high.checked_mul(unit)?])
    };
    let [a, b] = [range(rest, *constant)?, range(with.0, with.1)?];
    let (low, high) = (own.low.max(a[0].min(b[0])), own.high.min(a[1].max(b[1])));
    (low <= high).then_some(Exact { low, high, ..own })
}

/// Returns the other factor of a product by what is 0 or 1.
fn conditional(node: &Node, range_of: &dyn Fn(NodeId) -> Option<Exact>) -> Option<NodeId> {
    let Node::Product(a, b) = node else { return None };
    let is_condition = |id: NodeId| {
        range_of(id).is_some_and(|range| range.decimals == 0 && 0 <= range.low && range.high <= 1)
    };
    match (is_condition(*a), is_condition(*b)) {
        (true, false) => Some(*b),
        (false, true) => Some(*a),
        _ => None,
    }
}

fn add(sum: &mut BTreeMap<NodeId, Decimal>, id: NodeId, factor: Decimal) -> Option<()> {
    let entry = sum.entry(id).or_default();
    *entry = entry.checked_add(factor)?;
    Some(())
}

/// Returns facts with their ranges narrowed where the node is a choice.
pub(super) fn of_choice(node: &Node, facts: Facts, around: (&Schema, &[Node]), known: &[Facts]) -> Facts {
    let of = |pick: fn(&Facts) -> Option<Exact>| {
        let range_of = |id: NodeId| known.get(id.index()).and_then(pick);
        pick(&facts).map(|own| narrowed(node, own, around, &range_of).unwrap_or(own))
    };
    let (exact, grid) = (of(|facts| facts.exact), of(|facts| facts.grid));
    let (low, high) = exact.map_or((facts.low, facts.high), |exact| {
        let unit = 10_f64.powi(exact.decimals as i32);
        (exact.low as f64 / unit, exact.high as f64 / unit)
    });
    Facts { exact, grid, low, high, ..facts }
}
