//! Options of commands that read tables.

use std::path::{Path, PathBuf};

use clap::Args;
use sunzi::program::schema::{MAX_ROWS, TimeUnit};
use sunzi::table::{Asked, DateFormat, Missing, MissingCells, Range, Reading, csv};

use super::passphrase::PassphraseArgs;
use super::{AcceptArgs, FILE_CODES};
use crate::files::mode::ModeArgs;
use crate::files::target::ForceArgs;

/// Names of columns in one argument.
#[derive(Clone, Debug)]
pub(crate) struct Names(Vec<String>);

/// Options of how the texts of a table are read.
#[derive(Clone, Debug, Args)]
pub(crate) struct ReadingArgs {
    /// CSV: what stands between cells, such as ';' or tab; the header line tells it unless given
    #[arg(long, value_name = "CHARACTER", value_parser = parse_delimiter)]
    pub(crate) delimiter: Option<u8>,
    /// Numbers have a decimal comma, as in 17,99
    #[arg(long)]
    decimal_comma: bool,
    /// How dates and times are written beside ISO 8601, such as %d.%m.%Y or '%m/%d/%Y %H:%M'
    #[arg(long, value_name = "PATTERN", value_parser = DateFormat::new)]
    date_format: Option<DateFormat>,
    /// Treatment of missing cells (empty, null, NaN, NA, N/A or None): refuse, skip, which leaves them out of statistics, or a value to stand in each; for
    /// one column as in age=skip,cost=0. Refused unless given or declared in a schema; may be given several times
    #[arg(long, value_name = "[COLUMN=]CHOICE,...", value_parser = parse_missing)]
    missing: Vec<MissingCells>,
}

/// Options of a table and of how it is taken.
#[derive(Debug, Args)]
pub(crate) struct TableArgs {
    /// A CSV file with a header line, or a Parquet file; - for standard input
    #[arg(value_name = "TABLE", required_unless_present = "table", conflicts_with = "table")]
    file: Option<PathBuf>,
    /// The table, in place of TABLE
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,
    /// A file with the schema as JSON, of this table or another day's: only its columns are taken, and cells outside of its ranges refused. Without one,
    /// ranges and labels are those of the table, and public
    #[arg(long, value_name = "FILE", conflicts_with_all = ["category", "range", "unit"])]
    pub(crate) schema: Option<PathBuf>,
    /// Columns to take, of the schema if there is one; all unless given. Others are not read. A name with a comma stands in quotation marks: 'age,"last, first"'
    #[arg(long, value_name = "A,B,...", value_parser = parse_names)]
    columns: Vec<Names>,
    /// A column that stays in the clear; may be given several times
    #[arg(long, value_name = "COLUMN")]
    pub(crate) clear: Vec<String>,
    /// A column of labels, also if these are numbers, dates, or true and false; may be given several times
    #[arg(long, value_name = "COLUMN")]
    pub(crate) category: Vec<String>,
    /// Declare the range of a column of numbers or dates, as in cost=0..999.99 or day=2024-01-01..2024-12-31, in place of its least and largest cell; may be given
    /// several times
    #[arg(long, value_name = "COLUMN=LOW..HIGH", value_parser = parse_range)]
    range: Vec<Range>,
    /// Unit of a column of dates or times: days, hours, minutes, seconds, milliseconds or microseconds; days for dates and seconds for times unless given. May be
    /// given several times
    #[arg(long, value_name = "COLUMN=UNIT", value_parser = parse_unit)]
    unit: Vec<(String, TimeUnit)>,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
}

impl ReadingArgs {
    /// Returns the choices of how texts are read.
    pub(crate) fn reading(&self) -> Reading {
        Reading {
            decimal_comma: self.decimal_comma,
            date_format: self.date_format.clone(),
            units: Vec::new(),
            missing: self.missing(),
        }
    }

    /// Joins the choices of several arguments about missing cells; the last one counts.
    fn missing(&self) -> MissingCells {
        let given = self.missing.iter().rev();
        let columns = given.clone().flat_map(|given| given.columns.iter().rev().cloned()).collect();
        MissingCells { all: given.filter_map(|given| given.all.clone()).next(), columns }
    }
}

impl TableArgs {
    /// Path of the table.
    pub(crate) fn path(&self) -> &Path {
        self.file.as_deref().or(self.table.as_deref()).unwrap_or(Path::new(""))
    }

    /// Returns what is asked of the table, beside what a schema declares.
    pub(crate) fn asked(&self) -> Asked {
        Asked {
            columns: flat(&self.columns),
            clear: self.clear.clone(),
            categories: self.category.clone(),
            ranges: self.range.clone(),
            reading: Reading { units: self.unit.clone(), ..self.reading.reading() },
            ..Asked::default()
        }
    }
}

/// Joins the names of several arguments.
pub(crate) fn flat(columns: &[Names]) -> Vec<String> {
    columns.iter().flat_map(|Names(names)| names.iter().cloned()).collect()
}

pub(crate) fn parse_names(list: &str) -> Result<Names, String> {
    csv::names(list).map(Names)
}

/// Parses the character between cells: any of ASCII that is no letter, digit, quotation mark or end of a line.
pub(super) fn parse_delimiter(text: &str) -> Result<u8, String> {
    match (text, text.as_bytes()) {
        ("tab" | "\\t", _) => Ok(b'\t'),
        (_, [byte]) if *byte == b'\t' || byte.is_ascii_punctuation() && *byte != b'"' || *byte == b' ' => {
            Ok(*byte)
        }
        _ => Err("expected one character such as ; or |, or tab".to_owned()),
    }
}

/// Parses the declared range of a column, whose name may have any characters.
fn parse_range(text: &str) -> Result<Range, String> {
    let range = text.rsplit_once('=').and_then(|(column, range)| {
        let (low, high) = range.split_once("..")?;
        let [column, low, high] = [column, low, high].map(|part| part.trim().to_owned());
        let whole = [&column, &low, &high].iter().all(|part| !part.is_empty());
        whole.then_some(Range { column, low, high })
    });
    range.ok_or_else(|| "expected a column and its range, as in cost=0..999.99".to_owned())
}

/// Parses choices about missing cells, for columns or for all of them.
fn parse_missing(text: &str) -> Result<MissingCells, String> {
    let wrong =
        || "expected skip, refuse or a value, or choices for columns as in age=skip,cost=0".to_owned();
    let mut cells = MissingCells::default();
    for choice in csv::names(text).map_err(|_| wrong())? {
        let (column, choice) = match choice.rsplit_once('=') {
            Some((column, choice)) => (Some(column.trim()), choice.trim()),
            None => (None, choice.trim()),
        };
        if choice.is_empty() || column.is_some_and(str::is_empty) {
            return Err(wrong());
        }
        let missing = match choice {
            "skip" => Missing::Skip,
            "refuse" => Missing::Refuse,
            value => Missing::Value(value.to_owned()),
        };
        match column {
            Some(column) => cells.columns.push((column.to_owned(), missing)),
            None if cells.all.is_some() => return Err(wrong()),
            None => cells.all = Some(missing),
        }
    }
    Ok(cells)
}

/// Parses the unit of a column.
fn parse_unit(text: &str) -> Result<(String, TimeUnit), String> {
    let unit =
        text.rsplit_once('=').and_then(|(column, unit)| Some((column.to_owned(), TimeUnit::named(unit)?)));
    unit.filter(|(column, _)| !column.is_empty()).ok_or_else(|| {
        let names = TimeUnit::ALL.map(TimeUnit::name).join(", ");
        format!("expected a column and its unit, as in day=days; the units are {names}")
    })
}

/// Options of `sunzi schema`.
#[derive(Debug, Args)]
#[command(after_help = FILE_CODES)]
pub(crate) struct SchemaArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// Declare room for so many rows, of tables of other days; those of this table unless given
    #[arg(long, value_name = "ROWS", value_parser = clap::value_parser!(u64).range(1..=MAX_ROWS))]
    pub(crate) rows: Option<u64>,
    /// Keep the schema in this file instead of printing it; - for standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) force: ForceArgs,
}

/// Options of `sunzi encrypt`.
#[derive(Debug, Args)]
#[command(after_help = FILE_CODES)]
pub(crate) struct EncryptArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// The folder with the public key, or that with the secret key: then the table takes half the bytes
    #[arg(long, value_name = "FOLDER")]
    pub(crate) keys: PathBuf,
    /// A plan as `sunzi plan --json` prints it: its schema is taken, and the table is packed for it if it says so
    #[arg(long, value_name = "FILE", conflicts_with_all = ["schema", "columns", "clear", "category", "range", "unit", "partition"])]
    pub(crate) plan: Option<PathBuf>,
    /// The file to write, Parquet if its name ends so; - for standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) force: ForceArgs,
    /// Parquet: a category that stays in the clear and cuts the table, so that rows with one label can be taken without the others
    #[arg(long, value_name = "COLUMN")]
    pub(crate) partition: Option<String>,
    /// BFV and BGV: chunks fill all slots, so that sums are in every slot, for results that `sunzi reencrypt` hands on: the new owner sees all slots. A plan with
    /// --reencryptions says so as well
    #[arg(long)]
    pub(crate) fill_slots: bool,
    /// Several parties: the table has the rows from A to B − 1, counted from 0, of those that the schema or plan says; other parties have the others, and
    /// `sunzi eval` takes the encrypted tables of all
    #[arg(long, value_name = "A..B", value_parser = parse_rows, conflicts_with = "partition")]
    pub(crate) rows: Option<RowRange>,
    #[command(flatten)]
    pub(crate) accept: AcceptArgs,
    #[command(flatten)]
    pub(crate) mode: ModeArgs,
    #[command(flatten)]
    pub(crate) passphrase: PassphraseArgs,
    /// Refuse to start if it would take more memory than this, such as 512M or 4G
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub(crate) memory: Option<u64>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Show no progress bars
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Rows from the first to the one before the second, counted from 0.
pub(crate) type RowRange = std::ops::Range<u64>;

/// Parses a range of rows.
fn parse_rows(text: &str) -> Result<RowRange, String> {
    let range = text.split_once("..").and_then(|(first, end)| Some(first.parse().ok()?..end.parse().ok()?));
    let wrong = || "expected the first row and the one behind the last, counted from 0, as in 100..250";
    range.filter(|range: &RowRange| range.start < range.end).ok_or_else(|| wrong().to_owned())
}

/// Parses a number of bytes, with K, M, G or T for powers of 1024.
pub(crate) fn parse_bytes(text: &str) -> Result<u64, String> {
    let wrong = || "expected a number of bytes, such as 512M or 4G".to_owned();
    let upper = text.to_ascii_uppercase();
    let short = upper.trim_end_matches('B').trim_end_matches('I');
    let digits = short.trim_end_matches(['K', 'M', 'G', 'T']);
    let shift = match short.strip_prefix(digits) {
        Some("") => 0,
        Some("K") => 10,
        Some("M") => 20,
        Some("G") => 30,
        Some("T") => 40,
        _ => return Err(wrong()),
    };
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    number.checked_mul(1 << shift).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters_ranges_and_units_are_read() {
        for (text, byte) in
            [(";", b';'), ("|", b'|'), ("tab", b'\t'), ("\\t", b'\t'), ("\t", b'\t'), (" ", b' ')]
        {
            assert_eq!(parse_delimiter(text), Ok(byte), "{text}");
        }
        for text in ["", ";;", "a", "1", "\"", "\n", "é"] {
            assert!(parse_delimiter(text).is_err(), "{text}");
        }
        let range = |column: &str, low: &str, high: &str| {
            let [column, low, high] = [column, low, high].map(str::to_owned);
            Ok(Range { column, low, high })
        };
        assert_eq!(parse_range("cost=0..999.99"), range("cost", "0", "999.99"));
        assert_eq!(parse_range("a = b=-1 .. .5"), range("a = b", "-1", ".5"));
        for text in ["cost", "cost=0", "=0..1", "cost=..1", "cost=0.."] {
            assert!(parse_range(text).is_err(), "{text}");
        }
        assert_eq!(parse_unit("a=b=days"), Ok(("a=b".to_owned(), TimeUnit::Days)));
        assert!(parse_unit("a=weeks").unwrap_err().contains("days, hours") && parse_unit("=days").is_err());
    }

    #[test]
    fn choices_about_missing_cells_are_for_columns_or_for_all() {
        let value = |text: &str| Missing::Value(text.to_owned());
        let cells = parse_missing("skip, cost = 0,\"last, first=none of these\"").unwrap();
        assert_eq!(cells.all, Some(Missing::Skip));
        let named = [("cost", value("0")), ("last, first", value("none of these"))];
        assert_eq!(cells.columns, named.map(|(name, missing)| (name.to_owned(), missing)));
        assert_eq!(parse_missing("-0.5").unwrap().all, Some(value("-0.5")));
        for text in ["", ",", "skip,0", "age=", "=skip", "a=skip,", "\"x"] {
            assert!(parse_missing(text).unwrap_err().contains("age=skip,cost=0"), "{text}");
        }
    }

    #[test]
    fn rows_are_a_range_that_has_some() {
        assert_eq!(parse_rows("0..1"), Ok(0..1));
        assert_eq!(parse_rows("100..250"), Ok(100..250));
        for text in ["", "5", "5..5", "6..5", "..5", "5..", "-1..5", "0..=5", "a..b"] {
            assert!(parse_rows(text).unwrap_err().contains("100..250"), "{text}");
        }
    }

    #[test]
    fn bytes_are_read_with_their_unit() {
        for (text, bytes) in
            [("0", 0), ("17", 17), ("4G", 4 << 30), ("4GiB", 4 << 30), ("512mb", 512 << 20), ("1k", 1024)]
        {
            assert_eq!(parse_bytes(text), Ok(bytes), "{text}");
        }
        for text in ["", "G", "-1", "1.5G", "4GG", "4X", "99999999999T"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
    }
}
