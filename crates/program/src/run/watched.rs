//! Backend that shows the values it computes.

use super::Backend;
use crate::{NodeId, ProgramError};

/// Backend that shows every value that another one computes.
pub(crate) struct Watched<'a, B: Backend> {
    pub(crate) own: &'a B,
    /// Function that is shown a node and its value.
    pub(crate) seen: &'a dyn Fn(NodeId, &B::Value),
}

impl<B: Backend> Backend for Watched<'_, B> {
    type Value = B::Value;
    type Total = B::Total;
    type Output = B::Output;

    fn compute(&self, id: NodeId, operands: &[&Self::Value]) -> Result<Self::Value, ProgramError> {
        let value = self.own.compute(id, operands)?;
        (self.seen)(id, &value);
        Ok(value)
    }

    fn accumulate(&self, total: &mut Option<Self::Total>, value: &Self::Value) -> Result<(), ProgramError> {
        self.own.accumulate(total, value)
    }

    fn accumulate_product(
        &self,
        total: &mut Option<Self::Total>,
        a: &Self::Value,
        b: &Self::Value,
    ) -> Result<bool, ProgramError> {
        self.own.accumulate_product(total, a, b)
    }

    fn finish(&self, id: NodeId, total: Self::Total) -> Result<Self::Output, ProgramError> {
        self.own.finish(id, total)
    }

    fn column(&self, value: &Self::Value) -> Result<Self::Output, ProgramError> {
        self.own.column(value)
    }
}
