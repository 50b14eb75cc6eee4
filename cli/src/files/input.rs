//! Files that a command reads: regular ones, or `-` for standard input.

use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use sunzi::rlwe::wire::{Unfinished, WireError, open_regular};
use sunzi::rlwe::words::{bytes, reason};
use tempfile::NamedTempFile;

use super::refuse::{STANDARD, named, refuse, shown};
use crate::error::CliError;
use crate::output;

/// A file that can be read several times: a regular one, or a copy of standard input that is removed when it is dropped.
pub(crate) struct InputFile {
    path: PathBuf,
    name: String,
    /// The copy, which an interrupted process removes too.
    _copy: Option<(Unfinished, NamedTempFile)>,
}

impl InputFile {
    /// Opens a file, or copies all of standard input to a file that its owner alone can read.
    pub(crate) fn open(path: &Path) -> Result<Self, CliError> {
        if path.as_os_str() != STANDARD {
            open_regular(path).map_err(|error| refused(path, error))?;
            return Ok(Self { path: path.to_owned(), name: shown(path), _copy: None });
        }
        let copy = copied(standard_input()?).map_err(|error| {
            CliError::io(format!("cannot copy standard input to a temporary file: {}", reason(&error)))
        })?;
        Ok(Self { path: copy.1.path().to_owned(), name: shown(path), _copy: Some(copy) })
    }

    /// Path at which the file is read.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Name of the file in messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

/// Copies all bytes to a temporary file.
fn copied(mut from: impl Read) -> io::Result<(Unfinished, NamedTempFile)> {
    let create = || tempfile::Builder::new().prefix(".sunzi-").tempfile();
    let (unfinished, mut copy) = Unfinished::create(create, |file| file.path())?;
    io::copy(&mut from, &mut copy)?;
    Ok((unfinished, copy))
}

/// Returns standard input, which can be read once.
fn standard_input() -> Result<io::StdinLock<'static>, CliError> {
    static TAKEN: AtomicBool = AtomicBool::new(false);
    if TAKEN.swap(true, Ordering::Relaxed) {
        return Err(CliError::input(
            "standard input is asked for twice: give - once, and the name of a file elsewhere",
        ));
    }
    let input = io::stdin().lock();
    if input.is_terminal() {
        output::remark("reading standard input from this terminal: end it with Ctrl-D");
    }
    Ok(input)
}

/// Returns the command-line error for a file that cannot be opened.
fn refused(path: &Path, error: WireError) -> CliError {
    match error {
        WireError::NotRegular { got } if got != "a folder" => {
            let name = named(path);
            CliError::input(format!(
                "{name} is {got}: give the name of a regular file, or - and the data on standard input"
            ))
        }
        other => refuse(path, other),
    }
}

/// Reads the text of a regular file or of standard input, of at most `most` bytes, of which no more is read; `expected` names what it holds.
pub(crate) fn read_text(path: &Path, expected: &str, most: u64) -> Result<String, CliError> {
    let place = named(path);
    let wrong = |got: &str| {
        let most = bytes(most);
        CliError::input(format!(
            "{place}: expected {expected} of at most {most}, got {got}: give the name of such a file"
        ))
    };
    let cannot = |error: io::Error| CliError::io(format!("{place}: {}", reason(&error)));
    let text = if path.as_os_str() == STANDARD {
        read_all(standard_input()?, most).map_err(cannot)?
    } else {
        let file = open_regular(path).map_err(|error| match error {
            WireError::NotRegular { got } => wrong(got),
            other => refuse(path, other),
        })?;
        let len = file.metadata().map_err(cannot)?.len();
        if len > most {
            return Err(wrong(&bytes(len)));
        }
        read_all(file, most).map_err(cannot)?
    };
    // A file may grow while it is read, and files of the system do not say how long they are.
    if text.len() as u64 > most {
        return Err(wrong("more"));
    }
    String::from_utf8(text).map_err(|_| wrong("bytes that are not UTF-8"))
}

/// Reads at most one byte more than `most`.
fn read_all(from: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    from.take(most.saturating_add(1)).read_to_end(&mut text)?;
    Ok(text)
}
