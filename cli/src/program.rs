//! Programs over encrypted tables: `sunzi plan`, `sunzi eval` and `sunzi decrypt`.

mod agreed;
pub(crate) mod decrypt;
pub(crate) mod eval;
pub(crate) mod plan;
mod print;
mod share;

use std::path::Path;

use sunzi::program::analysis::Parameters;
use sunzi::program::{Kind, Plan, Program, ProgramError, Schema};
use sunzi::rlwe::wire::WireError;

use crate::error::{CliError, one_line, quoted};
use crate::files;

/// Largest number of bytes of a file of weights.
const LONGEST_WEIGHTS: u64 = 1 << 24;

/// Parses a program, which may name files of weights.
pub(crate) fn parse(text: &str, schema: &Schema) -> Result<Program, CliError> {
    let weights = |name: &str| {
        let text = files::read_text(Path::new(name), "weights in JSON", LONGEST_WEIGHTS);
        text.map_err(|error| format!("cannot read {name:?}: {error}"))
    };
    Program::parse_with(text, schema, &weights).map_err(refuse)
}

/// The plan in a file, as `sunzi plan --json` prints it; it must be one for these parameters.
pub(crate) fn planned(path: &Path, parameters: &Parameters) -> Result<Plan, CliError> {
    let json = files::read_text(path, "a plan as sunzi plan --json prints it", files::LONGEST_JSON);
    let json = json.map_err(|error| files::refuse(path, WireError::Io(error)))?;
    let name = quoted(&path.display().to_string());
    let plan: Plan = serde_json::from_str(&json).map_err(|error| {
        CliError::input(format!("{name} is no plan as sunzi plan --json prints it: {error}"))
    })?;
    if plan.parameters == *parameters {
        return Ok(plan);
    }
    Err(CliError::mismatch(format!("{name} is a plan for other parameters than these")))
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
fn refuse_in(path: &Path, error: ProgramError) -> CliError {
    let place = quoted(&path.display().to_string());
    match refuse(error) {
        CliError::Failure(message) => CliError::failure(format!("{place}: {message}")),
        CliError::Mismatch(message) => CliError::mismatch(format!("{place}: {message}")),
        CliError::Impossible(message) => CliError::impossible(format!("{place}: {message}")),
        other => other,
    }
}
