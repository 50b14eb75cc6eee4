//! Regular files that should be tables.

use std::fs::File;
use std::path::Path;

use sunzi_rlwe::wire::{self, WireError};

use crate::TableError;

/// Opens a regular file that should be a table; a pipe is not opened, since that may wait for ever.
pub(crate) fn open(path: &Path, name: &str) -> Result<File, TableError> {
    wire::open_regular(path).map_err(|error| match error {
        WireError::Io(error) => TableError::io(name, &error),
        WireError::NotRegular { got } => {
            TableError::form(name, format!("is {got}: give the path of a CSV or Parquet file"))
        }
        other => other.into(),
    })
}
