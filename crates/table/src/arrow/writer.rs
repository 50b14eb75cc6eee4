//! Writer of encrypted tables as Parquet.

use std::io::Write;
use std::sync::Arc;

use arrow_array::{ArrayRef, BinaryArray, RecordBatch, UInt32Array};
use arrow_schema::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use sunzi_program::run::Table;
use sunzi_program::{Column, Contexts, Schema};
use sunzi_rlwe::KeyId;

use super::cells::pack;
use super::metadata::{TABLE, Table as Metadata};
use super::refused;
use crate::{EncryptedWriter, TableError, inputs};

/// Name of the Parquet file in messages.
const FILE: &str = "the table";

/// Writer of an encrypted table, chunk after chunk, each a row in a row group of its own: no more than one is
/// in memory.
pub struct ParquetWriter<W: Write + Send> {
    writer: ArrowWriter<W>,
    arrow: SchemaRef,
    metadata: Metadata,
    key: KeyId,
    /// Columns of the current chunk: all clear ones, and the encrypted ones written so far.
    columns: Vec<ArrayRef>,
}

impl<W: Write + Send> ParquetWriter<W> {
    /// Begins a Parquet file for ciphertexts of this key; `partition` is the clear category that all rows of
    /// a chunk share, if any.
    ///
    /// # Errors
    /// [`TableError::Form`] for columns whose names do not differ from those of labels; [`TableError::Parquet`].
    pub fn create(
        contexts: &Contexts,
        schema: &Schema,
        key: KeyId,
        partition: Option<&Column>,
        out: W,
    ) -> Result<Self, TableError> {
        let metadata = Metadata::new(contexts, schema, key, partition);
        let arrow = metadata.arrow_schema()?;
        // The Arrow metadata is written as Parquet metadata too, which more engines pass on.
        let own = arrow.metadata().get(TABLE).map(|json| KeyValue::new(TABLE.to_owned(), json.clone()));
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_key_value_metadata(Some(own.into_iter().collect()));
        for input in inputs(schema) {
            // Ciphertexts are uniformly random: dictionaries and compression gain nothing.
            let path = ColumnPath::new(vec![metadata.name(&input).0]);
            properties = properties
                .set_column_compression(path.clone(), Compression::UNCOMPRESSED)
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_statistics_enabled(path, EnabledStatistics::None);
        }
        let writer = ArrowWriter::try_new(out, Arc::clone(&arrow), Some(properties.build()));
        let writer = writer.map_err(refused(FILE))?;
        Ok(Self { writer, arrow, metadata, key, columns: Vec::new() })
    }

    /// Writes the current chunk once all its columns are there.
    fn write_whole(&mut self) -> Result<(), TableError> {
        if self.columns.len() < self.arrow.fields().len() {
            return Ok(());
        }
        let columns = std::mem::take(&mut self.columns);
        let batch = RecordBatch::try_new(Arc::clone(&self.arrow), columns).map_err(refused(FILE))?;
        self.writer.write(&batch).and_then(|()| self.writer.flush()).map_err(refused(FILE))
    }
}

impl<W: Write + Send> EncryptedWriter for ParquetWriter<W> {
    fn begin_chunk(&mut self, rows: &Table) -> Result<(), TableError> {
        let (schema, count, span) = (rows.schema(), rows.row_count(), self.metadata.span);
        if !self.columns.is_empty() {
            return Err(TableError::mismatch("chunks", "the inputs of the one before", "another chunk"));
        }
        if schema.columns != self.metadata.schema.columns || count > span as u64 {
            return Err(TableError::mismatch("rows", format!("at most {span} of the schema"), count));
        }
        self.columns.push(Arc::new(UInt32Array::from(vec![count as u32])));
        for (at, column) in schema.columns.iter().enumerate().filter(|(_, column)| !column.encrypted) {
            let partition = self.metadata.partition.as_ref() == Some(&column.name);
            let packed = rows.cells(at).and_then(|cells| pack(column, cells, partition));
            let others = || TableError::mismatch("cells", format!("those of {:?}", column.name), "others");
            self.columns.push(packed.ok_or_else(others)?);
        }
        self.write_whole()
    }

    fn put_bytes(&mut self, bytes: &[u8], key: KeyId) -> Result<(), TableError> {
        if self.columns.is_empty() {
            return Err(TableError::mismatch("inputs", "no more in this chunk", "one"));
        }
        if key != self.key {
            return Err(TableError::mismatch("key", self.key, key));
        }
        self.columns.push(Arc::new(BinaryArray::from_vec(vec![bytes])));
        self.write_whole()
    }

    fn finish(self: Box<Self>) -> Result<(), TableError> {
        if !self.columns.is_empty() {
            return Err(TableError::mismatch("inputs", "all of the last chunk", "fewer"));
        }
        self.writer.close().map(drop).map_err(refused(FILE))
    }
}
