//! Tables of aligned columns.

use comfy_table::{CellAlignment, Table, presets};

/// Returns a table with the given header and no rows.
pub(crate) fn empty_table<S: AsRef<str>>(headers: &[S]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_BORDERS_ONLY_CONDENSED).set_header(headers.iter().map(AsRef::as_ref));
    table
}

/// Aligns columns of a table to the right, as numbers are.
pub(crate) fn right_align(table: &mut Table, columns: std::ops::Range<usize>) {
    for index in columns {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}
