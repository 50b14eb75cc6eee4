//! Programs over encrypted tables: `sunzi plan`, `sunzi eval` and `sunzi decrypt`.

mod agreed;
pub(crate) mod decrypt;
pub(crate) mod eval;
pub(crate) mod plan;
mod print;
mod share;

use std::fs;
use std::path::Path;

use sunzi::program::{Kind, Program, ProgramError, Schema};

use crate::error::{CliError, one_line, quoted};

/// Largest number of bytes of a file of weights.
const LONGEST_WEIGHTS: u64 = 1 << 24;

/// Parses a program, which may name files of weights.
pub(crate) fn parse(text: &str, schema: &Schema) -> Result<Program, CliError> {
    let weights = |name: &str| match fs::metadata(name) {
        Ok(metadata) if metadata.len() > LONGEST_WEIGHTS => {
            Err(format!("{name:?} is longer than 16 MiB: that is no file of weights"))
        }
        _ => fs::read_to_string(name).map_err(|error| format!("cannot read {name:?}: {error}")),
    };
    Program::parse_with(text, schema, &weights).map_err(refuse)
}

/// Number of parts that a category cuts a table into: its labels.
pub(crate) fn parts(schema: &Schema, partition: Option<&String>) -> Result<usize, CliError> {
    let Some(name) = partition else { return Ok(1) };
    match schema.columns.iter().find(|column| column.name == *name).map(|column| &column.kind) {
        Some(Kind::Category { labels }) => Ok(labels.len().max(1)),
        _ => {
            let name = quoted(name);
            Err(CliError::input(format!("--partition takes a category, and {name} is none of this table")))
        }
    }
}

/// Returns the command-line error for an error of a program, by whose fault it is.
pub(crate) fn refuse(error: ProgramError) -> CliError {
    match error {
        // A parse error points at a place in the text: its lines stay lines.
        ProgramError::Parse(error) => {
            let lines: Vec<String> = error.to_string().lines().map(one_line).collect();
            CliError::Input(lines.join("\n"))
        }
        ProgramError::Refused(_) => CliError::impossible(error),
        ProgramError::Memory(_) => CliError::input(error),
        ProgramError::Mismatch { .. } => CliError::mismatch(error),
        ProgramError::Sharing(error) => share::refuse(*error),
        ProgramError::Scheme(_) => CliError::failure(error),
        _ => CliError::input(error),
    }
}

/// Returns the command-line error for a program error in this file.
fn refuse_in(path: &Path, error: ProgramError) -> CliError {
    let place = quoted(&path.display().to_string());
    match refuse(error) {
        CliError::Failure(message) => CliError::failure(format!("{place}: {message}")),
        CliError::Mismatch(message) => CliError::mismatch(format!("{place}: {message}")),
        CliError::Impossible(message) => CliError::impossible(format!("{place}: {message}")),
        other => other,
    }
}
