//! A CSV file as a whole, in memory.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use sunzi::table::csv::CsvRows;
use sunzi::table::{Rows as _, Source, TableError};

use super::{Row, Table};
use crate::error::CliError;

/// Bytes of the largest file that is read: the demonstration keeps its table in memory.
const LARGEST: u64 = 256 << 20;

/// Reads the CSV table at `path`.
pub(crate) fn read(path: &Path) -> Result<Table, CliError> {
    let name = path.display().to_string();
    // Errors of the path are worded by `Source::open`.
    Source::open(path).map_err(CliError::input)?;
    let file = File::open(path).map_err(CliError::input)?;
    let len = file.metadata().map_err(CliError::input)?.len();
    if len > LARGEST {
        return Err(CliError::input(format!(
            "{name} has {} MiB, at most {} are read: take fewer rows",
            len >> 20,
            LARGEST >> 20
        )));
    }
    parse(file, &name)
}

/// Reads a table from CSV; `name` stands for the file in messages.
pub(crate) fn parse(bytes: impl Read, name: &str) -> Result<Table, CliError> {
    collect(bytes, name).map_err(CliError::input)
}

fn collect(bytes: impl Read, name: &str) -> Result<Table, TableError> {
    let mut reader = CsvRows::new(bytes, name)?;
    let names = reader.names().to_vec();
    let mut rows = Vec::new();
    while reader.advance()? {
        let cells = (0..names.len()).map(|column| reader.cell(column).text().into_owned());
        rows.push(Row { line: reader.line(), cells: cells.collect() });
    }
    Ok(Table { names, rows })
}
