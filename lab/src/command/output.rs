//! Functions that print results and errors; nothing else prints.

use std::io::{self, ErrorKind, Write};

use comfy_table::{CellAlignment, Table, presets};
use lab::{LabError, Result};

/// Writes text and a line break to standard output. A reader that has gone away is no error.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match writeln!(out, "{}", text.trim_end_matches('\n')).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// Prints a value as one line of JSON.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<()> {
    print(&serde_json::to_string(value)?)
}

/// Prints a value as JSON with line breaks and indentation.
pub(crate) fn print_pretty(value: &impl serde::Serialize) -> Result<()> {
    print(&serde_json::to_string_pretty(value)?)
}

/// Writes one line of error to standard error; control characters are escaped. A failure to write it is ignored.
pub(crate) fn print_error(error: &LabError) {
    let escaped = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    let line: String = error.to_string().chars().map(escaped).collect();
    let _ = writeln!(io::stderr().lock(), "error: {line}");
}

/// Writes a line of progress to standard error; a failure to write it is ignored.
pub(crate) fn say(what: &str) {
    let _ = writeln!(io::stderr().lock(), "{what}");
}

/// A text table with this header and no rows.
pub(crate) fn empty_table<S: AsRef<str>>(headers: &[S]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_BORDERS_ONLY_CONDENSED).set_header(headers.iter().map(AsRef::as_ref));
    table
}

/// Aligns the columns `columns` of a table to the right, as numbers are.
pub(crate) fn right_align(table: &mut Table, columns: std::ops::Range<usize>) {
    for index in columns {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}
