//! Reader of Parquet files in the clear.

use std::fs::File;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{AnyDictionaryArray, Array, ArrayRef, RecordBatch};
use arrow_schema::DataType;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};

use super::guard::guarded;
use super::pages::{self, TableKind};
use super::refused;
use crate::csv::check_names;
use crate::{Cell, Decimal, Rows, TableError};

/// Number of rows of a Parquet file read together.
const BATCH: usize = 1 << 12;

/// A Parquet file, read row by row: integers, doubles, decimals, booleans as 0 and 1, texts as labels.
pub struct ParquetRows {
    reader: ParquetRecordBatchReader,
    names: Vec<String>,
    batch: Option<RecordBatch>,
    /// Label indices of the current batch, for columns that are dictionaries.
    keys: Vec<Vec<usize>>,
    /// Index of the current row in the batch.
    at: usize,
    /// Number of the current row in the file, from 1; 0 before the first.
    row: u64,
    file: String,
}

impl ParquetRows {
    /// Reads the columns that the file declares; `name` stands for the file in messages.
    ///
    /// # Errors
    /// [`TableError::Parquet`]; [`TableError::Form`] for names that are empty or occur twice; [`TableError::Column`] for types that are no numbers or texts.
    pub fn new(file: File, name: &str) -> Result<Self, TableError> {
        guarded(name, || Self::read(file, name))
    }

    fn read(file: File, name: &str) -> Result<Self, TableError> {
        let len = file.metadata().map_err(|error| TableError::io(name, &error))?.len();
        let looked_at = file.try_clone().map_err(|error| TableError::io(name, &error))?;
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(refused(name))?;
        pages::check(&looked_at, len, builder.metadata(), TableKind::Clear).map_err(refused(name))?;
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
        Ok(Self { reader, names, batch: None, keys: Vec::new(), at: 0, row: 0, file: name.to_owned() })
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
            let next = guarded(&self.file, || self.reader.next().transpose().map_err(refused(&self.file)))?;
            let Some(batch) = next else {
                let problem = "has columns but no rows: expected at least one";
                return if self.row > 0 { Ok(false) } else { Err(TableError::form(&self.file, problem)) };
            };
            let keys = |column: &ArrayRef| {
                // A dictionary without labels has only missing cells.
                let labels = column.as_any_dictionary_opt().filter(|array| !array.values().is_empty());
                labels.map(AnyDictionaryArray::normalized_keys).unwrap_or_default()
            };
            self.keys = batch.columns().iter().map(keys).collect();
            (self.batch, self.at) = (Some(batch), 0);
        }
        self.row += 1;
        Ok(true)
    }

    fn cell(&self, column: usize) -> Cell<'_> {
        let array = self.batch.as_ref().and_then(|batch| batch.columns().get(column));
        let keys = self.keys.get(column).map_or(&[][..], Vec::as_slice);
        array.map_or(Cell::Missing, |array| cell(array, self.at, keys))
    }

    fn place(&self) -> String {
        format!("row {}", self.row)
    }
}

/// Returns one cell of a column, with the label indices if the column is a dictionary.
fn cell<'a>(column: &'a ArrayRef, at: usize, keys: &[usize]) -> Cell<'a> {
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
            let labels = column.as_any_dictionary().values();
            keys.get(at).map_or(Cell::Missing, |&key| cell(labels, key, &[]))
        }
        _ => Cell::Missing,
    }
}

fn label(text: &str) -> Cell<'_> {
    Cell::Label(text.trim())
}
