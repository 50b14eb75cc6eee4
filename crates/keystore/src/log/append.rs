//! Lines at the end of an audit log, by one process at a time.

use std::fs::{File, OpenOptions, symlink_metadata};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use sunzi_rlwe::KeyId;
use sunzi_rlwe::wire::sync_folder;

use super::line::LONGEST;
use super::{Event, Line, LogError, NOTHING, sha256};
use crate::Time;

/// Bytes at the end of a log in which the last whole line is looked for.
const TAIL: u64 = 3 * LONGEST as u64;
/// Start of the first line of every log.
const START: &[u8] = b"{\"line\":1,";

/// An audit log of a secret key, to which lines are appended.
///
/// ```
/// use sunzi_keystore::log::{AuditLog, Event, Outcome, check};
/// use sunzi_rlwe::KeyId;
///
/// let folder = tempfile::tempdir()?;
/// let log = AuditLog::new(folder.path().join("audit.jsonl"), KeyId::from_bytes([7; 16]));
/// // The log begins by itself, with a line of its own.
/// let line = log.append(Event::Enable { by: "a re-encryption key".to_owned(), to: "somebody".to_owned() })?;
/// assert_eq!(line, 2);
/// log.append(Event::End { of: line, outcome: Outcome::Done })?;
/// assert_eq!(check(log.path(), None, |_| ())?.lines, 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct AuditLog {
    path: PathBuf,
    key: KeyId,
}

impl AuditLog {
    /// Returns the log of a key in a file, which is made with the first line.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>, key: KeyId) -> Self {
        Self { path: path.into(), key }
    }

    /// File of the log.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends an event, and returns the number of its line once that is on the disk. Where there is no log yet, it begins. Another process that appends is waited for.
    ///
    /// # Errors
    /// [`LogError::Io`]; [`LogError::NotLog`] for a file of something else; [`LogError::NoEnd`] where the line to go on from is not found.
    pub fn append(&self, event: Event) -> Result<u64, LogError> {
        let is_regular = |metadata: std::fs::Metadata| metadata.is_file() || metadata.is_symlink();
        if symlink_metadata(&self.path).is_ok_and(|metadata| !is_regular(metadata)) {
            return Err(LogError::NotLog { got: "a folder, a pipe or a device" });
        }
        let mut file = open(&self.path)?;
        file.lock()?;
        let end = End::of(&mut file)?;
        if let Event::End { of, .. } = event
            && of > end.number
        {
            // Somebody moved the log away meanwhile.
            return Err(LogError::NoEnd);
        }
        let (text, line) = self.text(&end, event)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        if end.is_new {
            let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
            sync_folder(folder.unwrap_or(Path::new(".")))?;
        }
        Ok(line)
    }

    /// Returns the text to append for an event, and the number of its line.
    fn text(&self, end: &End, event: Event) -> Result<(String, u64), LogError> {
        let mut events = Vec::new();
        let mut text = if end.is_closed { String::new() } else { "\n".to_owned() };
        if let Some(torn) = &end.torn {
            let skipped = [torn, text.as_bytes()].concat();
            events.push(Event::Recovered { bytes: skipped.len() as u64, sha256: sha256(&skipped) });
        }
        if end.number == 0 && !matches!(event, Event::Begun { .. }) {
            events.push(Event::Begun { with_key: false });
        }
        events.push(match event {
            Event::Open(opening) => Event::Open(opening.short()),
            other => other,
        });
        let (mut number, mut before, time) = (end.number, end.hash.clone(), Time::now());
        for event in events {
            number += 1;
            let line = Line { line: number, time, key: self.key.to_string(), before, event };
            let own = serde_json::to_string(&line).map_err(std::io::Error::from)?;
            before = sha256(own.as_bytes());
            text.push_str(&own);
            text.push('\n');
        }
        Ok((text, number))
    }
}

/// Opens a log for its owner alone, to read it and to append to it.
fn open(path: &Path) -> Result<File, LogError> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(LogError::NotLog { got: "a pipe or a device" }) }
}

/// The end of a log: its last whole line, and what is behind it.
struct End {
    is_new: bool,
    /// Number of the last whole line, 0 where there is none, and its hash.
    number: u64,
    hash: String,
    /// Bytes behind that line, which a crash left.
    torn: Option<Vec<u8>>,
    /// Whether the file ends with the end of a line, or is empty.
    is_closed: bool,
}

impl End {
    fn of(file: &mut File) -> Result<Self, LogError> {
        let len = file.seek(SeekFrom::End(0))?;
        let first = len.saturating_sub(TAIL);
        file.seek(SeekFrom::Start(first))?;
        let mut tail = Vec::new();
        Read::by_ref(file).take(TAIL).read_to_end(&mut tail)?;
        if tail.len() as u64 != len - first {
            return Err(std::io::Error::from(ErrorKind::UnexpectedEof).into());
        }
        let mut place = tail.len();
        let (is_new, is_closed) = (len == 0, tail.last().is_none_or(|last| *last == b'\n'));
        for bytes in tail.split_inclusive(|byte| *byte == b'\n').rev() {
            // A line may lack nothing but its end.
            let own = bytes.strip_suffix(b"\n").unwrap_or(bytes);
            if let Some(line) = Line::read(own) {
                let torn = tail.get(place..).filter(|torn| !torn.is_empty()).map(<[u8]>::to_vec);
                let end = Self { is_new, number: line.line, hash: sha256(own), torn, is_closed };
                return if tail.len() - place < LONGEST { Ok(end) } else { Err(LogError::NoEnd) };
            }
            place -= bytes.len();
        }
        if len >= LONGEST as u64 {
            return Err(LogError::NoEnd);
        }
        // A crash may leave any part of the first line, and nothing else.
        let same = tail.iter().zip(START).all(|(got, expected)| got == expected);
        if !same {
            return Err(LogError::NotLog { got: "a file of something else" });
        }
        let torn = (!is_new).then_some(tail);
        Ok(Self { is_new, number: 0, hash: NOTHING.to_owned(), torn, is_closed })
    }
}
