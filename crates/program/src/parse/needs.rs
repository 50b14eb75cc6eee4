//! Values with a number in every row, and the columns without whose cells they have none.

use std::collections::BTreeSet;

use crate::NodeId;

/// Indices of columns of numbers that may have missing cells.
pub(super) type Needs = BTreeSet<usize>;

/// Value with a number in every row in which the columns it needs have cells.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rows {
    pub(super) id: NodeId,
    /// Columns without whose cells the value is missing.
    pub(super) needs: Needs,
}

impl Rows {
    /// Returns a value that no row lacks.
    pub(super) fn everywhere(id: NodeId) -> Self {
        Self { id, needs: Needs::new() }
    }

    /// Returns another node that is missing where this value is.
    pub(super) fn at(self, id: NodeId) -> Self {
        Self { id, ..self }
    }

    /// Returns the columns that this or the other value needs.
    pub(super) fn joint(&self, other: &Self) -> Needs {
        self.needs.union(&other.needs).copied().collect()
    }
}
