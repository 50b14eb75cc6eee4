//! Terms of sums that belong together: a column with missing cells and the indicator of its cells.
//!
//! A missing cell is stored as 0 beside an indicator of 0. Interval arithmetic that takes both apart would give
//! x + 18·(1 − m), m the indicator of x from 18 to 90, a range from 18 to 108.

use std::collections::BTreeMap;

use crate::graph::Node;
use crate::schema::{Column, Kind, Schema};
use crate::{Decimal, NodeId};

/// Part of a sum: terms whose values depend on one column with missing cells, or a single other term.
pub(super) enum Part {
    /// Index of a term that stands alone.
    Alone(usize),
    /// Index of a column of numbers, with the indices of its term and of the term of its indicator.
    Cells { column: usize, number: usize, indicator: usize },
    /// Indices of terms that are indicators of labels of one category: at most one of them is 1.
    Labels(Vec<usize>),
}

/// Returns the parts of a sum over these operands.
pub(super) fn parts(operands: &[&Node], schema: &Schema) -> Vec<Part> {
    let missing = |at: usize| schema.columns.get(at).filter(|column| column.missing);
    let mut found: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut parts = Vec::new();
    for (at, node) in operands.iter().enumerate() {
        match node.column().filter(|column| missing(*column).is_some()) {
            Some(column) => found.entry(column).or_default().push(at),
            None => parts.push(Part::Alone(at)),
        }
    }
    for (column, terms) in found {
        let category = missing(column).is_some_and(|column| !column.has_indicator());
        parts.push(match *terms.as_slice() {
            [one] => Part::Alone(one),
            _ if category => Part::Labels(terms),
            [a, b] => {
                let first_is_number = matches!(operands.get(a), Some(Node::Column(_)));
                let (number, indicator) = if first_is_number { (a, b) } else { (b, a) };
                Part::Cells { column, number, indicator }
            }
            // A column has no more than these two nodes.
            _ => continue,
        });
    }
    parts
}

/// Returns the nodes that these terms have as operands.
pub(super) fn operands<'a>(terms: &[(NodeId, Decimal)], nodes: &'a [Node]) -> Option<Vec<&'a Node>> {
    terms.iter().map(|(id, _)| nodes.get(id.index())).collect()
}

/// Returns the least and the largest of 0 and two numbers.
pub(super) fn with_zero(a: i128, b: i128) -> (i128, i128) {
    (a.min(b).min(0), a.max(b).max(0))
}

/// Returns the range of the cells of a column of real numbers that are there.
pub(super) fn real_cells(schema: &Schema, column: usize) -> Option<(f64, f64)> {
    match schema.columns.get(column)?.kind {
        Kind::Real { low, high } => Some((low, high)),
        Kind::Decimal { decimals, low, high } => {
            let unit = 10_f64.powi(decimals as i32);
            Some((low as f64 / unit, high as f64 / unit))
        }
        Kind::Category { .. } => None,
    }
}

/// Returns the range of the cells of a column of decimals that are there, in units of the last decimal.
pub(super) fn cells(column: &Column) -> Option<(i128, i128)> {
    match column.kind {
        Kind::Decimal { low, high, .. } => Some((low.into(), high.into())),
        _ => None,
    }
}
