//! Schemas of tables in CSV.

use std::io::Cursor;
use std::rc::Rc;

use serde::Deserialize;
use sunzi_program::schema::Schema;
use sunzi_table::csv::CsvRows;
use sunzi_table::{
    Asked, Missing, MissingCells, Range, Reading, Rows, TableError, read_schema, survey, write_schema,
};
use wasm_bindgen::prelude::*;

use crate::error::Failure;

/// Name of a table in messages.
const NAME: &str = "CSV";

/// Table in CSV, in memory.
#[derive(Clone)]
pub(crate) struct Csv(Rc<[u8]>);

impl Csv {
    pub(crate) fn new(bytes: &[u8]) -> Self {
        Self(bytes.into())
    }

    /// Opens the rows of the table, from the first on.
    pub(crate) fn rows(&self) -> Result<Box<dyn Rows>, TableError> {
        Ok(Box::new(CsvRows::new(Cursor::new(Rc::clone(&self.0)), NAME)?))
    }
}

/// Choices of a survey, in JSON.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Choices {
    columns: Vec<String>,
    clear: Vec<String>,
    categories: Vec<String>,
    /// Ranges as column, least and largest number.
    ranges: Vec<[String; 3]>,
    skip_missing: bool,
    decimal_comma: bool,
}

/// Schema of a table: names, kinds and ranges of its columns, and the number of its rows. It is public.
#[wasm_bindgen(js_name = TableSchema)]
pub struct TableSchema {
    pub(crate) schema: Schema,
    pub(crate) reading: Reading,
}

#[wasm_bindgen(js_class = TableSchema)]
impl TableSchema {
    /// Finds the schema of a table in CSV: columns have the ranges of their cells where none is given.
    ///
    /// # Errors
    /// `Form`, `Cell` or `Column` for a table that cannot be read; `Schema` for choices that are none.
    pub fn survey(csv: &[u8], choices: &str) -> Result<Self, JsValue> {
        Ok(surveyed(csv, choices)?)
    }

    /// Reads a schema in JSON, as the command line writes it.
    ///
    /// # Errors
    /// `Schema` for JSON that is no schema, or does not say how many rows there are.
    #[wasm_bindgen(js_name = fromJson)]
    pub fn from_json(json: &str) -> Result<Self, JsValue> {
        Ok(read(json)?)
    }

    /// Returns the schema in JSON, as the command line writes it.
    ///
    /// # Errors
    /// `Schema` for a schema that JSON cannot hold.
    #[wasm_bindgen(js_name = toJson)]
    pub fn to_json(&self) -> Result<String, JsValue> {
        Ok(write_schema(&self.schema).map_err(Failure::from)?)
    }

    /// Number of rows of the table.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn rows(&self) -> f64 {
        self.schema.rows as f64
    }
}

fn surveyed(csv: &[u8], choices: &str) -> Result<TableSchema, Failure> {
    let choices: Choices = serde_json::from_str(choices)?;
    let missing =
        MissingCells { all: choices.skip_missing.then_some(Missing::Skip), ..MissingCells::default() };
    let reading = Reading { missing, decimal_comma: choices.decimal_comma, ..Reading::default() };
    let range = |[column, low, high]: [String; 3]| Range { column, low, high };
    let asked = Asked {
        columns: choices.columns,
        clear: choices.clear,
        categories: choices.categories,
        ranges: choices.ranges.into_iter().map(range).collect(),
        reading: reading.clone(),
        ..Asked::default()
    };
    let mut rows = Csv::new(csv).rows()?;
    Ok(TableSchema { schema: survey(&mut *rows, &asked)?.schema, reading })
}

fn read(json: &str) -> Result<TableSchema, Failure> {
    match read_schema(json)? {
        Asked { rows: Some(rows), declared: Some(columns), reading, .. } => {
            Ok(TableSchema { schema: Schema::new(rows, columns)?, reading })
        }
        _ => {
            let message = "the schema does not say how many rows there are: add \"rows\"";
            Err(Failure::new("Schema", message))
        }
    }
}
