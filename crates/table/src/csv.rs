//! Reader of CSV files: one header line, which tells the delimiter unless it is given, and quotes as in RFC 4180.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::io::{self, Cursor, Read};
use std::rc::Rc;

use crate::{Cell, Rows, TableError};

/// Byte order mark that some programs write before UTF-8.
const MARK: [u8; 3] = [0xEF, 0xBB, 0xBF];
/// Largest number of bytes of one row of a CSV file, which has to fit memory.
const LONGEST_ROW: usize = 1 << 26;

/// A file whose first bytes were read already: these bytes, then the rest.
type Whole<R> = io::Chain<Cursor<Vec<u8>>, R>;

/// Delimiters that a header line may tell, the likeliest first.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];
/// Largest number of bytes of a header line that is searched for a delimiter.
const LONGEST_HEADER: usize = 1 << 20;

/// A CSV file, read row by row. Cells are trimmed of surrounding blanks; blank lines are skipped.
pub struct CsvRows<R: Read> {
    reader: csv::Reader<Tee<Whole<R>>>,
    record: csv::ByteRecord,
    lines: Lines,
    names: Vec<String>,
    /// Whether the cells of each column are read.
    selected: Vec<bool>,
    file: String,
    line: u64,
    any: bool,
}

impl<R: Read> CsvRows<R> {
    /// Reads the header of a CSV file, which tells the delimiter: a comma, a semicolon, a tabulator or a bar. `file` stands for it in messages.
    ///
    /// # Errors
    /// [`TableError::Form`] for no text and no header; [`TableError::Io`].
    pub fn new(input: R, file: &str) -> Result<Self, TableError> {
        Self::delimited(input, file, None)
    }

    /// Reads the header of a CSV file whose cells are separated by `delimiter`, if one is given.
    ///
    /// # Errors
    /// Every error of [`new`](Self::new).
    pub fn delimited(mut input: R, file: &str, delimiter: Option<u8>) -> Result<Self, TableError> {
        let mut first = first_line(&mut input).map_err(|error| TableError::io(file, &error))?;
        if first.starts_with(&MARK) {
            first.drain(..MARK.len());
        }
        let delimiter = delimiter.unwrap_or_else(|| most_frequent(&first));
        let seen = Rc::new(RefCell::new(VecDeque::new()));
        let tee = Tee { inner: Cursor::new(first).chain(input), seen: Rc::clone(&seen) };
        let mut builder = csv::ReaderBuilder::new();
        let reader = builder.has_headers(false).flexible(true).delimiter(delimiter).from_reader(tee);
        let mut rows = Self {
            reader,
            record: csv::ByteRecord::new(),
            lines: Lines { seen, offset: 0, line: 1 },
            names: Vec::new(),
            selected: Vec::new(),
            file: file.to_owned(),
            line: 0,
            any: false,
        };
        if !rows.next(|record| !is_blank(record))? {
            let problem = "is empty: expected a header line with column names and at least one row";
            return Err(TableError::form(file, problem));
        }
        let text = |name| std::str::from_utf8(name).map(|name| name.trim().to_owned());
        let names: Result<Vec<String>, _> = rows.record.iter().map(text).collect();
        rows.names = names.map_err(|_| rows.not_utf8())?;
        rows.selected = vec![true; rows.names.len()];
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

    fn not_utf8(&self) -> TableError {
        TableError::form(self.here(), "is not UTF-8 text: save it as UTF-8")
    }

    /// Advances to the next CSV record that `counts` accepts.
    fn next(&mut self, counts: impl Fn(&csv::ByteRecord) -> bool) -> Result<bool, TableError> {
        loop {
            let more = self.reader.read_byte_record(&mut self.record).map_err(|error| self.refuse(error))?;
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
            csv::ErrorKind::Io(error) if error.kind() == io::ErrorKind::InvalidData => {
                let line = self.lines.line;
                TableError::form(format!("{} line {line}", self.file), error)
            }
            csv::ErrorKind::Io(error) => TableError::io(&self.file, error),
            _ => TableError::form(&self.file, error),
        }
    }
}

/// Reads the bytes of a file up to the end of the first line that is not blank, and those before it.
fn first_line(input: &mut impl Read) -> io::Result<Vec<u8>> {
    const STEP: u64 = 1 << 12;
    let mut first = Vec::new();
    while first.len() < LONGEST_HEADER && !header(&first).1 {
        if input.by_ref().take(STEP).read_to_end(&mut first)? == 0 {
            break;
        }
    }
    Ok(first)
}

/// Returns the first line that is not blank, as far as there is any, and whether it ends. Line breaks between quotes do not end it.
fn header(bytes: &[u8]) -> (&[u8], bool) {
    let (mut start, mut quoted) = (0, false);
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            b'\n' | b'\r' if !quoted => {
                let line = bytes.get(start..at).unwrap_or_default();
                if !line.trim_ascii().is_empty() {
                    return (line, true);
                }
                start = at + 1;
            }
            _ => {}
        }
    }
    (bytes.get(start..).unwrap_or_default(), false)
}

/// Returns the delimiter that occurs most often in the header line outside of quotes.
fn most_frequent(first: &[u8]) -> u8 {
    let mut counts = DELIMITERS.map(|_| 0_usize);
    let mut quoted = false;
    for byte in header(first).0 {
        quoted ^= *byte == b'"';
        if let Some(at) = DELIMITERS.iter().position(|delimiter| delimiter == byte).filter(|_| !quoted)
            && let Some(count) = counts.get_mut(at)
        {
            *count += 1;
        }
    }
    let most = counts.iter().copied().max().unwrap_or(0);
    DELIMITERS
        .into_iter()
        .zip(counts)
        .find(|(_, count)| *count == most)
        .map_or(b',', |(delimiter, _)| delimiter)
}

/// Writes a line of CSV: cells with commas, quotation marks or ends of lines stand in quotation marks.
///
/// ```
/// assert_eq!(sunzi_table::csv::line(["a", "b,c", ""]), "a,\"b,c\",\n");
/// ```
pub fn line<S: AsRef<[u8]>>(cells: impl IntoIterator<Item = S>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Nothing can fail in memory.
    drop(writer.write_record(cells));
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

/// Parses a list of column names as a line of CSV: a name with a comma or a quotation mark stands between quotation marks.
///
/// ```
/// assert_eq!(sunzi_table::csv::names(r#"age,"last, first""#)?, ["age", "last, first"]);
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
/// A text in words for quotation marks that do not end, for several lines, and for an empty name.
pub fn names(list: &str) -> Result<Vec<String>, String> {
    let wrong = |why: &str| Err(format!("{why}: write names as in age,\"last, first\""));
    if list.bytes().filter(|byte| *byte == b'"').count() % 2 == 1 {
        return wrong("a quotation mark is not closed");
    }
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(list.as_bytes());
    let records: Result<Vec<csv::StringRecord>, _> = reader.records().collect();
    match records.as_deref() {
        Ok([record]) => {
            let names: Vec<String> = record.iter().map(|name| name.trim().to_owned()).collect();
            if names.iter().any(String::is_empty) { wrong("a name is empty") } else { Ok(names) }
        }
        Ok([]) => wrong("there is no name"),
        _ => wrong("there are several lines"),
    }
}

/// Whether a record is a blank line.
fn is_blank(record: &csv::ByteRecord) -> bool {
    record.len() <= 1 && record.iter().all(|cell| cell.trim_ascii().is_empty())
}

/// Checks that the selected columns of a table have names, which no other column has.
pub(crate) fn check_names(names: &[String], selected: &[bool], place: &str) -> Result<(), TableError> {
    let mut counts = HashMap::new();
    names.iter().for_each(|name| *counts.entry(name).or_insert(0_usize) += 1);
    for (index, (name, _)) in names.iter().zip(selected).enumerate().filter(|(_, (_, selected))| **selected) {
        if name.is_empty() {
            let problem =
                format!("column {} has no name; give it one, or choose columns without it", index + 1);
            return Err(TableError::form(place, problem));
        }
        if counts.get(name).is_some_and(|count| *count > 1) {
            return Err(TableError::form(place, format!("two columns are named {name:?}; rename one")));
        }
    }
    Ok(())
}

/// Returns which of a table's `count` columns are among these.
pub(crate) fn flags(columns: &[usize], count: usize) -> Vec<bool> {
    let mut flags = vec![false; count];
    for &column in columns {
        if let Some(flag) = flags.get_mut(column) {
            *flag = true;
        }
    }
    flags
}

impl<R: Read> Rows for CsvRows<R> {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn select(&mut self, columns: &[usize]) -> Result<(), TableError> {
        self.selected = flags(columns, self.names.len());
        check_names(&self.names, &self.selected, &self.here())
    }

    fn advance(&mut self) -> Result<bool, TableError> {
        let columns = self.names.len();
        if !self.next(|record| columns == 1 && !record.is_empty() || !is_blank(record))? {
            let problem = "has a header but no rows: expected at least one";
            return if self.any { Ok(false) } else { Err(TableError::form(&self.file, problem)) };
        }
        self.any = true;
        let cells = self.record.len();
        if cells != columns {
            let problem = format!(
                "has {cells} cells, the header has {columns}: give every row one cell for each column"
            );
            return Err(TableError::form(self.here(), problem));
        }
        let mut selected = self.record.iter().zip(&self.selected).filter(|(_, selected)| **selected);
        if selected.any(|(cell, _)| std::str::from_utf8(cell).is_err()) {
            return Err(self.not_utf8());
        }
        Ok(true)
    }

    fn cell(&self, column: usize) -> Cell<'_> {
        if !self.selected.get(column).copied().unwrap_or(false) {
            return Cell::Missing;
        }
        // The trimming of the CSV reader copies every record.
        match self.record.get(column).and_then(|cell| std::str::from_utf8(cell).ok()).map(str::trim) {
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
        assert!(message(b"a\n1\n\xff\n").contains("line 3: is not UTF-8"));
        assert!(message(b"a\xff\n1\n").contains("line 1: is not UTF-8"));
    }

    #[test]
    fn the_header_tells_the_delimiter() {
        let plain = read(b"a,b\n1,x\n2,y\n").unwrap();
        for text in
            ["a;b\n1;x\n2;y\n", "a\tb\r\n1\tx\r\n2\ty", "\n\na|b\n1|x\n2|y\n", "\"a\";b\n1;\"x\"\n2;y\n"]
        {
            let (names, rows) = read(text.as_bytes()).unwrap();
            assert_eq!(names, plain.0, "{text:?}");
            assert!(rows.iter().zip(&plain.1).all(|(own, other)| own.1 == other.1), "{text:?}");
        }
        // Between quotes, and in cells, other delimiters are text.
        assert_eq!(read(b"\"a,b,c\";d\n1,5;2\n").unwrap().0, ["a,b,c", "d"]);
        assert_eq!(read(b"a,\"b\nc;;;\"\n1,2;2\n").unwrap().1[0].1, ["1", "2;2"]);
        let mut given = CsvRows::delimited(&b"a,b;c\n1,2;3\n"[..], "t.csv", Some(b';')).unwrap();
        assert!(given.advance().unwrap());
        assert_eq!(
            (given.names(), given.cell(0).text().as_ref()),
            (&["a,b".to_owned(), "c".to_owned()][..], "1,2")
        );
    }

    #[test]
    fn unselected_columns_may_hold_anything() {
        let mut rows = CsvRows::new(&b",a,x,x\n0,1,\xff,\xfe\n"[..], "t.csv").unwrap();
        let message =
            |rows: &mut CsvRows<_>, columns: &[usize]| rows.select(columns).unwrap_err().to_string();
        assert!(message(&mut rows, &[0, 1]).contains("column 1 has no name"));
        assert!(message(&mut rows, &[1, 3]).contains("two columns are named \"x\""));
        rows.select(&[1]).unwrap();
        assert!(rows.advance().unwrap());
        assert_eq!(
            (rows.cell(1), rows.cell(0), rows.cell(2)),
            (Cell::Text("1"), Cell::Missing, Cell::Missing)
        );
        let mut all = CsvRows::new(&b"a,b\n1,\xff\n"[..], "t.csv").unwrap();
        assert!(all.advance().unwrap_err().to_string().contains("line 2: is not UTF-8"));
    }

    #[test]
    fn lists_of_names_are_lines_of_csv() {
        assert_eq!(names("a, b ,c").unwrap(), ["a", "b", "c"]);
        assert_eq!(names("\"last, first\",\"say \"\"x\"\"\"").unwrap(), ["last, first", "say \"x\""]);
        for (list, words) in
            [("a,\"b", "not closed"), ("", "no name"), ("a,,b", "a name is empty"), ("a\nb", "several lines")]
        {
            assert!(names(list).unwrap_err().contains(words), "{list}");
        }
    }

    #[test]
    fn a_single_column_keeps_its_quoted_empty_cells() {
        assert_eq!(read(b"a\n1\n\"\"\n2\n").unwrap().1.len(), 3);
    }
}
