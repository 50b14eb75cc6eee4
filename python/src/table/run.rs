//! Encrypted tables, and the encryption of columns.

use std::io::Cursor;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sunzi_program::Plan;
use sunzi_program::schema::Schema;
use sunzi_table::file::TableFile;
use sunzi_table::in_memory::Keys;
use sunzi_table::{Reading, Rows, TableError};

use super::columns::Columns;
use super::schema::TableSchema;
use crate::compute::run;
use crate::error::Failure;

/// Encrypted table, in the bytes of its file.
#[pyclass(frozen, module = "sunzi._native")]
pub(crate) struct TableBytes {
    pub(super) bytes: Arc<Vec<u8>>,
    schema: Arc<Schema>,
    key: String,
}

#[pymethods]
impl TableBytes {
    /// Reads header and schema of an encrypted table.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: Vec<u8>) -> PyResult<Self> {
        run(py, move || Self::new(data))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.bytes)
    }

    #[getter]
    fn nbytes(&self) -> usize {
        self.bytes.len()
    }

    #[getter]
    fn schema(&self) -> TableSchema {
        TableSchema { schema: Arc::clone(&self.schema) }
    }

    /// Identifier of the secret key that opens the table.
    #[getter]
    fn key(&self) -> &str {
        &self.key
    }
}

impl TableBytes {
    fn new(bytes: Vec<u8>) -> Result<Self, Failure> {
        let table = TableFile::open(Cursor::new(&*bytes), bytes.len() as u64)?;
        let (schema, key) = (Arc::new(table.shape().schema().clone()), table.key().to_string());
        Ok(Self { bytes: Arc::new(bytes), schema, key })
    }
}

/// Encrypts columns that the schema of a plan declares.
pub(super) fn encrypt(keys: &Keys, plan: &Plan, columns: Columns) -> Result<TableBytes, Failure> {
    keys.encrypting()?;
    let (expected, got) = (plan.program.schema().rows, columns.count());
    if expected != got as u64 {
        let message = format!(
            "a table of {got} rows for a schema of {expected}: give one of as many rows, or plan for these"
        );
        return Err(Failure::new("ShapeError", message));
    }
    let rows = || Ok::<_, TableError>(Box::new(columns.clone()) as Box<dyn Rows>);
    TableBytes::new(keys.encrypt(plan, &Reading::default(), &rows)?)
}
