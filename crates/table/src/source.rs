//! Tables in files of either format, clear and encrypted: which format it is, and what reads and writes it.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use sunzi_program::{Column, Contexts, Schema};
use sunzi_rlwe::KeyId;
use sunzi_rlwe::wire::{self, WireError};

use crate::csv::CsvRows;
use crate::file::TableFile;
use crate::{EncryptedTable, EncryptedWriter, Rows, TableError, regular};

/// First bytes that mark a Parquet file.
const PARQUET: [u8; 4] = *b"PAR1";

/// A clear table in a file that can be read several times.
#[derive(Clone, Debug)]
pub struct Source {
    path: PathBuf,
    /// Name of the table in messages.
    name: String,
    parquet: bool,
    /// Delimiter of CSV; the header line tells it unless it is given.
    delimiter: Option<u8>,
}

impl Source {
    /// Looks at the first bytes of a table's file: Parquet, or else CSV.
    ///
    /// # Errors
    /// [`TableError::Io`]; [`TableError::Form`] for a folder, a pipe or a device, which cannot be read several times.
    pub fn open(path: &Path) -> Result<Self, TableError> {
        Self::named(path, &path.display().to_string())
    }

    /// Opens a table's file as [`open`](Self::open) does, and calls the table `name` in messages.
    ///
    /// # Errors
    /// Every error of [`open`](Self::open).
    pub fn named(path: &Path, name: &str) -> Result<Self, TableError> {
        let parquet = begins_as_parquet(path, name)?;
        Ok(Self { path: path.to_owned(), name: name.to_owned(), parquet, delimiter: None })
    }

    /// Returns the table with this delimiter between the cells of CSV; a table in Parquet has none.
    #[must_use]
    pub fn delimited(self, delimiter: Option<u8>) -> Self {
        Self { delimiter, ..self }
    }

    /// Returns the rows of the table, from the first on.
    ///
    /// # Errors
    /// [`TableError::Io`]; [`TableError::Form`]; `TableError::Parquet`.
    pub fn rows(&self) -> Result<Box<dyn Rows>, TableError> {
        let file = regular::open(&self.path, &self.name)?;
        if !self.parquet {
            return Ok(Box::new(CsvRows::delimited(file, &self.name, self.delimiter)?));
        }
        #[cfg(feature = "parquet")]
        return Ok(Box::new(crate::arrow::ParquetRows::new(file, &self.name)?));
        #[cfg(not(feature = "parquet"))]
        Err(without_parquet(&self.path))
    }
}

/// Opens an encrypted table in a file of either format.
///
/// # Errors
/// [`TableError::Io`]; every error of [`TableFile::open`] and [`EncryptedParquet::open`](crate::arrow::EncryptedParquet::open).
pub fn open(path: &Path) -> Result<Box<dyn EncryptedTable>, TableError> {
    if is_parquet(path)? {
        #[cfg(feature = "parquet")]
        return Ok(Box::new(crate::arrow::EncryptedParquet::open(path)?));
        #[cfg(not(feature = "parquet"))]
        return Err(without_parquet(path));
    }
    let file = wire::open_regular(path)?;
    let len = file.metadata().map_err(WireError::Io)?.len();
    Ok(Box::new(TableFile::open(BufReader::new(file), len)?))
}

/// Begins a Parquet file for ciphertexts of this key; `partition` is the clear category that all rows of a chunk share, if any.
///
/// # Errors
/// Every error of [`ParquetWriter::create`](crate::arrow::ParquetWriter::create).
#[cfg(feature = "parquet")]
pub fn parquet_writer<'f>(
    contexts: &Contexts,
    schema: &Schema,
    key: KeyId,
    partition: Option<&Column>,
    (_, file): (&Path, &'f mut File),
) -> Result<Box<dyn EncryptedWriter + 'f>, TableError> {
    Ok(Box::new(crate::arrow::ParquetWriter::create(contexts, schema, key, partition, file)?))
}

/// Refuses to write Parquet, which this program was built without.
///
/// # Errors
/// [`TableError::Form`] in every case.
#[cfg(not(feature = "parquet"))]
pub fn parquet_writer<'f>(
    _: &Contexts,
    _: &Schema,
    _: KeyId,
    _: Option<&Column>,
    (path, _): (&Path, &'f mut File),
) -> Result<Box<dyn EncryptedWriter + 'f>, TableError> {
    Err(without_parquet(path))
}

/// Whether a file begins as Parquet does.
///
/// # Errors
/// [`TableError::Io`] for a file that cannot be read; [`TableError::Form`] for what is no regular file.
pub fn is_parquet(path: &Path) -> Result<bool, TableError> {
    begins_as_parquet(path, &path.display().to_string())
}

fn begins_as_parquet(path: &Path, name: &str) -> Result<bool, TableError> {
    let mut first = Vec::new();
    let mut file = regular::open(path, name)?.take(PARQUET.len() as u64);
    file.read_to_end(&mut first).map_err(|error| TableError::io(name, &error))?;
    Ok(first == PARQUET)
}

#[cfg(not(feature = "parquet"))]
fn without_parquet(path: &Path) -> TableError {
    let problem = "is a table in Parquet, and this program was built without it: install it with `--features parquet`, or use CSV and tables of another name";
    TableError::form(path.display().to_string(), problem)
}
