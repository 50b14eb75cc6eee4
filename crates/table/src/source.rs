//! Clear tables in files of either format.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::csv::CsvRows;
use crate::{Rows, TableError};

/// First bytes of a Parquet file.
const PARQUET: [u8; 4] = *b"PAR1";

/// A table in a file that can be read several times.
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
pub(crate) fn without_parquet(path: &Path) -> TableError {
    let problem = "is a table in Parquet, and this program was built without it: install it with `--features parquet`, or use CSV and tables of another name";
    TableError::form(path.display().to_string(), problem)
}
