//! Sums and order over all rows.

use sunzi_circuits::integers::{Integers, RowEvaluator};

use super::{Clear, IntegerBackend, broken, end_of, kind_above, scheme, wide};
use crate::contexts::kind_holding;
use crate::run::computed;
use crate::{Node, NodeId, ProgramError};

/// Numbers of a node as they are counted for their order: from one end of their range, which takes the fewest digits.
#[derive(Clone, Copy)]
pub(super) struct Counted {
    factor: i128,
    /// End from which numbers are counted.
    from: i128,
    /// Largest number that is counted.
    most: i128,
    /// Whether numbers are counted from the end, and not from 0.
    moves: bool,
}

impl IntegerBackend<'_> {
    /// Returns the sum over all slots that a chunk fills, in every slot.
    pub(super) fn summed(&self, a: &Integers, range: [i128; 2]) -> Result<Integers, ProgramError> {
        let own = [0, 1].map(|end| end_of(a, end).checked_mul(self.span() as i128));
        let [Some(low), Some(high)] = own else { return Err(wide()) };
        let kind = kind_above([low.min(range[0]), high.max(range[1])], a.kind().digits(), [])?;
        let wider = self.evaluator.linear_combination(&[(1, a)], 0, kind, a.bounds()).map_err(scheme)?;
        RowEvaluator::new(self.evaluator).sum(&wider).and_then(|sum| sum.within(range)).map_err(scheme)
    }

    /// Computes a node with a number of the order in every row, whose operand is encrypted; slots that belong to no row hold 0.
    pub(super) fn ordered(&self, id: NodeId, node: &Node, a: &Integers) -> Result<Integers, ProgramError> {
        let (of, descending) = match node {
            Node::Sorted { of, descending } | Node::Rank { of, descending } => (*of, *descending),
            _ => return Err(broken()),
        };
        let (counted, range) = (self.counted(of, descending)?, self.range(id)?);
        let a = self.counted_up(counted, a)?.first(self.plan.layout.rows);
        let rows = RowEvaluator::new(self.evaluator);
        if matches!(node, Node::Rank { .. }) {
            let ranks = rows.ranks(&a).and_then(|ranks| ranks.read_as(self.span()).within(range));
            return ranks.map_err(scheme);
        }
        let found = rows.sorted(&a).map_err(scheme)?.read_as(self.span());
        let sorted = self.in_units(counted, &found, range)?;
        if counted.moves { self.in_rows(&sorted, range) } else { Ok(sorted) }
    }

    /// Returns how numbers of a node are counted for their order.
    pub(super) fn counted(&self, of: NodeId, descending: bool) -> Result<Counted, ProgramError> {
        let exact = self.exact(of)?;
        let (factor, from) = if descending { (-1, exact.high) } else { (1, exact.low) };
        let [own, moved] = [[exact.low, exact.high], [0, exact.high - exact.low]].map(kind_holding);
        let moves = descending || own.is_none_or(|own| moved.is_some_and(|moved| moved.bits() < own.bits()));
        Ok(Counted { factor, from, most: exact.high - exact.low, moves })
    }

    /// Returns the numbers of rows from one end of their range, if they are counted from there.
    pub(super) fn counted_up(&self, counted: Counted, a: &Integers) -> Result<Integers, ProgramError> {
        let Counted { factor, from, most, moves } = counted;
        if !moves {
            return Ok(a.clone());
        }
        let range = [0, most];
        let kind = kind_above(range, 1, [from])?;
        self.evaluator.linear_combination(&[(factor, a)], -factor * from, kind, range).map_err(scheme)
    }

    /// Returns numbers in units, of those that were counted from one end of their range.
    pub(super) fn in_units(
        &self,
        counted: Counted,
        found: &Integers,
        range: [i128; 2],
    ) -> Result<Integers, ProgramError> {
        let Counted { factor, from, moves, .. } = counted;
        if !moves {
            return found.clone().within(range).map_err(scheme);
        }
        // An encrypted number v stands for from + factor·v.
        let kind = kind_above(range, found.kind().digits(), [from])?;
        self.evaluator.linear_combination(&[(factor, found)], from, kind, range).map_err(scheme)
    }

    /// Returns integers with 0 in slots that belong to no row.
    fn in_rows(&self, a: &Integers, range: [i128; 2]) -> Result<Integers, ProgramError> {
        let rows = self.plan.layout.rows;
        if rows == self.span() {
            return Ok(a.clone());
        }
        let mask: Vec<i128> = (0..self.span()).map(|row| i128::from(row < rows)).collect();
        let mask = self.evaluator.conditions_of(&self.batch(a, &mask)?).map_err(scheme)?;
        self.masked(&mask, a, range)
    }

    /// Computes a node of order whose operand the server knows.
    pub(super) fn ordered_in_the_clear(
        &self,
        id: NodeId,
        operands: &[&Clear],
    ) -> Result<Clear, ProgramError> {
        let (rows, span) = (self.plan.layout.rows, self.span());
        let Some(Clear::Units(units)) = operands.first() else { return Err(broken()) };
        let own = Clear::Units(units.get(..rows).ok_or_else(broken)?.to_vec());
        let mut found = computed(&self.plan.program, &self.facts, id, &[&own], rows)?;
        if let Clear::Units(units) = &mut found {
            units.resize(span, 0);
        }
        Ok(found)
    }
}
