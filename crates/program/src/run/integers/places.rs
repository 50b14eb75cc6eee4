//! Numbers of all rows by their places in the order: rows are held until the last chunk, and all places of a node are searched for together.

use std::collections::BTreeMap;

use sunzi_circuits::integers::{Integers, RowEvaluator};

use super::{Answer, Clear, IntegerBackend, Value, broken, scheme, wide};
use crate::{Node, NodeId, Number, ProgramError};

/// Rows of nodes whose order is asked for, and numbers that were found.
#[derive(Default)]
pub(super) struct Places {
    rows: BTreeMap<NodeId, Rows>,
    found: BTreeMap<NodeId, Integers>,
}

/// Rows of a node in all chunks so far.
enum Rows {
    /// Numbers that the server knows.
    Clear(Vec<i128>),
    /// Encrypted numbers, counted from one end of their range, chunk by chunk.
    Encrypted(Vec<Integers>),
}

impl IntegerBackend<'_> {
    /// Keeps the rows of a chunk for a node of order, the first one of all that have the same operand.
    pub(super) fn hold(&self, id: NodeId, of: NodeId, rows: &Value) -> Result<Value, ProgramError> {
        if self.places_of(of)?.first().is_none_or(|(first, _)| *first != id) {
            return Ok(Value::Waiting);
        }
        let layout = &self.plan.layout;
        let mut places = self.places.borrow_mut();
        let held = places.rows.entry(of).or_insert_with(|| match rows {
            Value::Clear(_) => Rows::Clear(Vec::new()),
            _ => Rows::Encrypted(Vec::new()),
        });
        match (held, rows) {
            (Rows::Clear(held), Value::Clear(Clear::Units(units))) => {
                let own = layout.rows.saturating_sub(held.len()).min(layout.span);
                held.extend(units.get(..own).ok_or_else(broken)?);
            }
            (Rows::Encrypted(chunks), Value::Integers(_) | Value::Conditions(_)) => {
                let own = self.counted_up(self.counted(of, false)?, &self.integers(rows)?)?;
                chunks.push(own.first(layout.rows_of(chunks.len())));
            }
            _ => return Err(broken()),
        }
        Ok(Value::Waiting)
    }

    /// Returns the number of a node of order, after the last chunk.
    pub(super) fn placed(&self, id: NodeId) -> Result<Answer, ProgramError> {
        let Node::Kth { of, place } = self.node(id)? else { return Err(broken()) };
        let mut places = self.places.borrow_mut();
        let Places { rows, found } = &mut *places;
        if let Some(Rows::Clear(units)) = rows.get_mut(of) {
            units.sort_unstable();
            let unit = usize::try_from(*place).ok().and_then(|place| units.get(place));
            return Ok(Answer::Clear(Number::scaled((*unit.ok_or_else(broken)?).into(), 0)));
        }
        if let Some(Rows::Encrypted(chunks)) = rows.remove(of) {
            let asked = self.places_of(*of)?;
            let ks: Vec<usize> = asked.iter().map(|(_, place)| *place).collect();
            let all = RowEvaluator::new(self.evaluator).kth_many_of(&chunks, &ks).map_err(scheme)?;
            found.extend(asked.iter().zip(all).map(|((id, _), number)| (*id, number)));
        }
        let found = found.remove(&id).ok_or_else(broken)?.read_as(self.span());
        let range = self.openings.get(&id).and_then(|opening| opening.total_range(&self.plan.layout));
        let range = range.ok_or_else(wide)?;
        self.answer(&self.in_units(self.counted(*of, false)?, &found, range)?, range)
    }

    /// Returns all nodes of order of one operand, and the places that they ask for.
    fn places_of(&self, operand: NodeId) -> Result<Vec<(NodeId, usize)>, ProgramError> {
        let mut places = Vec::new();
        for id in self.plan.program.used() {
            if let Node::Kth { of, place } = self.node(id)?
                && *of == operand
            {
                places.push((id, usize::try_from(*place).unwrap_or(usize::MAX)));
            }
        }
        Ok(places)
    }
}
