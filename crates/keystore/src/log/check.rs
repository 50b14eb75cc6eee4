//! A look at an audit log from its first line to its last.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;

use sunzi_rlwe::wire::{WireError, open_regular};

use super::line::LONGEST;
use super::{Event, Hasher, Line, LogError, NOTHING, sha256};
use crate::Time;

/// What a log has that was found to be whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Number of lines.
    pub lines: u64,
    /// SHA-256 of the last line, which fixes all lines; zeros for none.
    pub head: String,
    /// Numbers of lines whose event never ended: the process was stopped, or still runs.
    pub open: BTreeSet<u64>,
    /// Numbers of lines that are earlier than the line before: the clock was set back.
    pub set_back: Vec<u64>,
    /// Bytes behind the last line, which a crash left.
    pub torn: u64,
}

/// Reads a log, gives every line to `each`, and checks that none was changed, inserted or removed. With the hash of a line that was `noted`, that line has to be there.
///
/// # Errors
/// [`LogError`]: what `each` was given until then is as it was written.
pub fn check(path: &Path, noted: Option<&str>, each: impl FnMut(&Line)) -> Result<Summary, LogError> {
    let file = open_regular(path).map_err(|error| match error {
        WireError::Io(error) => LogError::Io(error),
        _ => LogError::NotLog { got: "a folder, a pipe or a device" },
    })?;
    // A process that appends is waited for.
    file.lock_shared()?;
    let mut reader = Checker::new(file);
    reader.all(noted, each)?;
    match noted {
        Some(hash) if !reader.has_noted => Err(LogError::Cut { hash: hash.to_owned() }),
        _ => Ok(reader.summary),
    }
}

/// Lines that were read so far.
struct Checker {
    file: BufReader<File>,
    /// Number of the line of the file.
    place: u64,
    last: Option<Time>,
    /// Number and hash of bytes that are no lines, behind the last one that is.
    skipped: (u64, Hasher),
    has_noted: bool,
    summary: Summary,
}

impl Checker {
    fn new(file: File) -> Self {
        let head = NOTHING.to_owned();
        let summary = Summary { lines: 0, head, open: BTreeSet::new(), set_back: Vec::new(), torn: 0 };
        let skipped = (0, Hasher::default());
        Self { file: BufReader::new(file), place: 0, last: None, skipped, has_noted: false, summary }
    }

    fn all(&mut self, noted: Option<&str>, mut each: impl FnMut(&Line)) -> Result<(), LogError> {
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            self.place += 1;
            let most = LONGEST as u64 + 1;
            if Read::by_ref(&mut self.file).take(most).read_until(b'\n', &mut bytes)? == 0 {
                break;
            }
            // The last line may lack nothing but its end.
            let own = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
            match Line::read(own) {
                Some(line) => {
                    self.take(&line)?;
                    self.summary.head = sha256(own);
                    self.has_noted |= noted == Some(&self.summary.head);
                    each(&line);
                }
                None => self.skip(&bytes)?,
            }
        }
        self.summary.torn = self.skipped.0;
        Ok(())
    }

    /// Takes bytes that are no line, as a crash may leave them.
    fn skip(&mut self, bytes: &[u8]) -> Result<(), LogError> {
        self.skipped.0 += bytes.len() as u64;
        self.skipped.1.write_all(bytes)?;
        if self.summary.lines == 0 && !bytes.starts_with(b"{") {
            return Err(LogError::NotLog { got: "a file of something else" });
        }
        if self.skipped.0 > LONGEST as u64 {
            return Err(self.changed("a line", "bytes that are none".to_owned()));
        }
        Ok(())
    }

    /// Checks the next line.
    fn take(&mut self, line: &Line) -> Result<(), LogError> {
        let (bytes, hash) = std::mem::take(&mut self.skipped);
        let is_recovery = match &line.event {
            Event::Recovered { bytes: own, sha256 } => {
                if (*own, sha256.as_str()) != (bytes, &hash.finish()) || bytes == 0 {
                    return Err(self.changed("the bytes that this line skips", "others".to_owned()));
                }
                true
            }
            _ => false,
        };
        if bytes > 0 && !is_recovery {
            return Err(self.changed("a line that skips the bytes before", "another line".to_owned()));
        }
        let number = self.summary.lines + 1;
        if line.line != number {
            return Err(self.changed(&format!("line number {number}"), line.line.to_string()));
        }
        if line.before != self.summary.head {
            let expected = format!("the hash {} of the line before", self.summary.head);
            return Err(self.changed(&expected, line.before.clone()));
        }
        if self.last.is_some_and(|last| line.time < last) {
            self.summary.set_back.push(number);
        }
        (self.last, self.summary.lines) = (Some(line.time), number);
        match &line.event {
            Event::Open(_) | Event::Enable { .. } => drop(self.summary.open.insert(number)),
            Event::End { of, .. } if !self.summary.open.remove(of) => {
                return Err(
                    self.changed("the end of what an earlier line began", format!("that of line {of}"))
                );
            }
            _ => {}
        }
        Ok(())
    }

    fn changed(&self, expected: &str, got: String) -> LogError {
        LogError::Changed { line: self.place, expected: expected.to_owned(), got }
    }
}
