//! Tables in files of either format, clear and encrypted: which format it is, and what reads and writes it.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use sunzi_program::{Column, Contexts, Schema};
use sunzi_rlwe::KeyId;
use sunzi_rlwe::wire::WireError;

use crate::csv::CsvRows;
use crate::file::TableFile;
use crate::{EncryptedTable, EncryptedWriter, Rows, TableError};

/// First bytes of a Parquet file.
const PARQUET: [u8; 4] = *b"PAR1";

/// A clear table in a file that can be read several times.
#[derive(Clone, Debug)]
pub struct Source {
    path: PathBuf,
    parquet: bool,
}

impl Source {
    /// Looks at the first bytes of a file: Parquet, or else CSV.
    ///
    /// # Errors
    /// [`TableError::Io`]; [`TableError::Form`] for a folder.
    pub fn open(path: &Path) -> Result<Self, TableError> {
        let name = path.display().to_string();
        let cannot = |error: std::io::Error| TableError::io(&name, &error);
        if std::fs::metadata(path).map_err(cannot)?.is_dir() {
            return Err(TableError::form(&name, "is a folder: give the path of a CSV or Parquet file"));
        }
        Ok(Self { path: path.to_owned(), parquet: is_parquet(path)? })
    }

    /// Returns the rows, from the first on.
    ///
    /// # Errors
    /// [`TableError::Io`]; [`TableError::Form`]; `TableError::Parquet`.
    pub fn rows(&self) -> Result<Box<dyn Rows>, TableError> {
        let name = self.path.display().to_string();
        let file = File::open(&self.path).map_err(|error| TableError::io(&name, &error))?;
        if !self.parquet {
            return Ok(Box::new(CsvRows::new(file, &name)?));
        }
        #[cfg(feature = "parquet")]
        return Ok(Box::new(crate::arrow::ParquetRows::new(file, &name)?));
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
    let file = File::open(path).map_err(WireError::Io)?;
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
/// [`TableError::Form`] always.
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
/// [`TableError::Io`].
pub fn is_parquet(path: &Path) -> Result<bool, TableError> {
    let cannot = |error: std::io::Error| TableError::io(&path.display().to_string(), &error);
    let mut first = Vec::new();
    let file = File::open(path).map_err(cannot)?;
    file.take(PARQUET.len() as u64).read_to_end(&mut first).map_err(cannot)?;
    Ok(first == PARQUET)
}

#[cfg(not(feature = "parquet"))]
fn without_parquet(path: &Path) -> TableError {
    let problem = "is a table in Parquet, and this program was built without it: install it with `--features parquet`, or use CSV and tables of another name";
    TableError::form(path.display().to_string(), problem)
}
