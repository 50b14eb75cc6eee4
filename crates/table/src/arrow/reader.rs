//! Reader of encrypted tables in Parquet, as written or as an engine left them.

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;
use arrow_array::{Array, ArrayRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use sunzi_program::analysis::Layout;
use sunzi_program::contexts::Encrypted;
use sunzi_program::run::{Cells, Table};
use sunzi_program::{Contexts, Schema};
use sunzi_rlwe::KeyId;
use sunzi_rlwe::wire::{Fingerprint, Kind, WireError};

use super::cells::unpack;
use super::guard::guarded;
use super::metadata::{ROWS, Table as Metadata};
use super::pages::{self, TableKind};
use super::refused;
use crate::{EncryptedTable, Input, TableError, inputs, regular};

/// An encrypted table in a Parquet file, any cell of which is read without the others.
pub struct EncryptedParquet {
    file: File,
    name: String,
    arrow: ArrowReaderMetadata,
    metadata: Metadata,
    key: KeyId,
    parameters: Fingerprint,
    /// Number of rows of each chunk of the table.
    rows: Vec<u32>,
    schema: Arc<Schema>,
    inputs: Vec<Input>,
    /// Cursors of the columns that were read: chunks are asked for in their order, and a cell within a row group is found by reading those before it.
    cursors: HashMap<String, Cursor>,
}

/// Position of the next cell in a column.
struct Cursor {
    next: usize,
    reader: ParquetRecordBatchReader,
}

impl EncryptedParquet {
    /// Reads the schema of an encrypted Parquet file and the numbers of rows.
    ///
    /// # Errors
    /// [`TableError::Io`]; [`TableError::Parquet`]; [`TableError::Form`] for a file without the metadata of an encrypted table; [`TableError::Wire`] for
    /// metadata and numbers of rows that are invalid.
    pub fn open(path: &Path) -> Result<Self, TableError> {
        let name = path.display().to_string();
        guarded(&name, || Self::read(path, name.clone()))
    }

    fn read(path: &Path, name: String) -> Result<Self, TableError> {
        let file = regular::open(path, &name)?;
        // Types are those of Parquet: an engine may have written other Arrow types for the same cells.
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let arrow = ArrowReaderMetadata::load(&file, options).map_err(refused(&name))?;
        let mut metadata = Metadata::of(&arrow, &name)?;
        metadata.keep(|name| arrow.schema().fields().iter().any(|field| field.name() == name));
        let chunks = arrow.metadata().file_metadata().num_rows();
        let len = file.metadata().map_err(|error| TableError::io(&name, &error))?.len();
        if chunks < 1 || chunks as u64 > len {
            let problem = "has no chunks that are left, or more than it has bytes";
            return Err(TableError::form(name, problem));
        }
        pages::check(&file, len, arrow.metadata(), TableKind::Encrypted).map_err(refused(&name))?;
        let (key, parameters) = (metadata.key()?, metadata.parameters()?);
        let mut schema = metadata.schema.clone();
        let mut table = Self {
            file,
            name,
            arrow,
            metadata,
            key,
            parameters,
            rows: Vec::new(),
            inputs: inputs(&schema),
            schema: Arc::new(Schema { rows: 0, columns: Vec::new() }),
            cursors: HashMap::new(),
        };
        table.rows = table.count()?;
        schema.rows = table.rows.iter().map(|&rows| u64::from(rows)).sum();
        // A row takes at least a byte, however columns are compressed: it has an encrypted cell.
        if schema.rows > len {
            let expected = format!("at most the {len} bytes of the file");
            return Err(WireError::value("rows of all chunks", expected, schema.rows).into());
        }
        schema.check()?;
        table.schema = Arc::new(schema);
        Ok(table)
    }

    /// Returns the numbers of rows of all chunks of the table.
    fn count(&self) -> Result<Vec<u32>, TableError> {
        let mask = self.mask(ROWS)?;
        let builder =
            ParquetRecordBatchReaderBuilder::new_with_metadata(self.reopened()?, self.arrow.clone());
        let reader = builder.with_projection(mask).build().map_err(refused(&self.name))?;
        let mut rows = Vec::new();
        for batch in reader {
            let batch = batch.map_err(refused(&self.name))?;
            let column = batch.columns().first().and_then(|column| column.as_primitive_opt::<UInt32Type>());
            let wrong = || WireError::value("the column of rows", "numbers of 32 bits", "something else");
            rows.extend(column.ok_or_else(wrong)?.iter().map(Option::unwrap_or_default));
        }
        match rows.iter().find(|&&rows| rows == 0 || rows as usize > self.metadata.span) {
            None => Ok(rows),
            Some(rows) => {
                Err(WireError::value("rows of a chunk", format!("1 to {}", self.metadata.span), rows).into())
            }
        }
    }

    fn reopened(&self) -> Result<File, TableError> {
        self.file.try_clone().map_err(|error| TableError::io(&self.name, &error))
    }

    fn mask(&self, column: &str) -> Result<ProjectionMask, TableError> {
        let at = self.arrow.schema().fields().iter().position(|field| field.name() == column);
        let at = at
            .ok_or_else(|| TableError::column(column, "is not in the file: whatever wrote it left it out"))?;
        Ok(ProjectionMask::roots(self.arrow.parquet_schema(), [at]))
    }

    /// Reads the cell of a column in a chunk.
    fn cell(&mut self, column: &str, chunk: usize) -> Result<ArrayRef, TableError> {
        let missing = TableError::mismatch("chunk", format!("below {}", self.rows.len()), chunk);
        // If the cell cannot be read, the cursor is dropped.
        let mut cursor = match self.cursors.remove(column).filter(|cursor| cursor.next == chunk) {
            Some(cursor) => cursor,
            None => Cursor { next: chunk, reader: guarded(&self.name, || self.from(column, chunk))? },
        };
        let batch = guarded(&self.name, || cursor.reader.next().transpose().map_err(refused(&self.name)))?;
        cursor.next += 1;
        self.cursors.insert(column.to_owned(), cursor);
        batch.and_then(|batch| batch.columns().first().cloned()).ok_or(missing)
    }

    /// Reads the cells of a column, one by one, from those of a chunk on.
    fn from(&self, column: &str, chunk: usize) -> Result<ParquetRecordBatchReader, TableError> {
        let mask = self.mask(column)?;
        let missing = || TableError::mismatch("chunk", format!("below {}", self.rows.len()), chunk);
        let mut before = 0;
        let groups = self.arrow.metadata().row_groups();
        let group = groups.iter().position(|group| {
            let rows = usize::try_from(group.num_rows()).unwrap_or(0);
            let found = (before..before + rows).contains(&chunk);
            before += if found { 0 } else { rows };
            found
        });
        let builder =
            ParquetRecordBatchReaderBuilder::new_with_metadata(self.reopened()?, self.arrow.clone())
                .with_row_groups((group.ok_or_else(missing)?..groups.len()).collect())
                .with_projection(mask)
                .with_offset(chunk - before)
                .with_batch_size(1);
        builder.build().map_err(refused(&self.name))
    }

    /// Name of the clear category that all rows of a chunk share.
    #[must_use]
    pub fn partition(&self) -> Option<&str> {
        self.metadata.partition.as_deref()
    }
}

impl EncryptedTable for EncryptedParquet {
    /// Returns the schema with as many rows as the chunks of the file have: fewer than were encrypted if an engine left some out.
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn layout(&self) -> Layout {
        let rows = usize::try_from(self.schema.rows).unwrap_or(usize::MAX);
        Layout { rows, span: self.metadata.span, chunks: self.rows.len() }
    }

    fn rows_of(&self, chunk: usize) -> usize {
        self.rows.get(chunk).map_or(0, |&rows| rows as usize)
    }

    fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    fn key(&self) -> KeyId {
        self.key
    }

    fn kind(&self) -> Option<Kind> {
        self.metadata.kind()
    }

    fn parameters(&self) -> Fingerprint {
        self.parameters
    }

    fn belongs_to(&self, contexts: &Contexts) -> Result<(), TableError> {
        self.metadata.belongs_to(contexts)
    }

    fn clear(&mut self, chunk: usize) -> Result<Table, TableError> {
        let (rows, mut cells) = (self.rows_of(chunk), Vec::new());
        let schema = Arc::clone(&self.schema);
        for column in &schema.columns {
            if column.encrypted {
                cells.push(Cells::Unknown);
                continue;
            }
            let array = self.cell(&column.name, chunk)?;
            let partition = self.partition() == Some(&column.name);
            let wrong =
                || WireError::value("a clear column", format!("{rows} cells of its kind"), array.data_type());
            cells.push(unpack(column, &array, rows, partition).ok_or_else(wrong)?);
        }
        Ok(Table::chunk_of(schema, rows as u64, cells)?)
    }

    fn encrypted(
        &mut self,
        contexts: &Contexts,
        chunk: usize,
        input: &Input,
    ) -> Result<Encrypted, TableError> {
        let (name, _) = self.metadata.name(input);
        let array = self.cell(&name, chunk)?;
        let bytes = array.as_binary_opt::<i32>().filter(|cells| cells.len() == 1 && cells.is_valid(0));
        let wrong = || WireError::value("an encrypted column", "binary cells", array.data_type());
        Ok(contexts.from_bytes(bytes.ok_or_else(wrong)?.value(0), Some(self.key))?)
    }
}
