//! The reproduced tables as text for people: the paper's value and Sunzi's side by side.

use std::fmt::Write;
use std::path::PathBuf;

use lab::repro::report::{Quantity, Report, Row, Table, Value};

use super::super::output::{empty_table, right_align};
use super::page;

/// All reproduced tables as text, and the paths of the figures.
pub(crate) fn render(report: &Report, files: &[PathBuf]) -> String {
    let mut text = format!("[{}], {}\n", report.paper, report.machine);
    let _ = writeln!(text, "timed: {}; every result checked", report.effort);
    for one in &report.tables {
        text.push('\n');
        text.push_str(&table(one));
    }
    for (figure, file) in report.figures.iter().zip(files) {
        let _ = write!(text, "\n{}: {}\n  {}\n", figure.name, figure.title, file.display());
    }
    text
}

/// Chooses the value of a quantity that the reproduced paper prints, or Sunzi's.
type Side = fn(&Quantity) -> &Option<Value>;

/// A column of a reproduced table: its heading and the source of its values.
struct Column {
    heading: String,
    of: Side,
    index: usize,
}

fn table(table: &Table) -> String {
    let mut text = format!("{}: {}\n", table.name, table.title);
    for rows in table.grids() {
        let _ = writeln!(text, "{}", grid(rows));
    }
    let _ = writeln!(text, "{}", page::counts(&table.rows));
    for (rows, reason) in table.reasons() {
        let _ = writeln!(text, "  {rows}: {reason}");
    }
    text
}

fn grid(rows: &[Row]) -> String {
    let columns = columns(rows);
    let keys = rows.first().map_or(&[][..], |row| &row.keys);
    let mut headings: Vec<String> = keys.iter().map(|(name, _)| (*name).to_owned()).collect();
    headings.extend(columns.iter().map(|column| column.heading.clone()));
    let mut grid = empty_table(&headings);
    for row in rows {
        grid.add_row(cells(row, &columns));
    }
    right_align(&mut grid, 0..headings.len());
    grid.to_string()
}

/// The columns of rows of one shape, the paper's and Sunzi's for each quantity, without columns that hold nothing.
fn columns(rows: &[Row]) -> Vec<Column> {
    let quantities = rows.first().map_or(&[][..], |row| &row.quantities);
    let sides: [(&str, Side); 2] = [("paper", |one| &one.paper), ("ours", |one| &one.ours)];
    let mut columns = Vec::new();
    for (index, quantity) in quantities.iter().enumerate() {
        let mut name = quantity.name;
        for (side, of) in sides {
            let mut cells = rows.iter().filter_map(|row| row.quantities.get(index));
            if cells.any(|one| of(one).is_some()) {
                columns.push(Column {
                    heading: format!("{}\n{side}", name.replacen('_', "\n", 1).replace('_', " ")),
                    of,
                    index,
                });
                name = "";
            }
        }
    }
    columns
}

fn cells(row: &Row, columns: &[Column]) -> Vec<String> {
    let keys = row.keys.iter().map(|(_, value)| value.to_string());
    let values = columns.iter().map(|column| {
        row.quantities.get(column.index).map_or_else(String::new, |one| page::show((column.of)(one)))
    });
    keys.chain(values).collect()
}
