//! `cargo xtask circles`: files that import one another in a circle, which nobody can read one after the other.
//!
//! The files are read as text: imports, and paths in code. Names are followed through re-exports to the file that defines them; modules of tests
//! do not count. A module may share names both ways with the files of its own folder.

mod components;
mod imports;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::tree;

/// Names that tie one file to another, by both files.
type Arrows = BTreeMap<(PathBuf, PathBuf), BTreeSet<String>>;
/// Files that reach one another.
type Circle = BTreeSet<PathBuf>;

/// Folders of crates, and folders of such folders.
const CRATES: [&str; 7] = ["crates/*", "research/*", "cli", "lab", "python", "testing", "xtask"];
/// Circles that are allowed, and why.
const ALLOWED: &str = "xtask/circles.txt";
/// How a reason begins in that list.
const REASON: &str = "reason: ";

#[derive(Args)]
pub(crate) struct Arguments {
    /// Rewrite the list of allowed circles: what is left of each, with its reason; no circle is added
    #[arg(long)]
    shrink: bool,
}

/// Runs the check, or shortens the list of what it allows.
pub(crate) fn run(arguments: &Arguments) -> Result<String, String> {
    let root = tree::root();
    if arguments.shrink {
        shrink(&root)?;
    }
    check(&root).map(|summary| format!("circles: {summary}"))
}

/// Fails on circles that the list does not allow, and on entries of the list that are no longer true.
pub(crate) fn check(root: &Path) -> Result<String, String> {
    let arrows = arrows(root)?;
    let found = components::circles(&arrows);
    let allowed = allowed(&tree::read(root, Path::new(ALLOWED))?)?;
    let mut wrong = Vec::new();
    for circle in found.iter().filter(|circle| allowed.keys().all(|other| !other.is_superset(circle))) {
        wrong.push(describe(circle, &arrows));
    }
    for circle in allowed.keys().filter(|circle| !found.contains(*circle)) {
        let files = lines(circle).join(", ");
        wrong.push(format!(
            "{files}: no longer this circle: shorten the list {ALLOWED} by cargo xtask circles --shrink"
        ));
    }
    if wrong.is_empty() {
        let (imports, circles) = (arrows.len(), found.len());
        return Ok(format!("{imports} imports between files, {circles} allowed circles and no other"));
    }
    Err(format!(
        "{} matter(s) of circles between files:\n  - {}\n\
         To end a circle, move what both sides need into a file of its own, or the name that points back up to the file that uses it.",
        wrong.len(),
        wrong.join("\n  - ")
    ))
}

/// Leaves in the list what is still true of it.
fn shrink(root: &Path) -> Result<(), String> {
    let list = tree::read(root, Path::new(ALLOWED))?;
    let allowed = allowed(&list)?;
    let comments: Vec<&str> = list.lines().take_while(|line| line.starts_with('#')).collect();
    let mut paragraphs = vec![comments.join("\n")];
    for circle in components::circles(&arrows(root)?) {
        if let Some((_, reason)) = allowed.iter().find(|(other, _)| other.is_superset(&circle)) {
            paragraphs.push(format!("{}\n{reason}", lines(&circle).join("\n")));
        }
    }
    let text = format!("{}\n", paragraphs.join("\n\n"));
    fs::write(root.join(ALLOWED), text).map_err(|error| format!("cannot write {ALLOWED}: {error}"))
}

/// Imports between files of every crate.
fn arrows(root: &Path) -> Result<Arrows, String> {
    let mut arrows = Arrows::new();
    for place in CRATES {
        let folders = match place.strip_suffix("/*") {
            None => vec![PathBuf::from(place)],
            Some(above) => tree::folders(root, Path::new(above))?,
        };
        for folder in folders {
            for start in ["src/lib.rs", "src/main.rs"].map(|file| folder.join(file)) {
                if root.join(&start).exists() {
                    imports::collect(root, &start, &mut arrows)?;
                }
            }
        }
    }
    if arrows.is_empty() { Err("no imports were found in any crate".to_owned()) } else { Ok(arrows) }
}

/// The circles of the list: paragraphs of paths, each with a reason.
fn allowed(list: &str) -> Result<BTreeMap<Circle, String>, String> {
    let mut circles = BTreeMap::new();
    for paragraph in list.split("\n\n") {
        let lines =
            paragraph.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let (reasons, files): (Vec<&str>, Vec<&str>) = lines.partition(|line| line.starts_with(REASON));
        match (files.is_empty(), reasons.as_slice()) {
            (true, []) => {}
            (false, [reason]) => {
                circles.insert(files.into_iter().map(PathBuf::from).collect(), (*reason).to_owned());
            }
            _ => {
                return Err(format!(
                    "{ALLOWED}: files and one line `{REASON}...` make an entry, not\n{paragraph}"
                ));
            }
        }
    }
    Ok(circles)
}

/// The folder of a module's parts.
fn folder(module: &Path) -> PathBuf {
    let whole = ["lib.rs", "main.rs", "mod.rs"].iter().any(|name| module.ends_with(name));
    if whole { module.with_file_name("") } else { module.with_extension("") }
}

/// The files of a circle and the names that tie each arrow.
fn describe(circle: &Circle, arrows: &Arrows) -> String {
    let mut text = format!("a circle of {} files:", circle.len());
    for ((from, to), names) in arrows {
        if circle.contains(from) && circle.contains(to) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            text.push_str(&format!(
                "\n      {} imports {} from {}",
                from.display(),
                names.join(", "),
                to.display()
            ));
        }
    }
    text
}

fn lines(circle: &Circle) -> Vec<String> {
    circle.iter().map(|file| file.display().to_string()).collect()
}

#[cfg(test)]
mod tests;
