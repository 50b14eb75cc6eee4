//! The process of one job: what `sunzi eval` does, in a folder that a server filled.

use std::path::{Path, PathBuf};

use sunzi::program::Program;
use sunzi::rlwe::wire::Accept;
use sunzi::rlwe::words::reason;
use sunzi_service::task::{KEYS, Outcome, PROGRAM, RESULT, Task, begin};

use crate::error::CliError;
use crate::files::LONGEST_JSON;
use crate::files::input::read_text;
use crate::files::target::{Content, Target};
use crate::output;
use crate::program::eval::{Asked, Computation};
use crate::progress::Progress;

/// Computes the job that standard input tells, and says on standard output what came of it.
pub(crate) fn run() -> Result<(), CliError> {
    let task = begin()
        .map_err(|error| CliError::input(format!("this command is for sunzi serve: {}", reason(&error))))?;
    let error = compute(&task).err().map(|error| error.to_string());
    output::print_json(&Outcome { error })
}

fn compute(task: &Task) -> Result<(), CliError> {
    let text = read_text(Path::new(PROGRAM), "a program", LONGEST_JSON)?;
    let parsed: Program;
    let program = if text.trim_start().starts_with('{') {
        parsed = serde_json::from_str(&text).map_err(|error| {
            CliError::input(format!(
                "the program is no program as sunzi remote put program sends it: {error}"
            ))
        })?;
        Asked::Program(&parsed)
    } else {
        Asked::Sent(&text)
    };
    let tables: Vec<PathBuf> = task.tables.iter().map(PathBuf::from).collect();
    let computation = Computation {
        program,
        keys: Path::new(KEYS),
        tables: &tables,
        precision: task.precision,
        accept: Accept::default(),
        memory: Some(task.memory),
        progress: &Progress::new(false),
    };
    let target = Target::of_option("--output", Path::new(RESULT), false, Content::Binary, true)?;
    computation.write(&target).map(drop)
}
