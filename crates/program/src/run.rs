//! Runs of programs, chunk by chunk, in memory that does not grow with the number of rows.
//!
//! A [`Backend`] knows one scheme; [`run`] knows the program. The rows of a table are cut into chunks of
//! [`Layout::span`] slots. In each chunk the nodes are computed one after the other, and their values are freed after
//! their last use; sums are added over all chunks before they are added over slots, once.
//!
//! Slots that belong to no row hold [`Column::padding`](crate::Column::padding), a public number. The value of a node
//! there is therefore known in the clear, and an [`Opening`] subtracts its share from the sums: counts and masks need
//! no column of ones, no product and no level for it.

pub mod ckks;
mod deep;
mod encrypted;
pub mod exact;
mod integers;
mod opening;
mod order;
mod peak;
mod reference;
mod signed;
mod table;
mod watched;

use std::collections::{BTreeMap, BTreeSet};

pub(crate) use deep::dry_bootstrapped;
pub use deep::{DeepKeys, evaluate_bootstrapped};
pub use encrypted::{Answer, Input, evaluate};
pub(crate) use integers::dry_integers;
pub use integers::evaluate_integers;
pub use opening::{ERROR_DEVIATIONS, Opening};
pub(crate) use peak::{Holdings, peak};
pub use reference::{Clear, Reference, reference};
pub(crate) use reference::{computed, leaf, sum_of, total};
pub(crate) use signed::{signed_product, signed_sum};
pub use table::{Cells, MISSING_LABEL, MISSING_UNIT, Table, encrypted_inputs};
pub(crate) use watched::Watched;

use crate::analysis::Layout;
pub use crate::estimate::Estimate;
use crate::graph::Node;
use crate::{NodeId, Program, ProgramError};

/// Operations of one scheme that a run of a program needs.
pub trait Backend {
    /// Type of the value of a node in one chunk.
    type Value;
    /// Type of the sum of a node over chunks.
    type Total;
    /// Type of an output: encrypted, or known to the server.
    type Output;

    /// Computes the value of a node that is no input from the values of its operands.
    ///
    /// # Errors
    /// [`ProgramError::Scheme`] for an operation that the scheme refuses.
    fn compute(&self, id: NodeId, operands: &[&Self::Value]) -> Result<Self::Value, ProgramError>;
    /// Adds a value to a total; a total of `None` is zero.
    ///
    /// # Errors
    /// Every error of [`compute`](Self::compute).
    fn accumulate(&self, total: &mut Option<Self::Total>, value: &Self::Value) -> Result<(), ProgramError>;
    /// Adds the product a·b to a total, relinearised later; returns false if the scheme has no such sum for these
    /// operands.
    ///
    /// # Errors
    /// Every error of [`compute`](Self::compute).
    fn accumulate_product(
        &self,
        total: &mut Option<Self::Total>,
        a: &Self::Value,
        b: &Self::Value,
    ) -> Result<bool, ProgramError>;
    /// Sums a total over all slots.
    ///
    /// # Errors
    /// Every error of [`compute`](Self::compute).
    fn finish(&self, id: NodeId, total: Self::Total) -> Result<Self::Output, ProgramError>;
    /// Makes the output of one chunk of a column.
    ///
    /// # Errors
    /// Every error of [`compute`](Self::compute).
    fn column(&self, value: &Self::Value) -> Result<Self::Output, ProgramError>;
}

/// Computes all totals of a program, and passes on its columns chunk by chunk.
///
/// `input` gives the values of nodes that read a column, encrypted or in the clear. Chunks come in order.
///
/// # Errors
/// Every error of `input`, of `column` and of the backend.
pub fn run<B: Backend>(
    program: &Program,
    layout: &Layout,
    backend: &B,
    mut input: impl FnMut(NodeId, usize) -> Result<B::Value, ProgramError>,
    mut column: impl FnMut(NodeId, usize, B::Output) -> Result<(), ProgramError>,
) -> Result<BTreeMap<NodeId, B::Output>, ProgramError> {
    let schedule = Schedule::new(program);
    let mut totals: BTreeMap<NodeId, Option<B::Total>> =
        program.totals().into_iter().map(|id| (id, None)).collect();
    for chunk in 0..layout.chunks {
        let mut values: BTreeMap<NodeId, B::Value> = BTreeMap::new();
        for (step, &id) in schedule.order.iter().enumerate() {
            schedule.step(program, backend, id, &mut values, &mut totals, |id| input(id, chunk))?;
            if let (true, Some(value)) = (schedule.columns.contains(&id), values.get(&id)) {
                column(id, chunk, backend.column(value)?)?;
            }
            schedule.free_unused(program, id, step, |id| drop(values.remove(&id)));
        }
    }
    let finish = |(id, total): (NodeId, Option<B::Total>)| {
        let none = || ProgramError::Invalid("a total has no chunks".to_owned());
        Ok((id, backend.finish(id, total.ok_or_else(none)?)?))
    };
    totals.into_iter().map(finish).collect()
}

/// Returns the products that are only summed, which exact schemes relinearise after all chunks.
pub(crate) fn only_summed(program: &Program) -> BTreeSet<NodeId> {
    Schedule::new(program).only_summed
}

/// Order in which nodes are computed, and the step after which each value is freed.
struct Schedule {
    order: Vec<NodeId>,
    last: BTreeMap<NodeId, usize>,
    columns: BTreeSet<NodeId>,
    /// Products that are only summed, so that they may be relinearised after all chunks.
    only_summed: BTreeSet<NodeId>,
}

impl Schedule {
    fn new(program: &Program) -> Self {
        let order: Vec<NodeId> = program.used().into_iter().collect();
        let columns = program.columns();
        let mut last = BTreeMap::new();
        for (step, &id) in order.iter().enumerate() {
            for operand in program.graph().node(id).map(Node::operands).unwrap_or_default() {
                last.insert(operand, step);
            }
        }
        let is_product = |id: &NodeId| matches!(program.graph().node(*id), Some(Node::Product(..)));
        let only_summed =
            order.iter().filter(|id| is_product(id) && !last.contains_key(id) && !columns.contains(id));
        let only_summed = only_summed.copied().collect();
        Self { order, last, columns, only_summed }
    }

    /// Calls `free` for the values that no step after this one uses.
    fn free_unused(&self, program: &Program, id: NodeId, step: usize, mut free: impl FnMut(NodeId)) {
        let operands = program.graph().node(id).map(Node::operands).unwrap_or_default();
        let used = operands.into_iter().collect::<BTreeSet<_>>().into_iter().chain([id]);
        used.filter(|id| self.last.get(id).is_none_or(|&last| last <= step)).for_each(&mut free);
    }

    /// Computes a node in one chunk, and adds it to its total if it has one.
    fn step<B: Backend>(
        &self,
        program: &Program,
        backend: &B,
        id: NodeId,
        values: &mut BTreeMap<NodeId, B::Value>,
        totals: &mut BTreeMap<NodeId, Option<B::Total>>,
        input: impl FnOnce(NodeId) -> Result<B::Value, ProgramError>,
    ) -> Result<(), ProgramError> {
        let Some(node) = program.graph().node(id) else { return Ok(()) };
        let operands = node.operands();
        let known: Vec<&B::Value> = operands.iter().filter_map(|id| values.get(id)).collect();
        if known.len() != operands.len() {
            return Err(ProgramError::Invalid("a node is computed before its operands".to_owned()));
        }
        if let (true, [a, b], Some(total)) =
            (self.only_summed.contains(&id), known.as_slice(), totals.get_mut(&id))
            && backend.accumulate_product(total, a, b)?
        {
            return Ok(());
        }
        let value = if node.column().is_some() { input(id)? } else { backend.compute(id, &known)? };
        if let Some(total) = totals.get_mut(&id) {
            backend.accumulate(total, &value)?;
        }
        values.insert(id, value);
        Ok(())
    }
}
