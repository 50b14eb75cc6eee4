//! Reader of CSV files: comma-separated, one header line, quotes as in RFC 4180.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, Cursor, Read};
use std::rc::Rc;

use crate::{Cell, Rows, TableError};

/// Byte order mark that some programs write before UTF-8.
const MARK: [u8; 3] = [0xEF, 0xBB, 0xBF];
/// Largest number of bytes of one row of a CSV file, which has to fit memory.
const LONGEST_ROW: usize = 1 << 26;

/// A file whose first bytes were read already: these bytes, then the rest.
type Whole<R> = io::Chain<Cursor<Vec<u8>>, R>;

/// A CSV file, read row by row. Cells are trimmed of surrounding blanks; blank lines are skipped.
pub struct CsvRows<R: Read> {
    reader: csv::Reader<Tee<Whole<R>>>,
    record: csv::StringRecord,
    lines: Lines,
    names: Vec<String>,
    file: String,
    line: u64,
    any: bool,
}

impl<R: Read> CsvRows<R> {
    /// Reads the header of a CSV file; `file` stands for it in messages.
    ///
    /// # Errors
    /// [`TableError::Form`] for no text, no header, and names that are empty or occur twice; [`TableError::Io`].
    pub fn new(mut input: R, file: &str) -> Result<Self, TableError> {
        let mut first = Vec::new();
        (&mut input)
            .take(MARK.len() as u64)
            .read_to_end(&mut first)
            .map_err(|error| TableError::io(file, &error))?;
        if first == MARK {
            first.clear();
        }
        let seen = Rc::new(RefCell::new(VecDeque::new()));
        let tee = Tee { inner: Cursor::new(first).chain(input), seen: Rc::clone(&seen) };
        let reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(tee);
        let mut rows = Self {
            reader,
            record: csv::StringRecord::new(),
            lines: Lines { seen, offset: 0, line: 1 },
            names: Vec::new(),
            file: file.to_owned(),
            line: 0,
            any: false,
        };
        if !rows.next(|record| !is_blank(record))? {
            let problem = "is empty: expected a header line with column names and at least one row";
            return Err(TableError::form(file, problem));
        }
        rows.names = rows.record.iter().map(|name| name.trim().to_owned()).collect();
        check_names(&rows.names, &rows.here())?;
        Ok(rows)
    }

    /// Line on which the current row starts, from 1.
    #[must_use]
    pub fn line(&self) -> u64 {
        self.line
    }

    fn here(&self) -> String {
        format!("{} line {}", self.file, self.line)
    }

    /// Advances to the next CSV record that `counts` accepts.
    fn next(&mut self, counts: impl Fn(&csv::StringRecord) -> bool) -> Result<bool, TableError> {
        loop {
            let more = self.reader.read_record(&mut self.record).map_err(|error| self.refuse(error))?;
            if !more {
                return Ok(false);
            }
            if counts(&self.record) {
                self.line = self.lines.of(self.record.position().map_or(0, csv::Position::byte));
                return Ok(true);
            }
        }
    }

    fn refuse(&mut self, error: csv::Error) -> TableError {
        match error.kind() {
            csv::ErrorKind::Utf8 { pos, .. } => {
                let line = self.lines.of(pos.as_ref().map_or(0, csv::Position::byte));
                TableError::form(format!("{} line {line}", self.file), "is not UTF-8 text: save it as UTF-8")
            }
            csv::ErrorKind::Io(error) if error.kind() == io::ErrorKind::InvalidData => {
                let line = self.lines.line;
                TableError::form(format!("{} line {line}", self.file), error)
            }
            csv::ErrorKind::Io(error) => TableError::io(&self.file, error),
            _ => TableError::form(&self.file, error),
        }
    }
}

/// Whether a record is a blank line.
fn is_blank(record: &csv::StringRecord) -> bool {
    record.len() <= 1 && record.iter().all(|cell| cell.trim().is_empty())
}

/// Checks that the column names of a table are not empty and differ.
pub(crate) fn check_names(names: &[String], place: &str) -> Result<(), TableError> {
    let mut seen = std::collections::HashSet::new();
    for (index, name) in names.iter().enumerate() {
        if name.is_empty() {
            let problem = format!("column {} has no name; give every column a name", index + 1);
            return Err(TableError::form(place, problem));
        }
        if !seen.insert(name) {
            return Err(TableError::form(place, format!("two columns are named {name:?}; rename one")));
        }
    }
    Ok(())
}

impl<R: Read> Rows for CsvRows<R> {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn advance(&mut self) -> Result<bool, TableError> {
        let columns = self.names.len();
        if !self.next(|record| columns == 1 && !record.is_empty() || !is_blank(record))? {
            let problem = "has a header but no rows: expected at least one";
            return if self.any { Ok(false) } else { Err(TableError::form(&self.file, problem)) };
        }
        self.any = true;
        let cells = self.record.len();
        if cells == columns {
            return Ok(true);
        }
        let problem =
            format!("has {cells} cells, the header has {columns}: give every row one cell for each column");
        Err(TableError::form(self.here(), problem))
    }

    fn cell(&self, column: usize) -> Cell<'_> {
        // The trimming of the CSV reader copies every record.
        match self.record.get(column).map(str::trim) {
            None | Some("") => Cell::Missing,
            Some(text) => Cell::Text(text),
        }
    }

    fn place(&self) -> String {
        format!("line {}", self.line)
    }
}

/// Reader that keeps the bytes read until their lines are counted.
struct Tee<R> {
    inner: R,
    seen: Rc<RefCell<VecDeque<u8>>>,
}

impl<R: Read> Read for Tee<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let mut seen = self.seen.borrow_mut();
        if seen.len() > LONGEST_ROW {
            let problem =
                "has a row of more than 64 MiB: expected text with line breaks, and quotes that end";
            return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
        }
        let read = self.inner.read(bytes)?;
        seen.extend(bytes.get(..read).unwrap_or_default());
        Ok(read)
    }
}

/// Line numbers of ascending byte offsets. The CSV reader's own count points at blank lines before a
/// record rather than at the record.
struct Lines {
    seen: Rc<RefCell<VecDeque<u8>>>,
    offset: u64,
    line: u64,
}

impl Lines {
    /// Returns the line number of the first byte at or after `offset` that is no line break.
    fn of(&mut self, offset: u64) -> u64 {
        let mut seen = self.seen.borrow_mut();
        while let Some(&byte) = seen.front() {
            if self.offset >= offset && !matches!(byte, b'\n' | b'\r') {
                break;
            }
            seen.pop_front();
            // CR LF is one break, counted at its LF.
            if byte == b'\n' || (byte == b'\r' && seen.front() != Some(&b'\n')) {
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

    /// Column names of a table, and rows with their lines.
    type Whole = (Vec<String>, Vec<(u64, Vec<String>)>);

    /// Reads CSV from as few bytes at a time as there can be.
    fn read(bytes: &[u8]) -> Result<Whole, TableError> {
        struct Bytewise<'a>(&'a [u8]);
        impl Read for Bytewise<'_> {
            fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
                let one = to.len().min(1);
                self.0.read(&mut to[..one])
            }
        }
        let mut rows = CsvRows::new(Bytewise(bytes), "t.csv")?;
        let mut all = Vec::new();
        while rows.advance()? {
            let cells = (0..rows.names().len()).map(|column| rows.cell(column).text().into_owned());
            all.push((rows.line(), cells.collect()));
        }
        Ok((rows.names, all))
    }

    #[test]
    fn a_row_without_an_end_is_refused() {
        let quote = Cursor::new(b"a,b\n1,2\n3,\"".to_vec());
        let mut rows = CsvRows::new(quote.chain(io::repeat(b'x')), "t.csv").unwrap();
        assert!(rows.advance().unwrap());
        let error = rows.advance().unwrap_err().to_string();
        assert!(error.starts_with("t.csv line 2: has a row of more than 64 MiB"), "{error}");
        let error = CsvRows::new(io::repeat(0), "zeros").err().unwrap().to_string();
        assert!(error.contains("row of more than 64 MiB"), "{error}");
    }

    fn lines(text: &str) -> Vec<u64> {
        read(text.as_bytes()).unwrap().1.iter().map(|row| row.0).collect()
    }

    fn message(bytes: &[u8]) -> String {
        read(bytes).unwrap_err().to_string()
    }

    #[test]
    fn every_dialect_gives_the_same_table() {
        let plain = read(b"a,b\n1,x\n2,y\n").unwrap();
        let dialects = [
            "\u{feff}a,b\n1,x\n2,y\n",
            "a,b\r\n1,x\r\n2,y",
            "\"a\",\"b\"\n\"1\",x\n2,\"y\"\n",
            " a , b\n 1,\tx\n2 ,y \n",
        ];
        for text in dialects {
            assert_eq!(read(text.as_bytes()).unwrap(), plain, "{text:?}");
        }
        assert_eq!(lines("\n\na,b\n\n1,x\n   \n\n2,y\n\n"), [5, 8]);
    }

    #[test]
    fn lines_are_counted_through_quotes_and_every_line_break() {
        let (_, rows) = read(b"a,b\r\n\"x\r\ny\",1\r\nz,2\r\n").unwrap();
        assert_eq!((rows[0].1[0].as_str(), rows[0].0, rows[1].0), ("x\r\ny", 2, 4));
        assert_eq!(lines("a,b\r1,2\r3,4\r"), [2, 3]);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        assert!(message(b"").contains("is empty"));
        assert!(message(b"\n \n").contains("is empty"));
        assert!(message(b"a,b\n").contains("no rows"));
        assert!(message(b"a,b\n1,2\n\n1,2,3\n").contains("line 4: has 3 cells, the header has 2"));
        assert!(message(b"a,b\n1\n").contains("line 2: has 1 cells"));
        assert!(message(b"a,a\n1,2\n").contains("two columns are named \"a\""));
        assert!(message(b"a,\n1,2\n").contains("column 2 has no name"));
        assert!(message(b"a\n1\n\xff\n").contains("line 3: is not UTF-8"));
    }

    #[test]
    fn a_single_column_keeps_its_quoted_empty_cells() {
        assert_eq!(read(b"a\n1\n\"\"\n2\n").unwrap().1.len(), 3);
    }
}
