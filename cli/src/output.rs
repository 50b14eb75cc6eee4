//! Output of the command line: nothing else prints.

use std::io::Write;

use crate::error::CliError;

/// Writes a text and a line break to standard output. A reader that has gone away is no error.
pub(crate) fn print(text: &str) -> Result<(), CliError> {
    let mut out = std::io::stdout().lock();
    let written = writeln!(out, "{}", text.trim_end_matches('\n')).and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(CliError::failure(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes one line of error to standard error; there is nobody left to tell if that fails.
pub(crate) fn print_error(error: &CliError) {
    let _ = writeln!(std::io::stderr().lock(), "error: {error}");
}

/// Writes a remark to standard error, beside results that went well.
pub(crate) fn remark(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "note: {text}");
}

/// Writes a value as one line of JSON to standard output.
pub(crate) fn print_json<T: serde::Serialize>(value: &T) -> Result<(), CliError> {
    let text = serde_json::to_string(value).map_err(CliError::failure)?;
    print(&text)
}
