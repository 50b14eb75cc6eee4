//! The tables as text for people: the paper's value and ours side by side.

use std::fmt::Write;

use repro::report::{Report, Row, Table, Value};

use crate::columns::{empty_table, right_align};

/// All tables.
pub(crate) fn render(report: &Report) -> String {
    let tables: Vec<String> = report.tables.iter().map(table).collect();
    format!("[{}]\n\n{}", report.paper, tables.join("\n"))
}

fn table(table: &Table) -> String {
    let mut headers = Vec::new();
    if let Some(row) = table.rows.first() {
        headers.extend(row.keys.iter().map(|(name, _)| (*name).to_owned()));
        for one in &row.quantities {
            headers.extend([format!("{}\npaper", one.name), "\nours".to_owned()]);
        }
    }
    let mut columns = empty_table(&headers);
    for row in &table.rows {
        columns.add_row(cells(row));
    }
    right_align(&mut columns, 0..headers.len());
    let equal = table.rows.iter().filter(|row| row.equal()).count();
    let mut text = format!("{}: {}\n{columns}\n", table.name, table.title);
    let _ = writeln!(text, "{equal} of {} rows equal the paper's", table.rows.len());
    for row in &table.rows {
        if let Some(reason) = &row.reason {
            let keys: Vec<String> =
                row.keys.iter().map(|(name, value)| format!("{name} = {value}")).collect();
            let _ = writeln!(text, "  {}: {reason}", keys.join(", "));
        }
    }
    text
}

fn cells(row: &Row) -> Vec<String> {
    let keys = row.keys.iter().map(|(_, value)| value.to_string());
    let show = |value: &Option<Value>| value.as_ref().map_or_else(|| "–".to_owned(), Value::to_string);
    keys.chain(row.quantities.iter().flat_map(|one| [show(&one.paper), show(&one.ours)])).collect()
}
