//! Nodes of order and of tables, which encrypted integers compute.

use super::{Graph, Node, NodeId};
use crate::{Decimal, ProgramError};

/// Largest number of entries of a table that is looked up: 16 bits.
pub const MAX_ENTRIES: usize = 1 << 16;

impl Graph {
    /// Adds the number of a node that `place` rows come before in ascending order, in the first row.
    ///
    /// # Errors
    /// Every error of [`linear`](Self::linear).
    pub fn kth(&mut self, of: NodeId, place: u64) -> Result<NodeId, ProgramError> {
        self.check(of)?;
        self.insert(Node::Kth { of, place })
    }

    /// Adds the numbers of a node in order, row by row.
    ///
    /// # Errors
    /// Every error of [`linear`](Self::linear).
    pub fn sorted(&mut self, of: NodeId, descending: bool) -> Result<NodeId, ProgramError> {
        self.check(of)?;
        self.insert(Node::Sorted { of, descending })
    }

    /// Adds the number of rows that come before each row in the order of a node.
    ///
    /// # Errors
    /// Every error of [`linear`](Self::linear).
    pub fn rank(&mut self, of: NodeId, descending: bool) -> Result<NodeId, ProgramError> {
        self.check(of)?;
        self.insert(Node::Rank { of, descending })
    }

    /// Adds the entries of a table: the first for the value `first` of a node, in units of its last decimal.
    ///
    /// # Errors
    /// Every error of [`linear`](Self::linear); [`ProgramError::Invalid`] for no entries and for more than [`MAX_ENTRIES`].
    pub fn look_up(&mut self, of: NodeId, first: i64, values: &[Decimal]) -> Result<NodeId, ProgramError> {
        self.check(of)?;
        self.count(values.len())?;
        if values.is_empty() || values.len() > MAX_ENTRIES {
            let got = values.len();
            return Err(ProgramError::Invalid(format!(
                "a table of {got} entries: it has 1 to {MAX_ENTRIES}"
            )));
        }
        self.insert(Node::LookUp { of, first, values: values.to_vec() })
    }
}
