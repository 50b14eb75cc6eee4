//! Task `cargo xtask budgets`: the processor time that compiling each of Sunzi's crates takes.
//!
//! The budgets are measured on a build of the command line from nothing, in a folder of its own, with this
//! program around the compiler. Seconds differ from machine to machine, so that a crate's time is measured by
//! that of all crates of others in the same build.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, ExitCode};

use clap::Args;

use crate::{step, tree};

/// Environment variable, set where this program runs the compiler, that names the file to append times to.
const TIMES: &str = "SUNZI_COMPILER_TIMES";
/// Environment variable with the name of the compiled package, as cargo tells the compiler.
const PACKAGE: &str = "CARGO_PKG_NAME";
/// File of the budgets: the compile time a crate may take, as a part of the time of all crates of others.
const BUDGETS: &str = "xtask/budgets.txt";
/// Factor by which a crate's compile time may exceed its budget: measurements differ by a tenth.
const TOLERANCE: f64 = 1.25;
/// Part of the compile time that any crate may take besides its budget, for the smallest ones.
const FLOOR: f64 = 0.01;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Write the compile-time budgets anew, as measured now
    #[arg(long)]
    record: bool,
}

/// Runs the compiler and notes its time, if this process was started in place of it.
pub(crate) fn around_the_compiler() -> Option<ExitCode> {
    let file = std::env::var_os(TIMES)?;
    let mut arguments = std::env::args_os().skip(1);
    let status = Command::new(arguments.next()?).args(arguments).status().ok()?;
    let compiles = std::env::args().skip_while(|argument| argument != "--crate-name").nth(1);
    // Cargo asks the compiler about itself by a crate without a name.
    if compiles.is_some_and(|name| name != "___") {
        let line = format!("{} {}\n", std::env::var(PACKAGE).ok()?, ticks_of_children()?);
        OpenOptions::new().create(true).append(true).open(file).ok()?.write_all(line.as_bytes()).ok()?;
    }
    Some(status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from))
}

/// User and system time of the processes that this one has waited for, in clock ticks.
fn ticks_of_children() -> Option<u64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    let mut times = fields.split_whitespace().skip(13).map(str::parse::<u64>);
    Some(times.next()?.ok()? + times.next()?.ok()?)
}

/// Builds the command line, measures compile times, and compares them with the budgets or writes the budgets.
pub(crate) fn run(arguments: &Arguments) -> Result<String, String> {
    let root = tree::root();
    let shares = shares(&build(&root)?)?;
    let file = root.join(BUDGETS);
    if arguments.record {
        let lines: String = shares.iter().map(|(name, share)| format!("{name} {share:.3}\n")).collect();
        fs::write(&file, lines).map_err(|error| format!("cannot write {BUDGETS}: {error}"))?;
        return Ok(format!("budgets: {} crates recorded in {BUDGETS}", shares.len()));
    }
    compare(&shares, &tree::read(&root, Path::new(BUDGETS))?).map(|summary| format!("budgets: {summary}"))
}

/// The compile times of a build of the command line: lines of a package and clock ticks.
fn build(root: &Path) -> Result<String, String> {
    let folder = tree::target(root).join("budgets");
    let why = |error| format!("cannot build in {}: {error}", folder.display());
    remove(&folder).and_then(|()| fs::create_dir_all(&folder)).map_err(why)?;
    let times = folder.join("times");
    let status = Command::new(step::cargo())
        .args(["build", "--release", "--locked", "-p", "sunzi-cli", "--target-dir"])
        .arg(&folder)
        .env("RUSTC_WRAPPER", std::env::current_exe().map_err(why)?)
        .env(TIMES, &times)
        .env("CARGO_INCREMENTAL", "0")
        .current_dir(root)
        .status()
        .map_err(why)?;
    if !status.success() {
        return Err(format!("cargo ended with {status}"));
    }
    let lines = fs::read_to_string(times)
        .map_err(|error| format!("no times were noted, which takes Linux: {error}"))?;
    remove(&folder).map_err(why)?;
    Ok(lines)
}

fn remove(folder: &Path) -> io::Result<()> {
    if folder.exists() { fs::remove_dir_all(folder) } else { Ok(()) }
}

/// Compile times of Sunzi's crates, divided by that of all other crates.
fn shares(lines: &str) -> Result<BTreeMap<String, f64>, String> {
    let mut ours: BTreeMap<String, f64> = BTreeMap::new();
    let mut others = 0.0;
    for line in lines.lines() {
        let (name, time) = entry(line)?;
        if name.starts_with("sunzi") {
            *ours.entry(name).or_default() += time;
        } else {
            others += time;
        }
    }
    if ours.is_empty() || others <= 0.0 {
        return Err("the build compiled no crate of ours, or none of others".to_owned());
    }
    for share in ours.values_mut() {
        *share /= others;
    }
    Ok(ours)
}

/// A line of the budgets: a crate's name and a number.
fn entry(line: &str) -> Result<(String, f64), String> {
    let parts = line.split_once(' ').and_then(|(name, number)| Some((name.to_owned(), number.parse().ok()?)));
    parts.ok_or_else(|| format!("expected a name and a number, not {line:?}"))
}

/// Fails if a crate's compile time is above its budget, or if crates and budgets are not the same.
fn compare(shares: &BTreeMap<String, f64>, budgets: &str) -> Result<String, String> {
    let budgets = budgets.lines().map(entry).collect::<Result<BTreeMap<_, _>, _>>()?;
    let mut wrong = Vec::new();
    for (name, share) in shares {
        match budgets.get(name) {
            Some(budget) if *share <= TOLERANCE * budget + FLOOR => {
                println!("{name} {share:.3} of {budget:.3}")
            }
            Some(budget) => wrong.push(format!(
                "{name} takes {share:.3}, its budget is {budget:.3}: find what is compiled more often"
            )),
            None => wrong.push(format!("{name} takes {share:.3} and has no budget")),
        }
    }
    wrong.extend(
        budgets
            .keys()
            .filter(|name| !shares.contains_key(*name))
            .map(|name| format!("{name} is built no longer")),
    );
    if wrong.is_empty() {
        return Ok(format!("{} crates within their budgets", shares.len()));
    }
    Err(format!(
        "processor time of our crates, by that of all crates of others:\n  - {}\n\
         If it has to be so, record it: cargo xtask budgets --record",
        wrong.join("\n  - ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_become_parts_of_those_of_others() {
        let shares = shares("serde 30\nsunzi-ring 10\nsyn 10\nsunzi-ring 10\nsunzi 4\n").unwrap();
        assert_eq!(shares, BTreeMap::from([("sunzi".to_owned(), 0.1), ("sunzi-ring".to_owned(), 0.5)]));
        assert!(super::shares("serde 30\n").is_err());
        assert!(super::shares("serde x\n").is_err());
    }

    #[test]
    fn crates_above_their_budgets_are_named() {
        let shares = BTreeMap::from([("a".to_owned(), 0.5), ("b".to_owned(), 0.1)]);
        compare(&shares, "a 0.41\nb 0.1\n").unwrap();
        let message = compare(&shares, "a 0.39\nc 0.1\n").unwrap_err();
        for part in ["a takes 0.500", "b takes 0.100 and has no budget", "c is built no longer", "--record"] {
            assert!(message.contains(part), "{message}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_time_of_children_is_read() {
        assert!(ticks_of_children().is_some());
    }
}
