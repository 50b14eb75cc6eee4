//! Task `cargo xtask paths`: the files that an operation goes through on its way down to the kernels, from
//! recordings.
//!
//! Every call of a kernel is recorded with the functions that it came through (the feature `paths` of
//! `crates/kernels`), in builds that inline no function of Sunzi but kernels. A closure that a file hands to
//! another one is that file's own code: control that comes back to it is no way up.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use crate::{step, tree};

/// Page with the recorded paths of all operations, as tables.
const PAGE: &str = "docs/paths.md";
/// Text of the page above the tables of paths.
const ABOUT: &str = "# Paths of three operations\n\n\
    Which file hands down to which, from an operation to the kernels that are counted (transforms, products, conversions). Written by \
    `cargo xtask paths --record`, which records every call; files stand in the order in which they are first entered. \
    What the demonstration leaves to a thread of the pool begins a path of its own.\n";
/// Arguments of cargo to build the programs whose kernel calls are recorded.
const BUILD: &str = "build --profile paths -p sunzi-testing --bin paths -p sunzi-cli --bin sunzi --features sunzi-testing/paths";

#[derive(Args)]
pub(crate) struct Arguments {
    /// The operations to record; all unless given, which are then compared with docs/paths.md
    operations: Vec<Operation>,
    /// Print the tables of paths as JSON, with the number of paths that take each step
    #[arg(long)]
    json: bool,
    /// Write docs/paths.md anew
    #[arg(long, conflicts_with = "operations")]
    record: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Operation {
    /// Paths of a BFV product with relinearisation
    Product,
    /// Paths of a CKKS bootstrapping
    Bootstrap,
    /// Paths of the demonstration of the command line
    Demo,
}

/// Files that an operation goes through, from its recorded calls of kernels.
#[derive(Default)]
struct Paths {
    number: usize,
    /// Files that the operation goes through, in the order of first entry.
    files: Vec<String>,
    /// Pairs of files of which the first calls down into the second, with the number of paths.
    steps: BTreeMap<(String, String), usize>,
    /// Files of the operation that are entered again from below, and by which file.
    again: BTreeSet<(String, String)>,
    /// Crates that are entered again from below, and from which crate.
    crates_again: BTreeSet<(String, String)>,
}

impl Operation {
    /// The operation's title, the program with its arguments, and the file and function that it begins in
    /// unless all of the program belongs to it.
    fn description(self) -> (&'static str, &'static str, Option<(&'static str, &'static str)>) {
        let (product, bootstrap) =
            ("crates/bfv/src/evaluator/multiply.rs", "crates/circuits/src/bootstrap/bootstrapper.rs");
        match self {
            Self::Product => {
                ("BFV product with relinearisation", "paths product", Some((product, "multiply")))
            }
            Self::Bootstrap => ("CKKS bootstrapping", "paths bootstrap", Some((bootstrap, "bootstrap"))),
            Self::Demo => ("`sunzi demo`", "sunzi demo --threads 1", None),
        }
    }

    /// Runs the operation's program on one thread, and reads the recorded paths.
    fn record(self, root: &Path) -> Result<Paths, String> {
        let (_, line, entry) = self.description();
        let folder = tree::target(root).join("paths");
        let recording = folder.join("recording");
        let mut words = line.split(' ');
        let program = words.next().unwrap_or_default();
        let _ = fs::remove_file(&recording);
        let output = Command::new(folder.join(program)).args(words).env("SUNZI_PATHS", &recording).output();
        let output = output.map_err(|error| format!("cannot start {program}: {error}"))?;
        if !output.status.success() {
            return Err(format!("{line}: {}", String::from_utf8_lossy(&output.stderr)));
        }
        let text = fs::read_to_string(&recording).unwrap_or_default();
        let paths = Paths::read(&text, entry);
        if paths.number == 0 { Err(format!("{line}: no call was recorded in {entry:?}")) } else { Ok(paths) }
    }
}

impl Paths {
    /// Reads a recording of kernel calls: a path in each line.
    fn read(text: &str, entry: Option<(&str, &str)>) -> Self {
        let mut found = Self::default();
        for line in text.lines() {
            let frames = line.split('\t').filter_map(|frame| frame.split_once(' '));
            let before = |frame: &(&str, &str)| {
                entry.is_some_and(|(file, name)| frame.0 != file || frame.1.rsplit("::").next() != Some(name))
            };
            found.add(frames.skip_while(before));
        }
        found
    }

    fn add<'a>(&mut self, frames: impl Iterator<Item = (&'a str, &'a str)>) {
        let mut open: Vec<&str> = Vec::new();
        for (file, name) in frames {
            let before = open.iter().rposition(|other| *other == file);
            if let (Some(position), true) = (before, name.contains("{{closure}}")) {
                open.truncate(position + 1);
            }
            if open.last() == Some(&file) {
                continue;
            }
            if let (Some(_), Some(last)) = (before, open.last()) {
                self.again.insert((file.to_owned(), (*last).to_owned()));
            }
            if let Some(last) = open.last() {
                let (to, from) = (folder(file), folder(last));
                if to != from && open.iter().any(|other| folder(other) == to) {
                    self.crates_again.insert((to.to_owned(), from.to_owned()));
                }
                *self.steps.entry(((*last).to_owned(), file.to_owned())).or_default() += 1;
            }
            if !self.files.iter().any(|known| known == file) {
                self.files.push(file.to_owned());
            }
            open.push(file);
        }
        self.number += usize::from(!open.is_empty());
    }

    fn crates(&self) -> usize {
        self.files.iter().map(|file| folder(file)).collect::<BTreeSet<_>>().len()
    }

    /// Files that `file` calls down into, in the order of first entry.
    fn next<'a>(&'a self, file: &'a str) -> impl Iterator<Item = (&'a String, usize)> {
        self.files.iter().filter_map(move |to| Some((to, *self.steps.get(&(file.to_owned(), to.clone()))?)))
    }

    fn markdown(&self, title: &str) -> String {
        let mut text = format!("\n## {title}\n\n{} files of {} crates.", self.files.len(), self.crates());
        for (again, from) in self.crates_again.iter().chain(&self.again) {
            text.push_str(&format!(" `{again}` is entered again from `{from}`."));
        }
        text.push_str("\n\n| file | hands down to |\n|---|---|\n");
        for file in &self.files {
            let next: Vec<String> = self.next(file).map(|(to, _)| format!("`{to}`")).collect();
            text.push_str(&format!("| `{file}` | {} |\n", next.join(", ")));
        }
        text
    }

    fn json(&self, title: &str) -> Value {
        let of = |file: &String| {
            self.next(file).map(|(to, paths)| (to.clone(), json!(paths))).collect::<serde_json::Map<_, _>>()
        };
        let files: Vec<Value> =
            self.files.iter().map(|file| json!({ "file": file, "hands_down_to": of(file) })).collect();
        json!({ "operation": title, "paths": self.number, "crates": self.crates(), "files": files, "entered_again": self.again, "crates_entered_again": self.crates_again })
    }
}

/// Returns the folder of the crate that a file belongs to.
fn folder(file: &str) -> &str {
    file.split_once("/src/").map_or(file, |(folder, _)| folder)
}

/// Records the paths of the operations asked for, and prints, writes or compares them.
pub(crate) fn run(arguments: &Arguments) -> Result<String, String> {
    let root = tree::root();
    let all = arguments.operations.is_empty();
    let operations = if all { Operation::value_variants() } else { arguments.operations.as_slice() };
    let recorded = record(&root, operations)?;
    if arguments.json {
        let tables: Vec<Value> = recorded.iter().map(|(title, paths)| paths.json(title)).collect();
        return serde_json::to_string_pretty(&tables).map_err(|error| error.to_string());
    }
    let tables: String = recorded.iter().map(|(title, paths)| paths.markdown(title)).collect();
    match (arguments.record, all) {
        (true, _) => {
            fs::write(root.join(PAGE), format!("{ABOUT}{tables}"))
                .map_err(|error| format!("cannot write {PAGE}: {error}"))?;
            Ok(format!("paths: recorded in {PAGE}"))
        }
        (_, true) => compare(&root, &tables).map(|summary| format!("{tables}\npaths: {summary}")),
        (_, false) => Ok(tables),
    }
}

/// Compares the recorded paths of all operations with the page.
pub(crate) fn check(root: &Path) -> Result<String, String> {
    let recorded = record(root, Operation::value_variants())?;
    compare(root, &recorded.iter().map(|(title, paths)| paths.markdown(title)).collect::<String>())
}

fn record(root: &Path, operations: &[Operation]) -> Result<Vec<(&'static str, Paths)>, String> {
    let status = Command::new(step::cargo()).args(BUILD.split(' ')).current_dir(root).status();
    if !status.map_err(|error| format!("cannot start cargo: {error}"))?.success() {
        return Err(format!("cargo {BUILD} failed"));
    }
    operations.iter().map(|operation| Ok((operation.description().0, operation.record(root)?))).collect()
}

fn compare(root: &Path, tables: &str) -> Result<String, String> {
    let page = tree::read(root, &PathBuf::from(PAGE))?;
    if page == format!("{ABOUT}{tables}") {
        return Ok(format!("as in {PAGE}"));
    }
    let changed: Vec<&str> = tables.lines().filter(|line| !page.contains(line)).collect();
    Err(format!(
        "operations go through other files than {PAGE} says:\n  {}\nIf they are to, record it: cargo xtask paths --record",
        changed.join("\n  ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORDING: &str = "lab/x.rs main\tcrates/a/src/a.rs a::multiply\tcrates/a/src/a.rs a::step\tcrates/b/src/b.rs b::each\t\
        crates/a/src/a.rs a::step::{{closure}}\tcrates/c/src/c.rs c::f\n\
        lab/x.rs main\tcrates/a/src/a.rs a::multiply\tcrates/c/src/c.rs c::f\tcrates/a/src/a.rs a::helper\tcrates/c/src/c.rs c::g\n\
        lab/x.rs main\tcrates/c/src/c.rs c::f\n";

    #[test]
    fn closures_are_no_way_up_and_functions_are() {
        let paths = Paths::read(RECORDING, Some(("crates/a/src/a.rs", "multiply")));
        assert_eq!(Paths::read(RECORDING, None).number, 3);
        assert_eq!((paths.number, paths.crates()), (2, 3));
        assert_eq!(paths.files, ["crates/a/src/a.rs", "crates/b/src/b.rs", "crates/c/src/c.rs"]);
        let (a, c) = ("crates/a/src/a.rs".to_owned(), "crates/c/src/c.rs".to_owned());
        assert_eq!(paths.steps.get(&(a.clone(), c.clone())), Some(&3));
        assert_eq!(paths.again, BTreeSet::from([(a.clone(), c.clone()), (c, a)]));
        let (a, c) = ("crates/a".to_owned(), "crates/c".to_owned());
        assert_eq!(paths.crates_again, BTreeSet::from([(a.clone(), c.clone()), (c, a)]));
        assert!(
            paths
                .markdown("Title")
                .contains("| `crates/a/src/a.rs` | `crates/b/src/b.rs`, `crates/c/src/c.rs` |")
        );
        assert_eq!(paths.json("Title")["files"][0]["hands_down_to"]["crates/c/src/c.rs"], 3);
    }
}
