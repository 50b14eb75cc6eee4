//! Tables in the clear: what the owner encrypts, and what the server reads of clear columns.

use std::sync::Arc;

use crate::analysis::Layout;
use crate::graph::Node;
use crate::schema::{CELLS, Column, Kind, Schema, WIDEST_CELL};
use crate::{NodeId, Program, ProgramError};

/// What stands in [`Cells::Units`] for a missing cell: below every number that a column may have.
pub const MISSING_UNIT: i64 = i64::MIN;
/// What stands in [`Cells::Labels`] for a missing cell: above every label.
pub const MISSING_LABEL: u32 = u32::MAX;

/// Cells of a column of a table. Missing ones are [`MISSING_UNIT`], NaN and [`MISSING_LABEL`], and allowed where the
/// schema says so.
#[derive(Clone, Debug)]
pub enum Cells {
    /// Numbers of a column in units of the last decimal.
    Units(Vec<i64>),
    /// Real numbers of a column.
    Reals(Vec<f64>),
    /// Labels of a category, as indices.
    Labels(Vec<u32>),
    /// Cells of an encrypted column, which this party does not have.
    Unknown,
}

/// Compares cells; missing ones are equal.
impl PartialEq for Cells {
    fn eq(&self, other: &Self) -> bool {
        let same = |(a, b): (&f64, &f64)| a == b || a.is_nan() && b.is_nan();
        match (self, other) {
            (Self::Units(a), Self::Units(b)) => a == b,
            (Self::Reals(a), Self::Reals(b)) => a.len() == b.len() && a.iter().zip(b).all(same),
            (Self::Labels(a), Self::Labels(b)) => a == b,
            (Self::Unknown, Self::Unknown) => true,
            _ => false,
        }
    }
}

impl Cells {
    /// Returns the number of cells, after a check that all are of the column's kind and in its range.
    ///
    /// # Errors
    /// [`ProgramError::Mismatch`] for cells of another kind or out of range, and for missing ones in a column that has
    /// none; [`Cells::Unknown`] fits no column.
    pub fn check(&self, column: &Column) -> Result<usize, ProgramError> {
        let may = column.missing;
        let (length, outside) = match (&column.kind, self) {
            (Kind::Decimal { low, high, .. }, Self::Units(v)) => {
                (v.len(), v.iter().position(|v| !((low..=high).contains(&v) || may && *v == MISSING_UNIT)))
            }
            (Kind::Real { low, high }, Self::Reals(v)) => {
                (v.len(), v.iter().position(|v| !((low..=high).contains(&v) || may && v.is_nan())))
            }
            (Kind::Category { labels }, Self::Labels(v)) => {
                let known = |v: u32| (v as usize) < labels.len() || may && v == MISSING_LABEL;
                (v.len(), v.iter().position(|&v| !known(v)))
            }
            _ => {
                let expected = format!("the kind of {:?}", column.name);
                return Err(ProgramError::mismatch("cells", expected, "another"));
            }
        };
        match outside {
            None => Ok(length),
            Some(row) => {
                let expected = format!("all cells of {:?} in the range declared", column.name);
                Err(ProgramError::mismatch("cells", expected, format!("one outside, in row {row}")))
            }
        }
    }

    /// Returns some rows in units of the last decimal, 0 for missing cells, or the indicator of a label or of cells,
    /// with padding up to `span`; `None` for other kinds.
    pub(crate) fn units(
        &self,
        column: &Column,
        label: Option<usize>,
        rows: std::ops::Range<usize>,
        span: usize,
    ) -> Option<Vec<i128>> {
        let mut units: Vec<i128> = match (label, self) {
            (None, Self::Units(v)) => {
                v.get(rows)?.iter().map(|&v| if v == MISSING_UNIT { 0 } else { v.into() }).collect()
            }
            (Some(CELLS), Self::Units(v)) if column.missing => {
                v.get(rows)?.iter().map(|&v| i128::from(v != MISSING_UNIT)).collect()
            }
            (Some(CELLS), Self::Reals(v)) if column.missing => {
                v.get(rows)?.iter().map(|v| i128::from(!v.is_nan())).collect()
            }
            (Some(label), Self::Labels(v)) => {
                v.get(rows)?.iter().map(|&v| i128::from(v as usize == label)).collect()
            }
            _ => return None,
        };
        units.resize(span, if label.is_some() { 0 } else { column.padding_units().into() });
        Some(units)
    }

    /// Returns some rows as real numbers, or the indicator of a label, with padding up to `span`; `None` for other
    /// kinds.
    pub(crate) fn reals(
        &self,
        column: &Column,
        label: Option<usize>,
        rows: std::ops::Range<usize>,
        span: usize,
    ) -> Option<Vec<f64>> {
        if let (None, Kind::Real { .. }) = (label, &column.kind) {
            let Self::Reals(v) = self else { return None };
            let cell = |v: &f64| if v.is_nan() { 0.0 } else { *v };
            let mut reals: Vec<f64> = v.get(rows)?.iter().map(cell).collect();
            reals.resize(span, column.padding());
            return Some(reals);
        }
        let decimals = match column.kind {
            Kind::Decimal { decimals, .. } if label.is_none() => decimals,
            _ => 0,
        };
        let unit = 10_f64.powi(decimals as i32);
        Some(self.units(column, label, rows, span)?.into_iter().map(|v| v as f64 / unit).collect())
    }
}

/// Table in the clear: cells of the columns of a schema, checked against it.
#[derive(Clone, Debug)]
pub struct Table {
    schema: Arc<Schema>,
    /// Number of rows of the table or chunk; a chunk has fewer than the schema says.
    rows: u64,
    cells: Vec<Cells>,
}

/// Compares tables by their rows, whatever table they are chunks of.
impl PartialEq for Table {
    fn eq(&self, other: &Self) -> bool {
        self.schema.columns == other.schema.columns && self.rows == other.rows && self.cells == other.cells
    }
}

impl Table {
    /// Makes the table of a schema and the cells of its columns.
    ///
    /// # Errors
    /// [`ProgramError::Mismatch`] for other numbers of rows or columns, for cells of another kind, and for cells out of range.
    pub fn new(schema: &Schema, cells: Vec<Cells>) -> Result<Self, ProgramError> {
        schema.check_up_to(WIDEST_CELL)?;
        Self::chunk_of(Arc::new(schema.clone()), schema.rows, cells)
    }

    /// Makes the chunk of some rows of a table whose schema passed [`Schema::check`]. All chunks share the schema,
    /// whose names and labels may take more memory than the rows.
    ///
    /// # Errors
    /// Every error of [`new`](Self::new).
    pub fn chunk_of(schema: Arc<Schema>, rows: u64, cells: Vec<Cells>) -> Result<Self, ProgramError> {
        if cells.len() != schema.columns.len() {
            return Err(ProgramError::mismatch("columns", schema.columns.len(), cells.len()));
        }
        for (column, cells) in schema.columns.iter().zip(&cells) {
            if *cells == Cells::Unknown {
                continue;
            }
            let length = cells.check(column)?;
            if length as u64 != rows {
                return Err(ProgramError::mismatch("rows", rows, length));
            }
        }
        Ok(Self { schema, rows, cells })
    }

    /// Returns the schema of the table, or for a chunk that of the whole table.
    #[must_use]
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Returns the number of rows of the table or chunk.
    #[must_use]
    pub fn row_count(&self) -> u64 {
        self.rows
    }

    /// Returns the cells of a column.
    #[must_use]
    pub fn cells(&self, column: usize) -> Option<&Cells> {
        self.cells.get(column)
    }

    fn rows(layout: &Layout, chunk: usize) -> std::ops::Range<usize> {
        let start = chunk * layout.span;
        start..(start + layout.span).min(layout.rows)
    }

    /// Returns the cells of one chunk of a column, without padding; `None` for a column that does not exist or whose
    /// cells this party does not have.
    #[must_use]
    pub fn chunk(&self, column: usize, layout: &Layout, chunk: usize) -> Option<Cells> {
        let rows = Self::rows(layout, chunk);
        match self.cells.get(column)? {
            Cells::Units(v) => Some(Cells::Units(v.get(rows)?.to_vec())),
            Cells::Reals(v) => Some(Cells::Reals(v.get(rows)?.to_vec())),
            Cells::Labels(v) => Some(Cells::Labels(v.get(rows)?.to_vec())),
            Cells::Unknown => None,
        }
    }

    /// Returns the column, the label if there is one, and the cells that a node reads.
    fn read(&self, node: &Node) -> Option<(&Column, Option<usize>, &Cells)> {
        let column = node.column()?;
        Some((self.schema.columns.get(column)?, node.label(), self.cells.get(column)?))
    }

    /// Returns one chunk of a column or an indicator in units of the last decimal, padded; `None` for real or unknown
    /// columns.
    #[must_use]
    pub fn units(&self, node: &Node, layout: &Layout, chunk: usize) -> Option<Vec<i128>> {
        let (column, label, cells) = self.read(node)?;
        cells.units(column, label, Self::rows(layout, chunk), layout.span)
    }

    /// Returns one chunk of a column or an indicator as real numbers, padded; `None` for unknown columns.
    #[must_use]
    pub fn reals(&self, node: &Node, layout: &Layout, chunk: usize) -> Option<Vec<f64>> {
        let (column, label, cells) = self.read(node)?;
        cells.reals(column, label, Self::rows(layout, chunk), layout.span)
    }
}

/// Returns the nodes of a program that read encrypted columns, in the order in which the owner sends them for every
/// chunk.
#[must_use]
pub fn encrypted_inputs(program: &Program) -> Vec<NodeId> {
    let encrypted = |id: &NodeId| {
        let column = program.graph().node(*id).and_then(Node::column);
        column.and_then(|column| program.schema().columns.get(column)).is_some_and(|column| column.encrypted)
    };
    program.used().into_iter().filter(encrypted).collect()
}
