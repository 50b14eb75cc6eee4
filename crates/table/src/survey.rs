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
use crate::missing::{REFUSED, UNDECLARED};
use crate::{Cell, Missing, Reading, Rows, TableError};

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
/// Missing cells are refused, skipped or filled in, as [`Reading::missing`] says. A column whose cells are skipped is one that may have missing cells: one
/// that is named there always, and others where one is found. A value that is filled in counts as a cell for ranges and labels.
///
/// # Errors
/// [`TableError::Cell`] for a cell out of the declared range or of another kind than the others of its column; [`TableError::Column`] for columns that
/// are named and missing, and for more than [`MOST_LABELS`] texts; every error of [`Rows`].
pub fn survey(rows: &mut dyn Rows, asked: &Asked) -> Result<Surveyed, TableError> {
    let mut columns = taken(rows.names(), asked)?;
    let sources: Vec<usize> = columns.iter().map(|taken| taken.source).collect();
    rows.select(&sources)?;
    let mut count = 0;
    while rows.advance()? {
        count += 1;
        for taken in &mut columns {
            taken.see(&rows.cell(taken.source), || rows.place(), &asked.reading)?;
        }
    }
    columns.iter_mut().try_for_each(|taken| taken.fill(&asked.reading))?;
    let finished = columns.into_iter().map(|taken| taken.found.finish(taken.column, &asked.reading));
    let schema = Schema::new(count, finished.collect::<Result<_, _>>()?)?;
    Ok(Surveyed { schema, sources, reading: asked.reading.clone() })
}

/// A column that is taken of a table: where it is, and what is known of it.
struct Taken {
    source: usize,
    found: Found,
    column: Column,
    /// Whether a cell was missing in whose place a value stands.
    filled: bool,
}

/// Place of the value that stands in missing cells, for messages.
const PLACE: &str = "the value for missing cells";

impl Taken {
    fn new(source: usize, found: Found, column: Column) -> Self {
        Self { source, found, column, filled: false }
    }

    /// Takes a cell into account, or refuses it; `place` names the cell in the message.
    fn see(
        &mut self,
        cell: &Cell<'_>,
        place: impl FnOnce() -> String,
        reading: &Reading,
    ) -> Result<(), TableError> {
        let choice = || reading.missing.of(&self.column.name, self.column.missing);
        let absent = cell.is_absent()
            || cell.is_missing_word() && self.found.has_missing_words(cell, *choice() != Missing::Refuse);
        if !absent {
            return self.found.see(cell, &self.column.name, place, reading);
        }
        let problem = match choice() {
            Missing::Value(_) => {
                self.filled = true;
                return Ok(());
            }
            Missing::Skip if self.column.missing => return Ok(()),
            Missing::Skip if !self.found.is_declared() => {
                self.column.missing = true;
                return Ok(());
            }
            Missing::Skip => UNDECLARED,
            Missing::Refuse => REFUSED,
        };
        Err(cell.refuse(place(), &self.column.name, problem))
    }

    /// Takes the value into account that stands in missing cells, if there were any: it is a cell like the others.
    fn fill(&mut self, reading: &Reading) -> Result<(), TableError> {
        let Missing::Value(value) = reading.missing.of(&self.column.name, false) else { return Ok(()) };
        if !self.filled {
            return Ok(());
        }
        if let Found::Declared(fit) = &self.found {
            return fit.check(&Cell::Missing, || PLACE.to_owned());
        }
        let cell = if self.found.is_of_labels() { Cell::Label(value) } else { Cell::Text(value) };
        self.found.see(&cell, &self.column.name, || PLACE.to_owned(), &reading.plain())
    }
}

/// Returns the columns that are taken of a table with these names.
fn taken(names: &[String], asked: &Asked) -> Result<Vec<Taken>, TableError> {
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
            columns.push(Taken::new(position(&column.name)?, found, column));
        }
    } else {
        let wanted = if asked.columns.is_empty() { names } else { &asked.columns };
        check_count(wanted.len())?;
        for name in wanted {
            let found = if asked.categories.contains(name) { Found::labels() } else { Found::Nothing };
            let missing = asked.reading.missing.named(name) == Some(&Missing::Skip);
            let encrypted = !asked.clear.contains(name);
            let column = Column { encrypted, missing, ..Column::category(name, &[]) };
            columns.push(Taken::new(position(name)?, found, column));
        }
    }
    for (name, _) in &asked.reading.units {
        of_name(&mut columns, name)?;
    }
    for (name, _) in &asked.reading.missing.columns {
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

fn of_name<'a>(columns: &'a mut [Taken], name: &str) -> Result<&'a mut Found, TableError> {
    let names: Vec<String> = columns.iter().map(|taken| taken.column.name.clone()).collect();
    let found = columns.iter_mut().find(|taken| taken.column.name == name).map(|taken| &mut taken.found);
    found.ok_or_else(|| {
        TableError::column(name, format!("is not taken of the table; taken are {}", listed(&names)))
    })
}

/// Declares the range of a column: its ends are seen as cells before the table's own, and none may lie beyond.
fn declare(found: &mut Found, range: &Range, reading: &Reading) -> Result<(), TableError> {
    let Range { column, low, high } = range;
    let plain = reading.plain();
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
