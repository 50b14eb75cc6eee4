//! Inputs of an encrypted table: the ciphertexts that it has.

use sunzi_program::graph::Node;
use sunzi_program::schema::Kind;
use sunzi_program::{Column, Schema};

/// Source of one ciphertext of every chunk: a column, a label of a category, or the indicator of a column's cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Input {
    /// Index of the column in the schema.
    pub column: usize,
    /// Index of the label, for a category, whose zeros and ones are encrypted; for a column of numbers
    /// [`CELLS`](sunzi_program::schema::CELLS) stands for the indicator of its cells.
    pub label: Option<usize>,
}

impl Input {
    /// Returns the node of a program that reads the input.
    #[must_use]
    pub fn node(&self) -> Node {
        match self.label {
            None => Node::Column(self.column),
            Some(label) => Node::Indicator { column: self.column, label },
        }
    }

    /// Returns the input that a node of a program reads, if it reads one.
    #[must_use]
    pub fn of(node: &Node) -> Option<Self> {
        match node {
            Node::Column(column) => Some(Self { column: *column, label: None }),
            Node::Indicator { column, label } => Some(Self { column: *column, label: Some(*label) }),
            _ => None,
        }
    }
}

/// Lists the inputs of a schema, by columns and labels in their order.
#[must_use]
pub fn inputs(schema: &Schema) -> Vec<Input> {
    let mut all = Vec::with_capacity(count_inputs(schema));
    for (at, column) in schema.columns.iter().enumerate().filter(|(_, column)| column.encrypted) {
        all.extend(column.parts().into_iter().map(|label| Input { column: at, label }));
    }
    all
}

/// Number of encrypted inputs of a schema.
pub(crate) fn count_inputs(schema: &Schema) -> usize {
    let of = |column: &Column| match &column.kind {
        Kind::Category { labels } => labels.len(),
        _ => 1 + usize::from(column.missing),
    };
    schema.columns.iter().filter(|column| column.encrypted).map(of).sum()
}
