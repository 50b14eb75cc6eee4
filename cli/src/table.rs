//! A table of text, its columns as exact integers, its rows in groups.

pub(crate) mod csv;
pub(crate) mod embedded;
pub(crate) mod fixed_point;
pub(crate) mod groups;
pub(crate) mod select;

/// A table as it was read: cells are text, trimmed of surrounding blanks.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Table {
    /// Column names.
    pub(crate) names: Vec<String>,
    /// Rows, each with as many cells as there are columns.
    pub(crate) rows: Vec<Row>,
}

/// One row of a table.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// The line that the row starts on, from 1.
    pub(crate) line: u64,
    /// The cells of the row.
    pub(crate) cells: Vec<String>,
}

impl Table {
    /// The cells of a column with their lines.
    pub(crate) fn column(&self, index: usize) -> impl Iterator<Item = (u64, &str)> {
        self.rows.iter().map(move |row| (row.line, row.cells.get(index).map_or("", String::as_str)))
    }
}
