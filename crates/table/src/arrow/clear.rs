//! Reader of Parquet files in the clear.

use std::fs::File;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Date64Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{AnyDictionaryArray, Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, TimeUnit};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use sunzi_program::schema::Origin;

use super::guard::guarded;
use super::pages::{self, TableKind};
use super::refused;
use crate::csv::{check_names, flags};
use crate::{Cell, Decimal, Moment, Rows, TableError};

/// Number of rows of a Parquet file read together.
const BATCH: usize = 1 << 12;

/// A Parquet file, read row by row: integers, doubles, decimals, booleans as 0 and 1, dates, times, texts as labels.
pub struct ParquetRows {
    file: File,
    metadata: ArrowReaderMetadata,
    /// Reader of the selected columns, once a row was asked for.
    reader: Option<ParquetRecordBatchReader>,
    names: Vec<String>,
    /// Place of each column among those that are read; `None` for those that are not.
    places: Vec<Option<usize>>,
    batch: Option<RecordBatch>,
    /// Label indices of the current batch, for columns that are dictionaries.
    keys: Vec<Vec<usize>>,
    /// Index of the current row in the batch.
    at: usize,
    /// Number of the current row in the file, from 1; 0 before the first.
    row: u64,
    name: String,
}

impl ParquetRows {
    /// Reads the columns that the file declares; `name` stands for the file in messages.
    ///
    /// # Errors
    /// [`TableError::Parquet`].
    pub fn new(file: File, name: &str) -> Result<Self, TableError> {
        guarded(name, || Self::read(file, name))
    }

    fn read(file: File, name: &str) -> Result<Self, TableError> {
        let len = file.metadata().map_err(|error| TableError::io(name, &error))?.len();
        let metadata =
            ArrowReaderMetadata::load(&file, ArrowReaderOptions::default()).map_err(refused(name))?;
        pages::check(&file, len, metadata.metadata(), TableKind::Clear).map_err(refused(name))?;
        let names: Vec<String> =
            metadata.schema().fields().iter().map(|field| field.name().clone()).collect();
        let places = (0..names.len()).map(Some).collect();
        let (reader, batch, keys, name) = (None, None, Vec::new(), name.to_owned());
        Ok(Self { file, metadata, reader, names, places, batch, keys, at: 0, row: 0, name })
    }

    /// Begins to read the selected columns, whose types are checked; no page of others is looked at.
    fn begin(&self) -> Result<ParquetRecordBatchReader, TableError> {
        let selected = self.places.iter().enumerate().filter_map(|(at, place)| place.map(|_| at));
        let mask = ProjectionMask::roots(self.metadata.parquet_schema(), selected);
        let file = self.file.try_clone().map_err(|error| TableError::io(&self.name, &error))?;
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, self.metadata.clone());
        builder.with_projection(mask).with_batch_size(BATCH).build().map_err(refused(&self.name))
    }

    /// Checks the names and types of the selected columns.
    fn check(&self) -> Result<(), TableError> {
        let selected: Vec<bool> = self.places.iter().map(Option::is_some).collect();
        check_names(&self.names, &selected, &self.name)?;
        let fields = self.metadata.schema().fields().iter().zip(selected);
        match fields.filter(|(_, selected)| *selected).find(|(field, _)| !is_known(field.data_type())) {
            None => Ok(()),
            Some((field, _)) => {
                let kind = field.data_type();
                let problem = format!(
                    "has the type {kind}: give numbers, dates or texts, or choose columns without it"
                );
                Err(TableError::column(field.name(), problem))
            }
        }
    }

    /// Reads the next batch of rows; `None` if there is none.
    fn next_batch(&mut self) -> Result<Option<RecordBatch>, TableError> {
        if self.reader.is_none() {
            self.check()?;
            self.reader = Some(guarded(&self.name, || self.begin())?);
        }
        let Some(reader) = &mut self.reader else { return Ok(None) };
        guarded(&self.name, || reader.next().transpose().map_err(refused(&self.name)))
    }
}

fn is_known(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => matches!(**values, DataType::Utf8 | DataType::LargeUtf8),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Boolean => true,
        DataType::Decimal128(..) | DataType::Float32 | DataType::Float64 => true,
        DataType::Date32
        | DataType::Date64
        | DataType::Timestamp(..)
        | DataType::Time32(_)
        | DataType::Time64(_) => true,
        other => other.is_integer(),
    }
}

impl Rows for ParquetRows {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn select(&mut self, columns: &[usize]) -> Result<(), TableError> {
        let mut next = 0..;
        let selected = flags(columns, self.names.len());
        self.places =
            selected.into_iter().map(|selected| if selected { next.next() } else { None }).collect();
        // Rows that were read have other columns.
        (self.reader, self.batch) = (None, None);
        self.check()
    }

    fn advance(&mut self) -> Result<bool, TableError> {
        self.at += 1;
        while self.batch.as_ref().is_none_or(|batch| self.at >= batch.num_rows()) {
            let Some(batch) = self.next_batch()? else {
                let problem = "has columns but no rows: expected at least one";
                return if self.row > 0 { Ok(false) } else { Err(TableError::form(&self.name, problem)) };
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
        let Some(place) = self.places.get(column).copied().flatten() else { return Cell::Missing };
        let array = self.batch.as_ref().and_then(|batch| batch.columns().get(place));
        let keys = self.keys.get(place).map_or(&[][..], Vec::as_slice);
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
        DataType::Date32 => date(i128::from(column.as_primitive::<Date32Type>().value(at)) * DAY),
        DataType::Date64 => date(i128::from(column.as_primitive::<Date64Type>().value(at)) * 1_000_000),
        DataType::Timestamp(unit, _) => time(Origin::Epoch, *unit, timestamp(column, *unit, at)),
        DataType::Time32(unit) | DataType::Time64(unit) => {
            time(Origin::Midnight, *unit, clock(column, *unit, at))
        }
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

/// Nanoseconds of a day.
const DAY: i128 = 86_400_000_000_000;

fn date(nanoseconds: i128) -> Cell<'static> {
    Cell::Moment(Moment { since: Origin::Epoch, nanoseconds, is_date: true })
}

fn time(since: Origin, unit: TimeUnit, count: i64) -> Cell<'static> {
    let size = match unit {
        TimeUnit::Second => 1_000_000_000,
        TimeUnit::Millisecond => 1_000_000,
        TimeUnit::Microsecond => 1_000,
        TimeUnit::Nanosecond => 1,
    };
    Cell::Moment(Moment { since, nanoseconds: i128::from(count) * size, is_date: false })
}

fn timestamp(column: &ArrayRef, unit: TimeUnit, at: usize) -> i64 {
    match unit {
        TimeUnit::Second => column.as_primitive::<TimestampSecondType>().value(at),
        TimeUnit::Millisecond => column.as_primitive::<TimestampMillisecondType>().value(at),
        TimeUnit::Microsecond => column.as_primitive::<TimestampMicrosecondType>().value(at),
        TimeUnit::Nanosecond => column.as_primitive::<TimestampNanosecondType>().value(at),
    }
}

fn clock(column: &ArrayRef, unit: TimeUnit, at: usize) -> i64 {
    match unit {
        TimeUnit::Second => column.as_primitive::<Time32SecondType>().value(at).into(),
        TimeUnit::Millisecond => column.as_primitive::<Time32MillisecondType>().value(at).into(),
        TimeUnit::Microsecond => column.as_primitive::<Time64MicrosecondType>().value(at),
        TimeUnit::Nanosecond => column.as_primitive::<Time64NanosecondType>().value(at),
    }
}

fn label(text: &str) -> Cell<'_> {
    Cell::Label(text.trim())
}
