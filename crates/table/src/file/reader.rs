//! Reader of encrypted tables in Sunzi's files: any part without the others.

use std::io::{BufRead, Seek, SeekFrom};

use sunzi_program::contexts::Encrypted;
use sunzi_program::run::{Cells, Table};
use sunzi_program::schema::Kind;
use sunzi_program::{Column, Contexts};
use sunzi_rlwe::KeyId;
use sunzi_rlwe::wire::{HEADER_LEN, Header, Kind as Object, Reader, Source, WireError};

use super::shape::width;
use super::{Shape, kind};
use crate::{Input, TableError};

/// An encrypted table in a file of Sunzi's own format.
pub struct TableFile<I: BufRead + Seek> {
    header: Header,
    key: KeyId,
    shape: Shape,
    /// Offset of the table's header in the file.
    start: u64,
    input: I,
}

impl<I: BufRead + Seek> TableFile<I> {
    /// Reads header and schema of an encrypted table of `len` bytes. This needs neither parameters nor keys.
    ///
    /// # Errors
    /// [`TableError::Wire`] for another kind of object, another length, and damaged bytes; [`TableError::Program`] for an invalid schema.
    pub fn open(mut input: I, len: u64) -> Result<Self, TableError> {
        let start = input.stream_position().map_err(WireError::from)?;
        let reader = Reader::with_len(&mut input, len)?;
        let header = *reader.header();
        let kind = Object::of(header.kind).filter(|kind| kind.is_table());
        let kind = kind.ok_or(WireError::Kind { expected: Object::BfvTable, got: header.kind })?;
        reader.whole()?;
        let key = header.required_key()?;
        let shape = Shape::get(&mut Source::new(&mut input, header.body_len), kind)?;
        Ok(Self { header, key, shape, start, input })
    }

    /// Header of the table: scheme, parameters and key.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Identifier of the secret key that opens the table.
    #[must_use]
    pub fn key(&self) -> KeyId {
        self.key
    }

    /// Contents of the file and their offsets.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Checks that the table was encrypted under these parameters, its rows placed where these have them.
    ///
    /// # Errors
    /// [`TableError::Wire`] with [`WireError::Kind`], [`WireError::Parameters`] or [`WireError::Value`].
    pub fn belongs_to(&self, contexts: &Contexts) -> Result<(), TableError> {
        let expected = kind(contexts.scheme(), self.shape.form().is_some());
        if self.header.kind != expected as u16 {
            return Err(WireError::Kind { expected, got: self.header.kind }.into());
        }
        contexts.fingerprint().check(&self.header.parameters)?;
        if let Some(form) = self.shape.form() {
            let (expected, got) = (contexts.parameters().degree(), form.degree);
            if expected != got {
                return Err(WireError::value("slots of a packed table", expected, got).into());
            }
            return Ok(());
        }
        let (rows, got) = (self.shape.schema().rows, *self.shape.layout());
        let expected = contexts.layout(rows);
        if got == expected || Some(got) == contexts.filling_layout(rows) {
            return Ok(());
        }
        Err(WireError::value("rows of a chunk", expected.span, got.span).into())
    }

    /// Reads the clear cells of a chunk, in a part of a table those of its own rows; other columns are [`Cells::Unknown`].
    ///
    /// # Errors
    /// [`TableError::Mismatch`] for a chunk that does not exist; [`TableError::Wire`]; [`TableError::Program`] for cells out of range.
    pub fn clear(&mut self, chunk: usize) -> Result<Table, TableError> {
        let chunks = self.shape.layout().chunks;
        let place = self.shape.chunk_start(chunk).filter(|_| chunk < chunks);
        self.seek(place.ok_or_else(|| TableError::mismatch("chunk", format!("below {chunks}"), chunk))?)?;
        let (schema, rows) = (self.shape.shared_schema(), self.shape.own_rows_of(chunk));
        let mut source = Source::new(&mut self.input, self.shape.clear_len(chunk));
        let mut cells = Vec::new();
        for column in &schema.columns {
            cells.push(if column.encrypted || self.shape.form().is_some() {
                Cells::Unknown
            } else {
                unpack(column, &source.sealed("a clear column", width(column) * rows)?)
            });
        }
        source.finish()?;
        Ok(Table::chunk_of(schema, rows as u64, cells)?)
    }

    /// Reads the ciphertexts of an input in a chunk.
    ///
    /// # Errors
    /// [`TableError::Mismatch`] for an input or chunk that does not exist; [`TableError::Wire`].
    pub fn encrypted(
        &mut self,
        contexts: &Contexts,
        chunk: usize,
        input: &Input,
    ) -> Result<Encrypted, TableError> {
        let missing = || {
            let expected = format!(
                "one of {} chunks and {} inputs",
                self.shape.layout().chunks,
                self.shape.inputs().len()
            );
            TableError::mismatch("an encrypted column", expected, format!("{input:?} in chunk {chunk}"))
        };
        let at = self.shape.place_of(input).ok_or_else(missing)?;
        let place = self.shape.place_start(chunk, at).ok_or_else(missing)?;
        self.encrypted_from(contexts, place, self.shape.input_len(at))
    }

    /// Reads the ciphertexts of a packed table at a place of a chunk, counted from 0 in the order of
    /// [`Layout::inputs`](sunzi_program::packed::Layout::inputs).
    ///
    /// # Errors
    /// [`TableError::Mismatch`] for a table that is not packed, and for a place or chunk that does not exist; [`TableError::Wire`].
    pub fn packed(&mut self, contexts: &Contexts, chunk: usize, at: usize) -> Result<Encrypted, TableError> {
        let place = self.shape.place_start(chunk, at).filter(|_| self.shape.form().is_some());
        let missing = || {
            let expected = format!(
                "one of {} chunks and {} places of a packed table",
                self.shape.layout().chunks,
                self.shape.input_count()
            );
            TableError::mismatch("an encrypted input", expected, format!("{at} in chunk {chunk}"))
        };
        let place = place.ok_or_else(missing)?;
        self.encrypted_from(contexts, place, self.shape.encrypted_len())
    }

    fn encrypted_from(&mut self, contexts: &Contexts, place: u64, len: u64) -> Result<Encrypted, TableError> {
        self.seek(place)?;
        let mut exactly = std::io::Read::take(&mut self.input, len);
        let encrypted = contexts.read(&mut exactly, Some(self.key))?;
        match exactly.limit() {
            0 => Ok(encrypted),
            extra => Err(WireError::Trailing { extra }.into()),
        }
    }

    /// Seeks to an offset after the header of the file.
    fn seek(&mut self, place: u64) -> Result<(), TableError> {
        let place = self.start.saturating_add(HEADER_LEN as u64).saturating_add(place);
        self.input.seek(SeekFrom::Start(place)).map_err(WireError::from)?;
        Ok(())
    }
}

fn unpack(column: &Column, bytes: &[u8]) -> Cells {
    let (words, _) = bytes.as_chunks::<8>();
    match column.kind {
        Kind::Decimal { .. } => Cells::Units(words.iter().map(|&word| i64::from_le_bytes(word)).collect()),
        Kind::Real { .. } => Cells::Reals(words.iter().map(|&word| f64::from_le_bytes(word)).collect()),
        Kind::Category { .. } => {
            Cells::Labels(bytes.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word)).collect())
        }
    }
}
