//! Columns of numpy as the rows of a table.

use std::sync::Arc;

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use sunzi_program::schema::Origin;
use sunzi_table::{Cell, Decimal, Moment, Rows, TableError};

use crate::error::Failure;

/// Column as it comes from Python: name, kind of its cells, cells, and which of them are missing.
pub(super) type Given<'py> = (String, String, Numbers<'py>, Option<PyReadonlyArray1<'py, bool>>);

/// Cells as they come from Python.
#[derive(FromPyObject)]
pub(super) enum Numbers<'py> {
    Integers(PyReadonlyArray1<'py, i64>),
    Reals(PyReadonlyArray1<'py, f64>),
    Texts(Vec<Option<String>>),
}

/// Cells of a column.
enum Data {
    Integers(Vec<i64>),
    Reals(Vec<f64>),
    /// Texts that are labels, and no numbers whatever they look like.
    Labels(Vec<Option<String>>),
    /// Numbers with all their digits.
    Texts(Vec<Option<String>>),
    /// Dates or times, in units of so many nanoseconds since 1970.
    Moments {
        counts: Vec<i64>,
        nanoseconds: i128,
        is_date: bool,
    },
}

impl Data {
    fn len(&self) -> usize {
        match self {
            Self::Integers(cells) | Self::Moments { counts: cells, .. } => cells.len(),
            Self::Reals(cells) => cells.len(),
            Self::Labels(cells) | Self::Texts(cells) => cells.len(),
        }
    }

    fn cell(&self, row: usize) -> Option<Cell<'_>> {
        Some(match self {
            Self::Integers(cells) => Cell::Number(Decimal::new((*cells.get(row)?).into(), 0)),
            Self::Reals(cells) => Cell::Real(*cells.get(row)?),
            Self::Labels(cells) => cells.get(row)?.as_deref().map_or(Cell::Missing, Cell::Label),
            Self::Texts(cells) => cells.get(row)?.as_deref().map_or(Cell::Missing, Cell::Text),
            Self::Moments { counts, nanoseconds, is_date } => {
                let nanoseconds = i128::from(*counts.get(row)?).saturating_mul(*nanoseconds);
                Cell::Moment(Moment { since: Origin::Epoch, nanoseconds, is_date: *is_date })
            }
        })
    }
}

/// Columns of a table in memory, read row by row.
#[derive(Clone)]
pub(super) struct Columns {
    names: Arc<Vec<String>>,
    data: Arc<Vec<(Data, Vec<bool>)>>,
    rows: usize,
    /// Number of rows read so far.
    read: usize,
}

impl Columns {
    /// Copies the columns that Python gives, which must be equally long.
    pub(super) fn new(given: Vec<Given<'_>>) -> Result<Self, Failure> {
        let (mut names, mut data) = (Vec::new(), Vec::new());
        let mut rows = None;
        for (name, kind, cells, missing) in given {
            let cells = taken(&kind, cells).ok_or_else(|| {
                Failure::new("Column", format!("column {name:?}: cells of the kind {kind:?}"))
            })?;
            let (expected, got) = (*rows.get_or_insert(cells.len()), cells.len());
            let missing = missing.map_or_else(Vec::new, |missing| missing.as_array().to_vec());
            if expected != got || !missing.is_empty() && missing.len() != got {
                let what = format!(
                    "column {name:?} has {got} cells, others have {expected}: give one cell for each row"
                );
                return Err(Failure::new("ShapeError", what));
            }
            names.push(name);
            data.push((cells, missing));
        }
        Ok(Self { names: Arc::new(names), data: Arc::new(data), rows: rows.unwrap_or(0), read: 0 })
    }

    /// Number of rows.
    pub(super) fn count(&self) -> usize {
        self.rows
    }
}

fn taken(kind: &str, cells: Numbers<'_>) -> Option<Data> {
    const DAY: i128 = 86_400_000_000_000;
    let moments = |counts: PyReadonlyArray1<'_, i64>, nanoseconds, is_date| Data::Moments {
        counts: counts.as_array().to_vec(),
        nanoseconds,
        is_date,
    };
    Some(match (kind, cells) {
        ("number", Numbers::Integers(cells)) => Data::Integers(cells.as_array().to_vec()),
        ("number", Numbers::Reals(cells)) => Data::Reals(cells.as_array().to_vec()),
        ("number", Numbers::Texts(cells)) => Data::Texts(cells),
        ("label", Numbers::Texts(cells)) => Data::Labels(cells),
        ("date", Numbers::Integers(cells)) => moments(cells, DAY, true),
        ("microseconds", Numbers::Integers(cells)) => moments(cells, 1_000, false),
        ("nanoseconds", Numbers::Integers(cells)) => moments(cells, 1, false),
        _ => return None,
    })
}

impl Rows for Columns {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn select(&mut self, _: &[usize]) -> Result<(), TableError> {
        Ok(())
    }

    fn advance(&mut self) -> Result<bool, TableError> {
        let more = self.read < self.rows;
        self.read += usize::from(more);
        Ok(more)
    }

    fn cell(&self, column: usize) -> Cell<'_> {
        let row = self.read.saturating_sub(1);
        match self.data.get(column) {
            Some((_, missing)) if missing.get(row) == Some(&true) => Cell::Missing,
            Some((data, _)) => data.cell(row).unwrap_or(Cell::Missing),
            None => Cell::Missing,
        }
    }

    fn place(&self) -> String {
        format!("row {}", self.read.saturating_sub(1))
    }
}
