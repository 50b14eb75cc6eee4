//! Output of the command line: nothing else prints.
//!
//! With `--json` standard output has one JSON value, whatever happens: the report of the command, or an object with `error` and `code`. People
//! are told on standard error, in both cases.

use std::io::{ErrorKind, Write};

use anstream::ColorChoice;
use anstyle::{AnsiColor, Style};
use serde::Serialize;
use sunzi::rlwe::words::reason;

use crate::error::CliError;

/// An error as JSON.
#[derive(Serialize)]
struct Told<'a> {
    error: &'a str,
    code: u8,
}

/// A report of a command that failed after all.
#[derive(Serialize)]
struct Failed<'a, T> {
    #[serde(flatten)]
    report: &'a T,
    #[serde(flatten)]
    told: Told<'a>,
}

/// Sets whether texts have colours; without a choice they have where a terminal shows them, and `NO_COLOR`, `CLICOLOR`,
/// `CLICOLOR_FORCE` and `TERM` do not say otherwise.
pub(crate) fn set_color(choice: ColorChoice) {
    choice.write_global();
}

/// Writes a text and a line break to standard output.
pub(crate) fn print(text: &str) -> Result<(), CliError> {
    print_to(&mut std::io::stdout().lock(), text)
}

/// Writes a text with colours and a line break to standard output, without the colours where none are shown.
pub(crate) fn print_styled(text: &str) -> Result<(), CliError> {
    print_to(&mut anstream::stdout().lock(), text)
}

fn print_to(out: &mut dyn Write, text: &str) -> Result<(), CliError> {
    let written = writeln!(out, "{}", text.trim_end_matches('\n')).and_then(|()| out.flush());
    written.map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => CliError::ReaderGone,
        _ => CliError::io(format!("cannot write to standard output: {}", reason(&error))),
    })
}

/// Writes an error to standard error, and with `json` as an object to standard output, unless a report tells it there. There is nobody left to tell
/// if that fails.
pub(crate) fn print_error(error: &CliError, json: bool) {
    let message = error.to_string();
    if json && !matches!(error, CliError::Reported(_)) {
        drop(print_json(&Told { error: &message, code: error.exit_code() }));
    }
    say("error", AnsiColor::Red, &message);
}

/// Writes a remark to standard error, beside results that went well.
pub(crate) fn remark(text: &str) {
    say("note", AnsiColor::Cyan, text);
}

/// Writes a warning to standard error, beside results that went well.
pub(crate) fn warn(text: &str) {
    say("warning", AnsiColor::Yellow, text);
}

fn say(what: &str, color: AnsiColor, text: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{} {text}", styled(&format!("{what}:"), color));
}

/// Returns words of a report on whether things are as they should be, in green or red.
pub(crate) fn verdict(right: bool, words: &str) -> String {
    styled(words, if right { AnsiColor::Green } else { AnsiColor::Red })
}

fn styled(words: &str, color: AnsiColor) -> String {
    let style = Style::new().bold().fg_color(Some(color.into()));
    format!("{style}{words}{style:#}")
}

/// Writes a text and a line break to standard error, where standard output has the data.
pub(crate) fn print_beside(text: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{}", text.trim_end_matches('\n'));
}

/// Writes a value as one line of JSON to standard output.
pub(crate) fn print_json<T: Serialize>(value: &T) -> Result<(), CliError> {
    let text = serde_json::to_string(value).map_err(CliError::failure)?;
    print(&text)
}

/// Writes a report to standard output, as one line of JSON or as the text that `text` makes of it.
pub(crate) fn report<T: Serialize>(
    json: bool,
    report: &T,
    text: impl FnOnce(&T) -> String,
) -> Result<(), CliError> {
    if json { print_json(report) } else { print_styled(&text(report)) }
}

/// Writes the report of a command that failed after all, which is an object in JSON, and returns its error: the object tells it.
pub(crate) fn report_failed<T: Serialize>(
    json: bool,
    report: &T,
    text: impl FnOnce(&T) -> String,
    error: CliError,
) -> CliError {
    let message = error.to_string();
    let told = Told { error: &message, code: error.exit_code() };
    let printed = if json { print_json(&Failed { report, told }) } else { print_styled(&text(report)) };
    match printed {
        Ok(()) if json => CliError::Reported(Box::new(error)),
        Ok(()) => error,
        Err(stopped) => stopped,
    }
}
