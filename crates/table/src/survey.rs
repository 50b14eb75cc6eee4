//! Survey of a table: its schema, found by reading all of it once, or declared and then checked.

use std::collections::{BTreeSet, HashMap};

use serde::Deserialize;
use sunzi_program::schema::{Kind, LARGEST_CELL, MAX_COLUMNS};
use sunzi_program::{Column, ProgramError, Schema};

use crate::fit::Fit;
use crate::{Cell, Decimal, Rows, TableError};

/// Largest number of bytes of a label that a survey finds.
const LONGEST_LABEL: usize = 256;
/// Largest number of labels of a category that a survey finds.
pub const MOST_LABELS: usize = 256;
/// Largest number of decimals of an exact column.
const MOST_DECIMALS: u32 = 15;
/// Largest absolute value of a number in a table.
const LARGEST: f64 = 1e15;

/// Options of a survey of a table.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// Declared columns of the table, by name; all others are left out. `None` to find the columns.
    pub declared: Option<Vec<Column>>,
    /// Declared number of rows of the table.
    pub rows: Option<u64>,
    /// Names of the columns to use where none are declared; all if the list is empty.
    pub columns: Vec<String>,
    /// Names of columns that stay in the clear.
    pub clear: Vec<String>,
    /// Names of columns of labels, also where these are numbers.
    pub categories: Vec<String>,
}

/// A surveyed table: its schema, and where its columns are.
#[derive(Clone, Debug, PartialEq)]
pub struct Surveyed {
    /// Schema of the surveyed table.
    pub schema: Schema,
    /// Index of the table's column for each column of the schema.
    pub sources: Vec<usize>,
}

/// A declared schema, whose number of rows may be missing.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Declared {
    rows: Option<u64>,
    columns: Vec<Column>,
}

/// Reads a schema from JSON; rows may be left out, since a table is counted.
///
/// ```
/// let asked = sunzi_table::read_schema(
///     r#"{"columns": [{"name": "age", "kind": {"decimal": {"decimals": 0, "low": 0, "high": 120}}, "encrypted": true}]}"#,
/// )?;
/// assert_eq!(asked.declared.map(|columns| columns.len()), Some(1));
/// # Ok::<(), sunzi_table::TableError>(())
/// ```
///
/// # Errors
/// [`TableError::Schema`] for other JSON; [`TableError::Program`] for invalid columns.
pub fn read_schema(json: &str) -> Result<Asked, TableError> {
    let Declared { rows, columns } = serde_json::from_str(json)?;
    Schema::new(rows.unwrap_or(1), columns.clone())?;
    Ok(Asked { declared: Some(columns), rows, ..Asked::default() })
}

/// Reads all of a table: declared columns are checked cell by cell, other columns are found.
///
/// A column of numbers becomes exact with as many decimals as its cells have, if 15 decimals and ±2^53 units hold them, and real otherwise; a column
/// of texts becomes a category. Ranges and labels are then those of the table, and a schema is public: **declare them where the least, the
/// largest or a rare label would tell too much**.
///
/// # Errors
/// [`TableError::Cell`] for a cell out of the declared range or of another kind than the others of its column; [`TableError::Column`] for columns that
/// are named and missing, and for more than [`MOST_LABELS`] texts; [`TableError::Changed`] for other rows than declared; every error of [`Rows`].
pub fn survey(rows: &mut dyn Rows, asked: &Asked) -> Result<Surveyed, TableError> {
    let names = rows.names().to_vec();
    // Headers may be long: each name is looked up at once, and too many are refused before any row is read.
    let places: HashMap<&str, usize> = names.iter().map(String::as_str).zip(0..).collect();
    let position = |name: &str| places.get(name).copied().ok_or_else(|| missing(&names, name));
    let mut columns = Vec::new();
    for name in asked.clear.iter().chain(&asked.categories) {
        position(name)?;
    }
    match &asked.declared {
        Some(declared) => {
            for column in declared {
                let encrypted = column.encrypted && !asked.clear.contains(&column.name);
                let column = Column { encrypted, ..column.clone() };
                columns.push((position(&column.name)?, Found::Declared(Fit::new(&column)), column));
            }
        }
        None => {
            if let [only] = names.as_slice()
                && let Some(c) = only.chars().find(|c| [';', '\t', '|'].contains(c))
            {
                let problem =
                    format!("is the only column, and has {c:?} in its name: separate cells by commas");
                return Err(TableError::column(only, problem));
            }
            let wanted = if asked.columns.is_empty() { &names } else { &asked.columns };
            check_count(wanted.len())?;
            for name in wanted {
                let found = if asked.categories.contains(name) { Found::labels() } else { Found::default() };
                let kind = Kind::Category { labels: Vec::new() };
                let column = Column { name: name.clone(), kind, encrypted: !asked.clear.contains(name) };
                columns.push((position(name)?, found, column));
            }
        }
    }
    let mut count = 0;
    while rows.advance()? {
        count += 1;
        for (source, found, column) in &mut columns {
            let cell = rows.cell(*source);
            found.see(&cell, &column.name, || rows.place())?;
        }
    }
    if let Some(expected) = asked.rows.filter(|&rows| rows != count) {
        return Err(TableError::Changed { expected, got: count });
    }
    let sources = columns.iter().map(|(source, ..)| *source).collect();
    let finished = columns.into_iter().map(|(_, found, column)| found.finish(column));
    let schema = Schema::new(count, finished.collect::<Result<_, _>>()?)?;
    Ok(Surveyed { schema, sources })
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

fn missing(names: &[String], name: &str) -> TableError {
    let (shown, more) = (names.iter().take(8).cloned().collect::<Vec<_>>().join(", "), names.len() > 8);
    let more = if more { ", …" } else { "" };
    TableError::column(name, format!("is not in the table; its columns are {shown}{more}"))
}

/// Findings of a survey about a column so far.
enum Found {
    /// A declared column, with the check of its cells.
    Declared(Fit),
    /// A category, with its labels, whatever they look like.
    Labels(BTreeSet<String>),
    /// A column of numbers only, if there were any cells.
    Numbers(Numbers),
    /// A column of texts, which is a category.
    Texts(BTreeSet<String>),
}

impl Default for Found {
    fn default() -> Self {
        Self::Numbers(Numbers::default())
    }
}

/// Summary of the numbers of a column seen so far.
#[derive(Default)]
struct Numbers {
    any: bool,
    /// Largest number of decimals of a cell seen so far.
    decimals: u32,
    /// Least and largest number of the column in units of 10^-decimals; `None` if they do not fit.
    units: Option<(i128, i128)>,
    reals: (f64, f64),
}

impl Found {
    fn labels() -> Self {
        Self::Labels(BTreeSet::new())
    }

    fn see(
        &mut self,
        cell: &Cell<'_>,
        column: &str,
        place: impl FnOnce() -> String,
    ) -> Result<(), TableError> {
        if let Self::Declared(fit) = self {
            return fit.check(cell, place);
        }
        if matches!(cell, Cell::Missing) {
            let problem = "is empty: fill it in, or leave the column out";
            return Err(cell.refuse(place(), column, problem));
        }
        let is_new = matches!(self, Self::Numbers(numbers) if !numbers.any);
        match (&mut *self, cell.number()) {
            (Self::Numbers(numbers), Ok(number)) => {
                let value = if let Cell::Real(value) = cell { *value } else { number.to_f64() };
                if value.abs() > LARGEST {
                    return Err(cell.refuse(place(), column, "is beyond ±1e15: use a larger unit"));
                }
                numbers.see(number, value);
                Ok(())
            }
            (Self::Numbers(_), Err(_)) if is_new && matches!(cell, Cell::Text(_) | Cell::Label(_)) => {
                *self = Self::Texts([cell.text().into_owned()].into());
                Ok(())
            }
            (Self::Numbers(_), Err(problem)) => {
                let problem = format!(
                    "{problem}, as others of the column are; correct it, or make the column a category"
                );
                Err(cell.refuse(place(), column, problem))
            }
            (Self::Texts(_), Ok(_)) => {
                let problem =
                    "is a number, others of the column are not; correct them, or make the column a category";
                Err(cell.refuse(place(), column, problem))
            }
            (Self::Texts(labels) | Self::Labels(labels), _) => add(labels, cell, column),
            (Self::Declared(_), _) => Ok(()),
        }
    }

    fn finish(self, column: Column) -> Result<Column, TableError> {
        let kind = match self {
            Self::Declared(_) => return Ok(column),
            Self::Texts(labels) if labels.iter().all(|label| has_decimal_comma(label)) => {
                let problem = "has numbers with a comma: write them with a point, as 1.5, or make the column a category";
                return Err(TableError::column(&column.name, problem));
            }
            Self::Labels(labels) | Self::Texts(labels) => {
                Kind::Category { labels: labels.into_iter().collect() }
            }
            Self::Numbers(numbers) => numbers.kind(),
        };
        Ok(Column { kind, ..column })
    }
}

/// Whether a text is a number with a decimal comma, as some countries write it.
fn has_decimal_comma(text: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    text.trim_start_matches('-')
        .split_once(',')
        .is_some_and(|(whole, fraction)| digits(whole) && digits(fraction))
}

fn add(labels: &mut BTreeSet<String>, cell: &Cell<'_>, column: &str) -> Result<(), TableError> {
    let text = cell.text();
    if text.len() > LONGEST_LABEL {
        let problem =
            format!("has a text of {} bytes, labels have at most {LONGEST_LABEL}: leave it out", text.len());
        return Err(TableError::column(column, problem));
    }
    if !labels.contains(text.as_ref()) {
        labels.insert(text.into_owned());
    }
    if labels.len() <= MOST_LABELS {
        return Ok(());
    }
    let problem = format!(
        "has more than {MOST_LABELS} different texts: leave it out, or declare it as a category with all its labels"
    );
    Err(TableError::column(column, problem))
}

impl Numbers {
    fn see(&mut self, number: Decimal, value: f64) {
        let decimals = self.decimals.max(number.decimals());
        let unit = number.scaled(decimals);
        if !self.any {
            (self.units, self.reals) = (unit.map(|v| (v, v)), (value, value));
        }
        // An exact range that was lost stays lost.
        let shift = 10_i128.checked_pow(decimals - self.decimals);
        let wider = |v: i128| v.checked_mul(shift?);
        self.units = self.units.and_then(|(low, high)| {
            if !self.any {
                return Some((low, high));
            }
            let unit = unit?;
            Some((wider(low)?.min(unit), wider(high)?.max(unit)))
        });
        self.reals = (self.reals.0.min(value), self.reals.1.max(value));
        (self.any, self.decimals) = (true, decimals);
    }

    fn kind(self) -> Kind {
        let fits =
            |v: i128| i64::try_from(v).ok().filter(|v| v.unsigned_abs() <= LARGEST_CELL.unsigned_abs());
        let exact = self.units.and_then(|(low, high)| Some((fits(low)?, fits(high)?)));
        match exact {
            Some((low, high)) if self.decimals <= MOST_DECIMALS => {
                Kind::Decimal { decimals: self.decimals, low, high }
            }
            _ => Kind::Real { low: self.reals.0, high: self.reals.1 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Chunks;
    use crate::csv::CsvRows;
    use sunzi_program::run::Cells;

    fn of(text: &str, asked: &Asked) -> Result<Surveyed, TableError> {
        survey(&mut CsvRows::new(text.as_bytes(), "t.csv")?, asked)
    }

    fn kinds(text: &str) -> Vec<Kind> {
        let found = of(text, &Asked::default()).unwrap();
        found.schema.columns.into_iter().map(|column| column.kind).collect()
    }

    fn message(text: &str, asked: &Asked) -> String {
        of(text, asked).unwrap_err().to_string()
    }

    #[test]
    fn kinds_and_ranges_are_found() {
        let decimal = |decimals, low, high| Kind::Decimal { decimals, low, high };
        let category =
            |labels: &[&str]| Kind::Category { labels: labels.iter().map(|&l| l.to_owned()).collect() };
        let text = "a,b,c,d,e\n1,1.5,x,0.038075906433423026,0\n-3,20,y,-1e-3,0\n1e2,0.25,x,0.5,0\n";
        let found = kinds(text);
        assert_eq!(found[0], decimal(0, -3, 100));
        assert_eq!(found[1], decimal(2, 25, 2000));
        assert_eq!(found[2], category(&["x", "y"]));
        assert_eq!(found[3], Kind::Real { low: -0.001, high: 0.5 });
        assert_eq!(found[4], decimal(0, 0, 0));
        // Largest exact cells.
        let last = LARGEST_CELL;
        assert_eq!(kinds(&format!("a\n0.1\n{}.2\n", last / 10)), [decimal(1, 1, last)]);
        assert_eq!(
            kinds(&format!("a\n0\n{}.3\n", last / 10)),
            [Kind::Real { low: 0.0, high: 900_719_925_474_099.3 }]
        );
        assert_eq!(kinds("a\n0.000000000000001\n0\n"), [decimal(15, 0, 1)]);
        assert_eq!(kinds("a\n0.0000000000000001\n0\n"), [Kind::Real { low: 0.0, high: 1e-16 }]);
        assert_eq!(kinds("a\n1e15\n1.5\n"), [Kind::Real { low: 1.5, high: 1e15 }]);
        assert_eq!(kinds("a\n1e-400\n1e14\n"), [Kind::Real { low: 0.0, high: 1e14 }]);
    }

    #[test]
    fn what_does_not_fit_is_named_with_line_and_column() {
        let none = Asked::default();
        for (text, words) in [
            ("a,b\n1,2\n3,x\n", ["line 3", "\"b\"", "\"x\"", "not a number"]),
            ("a,b\n1,x\n3,2\n", ["line 3", "\"b\"", "\"2\"", "is a number"]),
            ("a,b\n1,2\n3,\n", ["line 3", "\"b\"", "\"\"", "empty"]),
            ("a,b\n1,2\n3,NaN\n", ["line 3", "\"b\"", "\"NaN\"", "finite"]),
            ("a,b\n1,2\n3,2e15\n", ["line 3", "\"b\"", "\"2e15\"", "1e15"]),
        ] {
            let error = message(text, &none);
            assert!(words.iter().all(|word| error.contains(word)), "{error}");
        }
        let many: String = (0..=MOST_LABELS).map(|i| format!("n{i}\n")).collect();
        assert!(message(&format!("name\n{many}"), &none).contains("more than 256"));
        let missing = Asked { clear: vec!["z".to_owned()], ..Asked::default() };
        assert!(message("a,b\n1,2\n", &missing).contains("its columns are a, b"));
    }

    #[test]
    fn what_is_declared_is_checked() {
        let json = r#"{"columns": [
            {"name": "b", "kind": {"decimal": {"decimals": 1, "low": 0, "high": 100}}, "encrypted": true},
            {"name": "c", "kind": {"category": {"labels": ["1", "2", "3"]}}, "encrypted": true},
            {"name": "r", "kind": {"real": {"low": -1.0, "high": 1.0}}, "encrypted": true}]}"#;
        let asked = Asked { clear: vec!["c".to_owned()], ..read_schema(json).unwrap() };
        let good = of("c,a,b,r\n1,x,0.5,0.25\n2,y,10,-1\n", &asked).unwrap();
        assert_eq!((good.sources.as_slice(), good.schema.rows), (&[2, 0, 3][..], 2));
        assert_eq!(good.schema.columns.iter().map(|c| c.encrypted).collect::<Vec<_>>(), [true, false, true]);
        for (row, words) in [
            ("1,x,10.1,0", ["line 2", "\"b\"", "from 0 to 10"]),
            ("1,x,0.55,0", ["line 2", "\"b\"", "2 decimals"]),
            ("1,x,-0.1,0", ["line 2", "\"b\"", "outside"]),
            ("4,x,0,0", ["line 2", "\"c\"", "none of the 3 labels"]),
            ("1,x,0,1.0001", ["line 2", "\"r\"", "from -1 to 1"]),
            ("1,x,,0", ["line 2", "\"b\"", "empty"]),
        ] {
            let error = message(&format!("c,a,b,r\n{row}\n"), &asked);
            assert!(words.iter().all(|word| error.contains(word)), "{error}");
        }
        assert!(matches!(read_schema("{}"), Err(TableError::Schema(_))));
        let fewer = Asked { rows: Some(3), ..asked };
        assert!(matches!(of("c,a,b,r\n1,x,0,0\n", &fewer), Err(TableError::Changed { expected: 3, got: 1 })));
    }

    #[test]
    fn chunks_have_the_cells_of_the_schema() {
        let text = "a,b,g\n1,1.5,x\n2,2.25,y\n3,0,x\n";
        let surveyed = of(text, &Asked { categories: vec!["a".to_owned()], ..Asked::default() }).unwrap();
        let rows = |text: String| Box::new(CsvRows::new(std::io::Cursor::new(text), "t.csv").unwrap());
        let mut chunks = Chunks::new(rows(text.to_owned()), &surveyed, 2);
        let first = chunks.next_chunk().unwrap().unwrap();
        assert_eq!(first.cells(0), Some(&Cells::Labels(vec![0, 1])));
        assert_eq!(first.cells(1), Some(&Cells::Units(vec![150, 225])));
        let last = chunks.next_chunk().unwrap().unwrap();
        assert_eq!((last.row_count(), last.cells(2)), (1, Some(&Cells::Labels(vec![0]))));
        assert!(chunks.next_chunk().unwrap().is_none());
        let changed = |text: &str| {
            let mut chunks = Chunks::new(rows(text.to_owned()), &surveyed, 2);
            while chunks.next_chunk()?.is_some() {}
            Ok::<_, TableError>(())
        };
        assert!(matches!(
            changed(&format!("{text}1,0,x\n")),
            Err(TableError::Changed { expected: 3, got: 4 })
        ));
        assert!(matches!(changed("a,b,g\n1,1.5,x\n"), Err(TableError::Changed { expected: 3, got: 1 })));
        assert!(matches!(changed("a,b,g\n1,3,x\n2,2,y\n3,0,x\n"), Err(TableError::Cell { .. })));
    }

    #[test]
    fn chunks_of_a_partition_have_one_label_each() {
        let text: String = (0..20)
            .map(|i| format!("{i},{}\n", ["x", "y", "z"][if i % 5 == 0 { 2 } else { i % 2 }]))
            .collect();
        let text = format!("a,g\n{text}");
        let asked = Asked { clear: vec!["g".to_owned()], ..Asked::default() };
        let surveyed = of(&text, &asked).unwrap();
        let chunks = || {
            Chunks::new(
                Box::new(CsvRows::new(std::io::Cursor::new(text.clone()), "t.csv").unwrap()),
                &surveyed,
                4,
            )
        };
        assert!(chunks().partitioned("a").is_err() && chunks().partitioned("b").is_err());
        let mut chunks = chunks().partitioned("g").unwrap();
        let (mut sizes, mut all) = (vec![], vec![]);
        while let Some(chunk) = chunks.next_chunk().unwrap() {
            let Some(Cells::Labels(labels)) = chunk.cells(1) else { panic!() };
            assert!(labels.iter().all(|label| label == &labels[0]));
            sizes.push((labels[0], labels.len()));
            let Some(Cells::Units(units)) = chunk.cells(0) else { panic!() };
            all.extend(units.clone());
        }
        sizes.sort_unstable();
        assert_eq!(sizes, [(0, 4), (0, 4), (1, 4), (1, 4), (2, 4)]);
        all.sort_unstable();
        assert_eq!(all, (0..20).collect::<Vec<_>>());
    }
}
