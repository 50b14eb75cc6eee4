//! A table in the clear: what its owner encrypts, and what the server reads of clear columns.

use std::sync::Arc;

use crate::analysis::Layout;
use crate::graph::Node;
use crate::schema::{Column, Kind, Schema, WIDEST_CELL};
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

impl Cells {
    /// How many there are, once all are known to be of the column's kind and in its range.
    ///
    /// # Errors
    /// [`ProgramError::Mismatch`]; [`Cells::Unknown`] fits nothing.
    pub fn check(&self, column: &Column) -> Result<usize, ProgramError> {
        let (length, outside) = match (&column.kind, self) {
            (Kind::Decimal { low, high, .. }, Self::Units(v)) => {
                (v.len(), v.iter().position(|v| !(low..=high).contains(&v)))
            }
            (Kind::Real { low, high }, Self::Reals(v)) => {
                (v.len(), v.iter().position(|v| !(low..=high).contains(&v)))
            }
            (Kind::Category { labels }, Self::Labels(v)) => {
                (v.len(), v.iter().position(|&v| v as usize >= labels.len()))
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

    /// Some rows in units of the last decimal, or whether they have a label, then padding up to `span`; none for other kinds.
    pub(crate) fn units(
        &self,
        column: &Column,
        label: Option<usize>,
        rows: std::ops::Range<usize>,
        span: usize,
    ) -> Option<Vec<i128>> {
        let mut units: Vec<i128> = match (label, self) {
            (None, Self::Units(v)) => v.get(rows)?.iter().map(|&v| v.into()).collect(),
            (Some(label), Self::Labels(v)) => {
                v.get(rows)?.iter().map(|&v| i128::from(v as usize == label)).collect()
            }
            _ => return None,
        };
        units.resize(span, column.padding_units().into());
        Some(units)
    }

    /// Some rows as real numbers, or whether they have a label, then padding up to `span`; none for other kinds.
    pub(crate) fn reals(
        &self,
        column: &Column,
        label: Option<usize>,
        rows: std::ops::Range<usize>,
        span: usize,
    ) -> Option<Vec<f64>> {
        if let (None, Kind::Real { .. }) = (label, &column.kind) {
            let Self::Reals(v) = self else { return None };
            let mut reals = v.get(rows)?.to_vec();
            reals.resize(span, column.padding());
            return Some(reals);
        }
        let decimals = if let Kind::Decimal { decimals, .. } = column.kind { decimals } else { 0 };
        let unit = 10_f64.powi(decimals as i32);
        Some(self.units(column, label, rows, span)?.into_iter().map(|v| v as f64 / unit).collect())
    }
}

/// Cells of the columns of a schema, checked against it.
#[derive(Clone, Debug)]
pub struct Table {
    schema: Arc<Schema>,
    /// As many as the schema has, or fewer: those of a chunk.
    rows: u64,
    cells: Vec<Cells>,
}

/// Tables are equal if their rows are: of which table they are a chunk does not matter.
impl PartialEq for Table {
    fn eq(&self, other: &Self) -> bool {
        self.schema.columns == other.schema.columns && self.rows == other.rows && self.cells == other.cells
    }
}

impl Table {
    /// Joins a schema and its cells.
    ///
    /// # Errors
    /// [`ProgramError::Mismatch`] for other numbers of rows or columns, for cells of another kind, and for cells out of range.
    pub fn new(schema: &Schema, cells: Vec<Cells>) -> Result<Self, ProgramError> {
        schema.check_up_to(WIDEST_CELL)?;
        Self::chunk_of(Arc::new(schema.clone()), schema.rows, cells)
    }

    /// Some rows of a table whose schema went through [`Schema::check`], which all chunks share: its names and labels may be more than their rows.
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

    /// The schema: of the whole table, where this is a chunk of one.
    #[must_use]
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// How many rows these are.
    #[must_use]
    pub fn row_count(&self) -> u64 {
        self.rows
    }

    /// The cells of a column.
    #[must_use]
    pub fn cells(&self, column: usize) -> Option<&Cells> {
        self.cells.get(column)
    }

    fn rows(layout: &Layout, chunk: usize) -> std::ops::Range<usize> {
        let start = chunk * layout.span;
        start..(start + layout.span).min(layout.rows)
    }

    /// The cells of one chunk of a column, without padding; none for a column that there is not, and for cells that this side does not have.
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

    /// What a node reads: a column, perhaps a label of it, and cells.
    fn read(&self, node: &Node) -> Option<(&Column, Option<usize>, &Cells)> {
        let column = node.column()?;
        Some((self.schema.columns.get(column)?, node.label(), self.cells.get(column)?))
    }

    /// One chunk of a column or an indicator in units of the last decimal, padded; none for real or unknown columns.
    #[must_use]
    pub fn units(&self, node: &Node, layout: &Layout, chunk: usize) -> Option<Vec<i128>> {
        let (column, label, cells) = self.read(node)?;
        cells.units(column, label, Self::rows(layout, chunk), layout.span)
    }

    /// One chunk of a column or an indicator as real numbers, padded; none for unknown columns.
    #[must_use]
    pub fn reals(&self, node: &Node, layout: &Layout, chunk: usize) -> Option<Vec<f64>> {
        let (column, label, cells) = self.read(node)?;
        cells.reals(column, label, Self::rows(layout, chunk), layout.span)
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
