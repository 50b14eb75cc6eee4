//! What small contents of a file say: columns, results and counts.

use std::fmt;
use std::io::BufReader;
use std::path::Path;

use serde::Serialize;
use sunzi::program::results;
use sunzi::program::{Column, Kind, Schema};
use sunzi::rlwe::LedgerFile;
use sunzi::rlwe::wire::{Accept, SecurityClaim, WireError, load, open_regular};
use sunzi::table::lookup::{By, Description};
use sunzi::table::{Decimal, Moment};

use crate::error::{listed, one_line, quoted};

/// What a sharing ledger has counted.
#[derive(Debug, Serialize)]
pub(super) struct Sharing {
    used: u64,
    queries: u64,
    statistical_bits: u32,
}

/// Formats the counts of a ledger as text: `3 of 100 results, with 40 statistical bits`.
impl fmt::Display for Sharing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { used, queries, statistical_bits } = self;
        write!(f, "{used} of {queries} results, with {statistical_bits} statistical bits")
    }
}

/// Reads the counts of a sharing ledger; none before the first shared result, which sets them.
pub(super) fn sharing(file: &Path) -> Result<Option<Sharing>, WireError> {
    let ledger = LedgerFile::peek(file)?;
    Ok(ledger.map(|ledger| Sharing {
        used: ledger.used(),
        queries: ledger.policy().queries(),
        statistical_bits: ledger.policy().statistical_bits(),
    }))
}

/// Facts in the description of a lookup database.
#[derive(Debug, Serialize)]
pub(super) struct Database {
    /// Name of the column of keywords; rows are asked by their numbers without one.
    by: Option<String>,
    rows: u64,
    columns: Vec<String>,
    /// Bytes of the longest row.
    row_bytes: usize,
}

impl Database {
    /// Names and values of the lines that people read.
    pub(super) fn lines(&self) -> Vec<(&'static str, String)> {
        let by = self.by.as_ref().map_or_else(|| "number".to_owned(), |column| one_line(&quoted(column)));
        let columns = one_line(&listed(&self.columns, 8));
        vec![
            ("rows", format!("{}, by {by}, of at most {} bytes", self.rows, self.row_bytes)),
            ("columns", columns),
        ]
    }
}

/// Reads the description of a lookup database, and the claim of its parameters.
pub(super) fn database(accept: Accept, file: &Path) -> Result<(Database, SecurityClaim), WireError> {
    let description: Description = load(&accept, file)?;
    let by = match description.by() {
        By::Keyword(column) => Some(column.clone()),
        By::Number => None,
    };
    let (rows, row_bytes) = (description.rows(), description.value_bytes());
    Ok((Database { by, rows, columns: description.columns().to_vec(), row_bytes }, description.claim()))
}

/// Reads the schema of the table that results are of, its rows in each chunk, and the names of the results.
pub(super) fn results(file: &Path) -> Result<(Schema, usize, Vec<String>), WireError> {
    let description = results::Description::peek(BufReader::new(open_regular(file)?))?;
    let names = description.program.outputs().iter().map(|output| output.name.clone()).collect();
    Ok((description.program.schema().clone(), description.layout.span, names))
}

/// Returns the text about a column of a table.
pub(super) fn described(column: &Column) -> String {
    let kind = match (&column.kind, column.unit) {
        (Kind::Decimal { low, high, .. }, Some(unit)) => {
            format!("{} to {}, {unit}", Moment::of_units(*low, unit), Moment::of_units(*high, unit))
        }
        (Kind::Decimal { decimals, low, high }, None) => {
            let unit = |v: i64| Decimal::new(v.into(), -(*decimals as i32));
            format!("{} to {}, {decimals} decimals", unit(*low), unit(*high))
        }
        (Kind::Real { low, high }, _) => format!("{low} to {high}, real"),
        (Kind::Category { labels }, _) => format!("{} labels: {}", labels.len(), listed(labels, 8)),
    };
    let secrecy = if column.encrypted { "encrypted" } else { "clear" };
    let missing = if column.missing { ", may have missing cells" } else { "" };
    one_line(&format!("{}  {secrecy}, {kind}{missing}", quoted(&column.name)))
}
