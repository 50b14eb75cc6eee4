//! Totals: formulas of sums over the rows of the current group in which what is summed is not missing.

use super::compile::Compiler;
use super::needs::{Needs, Rows};
use crate::{Decimal, Formula, NodeId, ProgramError};

impl Compiler<'_> {
    /// Returns the formula of the number of rows of the current group in which these columns have cells.
    pub(super) fn count(&mut self, needs: &Needs) -> Result<Formula, ProgramError> {
        Ok(match (self.indicator_of(needs)?, self.group) {
            (None, None) => Formula::Rows,
            (None, Some(group)) => Formula::Total(group),
            (Some(there), _) => Formula::Total(self.in_group(there)?),
        })
    }

    /// Returns the formula of Σ x over the rows of the current group in which these columns have cells.
    pub(super) fn total(&mut self, x: &Rows, needs: &Needs) -> Result<Formula, ProgramError> {
        let x = self.zeroed(x.id, needs)?;
        let x = self.in_group(x)?;
        Ok(self.sum(x))
    }

    /// Returns the formula of Σ x over all rows.
    fn sum(&self, x: NodeId) -> Formula {
        // The sum of a constant needs no server.
        match self.graph.as_constant(x) {
            Some(number) => Formula::Number(number).multiply(Formula::Rows),
            None => Formula::Total(x),
        }
    }

    fn in_group(&mut self, x: NodeId) -> Result<NodeId, ProgramError> {
        match self.group {
            Some(group) => self.graph.multiply(group, x),
            None => Ok(x),
        }
    }

    /// Returns the formula of Σ xy over the rows of the current group in which these columns have cells; they are at
    /// least those that x and y need. One factor is masked by the group, the other one by what neither of them needs.
    pub(super) fn total_of_product(
        &mut self,
        x: &Rows,
        y: &Rows,
        needs: &Needs,
    ) -> Result<Formula, ProgramError> {
        let own = self.zeroed(x.id, &x.needs)?;
        let masked = self.in_group(own)?;
        let others = needs.difference(&x.needs).chain(&y.needs).copied().collect();
        let other = self.zeroed(y.id, &others)?;
        let product = self.graph.multiply(masked, other)?;
        Ok(self.sum(product))
    }

    /// Returns the formula of the mean of x over the rows of the current group in which x is not missing.
    pub(super) fn mean(&mut self, x: &Rows) -> Result<Formula, ProgramError> {
        Ok(self.total(x, &x.needs)?.divide(self.count(&x.needs)?))
    }

    /// Returns n·Σxy − Σx·Σy, the numerator of a covariance, over the rows in which these columns have cells.
    fn covariance_numerator(&mut self, x: &Rows, y: &Rows, needs: &Needs) -> Result<Formula, ProgramError> {
        let products = self.total_of_product(x, y, needs)?;
        let sums = self.total(x, needs)?.multiply(self.total(y, needs)?);
        Ok(self.count(needs)?.multiply(products).sub(sums))
    }

    pub(super) fn covariance(&mut self, x: &Rows, y: &Rows) -> Result<Formula, ProgramError> {
        let needs = x.joint(y);
        let count = self.count(&needs)?;
        let freedom = count.clone().multiply(count.sub(Formula::Number(Decimal::ONE)));
        Ok(self.covariance_numerator(x, y, &needs)?.divide(freedom))
    }

    pub(super) fn correlation(&mut self, x: &Rows, y: &Rows) -> Result<Formula, ProgramError> {
        let needs = x.joint(y);
        let scale = self
            .covariance_numerator(x, x, &needs)?
            .multiply(self.covariance_numerator(y, y, &needs)?)
            .square_root();
        Ok(self.covariance_numerator(x, y, &needs)?.divide(scale))
    }
}
