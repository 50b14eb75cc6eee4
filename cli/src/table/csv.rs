//! A CSV file as a whole, in memory.

use std::io::Read;
use std::path::Path;

use sunzi::rlwe::wire::{WireError, open_regular};
use sunzi::rlwe::words::bytes;
use sunzi::table::csv::CsvRows;
use sunzi::table::{Rows as _, TableError};

use super::{Row, Table};
use crate::error::CliError;
use crate::files;
use crate::files::input::InputFile;

/// Bytes of the largest file that is read: the demonstration keeps its table in memory.
const LARGEST: u64 = 256 << 20;

/// Reads the CSV table at `path`.
pub(crate) fn read(path: &Path) -> Result<Table, CliError> {
    let input = InputFile::open(path)?;
    let file = open_regular(input.path()).map_err(|error| files::refuse(path, error))?;
    let len = file.metadata().map_err(|error| files::refuse(path, WireError::Io(error)))?.len();
    if len > LARGEST {
        return Err(CliError::input(format!(
            "{} has {}, at most {} is read: take fewer rows",
            input.name(),
            bytes(len),
            bytes(LARGEST)
        )));
    }
    parse(file, input.name())
}

/// Reads a table from CSV; `name` stands for the file in messages.
pub(crate) fn parse(bytes: impl Read, name: &str) -> Result<Table, CliError> {
    collect(bytes, name).map_err(|error| files::of_fault(error.fault(), error.to_string()))
}

fn collect(bytes: impl Read, name: &str) -> Result<Table, TableError> {
    let mut reader = CsvRows::new(bytes, name)?;
    let names = reader.names().to_vec();
    reader.select(&(0..names.len()).collect::<Vec<_>>())?;
    let mut rows = Vec::new();
    while reader.advance()? {
        let cells = (0..names.len()).map(|column| reader.cell(column).text().into_owned());
        rows.push(Row { line: reader.line(), cells: cells.collect() });
    }
    Ok(Table { names, rows })
}
