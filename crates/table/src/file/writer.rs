//! Writer of encrypted tables in Sunzi's files, chunk by chunk as rows come.

use std::io::Write;

use sunzi_program::Contexts;
use sunzi_program::contexts::Encrypted;
use sunzi_program::run::{Cells, Table};
use sunzi_rlwe::KeyId;
use sunzi_rlwe::wire::{Block, Header, Output, Sink, WireError};

use super::{Shape, kind};
use crate::{EncryptedWriter, TableError};

/// Writer of a table file, chunk after chunk: the clear columns of its rows, then the ciphertexts of each
/// input.
pub struct TableWriter<'a, W: Write> {
    contexts: &'a Contexts,
    shape: Shape,
    key: KeyId,
    out: W,
    /// Number of chunks of the table begun.
    chunk: usize,
    /// Number of inputs of this chunk that are still to be written.
    left: usize,
}

impl<'a, W: Write> TableWriter<'a, W> {
    /// Begins a table file for ciphertexts of this key.
    ///
    /// # Errors
    /// [`TableError::Wire`] where the file cannot be begun.
    pub fn create(contexts: &'a Contexts, shape: Shape, key: KeyId, mut out: W) -> Result<Self, TableError> {
        let (kind, body_len) = (kind(contexts.scheme(), shape.form().is_some()) as u16, shape.body_len());
        let header = Header { kind, parameters: contexts.fingerprint(), key: Some(key), body_len };
        out.write_all(&header.to_bytes()).map_err(WireError::from)?;
        shape.put(&mut Output::new(Block::new(&mut out)))?;
        Ok(Self { contexts, shape, key, out, chunk: 0, left: 0 })
    }

    /// Contents of the table file and their offsets.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Writes the ciphertexts of the next input.
    ///
    /// # Errors
    /// Every error of [`put_bytes`](EncryptedWriter::put_bytes).
    pub fn put(&mut self, encrypted: &Encrypted) -> Result<(), TableError> {
        let none = || TableError::mismatch("key", self.key, "none, or several");
        let (bytes, key) = (self.contexts.to_bytes(encrypted)?, encrypted.key().ok_or_else(none)?);
        self.put_bytes(&bytes, key)
    }
}

impl<W: Write> TableWriter<'_, W> {
    /// Begins a chunk of a packed table, whose ciphertexts follow.
    ///
    /// # Errors
    /// [`TableError::Mismatch`] for a table that is not packed, and before all ciphertexts of the previous chunk are written.
    pub fn begin_packed_chunk(&mut self) -> Result<(), TableError> {
        if self.shape.form().is_none() {
            return Err(TableError::mismatch("the table", "a packed one", "one with columns apart"));
        }
        self.check_next()?;
        self.begin();
        Ok(())
    }

    fn check_next(&self) -> Result<(), TableError> {
        if self.left > 0 || self.chunk >= self.shape.layout().chunks {
            let expected = format!("{} more inputs of the last one", self.left);
            return Err(TableError::mismatch("chunks", expected, "another chunk"));
        }
        Ok(())
    }

    fn begin(&mut self) {
        self.left = self.shape.input_count();
        self.chunk += 1;
    }
}

impl<W: Write> EncryptedWriter for TableWriter<'_, W> {
    fn begin_chunk(&mut self, rows: &Table) -> Result<(), TableError> {
        if self.shape.form().is_some() {
            return Err(TableError::mismatch("the table", "one with columns apart", "a packed one"));
        }
        self.check_next()?;
        let (schema, expected) = (self.shape.shared_schema(), self.shape.own_rows_of(self.chunk) as u64);
        if rows.schema().columns != schema.columns || rows.row_count() != expected {
            let expected = format!("{expected} of the schema");
            return Err(TableError::mismatch("rows", expected, rows.row_count()));
        }
        let mut sink = Output::new(Block::new(&mut self.out));
        for (at, column) in schema.columns.iter().enumerate().filter(|(_, column)| !column.encrypted) {
            let missing = || TableError::mismatch("cells", format!("those of {:?}", column.name), "none");
            sink.sealed(&rows.cells(at).and_then(pack).ok_or_else(missing)?)?;
        }
        self.begin();
        Ok(())
    }

    fn put_bytes(&mut self, bytes: &[u8], key: KeyId) -> Result<(), TableError> {
        let Some(left) = self.left.checked_sub(1) else {
            return Err(TableError::mismatch("inputs", "no more in this chunk", "one"));
        };
        if key != self.key {
            return Err(TableError::mismatch("key", self.key, key));
        }
        let expected = self.shape.input_len(self.shape.input_count().saturating_sub(self.left));
        if bytes.len() as u64 != expected {
            return Err(TableError::mismatch("bytes of an encrypted chunk", expected, bytes.len()));
        }
        self.out.write_all(bytes).map_err(WireError::from)?;
        self.left = left;
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), TableError> {
        let chunks = self.shape.layout().chunks;
        if self.left == 0 && self.chunk == chunks {
            return Ok(());
        }
        Err(TableError::mismatch("chunks", chunks, format!("{}, without {} inputs", self.chunk, self.left)))
    }
}

fn pack(cells: &Cells) -> Option<Vec<u8>> {
    match cells {
        Cells::Units(units) => Some(units.iter().flat_map(|v| v.to_le_bytes()).collect()),
        Cells::Reals(reals) => Some(reals.iter().flat_map(|v| v.to_le_bytes()).collect()),
        Cells::Labels(labels) => Some(labels.iter().flat_map(|v| v.to_le_bytes()).collect()),
        Cells::Unknown => None,
    }
}
