//! A table of text, its columns as exact integers, its rows in groups.

pub(crate) mod csv;
pub(crate) mod embedded;
pub(crate) mod fixed_point;
pub(crate) mod groups;
pub(crate) mod select;

/// A table as it was read: cells are text, trimmed of surrounding blanks.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Table {
    /// Names of the table's columns.
    pub(crate) names: Vec<String>,
    /// Rows of the table, each with as many cells as there are columns.
    pub(crate) rows: Vec<Row>,
}

/// One row of a table of text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// Line of the file that the row starts on, from 1.
    pub(crate) line: u64,
    /// Texts of the cells of the row.
    pub(crate) cells: Vec<String>,
}

impl Table {
    /// Yields the cells of a column with their lines.
    pub(crate) fn column(&self, index: usize) -> impl Iterator<Item = (u64, &str)> {
        self.rows.iter().map(move |row| (row.line, row.cells.get(index).map_or("", String::as_str)))
    }
}
