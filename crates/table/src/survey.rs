//! Survey of a table: its schema, found by reading all of it once, or declared and then checked.

mod found;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use sunzi_program::schema::MAX_COLUMNS;
use sunzi_program::{Column, ProgramError, Schema};

use self::found::Found;
pub use self::found::MOST_LABELS;
use crate::fit::Fit;
use crate::{Cell, Reading, Rows, TableError};

/// Options of a survey of a table.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// Declared columns of the table, by name; all others are left out. `None` to find the columns.
    pub declared: Option<Vec<Column>>,
    /// Number of rows that the declared columns are for, such as those of the table that a plan was made for. The surveyed table may have others.
    pub rows: Option<u64>,
    /// Names of the columns to use, among the declared ones if there are any; all if the list is empty.
    pub columns: Vec<String>,
    /// Names of columns that stay in the clear.
    pub clear: Vec<String>,
    /// Names of columns of labels, also where these are numbers.
    pub categories: Vec<String>,
    /// Declared ranges of columns that are not declared otherwise.
    pub ranges: Vec<Range>,
    /// Choices of how the texts of the table are read.
    pub reading: Reading,
}

/// A declared range of a column of numbers, dates or times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    /// Name of the column.
    pub column: String,
    /// Least number of the column, with a decimal point, or least date or time.
    pub low: String,
    /// Largest number of the column, with a decimal point, or largest date or time.
    pub high: String,
}

/// A surveyed table: its schema, and where its columns are.
#[derive(Clone, Debug, PartialEq)]
pub struct Surveyed {
    /// Schema of the surveyed table.
    pub schema: Schema,
    /// Index of the table's column for each column of the schema.
    pub sources: Vec<usize>,
    /// Choices of how the texts of the table are read.
    pub reading: Reading,
}

/// Reads all of a table: declared columns are checked cell by cell, other columns are found. Columns that are not taken are not read.
///
/// A column of numbers becomes exact with as many decimals as its cells have, if 15 decimals and ±2^53 units hold them, and real otherwise. A column of
/// `true` and `false` has the numbers 1 and 0. A column of dates counts days since 1970-01-01, one of times seconds, or another unit that is asked for. A
/// column of other texts becomes a category. Ranges and labels are then those of the table, and a schema is public: **declare them where the least,
/// the largest or a rare label would tell too much**.
///
/// # Errors
/// [`TableError::Cell`] for a cell out of the declared range or of another kind than the others of its column; [`TableError::Column`] for columns that
/// are named and missing, and for more than [`MOST_LABELS`] texts; every error of [`Rows`].
pub fn survey(rows: &mut dyn Rows, asked: &Asked) -> Result<Surveyed, TableError> {
    let mut columns = taken(rows.names(), asked)?;
    let sources: Vec<usize> = columns.iter().map(|(source, ..)| *source).collect();
    rows.select(&sources)?;
    let mut count = 0;
    while rows.advance()? {
        count += 1;
        for (source, found, column) in &mut columns {
            let cell = rows.cell(*source);
            found.see(&cell, &column.name, || rows.place(), &asked.reading)?;
        }
    }
    let finished = columns.into_iter().map(|(_, found, column)| found.finish(column, &asked.reading));
    let schema = Schema::new(count, finished.collect::<Result<_, _>>()?)?;
    Ok(Surveyed { schema, sources, reading: asked.reading.clone() })
}

/// Returns the columns that are taken of a table with these names: where each is in the table, and what is known of it.
fn taken(names: &[String], asked: &Asked) -> Result<Vec<(usize, Found, Column)>, TableError> {
    // Headers may be long: each name is looked up at once, and too many are refused before any row is read.
    let places: HashMap<&str, usize> = names.iter().map(String::as_str).zip(0..).collect();
    let position = |name: &str| places.get(name).copied().ok_or_else(|| missing(names, name, "table"));
    for name in asked.clear.iter().chain(&asked.categories) {
        position(name)?;
    }
    let mut columns = Vec::new();
    if let Some(declared) = &asked.declared {
        for column in chosen(declared, &asked.columns)? {
            let encrypted = column.encrypted && !asked.clear.contains(&column.name);
            let column = Column { encrypted, ..column.clone() };
            let found = Found::Declared(Box::new(Fit::new(&column, &asked.reading)));
            columns.push((position(&column.name)?, found, column));
        }
    } else {
        let wanted = if asked.columns.is_empty() { names } else { &asked.columns };
        check_count(wanted.len())?;
        for name in wanted {
            let found = if asked.categories.contains(name) { Found::labels() } else { Found::Nothing };
            let column = Column { encrypted: !asked.clear.contains(name), ..Column::category(name, &[]) };
            columns.push((position(name)?, found, column));
        }
    }
    for (name, _) in &asked.reading.units {
        of_name(&mut columns, name)?;
    }
    for range in &asked.ranges {
        declare(of_name(&mut columns, &range.column)?, range, &asked.reading)?;
    }
    Ok(columns)
}

/// Returns the declared columns that are chosen by name, in the order of the names; all if there are none.
fn chosen<'a>(declared: &'a [Column], names: &[String]) -> Result<Vec<&'a Column>, TableError> {
    if names.is_empty() {
        return Ok(declared.iter().collect());
    }
    let all: Vec<String> = declared.iter().map(|column| column.name.clone()).collect();
    let of = |name: &String| declared.iter().find(|column| column.name == *name);
    names.iter().map(|name| of(name).ok_or_else(|| missing(&all, name, "schema"))).collect()
}

fn of_name<'a>(columns: &'a mut [(usize, Found, Column)], name: &str) -> Result<&'a mut Found, TableError> {
    let names: Vec<String> = columns.iter().map(|(_, _, column)| column.name.clone()).collect();
    let found = columns.iter_mut().find(|(_, _, column)| column.name == name).map(|(_, found, _)| found);
    found.ok_or_else(|| {
        TableError::column(name, format!("is not taken of the table; taken are {}", listed(&names)))
    })
}

/// Declares the range of a column: its ends are seen as cells before the table's own, and none may lie beyond.
fn declare(found: &mut Found, range: &Range, reading: &Reading) -> Result<(), TableError> {
    let Range { column, low, high } = range;
    let plain = Reading { decimal_comma: false, ..reading.clone() };
    if !matches!(found, Found::Nothing) {
        let problem = "has a range that is declared already, or none since it is a category";
        return Err(TableError::column(column, problem));
    }
    for end in [low, high] {
        found.see(&Cell::Text(end), column, || "the declared range".to_owned(), &plain)?;
    }
    let problem =
        format!("cannot have the range from {low} to {high}: give numbers or dates, the lower end first");
    if found.fix(low, &plain) { Ok(()) } else { Err(TableError::column(column, problem)) }
}

fn check_count(columns: usize) -> Result<(), TableError> {
    if columns <= MAX_COLUMNS {
        return Ok(());
    }
    let problem = format!(
        "{columns} columns, at most {MAX_COLUMNS} are possible: take a table of fewer, or choose some"
    );
    Err(ProgramError::Schema(problem).into())
}

fn missing(names: &[String], name: &str, place: &str) -> TableError {
    TableError::column(name, format!("is not in the {place}; its columns are {}", listed(names)))
}

/// Lists the first of some names.
fn listed(names: &[String]) -> String {
    const MOST: usize = 8;
    let shown = names.iter().take(MOST).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > MOST { shown + ", …" } else { shown }
}
