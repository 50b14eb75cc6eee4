//! The rows of a Parquet file in the clear.

use std::fs::File;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::DataType;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};

use super::{refused, refused_arrow};
use crate::csv::check_names;
use crate::{Cell, Decimal, Rows, TableError};

/// Rows that are read together.
const BATCH: usize = 1 << 12;

/// A Parquet file, row by row: integers, doubles, decimals, booleans as 0 and 1, texts as labels.
pub struct ParquetRows {
    reader: ParquetRecordBatchReader,
    names: Vec<String>,
    batch: Option<RecordBatch>,
    /// The row of the batch at hand.
    at: usize,
    /// The row of the file, from 1; 0 before the first.
    row: u64,
    file: String,
}

impl ParquetRows {
    /// Reads what the file says of its columns; `name` stands for it in messages.
    ///
    /// # Errors
    /// [`TableError::Parquet`]; [`TableError::Form`] for names that are empty or occur twice; [`TableError::Column`] for types that are no numbers or texts.
    pub fn new(file: File, name: &str) -> Result<Self, TableError> {
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(refused(name))?;
        let fields = builder.schema().fields();
        let names: Vec<String> = fields.iter().map(|field| field.name().clone()).collect();
        check_names(&names, name)?;
        for field in fields {
            if !is_known(field.data_type()) {
                let problem =
                    format!("has the type {}: give numbers or texts, or leave it out", field.data_type());
                return Err(TableError::column(field.name(), problem));
            }
        }
        let reader = builder.with_batch_size(BATCH).build().map_err(refused(name))?;
        Ok(Self { reader, names, batch: None, at: 0, row: 0, file: name.to_owned() })
    }
}

fn is_known(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => matches!(**values, DataType::Utf8 | DataType::LargeUtf8),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Boolean => true,
        DataType::Decimal128(..) | DataType::Float32 | DataType::Float64 => true,
        other => other.is_integer(),
    }
}

impl Rows for ParquetRows {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn advance(&mut self) -> Result<bool, TableError> {
        self.at += 1;
        while self.batch.as_ref().is_none_or(|batch| self.at >= batch.num_rows()) {
            let Some(batch) = self.reader.next() else {
                let problem = "has columns but no rows: expected at least one";
                return if self.row > 0 { Ok(false) } else { Err(TableError::form(&self.file, problem)) };
            };
            (self.batch, self.at) = (Some(batch.map_err(refused_arrow(&self.file))?), 0);
        }
        self.row += 1;
        Ok(true)
    }

    fn cell(&self, column: usize) -> Cell<'_> {
        let column = self.batch.as_ref().and_then(|batch| batch.columns().get(column));
        column.map_or(Cell::Missing, |column| cell(column, self.at))
    }

    fn place(&self) -> String {
        format!("row {}", self.row)
    }
}

fn cell(column: &ArrayRef, at: usize) -> Cell<'_> {
    if at >= column.len() || column.is_null(at) {
        return Cell::Missing;
    }
    let whole = |v: i128| Cell::Number(Decimal::new(v, 0));
    match column.data_type() {
        DataType::Int8 => whole(column.as_primitive::<Int8Type>().value(at).into()),
        DataType::Int16 => whole(column.as_primitive::<Int16Type>().value(at).into()),
        DataType::Int32 => whole(column.as_primitive::<Int32Type>().value(at).into()),
        DataType::Int64 => whole(column.as_primitive::<Int64Type>().value(at).into()),
        DataType::UInt8 => whole(column.as_primitive::<UInt8Type>().value(at).into()),
        DataType::UInt16 => whole(column.as_primitive::<UInt16Type>().value(at).into()),
        DataType::UInt32 => whole(column.as_primitive::<UInt32Type>().value(at).into()),
        DataType::UInt64 => whole(column.as_primitive::<UInt64Type>().value(at).into()),
        DataType::Boolean => whole(column.as_boolean().value(at).into()),
        DataType::Decimal128(_, scale) => {
            Cell::Number(Decimal::new(column.as_primitive::<Decimal128Type>().value(at), -i32::from(*scale)))
        }
        // A float stands for its own shortest digits, not for those of the double next to it.
        DataType::Float32 => {
            let value = column.as_primitive::<Float32Type>().value(at);
            Decimal::parse(&format!("{value:e}")).map_or(Cell::Real(value.into()), Cell::Number)
        }
        DataType::Float64 => Cell::Real(column.as_primitive::<Float64Type>().value(at)),
        DataType::Utf8 => label(column.as_string::<i32>().value(at)),
        DataType::LargeUtf8 => label(column.as_string::<i64>().value(at)),
        DataType::Utf8View => label(column.as_string_view().value(at)),
        DataType::Dictionary(..) => {
            let dictionary = column.as_any_dictionary();
            let key = dictionary.normalized_keys().get(at).copied();
            key.map_or(Cell::Missing, |key| cell(dictionary.values(), key))
        }
        _ => Cell::Missing,
    }
}

fn label(text: &str) -> Cell<'_> {
    Cell::Label(text.trim())
}
