//! Programs over encrypted tables: `sunzi plan`, `sunzi eval` and `sunzi decrypt`.

pub(crate) mod agreed;
pub(crate) mod decrypt;
pub(crate) mod eval;
mod picture;
pub(crate) mod plan;
mod print;
mod share;
pub(crate) mod shown;
pub(crate) mod stopped;

use std::borrow::Cow;
use std::cell::Cell;
use std::path::Path;

use serde::Deserialize;
use sunzi::program::analysis::Parameters;
use sunzi::program::parse::LONGEST_TEXT;
use sunzi::program::{Kind, Plan, Program, ProgramError, Schema};

use crate::error::{CliError, one_line, quoted};
use crate::files::input::read_text;
use crate::files::{self, named};

#[cfg(feature = "net")]
pub(crate) use self::share::refuse as refuse_sharing;

/// Largest number of bytes of a file of weights.
const LONGEST_WEIGHTS: u64 = 1 << 24;

/// Returns the text of a program as it is asked for: itself, `@FILE` for that of a file, or `-` for standard input.
pub(crate) fn text(asked: &str) -> Result<Cow<'_, str>, CliError> {
    let file = match asked {
        "-" => Path::new(asked),
        _ => match asked.strip_prefix('@') {
            Some(file) => Path::new(file),
            None => return Ok(asked.into()),
        },
    };
    read_text(file, "the text of a program", LONGEST_TEXT as u64).map(Cow::Owned)
}

/// Parses a program, which may be in a file, and may name files of weights.
pub(crate) fn parse(asked: &str, schema: &Schema) -> Result<Program, CliError> {
    let unreachable = Cell::new(false);
    let weights = |name: &str| {
        read_text(Path::new(name), "weights in JSON", LONGEST_WEIGHTS).map_err(|error| {
            unreachable.set(matches!(error, CliError::Io(_)));
            format!("cannot read the weights: {error}")
        })
    };
    Program::parse_with(&text(asked)?, schema, &weights).map_err(|error| match refuse(error) {
        // The message points at the place in the program that names the file.
        CliError::Input(message) if unreachable.get() => CliError::Io(message),
        error => error,
    })
}

/// An error in JSON, where a plan was expected.
#[derive(Deserialize)]
struct Failed {
    error: String,
}

/// The plan in a file, as `sunzi plan --json` prints it.
pub(crate) fn read_plan(path: &Path) -> Result<Plan, CliError> {
    let json = read_text(path, "a plan as sunzi plan --json prints it", files::LONGEST_JSON)?;
    let name = named(path);
    serde_json::from_str(&json).map_err(|error| match serde_json::from_str(&json) {
        Ok(Failed { error }) => {
            CliError::input(format!("{name} is no plan: sunzi plan failed with {error:?}"))
        }
        Err(_) => CliError::input(format!("{name} is no plan as sunzi plan --json prints it: {error}")),
    })
}

/// The plan in a file, which must be one for these parameters.
pub(crate) fn planned(path: &Path, parameters: &Parameters) -> Result<Plan, CliError> {
    let plan = read_plan(path)?;
    if plan.parameters == *parameters {
        return Ok(plan);
    }
    Err(CliError::mismatch(format!("{} is a plan for other parameters than these", named(path))))
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
            let mut lines: Vec<String> = error.to_string().lines().map(one_line).collect();
            lines.push("see sunzi help language".to_owned());
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
pub(crate) fn refuse_in(path: &Path, error: ProgramError) -> CliError {
    let place = named(path);
    match refuse(error) {
        CliError::Failure(message) => CliError::failure(format!("{place}: {message}")),
        CliError::Mismatch(message) => CliError::mismatch(format!("{place}: {message}")),
        CliError::Impossible(message) => CliError::impossible(format!("{place}: {message}")),
        other => other,
    }
}
