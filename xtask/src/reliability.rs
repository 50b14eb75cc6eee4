//! Task `cargo xtask reliability`: the figures of security and reliability, each from the run that prints it.
//!
//! Tests record the figures that they measure (`testing/src/figures.rs`) in a file that an environment
//! variable names; the table of reliability has for every row what was measured, beside its bar, and the
//! command that measures it again.

mod checkers;
mod fuzz;
mod rivals;
mod rows;
mod table;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use clap::Args;
use serde_json::Value;

use crate::{step, tree};
use rows::{ROWS, Row};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Measure all the cases that the table asks for, within an hour; without it, what the ordinary tests run
    #[arg(long)]
    long: bool,
    /// Measure only these rows of the table, such as 2,14
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u8).range(1..=26))]
    rows: Vec<u8>,
    /// Count the rows that what the last `cargo xtask test` recorded meets, without running anything; --json prints them
    #[arg(long, conflicts_with_all = ["long", "rows"])]
    recorded: bool,
    /// Keep what earlier long runs measured, and measure only the rows that they did not finish or meet
    #[arg(long, requires = "long")]
    resume: bool,
    /// Print one JSON object with all rows of the table
    #[arg(long)]
    json: bool,
    /// Also write the table of reliability into this Markdown file
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
}

/// Outcome of one command that measures rows of reliability.
struct Outcome {
    row: u8,
    error: Option<String>,
}

/// Runs the commands that measure the rows of reliability, and prints the rows.
pub(crate) fn run(arguments: &Arguments) -> Result<String, String> {
    let root = tree::root();
    let file = tree::figures_file(&root);
    if arguments.recorded {
        return recorded(&file, arguments.json);
    }
    let wanted = |row: &&Row| arguments.rows.is_empty() || arguments.rows.contains(&row.number);
    let rows: Vec<&Row> = ROWS.iter().filter(wanted).collect();
    let mut missing = rows.clone();
    if arguments.resume && file.exists() {
        let earlier = read(&file)?;
        let is_met = |row: &Row| table::Table::new(&[row], &earlier, &[], true).is_met();
        missing.retain(|row| !(is_finished(&earlier, row.number) && is_met(row)));
        keep_others(&file, &earlier, &missing)?;
    } else {
        begin(&file)?;
    }
    let outcomes = if arguments.long {
        measure(&root, &file, &missing)
    } else {
        measure_shortly(&root, &file, &missing)
    };
    let figures = read(&file)?;
    let table = table::Table::new(&rows, &figures, &outcomes, arguments.long);
    if let Some(path) = &arguments.markdown {
        fs::write(path, table.markdown()).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    let text = if arguments.json { table.json() } else { table.text() };
    if table.broken() == 0 { Ok(text) } else { Err(text) }
}

/// Returns the rows of reliability from the records of the last tests.
fn recorded(file: &Path, json: bool) -> Result<String, String> {
    let figures = read(file)?;
    let rows: Vec<&Row> = ROWS.iter().collect();
    let table = table::Table::new(&rows, &figures, &[], false);
    let text = if json { table.json() } else { format!("reliability: {}", table.summary()) };
    if table.broken() == 0 { Ok(text) } else { Err(table.text()) }
}

/// Appends a figure in the format of the tests to the file of records: a count of failures.
fn record(file: &Path, row: u8, what: &str, wrong: u64, cases: u64, of: u64) -> Result<(), String> {
    let line = serde_json::json!({
        "row": row, "what": what, "value": wrong, "bar": { "at_most": 0.0 }, "cases": cases, "of": of, "holds": wrong == 0
    });
    append(file, &line)
}

fn append(file: &Path, line: &Value) -> Result<(), String> {
    fs::OpenOptions::new()
        .append(true)
        .open(file)
        .and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()))
        .map_err(|error| format!("{}: {error}", file.display()))
}

/// Drops the figures of rows that are measured again: a figure that broke a bar once would stay.
fn keep_others(file: &Path, earlier: &[Value], again: &[&Row]) -> Result<(), String> {
    begin(file)?;
    let of = |line: &Value, row: u8| is_of(line, "row", row) || is_of(line, "finished", row);
    let mut kept = earlier.iter().filter(|line| !again.iter().any(|row| of(line, row.number)));
    kept.try_for_each(|line| append(file, line))
}

/// Whether all commands that measure a row ended without an error: figures alone do not show that none is missing.
fn is_finished(figures: &[Value], row: u8) -> bool {
    figures.iter().any(|line| is_of(line, "finished", row))
}

/// Whether a line of the records names the row: by "row", as one of its figures, or by "finished", as the end
/// of it.
fn is_of(line: &Value, name: &str, row: u8) -> bool {
    line.get(name).and_then(Value::as_u64) == Some(row.into())
}

/// Empties the file of figures of an earlier run.
pub(crate) fn begin(file: &Path) -> Result<(), String> {
    let folder = file.parent().unwrap_or(file);
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(file, ""))
        .map_err(|error| format!("{}: {error}", file.display()))
}

fn read(file: &Path) -> Result<Vec<Value>, String> {
    let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let line = |line: &str| {
        serde_json::from_str(line).map_err(|error| format!("{}: {error}: {line}", file.display()))
    };
    text.lines().map(line).collect()
}

/// Measures the figures that ordinary tests record, in one run of what `cargo xtask test` has built.
fn measure_shortly(root: &Path, file: &Path, rows: &[&Row]) -> Vec<Outcome> {
    let Some(&&Row { number: row, .. }) = rows.first() else { return Vec::new() };
    let line = "test --workspace --exclude sunzi-python --features lab/peers,sunzi-cli/shared --tests --no-fail-fast";
    vec![Outcome { row, error: cargo(root, file, line) }]
}

/// Measures the rows of reliability one by one, with all cases; a command that measures two rows runs once.
fn measure(root: &Path, file: &Path, rows: &[&Row]) -> Vec<Outcome> {
    let (mut outcomes, mut ran) = (Vec::new(), BTreeMap::new());
    for row in rows {
        let (number, before, start) = (row.number, outcomes.len(), Instant::now());
        if number == rows::RIVALS {
            outcomes.push(rivals::run(file, number));
        } else {
            outcomes.extend(row.commands.iter().map(|&line| {
                let error: &Option<String> = ran.entry(line).or_insert_with(|| cargo(root, file, line));
                Outcome { row: number, error: error.clone() }
            }));
        }
        if number == rows::FUZZED {
            outcomes.push(fuzz::run(root, file, number));
        }
        outcomes.extend(checkers::run(root, file, number));
        if outcomes.iter().skip(before).all(|outcome| outcome.error.is_none()) {
            let seconds = start.elapsed().as_secs();
            let error = append(file, &serde_json::json!({ "finished": number, "seconds": seconds })).err();
            outcomes.push(Outcome { row: number, error });
        }
    }
    outcomes
}

/// Runs cargo with the figures going to `file`; returns why it failed, if it did.
fn cargo(root: &Path, file: &Path, line: &str) -> Option<String> {
    let command = format!("cargo {line}");
    step::announce(&command);
    let arguments = line.split_whitespace();
    let status = Command::new(step::cargo())
        .args(arguments)
        .env(tree::FIGURES, file)
        .current_dir(root)
        .stdout(std::process::Stdio::null())
        .status();
    match status {
        Ok(status) if status.success() => None,
        Ok(status) => Some(format!("{command} ended with {status}")),
        Err(error) => Some(format!("cannot start cargo: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_measured_again_from_nothing() {
        let file = std::env::temp_dir().join(format!("sunzi-figures-{}", std::process::id()));
        let line = |row: u8, holds: bool| serde_json::json!({ "row": row, "holds": holds });
        let earlier = [line(1, true), line(2, false), serde_json::json!({ "finished": 2 })];
        let again: Vec<&Row> = ROWS.iter().filter(|row| row.number == 2).collect();
        keep_others(&file, &earlier, &again).unwrap();
        assert_eq!(read(&file).unwrap(), [line(1, true)]);
        fs::remove_file(&file).unwrap();
    }

    #[test]
    fn figures_alone_finish_no_row() {
        let figure = serde_json::json!({ "row": 2, "what": "x", "cases": 1, "of": 1, "holds": true });
        assert!(!is_finished(std::slice::from_ref(&figure), 2));
        let finished = serde_json::json!({ "finished": 2 });
        assert!(is_finished(&[figure.clone(), finished.clone()], 2) && !is_finished(&[figure, finished], 1));
    }
}
