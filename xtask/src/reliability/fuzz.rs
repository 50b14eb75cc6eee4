//! Coverage-guided fuzz targets of `fuzz/`, one for every kind of file.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;

use serde_json::Value;

use super::{Outcome, read, record};
use crate::{step, tree};

/// Number of inputs of all fuzz targets in one run. They count together with the mutants of
/// `testing/tests/memory/wire_hostile.rs`, under the name that these have.
const INPUTS: u64 = 9_000_000;
const WHAT: &str = "mutated files with a panic or more memory than allowed";
const OF: u64 = 10_000_000;
const MANIFEST: &str = "fuzz/Cargo.toml";

/// Lets every fuzz target read its share of the inputs, and records how many were read.
pub(super) fn run(root: &Path, file: &Path, row: u8) -> Outcome {
    let error = every_target(root, file, row).err();
    Outcome { row, error }
}

fn every_target(root: &Path, file: &Path, row: u8) -> Result<(), String> {
    let there = Command::new("cargo")
        .args(["+nightly", "fuzz", "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if !there.is_ok_and(|status| status.success()) {
        return Err("no nightly compiler with cargo-fuzz, which the targets of fuzz/ need".to_owned());
    }
    let targets =
        names(&fs::read_to_string(root.join(MANIFEST)).map_err(|error| format!("{MANIFEST}: {error}"))?);
    let share = INPUTS.div_ceil(targets.len().max(1) as u64);
    let (queue, count) = (Mutex::new(targets.iter()), Mutex::new(counted(&read(file)?)));
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || -> Result<(), String> {
        while let Some(target) = next() {
            let read = one(root, target, share)?;
            let mut count = count.lock().unwrap_or_else(PoisonError::into_inner);
            *count += read;
            record(file, row, WHAT, 0, *count, OF)?;
        }
        Ok(())
    };
    // As many targets run at once as there are processors: each takes one.
    let workers = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        let lost = |_| Err("a thread was lost".to_owned());
        workers.into_iter().try_for_each(|worker| worker.join().unwrap_or_else(lost))
    })
}

/// Returns the number of mutated files that the tests' figures have counted already.
fn counted(figures: &[Value]) -> u64 {
    let own = figures.iter().filter(|figure| figure.get("what").and_then(Value::as_str) == Some(WHAT));
    own.filter_map(|figure| figure.get("cases")?.as_u64()).max().unwrap_or(0)
}

/// Returns the names of the fuzz targets in the manifest.
fn names(manifest: &str) -> Vec<String> {
    let bins = manifest.split("[[bin]]").skip(1);
    let name = |bin: &str| Some(bin.split_once("name = \"")?.1.split_once('"')?.0.to_owned());
    bins.filter_map(name).collect()
}

/// Runs a fuzz target from the files of its kind and its earlier findings, which are kept; returns the number
/// of inputs it read.
fn one(root: &Path, target: &str, inputs: u64) -> Result<u64, String> {
    let build = tree::target(root).join("fuzz");
    let corpus = build.join("corpus").join(target);
    seed(root, target, &corpus)?;
    let mut command = Command::new("cargo");
    command
        .args(["+nightly", "fuzz", "run", "--sanitizer", "none", "--target-dir"])
        .arg(&build)
        .arg(target)
        .arg(&corpus);
    command
        .args(["--", "-max_len=65536", "-malloc_limit_mb=64", "-print_final_stats=1"])
        .arg(format!("-runs={inputs}"));
    step::announce(&format!("cargo +nightly fuzz run {target} -- -runs={inputs}"));
    let output = command
        .current_dir(root.join("fuzz"))
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("cannot start cargo fuzz: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        let end: Vec<&str> = said.lines().rev().take(12).collect();
        return Err(format!("{target}: {}: {}", output.status, end.join(" | ")));
    }
    let count = said.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
    count
        .and_then(|count| count.trim().parse().ok())
        .ok_or_else(|| format!("{target} does not say what it read"))
}

/// Copies the golden files of a kind, with which its fuzz target begins.
fn seed(root: &Path, target: &str, corpus: &Path) -> Result<(), String> {
    let golden = root.join("testing/golden/v1");
    let copy = || -> std::io::Result<()> {
        fs::create_dir_all(corpus)?;
        for entry in fs::read_dir(&golden)? {
            let path: PathBuf = entry?.path();
            let Some(name) = path.file_name() else { continue };
            fs::copy(&path, corpus.join(name))?;
        }
        Ok(())
    };
    copy().map_err(|error| format!("the corpus of {target}: {error}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn inputs_are_added_to_mutants() {
        let figure = |what: &str, cases: u64| json!({ "what": what, "cases": cases });
        assert_eq!(counted(&[figure(WHAT, 5), figure("x", 100), figure(WHAT, 70)]), 70);
        assert_eq!(counted(&[]), 0);
    }

    #[test]
    fn every_target_is_named_once() {
        let manifest = fs::read_to_string(tree::root().join(MANIFEST)).unwrap_or_default();
        let mut all = names(&manifest);
        let count = all.len();
        all.sort();
        all.dedup();
        assert!(count > 20 && all.len() == count, "{all:?}");
    }
}
