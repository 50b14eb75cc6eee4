//! Encrypted tables, whatever the format of their files.

use std::io::{BufRead, Seek};
use std::ops::Range;

use sunzi_program::analysis::Layout;
use sunzi_program::contexts::Encrypted;
use sunzi_program::packed::PackedForm;
use sunzi_program::run::Table;
use sunzi_program::{Contexts, Schema};
use sunzi_rlwe::KeyId;
use sunzi_rlwe::wire::{Fingerprint, Kind};

use crate::file::TableFile;
use crate::{Input, TableError};

/// An encrypted table, read one chunk of a column at a time.
pub trait EncryptedTable {
    /// Public schema of the encrypted table.
    fn schema(&self) -> &Schema;
    /// Numbers of rows, of rows in a full chunk, and of chunks. Chunks before the last may have fewer rows if the table is partitioned.
    fn layout(&self) -> Layout;
    /// Number of rows of a chunk of the table.
    fn rows_of(&self, chunk: usize) -> usize;
    /// Rows that the table has of those that its schema counts: all of them, unless it is the part of one of several parties.
    fn rows(&self) -> Range<u64> {
        0..self.schema().rows
    }
    /// Checks that the table has all of its rows.
    ///
    /// # Errors
    /// [`TableError::Mismatch`] for the part of one of several parties.
    fn check_whole(&self) -> Result<(), TableError> {
        let (all, Range { start, end }) = (self.schema().rows, self.rows());
        if (start, end) == (0, all) {
            return Ok(());
        }
        let expected = format!("all {all} rows of the table");
        Err(TableError::mismatch(
            "rows",
            expected,
            format!("the part with {start}..{end}: join those of all parties"),
        ))
    }
    /// Encrypted inputs of each chunk of the table.
    fn inputs(&self) -> &[Input];
    /// Identifier of the secret key that opens the table.
    fn key(&self) -> KeyId;
    /// Kind of the table in the wire format; `None` if this release does not know it.
    fn kind(&self) -> Option<Kind>;
    /// Fingerprint of the parameters of the encrypted table.
    fn parameters(&self) -> Fingerprint;
    /// Checks that the table was encrypted under these parameters.
    ///
    /// # Errors
    /// [`TableError::Wire`] for other parameters.
    fn belongs_to(&self, contexts: &Contexts) -> Result<(), TableError>;
    /// Reads the clear cells of a chunk, of a part those of its own rows; other columns are [`Cells::Unknown`](sunzi_program::run::Cells::Unknown).
    ///
    /// # Errors
    /// [`TableError::Mismatch`] for a chunk that does not exist; [`TableError::Wire`] and others for damaged bytes.
    fn clear(&mut self, chunk: usize) -> Result<Table, TableError>;
    /// Reads the ciphertexts of an input in a chunk.
    ///
    /// # Errors
    /// Every error of [`clear`](Self::clear).
    fn encrypted(
        &mut self,
        contexts: &Contexts,
        chunk: usize,
        input: &Input,
    ) -> Result<Encrypted, TableError>;

    /// Form of a packed table, which serves the programs that it was packed for; none where every column has ciphertexts of its own.
    fn form(&self) -> Option<&PackedForm> {
        None
    }
    /// Reads the ciphertexts of a chunk of a packed table, in the order of the layout's inputs.
    ///
    /// # Errors
    /// [`TableError::Mismatch`] for a table that is not packed; every error of [`encrypted`](Self::encrypted).
    fn packed(&mut self, _: &Contexts, _: usize) -> Result<Vec<Encrypted>, TableError> {
        Err(TableError::mismatch("the table", "a packed one", "one with columns apart"))
    }

    /// Reads the whole table; returns the number of its ciphertexts.
    ///
    /// # Errors
    /// Every error of [`belongs_to`](Self::belongs_to), [`clear`](Self::clear) and [`encrypted`](Self::encrypted).
    fn check(&mut self, contexts: &Contexts) -> Result<u64, TableError> {
        self.belongs_to(contexts)?;
        let (mut count, inputs) = (0, self.inputs().to_vec());
        for chunk in 0..self.layout().chunks {
            if self.form().is_some() {
                let all = self.packed(contexts, chunk)?;
                count += all.iter().map(|one| one.count() as u64).sum::<u64>();
                continue;
            }
            self.clear(chunk)?;
            for input in &inputs {
                count += self.encrypted(contexts, chunk, input)?.count() as u64;
            }
        }
        Ok(count)
    }
}

/// Writer of an encrypted table, chunk after chunk.
pub trait EncryptedWriter {
    /// Writes the clear columns of the next rows, which begin a chunk; of a part its own rows in the chunk, which may be none.
    ///
    /// # Errors
    /// [`TableError::Mismatch`] for other columns or too many rows, and before all ciphertexts of the previous chunk are written; [`TableError::Wire`].
    fn begin_chunk(&mut self, rows: &Table) -> Result<(), TableError>;
    /// Writes the bytes that [`Contexts::to_bytes`] made of the next input, in the order of [`inputs`](crate::inputs), encrypted for this key.
    ///
    /// # Errors
    /// [`TableError::Mismatch`] for one input too many, for another key or another length; [`TableError::Wire`].
    fn put_bytes(&mut self, bytes: &[u8], key: KeyId) -> Result<(), TableError>;
    /// Ends the table's file once all chunks are written. It is not flushed.
    ///
    /// # Errors
    /// [`TableError::Mismatch`] if a row or ciphertext is missing.
    fn finish(self: Box<Self>) -> Result<(), TableError>;
}

impl<I: BufRead + Seek> EncryptedTable for TableFile<I> {
    fn schema(&self) -> &Schema {
        self.shape().schema()
    }

    fn layout(&self) -> Layout {
        *self.shape().layout()
    }

    fn rows_of(&self, chunk: usize) -> usize {
        self.shape().rows_of(chunk)
    }

    fn rows(&self) -> Range<u64> {
        self.shape().rows()
    }

    fn inputs(&self) -> &[Input] {
        self.shape().inputs()
    }

    fn key(&self) -> KeyId {
        self.key()
    }

    fn kind(&self) -> Option<Kind> {
        Kind::of(self.header().kind)
    }

    fn parameters(&self) -> Fingerprint {
        self.header().parameters
    }

    fn belongs_to(&self, contexts: &Contexts) -> Result<(), TableError> {
        self.belongs_to(contexts)
    }

    fn clear(&mut self, chunk: usize) -> Result<Table, TableError> {
        self.clear(chunk)
    }

    fn encrypted(
        &mut self,
        contexts: &Contexts,
        chunk: usize,
        input: &Input,
    ) -> Result<Encrypted, TableError> {
        self.encrypted(contexts, chunk, input)
    }

    fn form(&self) -> Option<&PackedForm> {
        self.shape().form()
    }

    fn packed(&mut self, contexts: &Contexts, chunk: usize) -> Result<Vec<Encrypted>, TableError> {
        (0..self.shape().input_count()).map(|at| self.packed(contexts, chunk, at)).collect()
    }
}
