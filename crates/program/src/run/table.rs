//! A table in the clear: what its owner encrypts, and what the server reads of clear columns.

use crate::analysis::Layout;
use crate::graph::Node;
use crate::schema::{Kind, Schema};
use crate::{NodeId, Program, ProgramError};

/// The cells of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// Numbers in units of the last decimal.
    Units(Vec<i64>),
    /// Real numbers.
    Reals(Vec<f64>),
    /// Positions of labels.
    Labels(Vec<u32>),
    /// Cells that this side does not have: they are encrypted.
    Unknown,
}

/// Cells of the columns of a schema, checked against it.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    schema: Schema,
    cells: Vec<Cells>,
}

impl Table {
    /// Joins a schema and its cells.
    ///
    /// # Errors
    /// [`ProgramError::Mismatch`] for other numbers of rows or columns, for cells of another kind, and for cells out of range.
    pub fn new(schema: &Schema, cells: Vec<Cells>) -> Result<Self, ProgramError> {
        schema.check()?;
        if cells.len() != schema.columns.len() {
            return Err(ProgramError::mismatch("columns", schema.columns.len(), cells.len()));
        }
        for (column, cells) in schema.columns.iter().zip(&cells) {
            let (length, fits) = match (&column.kind, cells) {
                (_, Cells::Unknown) => continue,
                (Kind::Decimal { low, high, .. }, Cells::Units(v)) => {
                    (v.len(), v.iter().all(|v| (low..=high).contains(&v)))
                }
                (Kind::Real { low, high }, Cells::Reals(v)) => {
                    (v.len(), v.iter().all(|v| (low..=high).contains(&v)))
                }
                (Kind::Category { labels }, Cells::Labels(v)) => {
                    (v.len(), v.iter().all(|&v| (v as usize) < labels.len()))
                }
                _ => {
                    return Err(ProgramError::mismatch(
                        "cells",
                        format!("the kind of {:?}", column.name),
                        "another",
                    ));
                }
            };
            if length as u64 != schema.rows {
                return Err(ProgramError::mismatch("rows", schema.rows, length));
            }
            if !fits {
                let expected = format!("all cells of {:?} in the range declared", column.name);
                return Err(ProgramError::mismatch("cells", expected, "one outside"));
            }
        }
        Ok(Self { schema: schema.clone(), cells })
    }

    /// The schema.
    #[must_use]
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(layout: &Layout, chunk: usize) -> std::ops::Range<usize> {
        let start = chunk * layout.span;
        start..(start + layout.span).min(layout.rows)
    }

    /// One chunk of a column or an indicator in units of the last decimal, padded; none for real or unknown columns.
    #[must_use]
    pub fn units(&self, node: &Node, layout: &Layout, chunk: usize) -> Option<Vec<i128>> {
        let column = node.column()?;
        let padding = self.schema.columns.get(column)?.padding_units();
        let rows = Self::rows(layout, chunk);
        let mut units: Vec<i128> = match (node, self.cells.get(column)?) {
            (Node::Column(_), Cells::Units(v)) => v.get(rows)?.iter().map(|&v| v.into()).collect(),
            (Node::Indicator { label, .. }, Cells::Labels(v)) => {
                v.get(rows)?.iter().map(|&v| i128::from(v as usize == *label)).collect()
            }
            _ => return None,
        };
        units.resize(layout.span, padding.into());
        Some(units)
    }

    /// One chunk of a column or an indicator as real numbers, padded; none for unknown columns.
    #[must_use]
    pub fn reals(&self, node: &Node, layout: &Layout, chunk: usize) -> Option<Vec<f64>> {
        let description = self.schema.columns.get(node.column()?)?;
        let rows = Self::rows(layout, chunk);
        if let (Node::Column(column), Kind::Real { .. }) = (node, &description.kind) {
            let Cells::Reals(v) = self.cells.get(*column)? else { return None };
            let mut reals = v.get(rows)?.to_vec();
            reals.resize(layout.span, description.padding());
            return Some(reals);
        }
        let decimals = if let Kind::Decimal { decimals, .. } = description.kind { decimals } else { 0 };
        let unit = 10_f64.powi(decimals as i32);
        Some(self.units(node, layout, chunk)?.into_iter().map(|v| v as f64 / unit).collect())
    }
}

/// The nodes of a program that read encrypted columns: what the owner of the table sends, in this order for every chunk.
#[must_use]
pub fn encrypted_inputs(program: &Program) -> Vec<NodeId> {
    let encrypted = |id: &NodeId| {
        let column = program.graph().node(*id).and_then(Node::column);
        column.and_then(|column| program.schema().columns.get(column)).is_some_and(|column| column.encrypted)
    };
    program.used().into_iter().filter(encrypted).collect()
}
