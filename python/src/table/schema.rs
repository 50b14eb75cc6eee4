//! Schemas of tables.

use std::sync::Arc;

use pyo3::prelude::*;
use sunzi_program::schema::{Kind, Schema};
use sunzi_table::{Asked, Missing, MissingCells, Range, Reading, read_schema, survey, write_schema};

use super::columns::{Columns, Given};
use crate::compute::run;
use crate::error::{Failure, OrRaise as _};

/// Schema of a table: names, kinds and ranges of columns, and the number of rows.
#[pyclass(frozen, module = "sunzi._native")]
pub(crate) struct TableSchema {
    pub(super) schema: Arc<Schema>,
}

#[pymethods]
impl TableSchema {
    /// Reads a schema from JSON as the command line writes it.
    #[new]
    fn new(py: Python<'_>, json: &str) -> PyResult<Self> {
        read(json).map(|schema| Self { schema: Arc::new(schema) }).or_raise(py)
    }

    /// Finds the schema of a table: columns have the ranges of their cells where none is declared.
    #[staticmethod]
    fn survey(
        py: Python<'_>,
        columns: Vec<Given<'_>>,
        clear: Vec<String>,
        categories: Vec<String>,
        ranges: Vec<(String, String, String)>,
        missing: bool,
    ) -> PyResult<Self> {
        let mut columns = Columns::new(columns).or_raise(py)?;
        let ranges = ranges.into_iter().map(|(column, low, high)| Range { column, low, high }).collect();
        let all = missing.then_some(Missing::Skip);
        let reading =
            Reading { missing: MissingCells { all, ..MissingCells::default() }, ..Reading::default() };
        let asked = Asked { clear, categories, ranges, reading, ..Asked::default() };
        run(py, move || Ok(Self { schema: Arc::new(survey(&mut columns, &asked)?.schema) }))
    }

    /// Returns the schema in JSON as the command line writes it.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        write_schema(&self.schema).or_raise(py)
    }

    #[getter]
    fn rows(&self) -> u64 {
        self.schema.rows
    }

    /// Returns name, kind in words, whether it is encrypted, and whether cells may be missing, of each column.
    #[getter]
    fn columns(&self) -> Vec<(String, &'static str, bool, bool)> {
        let word = |kind: &Kind| match kind {
            Kind::Decimal { decimals: 0, .. } => "integer",
            Kind::Decimal { .. } => "decimal",
            Kind::Real { .. } => "real",
            Kind::Category { .. } => "category",
        };
        let told = |column: &sunzi_program::Column| {
            (column.name.clone(), word(&column.kind), column.encrypted, column.missing)
        };
        self.schema.columns.iter().map(told).collect()
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.schema == other.schema
    }
}

fn read(json: &str) -> Result<Schema, Failure> {
    match read_schema(json)? {
        Asked { rows: Some(rows), declared: Some(columns), .. } => Ok(Schema::new(rows, columns)?),
        _ => Err(Failure::new("Schema", "the schema does not say how many rows there are: add \"rows\"")),
    }
}
