//! Nodes of a graph: operations that have a number in every row.

use serde::{Deserialize, Serialize};

#[cfg(doc)]
use super::Graph;
#[cfg(doc)]
use crate::schema::CELLS;
use crate::{Decimal, Function};

/// Identifier of a node of a [`Graph`]; nodes refer to earlier nodes only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeId(pub(crate) u32);

impl NodeId {
    /// Returns the node's index among the nodes of its graph.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Node of a graph: an operation on every row.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Node {
    /// Column of numbers, by its index in the schema.
    Column(usize),
    /// Indicator: 1 where a category has a given label, or where a column of numbers has a cell, else 0.
    Indicator {
        /// Index of the column in the schema.
        column: usize,
        /// Index of the label among the category's labels; [`CELLS`] for a column of numbers, whose cells may be
        /// missing.
        label: usize,
    },
    /// Linear combination Σ c_i·x_i + c with distinct x_i in ascending order and c_i ≠ 0.
    Linear {
        /// Operands x_i of a linear combination with their factors c_i.
        terms: Vec<(NodeId, Decimal)>,
        /// Constant summand c of a linear combination.
        constant: Decimal,
    },
    /// Product of two nodes, the earlier one first.
    Product(NodeId, NodeId),
    /// Polynomial Σ a_i·x^i of a node x.
    Polynomial {
        /// Operand x of the polynomial.
        of: NodeId,
        /// Coefficients a_0, a_1, … of the polynomial: at least three, the last one not zero.
        coefficients: Vec<Decimal>,
    },
    /// Function f(x) of a node x, computed by a polynomial.
    Apply {
        /// Operand x of the function.
        of: NodeId,
        /// Function f that the node applies.
        function: Function,
        /// Interval on which f is approximated, if the ranges of columns do not determine it: it has to hold all
        /// values of x.
        interval: Option<(Decimal, Decimal)>,
    },
    /// Comparison of a node x with 0: 1 where x > 0, or x ≥ 0, else 0.
    Positive {
        /// Operand x of the comparison.
        of: NodeId,
        /// Whether the comparison is 1 where x = 0.
        or_zero: bool,
    },
    /// The number of a node x that so many rows come before in ascending order: it stands in the first row, and 0 in all others, so that its sum over rows is
    /// the number.
    Kth {
        /// Operand x whose numbers are ordered.
        of: NodeId,
        /// Number of rows that come before; 0 for the least number.
        place: u64,
    },
    /// Numbers of a node x of all rows, in order.
    Sorted {
        /// Operand x whose numbers are ordered.
        of: NodeId,
        /// Whether the greatest number comes first.
        descending: bool,
    },
    /// Number of rows that come before each row in the order of a node x; of equal numbers the first row comes first.
    Rank {
        /// Operand x by whose numbers rows are ordered.
        of: NodeId,
        /// Whether the greatest number comes first.
        descending: bool,
    },
    /// Entry of a table for a node x whose values are whole numbers of units.
    LookUp {
        /// Operand x that says which entry is read.
        of: NodeId,
        /// Value of x to which the first entry belongs, in units of its last decimal.
        first: i64,
        /// Entries of the table, one for each unit.
        values: Vec<Decimal>,
    },
}

impl Node {
    /// Returns the nodes that the operation reads.
    #[must_use]
    pub fn operands(&self) -> Vec<NodeId> {
        match self {
            Self::Column(_) | Self::Indicator { .. } => Vec::new(),
            Self::Linear { terms, .. } => terms.iter().map(|&(id, _)| id).collect(),
            Self::Product(a, b) => vec![*a, *b],
            Self::Polynomial { of, .. }
            | Self::Apply { of, .. }
            | Self::Positive { of, .. }
            | Self::Kth { of, .. }
            | Self::Sorted { of, .. }
            | Self::Rank { of, .. }
            | Self::LookUp { of, .. } => vec![*of],
        }
    }

    /// Returns the number of terms of a sum or polynomial.
    pub(super) fn terms(&self) -> usize {
        if let Self::Linear { terms, .. } = self { terms.len() } else { 0 }
    }

    /// Whether a row's number depends on other rows.
    #[must_use]
    pub fn crosses_rows(&self) -> bool {
        matches!(self, Self::Kth { .. } | Self::Sorted { .. } | Self::Rank { .. })
    }

    /// Returns the number of entries of a table; `None` for other nodes.
    pub(crate) fn entries(&self) -> Option<usize> {
        if let Self::LookUp { values, .. } = self { Some(values.len()) } else { None }
    }

    /// Whether encrypted integers alone have the operation: order, and look-ups in tables.
    #[must_use]
    pub fn needs_integers(&self) -> bool {
        self.crosses_rows() || matches!(self, Self::LookUp { .. })
    }

    /// Returns the index of the column that the node reads.
    #[must_use]
    pub fn column(&self) -> Option<usize> {
        match self {
            Self::Column(column) | Self::Indicator { column, .. } => Some(*column),
            _ => None,
        }
    }

    /// Returns the index of the label that the node tests in its column.
    #[must_use]
    pub fn label(&self) -> Option<usize> {
        if let Self::Indicator { label, .. } = self { Some(*label) } else { None }
    }
}
