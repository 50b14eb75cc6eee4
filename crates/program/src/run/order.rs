//! Order of rows in the clear.

use std::cmp::Ordering;

use crate::Node;

/// Returns the values of a node of order for those of its operand in all rows; `place` converts numbers of rows. `None` for another node, and for a place that
/// does not exist.
pub(super) fn ordered<T: Copy + Default>(
    node: &Node,
    values: &[T],
    compare: impl Fn(&T, &T) -> Ordering,
    place: impl Fn(u32) -> T,
) -> Option<Vec<T>> {
    let mut order: Vec<(usize, T)> = values.iter().copied().enumerate().collect();
    let descending =
        matches!(node, Node::Sorted { descending: true, .. } | Node::Rank { descending: true, .. });
    // Of equal numbers the first row comes first, in either direction.
    order.sort_by(|(_, a), (_, b)| if descending { compare(b, a) } else { compare(a, b) });
    match node {
        Node::Kth { place, .. } => {
            let (_, value) = order.get(usize::try_from(*place).ok()?)?;
            Some(std::iter::once(*value).chain(std::iter::repeat(T::default())).take(values.len()).collect())
        }
        Node::Sorted { .. } => Some(order.into_iter().map(|(_, value)| value).collect()),
        Node::Rank { .. } => {
            let mut ranks = vec![T::default(); values.len()];
            for (rank, (row, _)) in (0..).zip(order) {
                *ranks.get_mut(row)? = place(rank);
            }
            Some(ranks)
        }
        _ => None,
    }
}
