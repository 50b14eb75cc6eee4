//! Where a command writes its result: a file, which is not replaced unless that is asked for, or `-` for standard output.
//!
//! All `-o` of the command line follow this rule.

use std::fs::{self, File};
use std::io::{self, ErrorKind, IsTerminal, Seek, Write};
use std::path::Path;

use clap::Args;
use serde::Serialize;
use sunzi::rlwe::wire::{WireError, create, replace};
use sunzi::rlwe::words::reason;

use super::check_parent;
use super::refuse::{STANDARD, named, refuse};
use crate::error::CliError;
use crate::output;

/// Option to replace a file.
#[derive(Debug, Args)]
pub(crate) struct ForceArgs {
    /// Replace the file of --output if it is there already, once the new one is whole
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
}

/// Form of what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// Text, which a terminal can show.
    Text,
    /// Bytes, which would garble a terminal.
    Binary,
}

/// A place for the result of a command, which was checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target<'a> {
    path: &'a Path,
    option: &'static str,
    force: bool,
}

impl<'a> Target<'a> {
    /// Checks that the result of --output can be written to this path, before any work is done for it; `json` says whether the report goes to
    /// standard output.
    pub(crate) fn new(
        path: &'a Path,
        args: &ForceArgs,
        content: Content,
        json: bool,
    ) -> Result<Self, CliError> {
        Self::of_option("--output", path, args.force, content, json)
    }

    /// Checks as [`new`](Self::new) does for the result of another option, whose file `force` allows to replace.
    pub(crate) fn of_option(
        option: &'static str,
        path: &'a Path,
        force: bool,
        content: Content,
        json: bool,
    ) -> Result<Self, CliError> {
        let target = Self { path, option, force };
        if target.is_standard() {
            check_standard(option, content, json, io::stdout().is_terminal())?;
            return Ok(target);
        }
        match fs::symlink_metadata(path) {
            // A link may lead to a folder, and a file that is replaced takes the place of the link.
            Ok(_) if path.is_dir() => {
                Err(CliError::input(format!("{} is a folder: give the name of a file", named(path))))
            }
            Ok(link) if !link.is_file() && !link.is_symlink() => Err(CliError::input(format!(
                "{} is a pipe or device: give the name of a file, or - for standard output",
                named(path)
            ))),
            Ok(_) if !target.force => Err(target.is_there()),
            _ => check_parent(path).map(|()| target),
        }
    }

    /// Whether the result goes to standard output.
    pub(crate) fn is_standard(&self) -> bool {
        self.path.as_os_str() == STANDARD
    }

    /// Checks that this result and another one, if there is one, go to different places.
    pub(crate) fn check_beside(&self, other: Option<&Self>) -> Result<(), CliError> {
        match other {
            Some(other) if self.path != other.path => Ok(()),
            None => Ok(()),
            Some(other) if self.is_standard() => {
                Err(both(&format!("{} -", self.option), &format!("{} -", other.option)))
            }
            Some(other) => Err(CliError::input(format!(
                "{} and {} both write to {}: give each a file of its own",
                self.option,
                other.option,
                named(self.path)
            ))),
        }
    }

    /// Name of the result in reports.
    pub(crate) fn name(&self) -> String {
        if self.is_standard() { "standard output".to_owned() } else { self.path.display().to_string() }
    }

    fn is_there(&self) -> CliError {
        let name = named(self.path);
        CliError::input(format!(
            "{name} is there already: choose another name, or give --force to replace it"
        ))
    }

    /// Writes a result, all of it or nothing, and returns the number of its bytes.
    pub(crate) fn write<E: From<WireError>>(
        &self,
        contents: impl FnOnce(&mut File) -> Result<(), E>,
    ) -> Result<u64, E> {
        self.write_as(false, contents)
    }

    /// Writes a result that its owner alone can read, all of it or nothing, and returns the number of its bytes.
    pub(crate) fn write_secret<E: From<WireError>>(
        &self,
        contents: impl FnOnce(&mut File) -> Result<(), E>,
    ) -> Result<u64, E> {
        self.write_as(true, contents)
    }

    fn write_as<E: From<WireError>>(
        &self,
        secret: bool,
        contents: impl FnOnce(&mut File) -> Result<(), E>,
    ) -> Result<u64, E> {
        let mut len = 0;
        let counted = |file: &mut File| -> Result<(), E> {
            contents(file)?;
            len = file.metadata().map_err(WireError::Io)?.len();
            Ok(())
        };
        if self.is_standard() {
            to_standard(counted)?;
        } else if self.force {
            replace(self.path, secret, counted)?;
        } else {
            create(self.path, secret, counted)?;
        }
        Ok(len)
    }

    /// Writes a text as the result, all of it or nothing.
    pub(crate) fn write_text(&self, text: &str) -> Result<(), CliError> {
        let write = |file: &mut File| file.write_all(text.as_bytes()).map_err(WireError::Io);
        self.write(write).map(|_| ()).map_err(|error| self.refuse(error))
    }

    /// Returns the command-line error for a file that was not written.
    pub(crate) fn stopped(&self, stopped: Stopped) -> CliError {
        match stopped {
            Stopped::Wire(error) => self.refuse(error),
            Stopped::Said(error) => error,
        }
    }

    /// Returns the command-line error for an error of writing the result.
    pub(crate) fn refuse(&self, error: WireError) -> CliError {
        match error {
            WireError::Io(error) if self.is_standard() => {
                CliError::io(format!("cannot write to standard output: {}", reason(&error)))
            }
            // Somebody else made the file in the meantime.
            WireError::Io(error) if error.kind() == ErrorKind::AlreadyExists => self.is_there(),
            other => refuse(self.path, other),
        }
    }

    /// Prints the report of what was written: to standard output, or beside the result where that is there.
    pub(crate) fn report<T: Serialize>(
        &self,
        json: bool,
        report: &T,
        text: impl FnOnce(&T) -> String,
    ) -> Result<(), CliError> {
        if self.is_standard() {
            output::print_beside(&text(report));
            return Ok(());
        }
        output::report(json, report, text)
    }
}

/// Checks that standard output can take a result.
fn check_standard(option: &str, content: Content, json: bool, terminal: bool) -> Result<(), CliError> {
    if json {
        return Err(both(&format!("{option} -"), "--json"));
    }
    if terminal && content == Content::Binary {
        return Err(CliError::input(format!(
            "the result is binary, and standard output is a terminal: send it to a file or another program, or give {option} FILE"
        )));
    }
    Ok(())
}

fn both(one: &str, other: &str) -> CliError {
    CliError::input(format!("{one} and {other} both write to standard output: give one of them"))
}

/// Writes a result to standard output once all of it is there.
fn to_standard<E: From<WireError>>(contents: impl FnOnce(&mut File) -> Result<(), E>) -> Result<(), E> {
    let mut whole = tempfile::tempfile().map_err(WireError::Io)?;
    contents(&mut whole)?;
    let mut out = io::stdout().lock();
    let copied = whole.rewind().and_then(|()| io::copy(&mut whole, &mut out)).and_then(|_| out.flush());
    Ok(copied.map_err(WireError::Io)?)
}

/// Reason why a file was not written: an error of writing it, or of what was to be written.
pub(crate) enum Stopped {
    Wire(WireError),
    Said(CliError),
}

impl From<WireError> for Stopped {
    fn from(error: WireError) -> Self {
        Self::Wire(error)
    }
}

impl From<CliError> for Stopped {
    fn from(error: CliError) -> Self {
        Self::Said(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_shown_texts_alone() {
        assert!(check_standard("--output", Content::Text, false, true).is_ok());
        assert!(check_standard("--output", Content::Binary, false, false).is_ok());
        for (content, json, terminal) in
            [(Content::Binary, false, true), (Content::Text, true, false), (Content::Binary, true, true)]
        {
            assert_eq!(check_standard("--output", content, json, terminal).unwrap_err().exit_code(), 2);
        }
    }
}
