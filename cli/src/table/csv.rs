//! Reads a CSV file: comma-separated, one header line, quotes as in RFC 4180.

use std::path::Path;

use super::{Row, Table};
use crate::error::{CliError, quoted};

/// Files above this are refused: the demonstration keeps its table in memory.
const LARGEST: u64 = 256 << 20;

/// Reads the table at `path`.
pub(crate) fn read(path: &Path) -> Result<Table, CliError> {
    let name = path.display().to_string();
    let cannot = |error: std::io::Error| {
        CliError::input(format!("cannot read {name}: {}; give the path of a CSV file", reason(&error)))
    };
    let metadata = std::fs::metadata(path).map_err(cannot)?;
    if metadata.is_dir() {
        return Err(CliError::input(format!("{name} is a folder: give the path of a CSV file")));
    }
    if metadata.len() > LARGEST {
        return Err(CliError::input(format!(
            "{name} has {} MiB, at most {} are read: take fewer rows",
            metadata.len() >> 20,
            LARGEST >> 20
        )));
    }
    parse(&std::fs::read(path).map_err(cannot)?, &name)
}

/// The system's words without its number.
fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        std::io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    }
}

/// Parses the bytes of a file; `name` stands for it in messages.
pub(crate) fn parse(bytes: &[u8], name: &str) -> Result<Table, CliError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
        let line = 1 + before.iter().filter(|b| **b == b'\n').count();
        CliError::input(format!("{name} line {line} is not UTF-8 text: save it as UTF-8"))
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let mut lines = Lines::new(text);
    let mut names: Option<Vec<String>> = None;
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| CliError::input(format!("{name}: {error}")))?;
        let line = lines.of(record.position().map_or(0, csv::Position::byte));
        if is_blank(&record) && names.as_ref().is_none_or(|names| names.len() > 1) {
            continue;
        }
        let cells: Vec<String> = record.iter().map(str::to_owned).collect();
        match &names {
            None => names = Some(check_names(cells, name, line)?),
            Some(names) if names.len() != cells.len() => {
                return Err(CliError::input(format!(
                    "{name} line {line} has {} cells, the header has {}: give every row one cell for each column",
                    cells.len(),
                    names.len()
                )));
            }
            Some(_) => rows.push(Row { line, cells }),
        }
    }
    let Some(names) = names else {
        return Err(CliError::input(format!(
            "{name} is empty: expected a header line with column names and at least one row"
        )));
    };
    if rows.is_empty() {
        return Err(CliError::input(format!(
            "{name} has a header but no rows: expected at least one row of numbers"
        )));
    }
    Ok(Table { names, rows })
}

/// A line of nothing but blanks.
fn is_blank(record: &csv::StringRecord) -> bool {
    record.len() <= 1 && record.iter().all(str::is_empty)
}

/// Column names must tell columns apart.
fn check_names(names: Vec<String>, file: &str, line: u64) -> Result<Vec<String>, CliError> {
    for (index, name) in names.iter().enumerate() {
        if name.is_empty() {
            return Err(CliError::input(format!(
                "{file} line {line}: column {} has no name; give every column a name",
                index + 1
            )));
        }
        if names.iter().take(index).any(|other| other == name) {
            return Err(CliError::input(format!(
                "{file} line {line}: two columns are named {}; rename one",
                quoted(name)
            )));
        }
    }
    Ok(names)
}

/// Line numbers of ascending byte offsets. The reader's own count points at blank lines before a
/// record rather than at the record.
struct Lines<'a> {
    bytes: &'a [u8],
    offset: usize,
    line: u64,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Self {
        Self { bytes: text.as_bytes(), offset: 0, line: 1 }
    }

    /// The line of the first byte at or after `offset` that is no line break.
    fn of(&mut self, offset: u64) -> u64 {
        let target = usize::try_from(offset).unwrap_or(usize::MAX);
        while let Some(byte) = self.bytes.get(self.offset) {
            let breaks = matches!(byte, b'\n' | b'\r');
            if self.offset >= target && !breaks {
                break;
            }
            // CR LF is one break, counted at its LF.
            let next = self.bytes.get(self.offset + 1);
            if *byte == b'\n' || (*byte == b'\r' && next != Some(&b'\n')) {
                self.line += 1;
            }
            self.offset += 1;
        }
        self.line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        parse(text.as_bytes(), "t.csv").unwrap_err().to_string()
    }

    #[test]
    fn every_dialect_gives_the_same_table() {
        let plain = parse(b"a,b\n1,x\n2,y\n", "t.csv").unwrap();
        let dialects = [
            "\u{feff}a,b\n1,x\n2,y\n",
            "a,b\r\n1,x\r\n2,y",
            "\"a\",\"b\"\n\"1\",x\n2,\"y\"\n",
            " a , b\n 1,\tx\n2 ,y \n",
        ];
        for text in dialects {
            assert_eq!(parse(text.as_bytes(), "t.csv").unwrap(), plain, "{text:?}");
        }
        let spaced = parse(b"\n\na,b\n\n1,x\n   \n\n2,y\n\n", "t.csv").unwrap();
        assert_eq!(spaced.names, plain.names);
        assert_eq!(spaced.rows.iter().map(|row| row.line).collect::<Vec<_>>(), [5, 8]);
    }

    #[test]
    fn lines_are_counted_through_quotes_and_every_line_break() {
        let table = parse(b"a,b\r\n\"x\r\ny\",1\r\nz,2\r\n", "t.csv").unwrap();
        assert_eq!(table.rows[0].cells[0], "x\r\ny");
        assert_eq!(table.rows.iter().map(|row| row.line).collect::<Vec<_>>(), [2, 4]);
        let table = parse(b"a,b\r1,2\r3,4\r", "t.csv").unwrap();
        assert_eq!(table.rows.iter().map(|row| row.line).collect::<Vec<_>>(), [2, 3]);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        assert!(message("").contains("is empty"));
        assert!(message("\n \n").contains("is empty"));
        assert!(message("a,b\n").contains("no rows"));
        assert!(message("a,b\n1,2\n\n1,2,3\n").contains("line 4 has 3 cells, the header has 2"));
        assert!(message("a,b\n1\n").contains("line 2 has 1 cells"));
        assert!(message("a,a\n1,2\n").contains("two columns are named \"a\""));
        assert!(message("a,\n1,2\n").contains("column 2 has no name"));
        let error = parse(b"a\n1\n\xff\n", "t.csv").unwrap_err().to_string();
        assert!(error.contains("line 3 is not UTF-8"), "{error}");
    }

    #[test]
    fn a_single_column_keeps_its_quoted_empty_cells() {
        let table = parse(b"a\n1\n\"\"\n2\n", "t.csv").unwrap();
        assert_eq!(table.rows.len(), 3);
    }
}
