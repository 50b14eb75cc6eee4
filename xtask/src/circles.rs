//! Task `cargo xtask circles`: files that import one another in a circle, which nobody can read one after the
//! other.
//!
//! Circles are found by reading the files as text: imports, and paths in code. Names are followed through
//! re-exports to the file that defines them; modules of tests do not count. A module may share names both
//! ways with the files of its own folder.

mod components;
mod imports;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::tree;

/// Imports between files: the names that tie one file to another, by both files.
type Arrows = BTreeMap<(PathBuf, PathBuf), BTreeSet<String>>;
/// A circle of imports: files that all reach one another.
type Circle = BTreeSet<PathBuf>;

/// Folders of crates, and folders of such folders.
const CRATES: [&str; 7] = ["crates/*", "research/*", "cli", "lab", "python", "testing", "xtask"];
/// File of the import circles that are allowed, and why.
const ALLOWED: &str = "xtask/circles.txt";

/// Fails on import circles that the list does not allow, and on files of the list that are in no circle any more.
pub(crate) fn check(root: &Path) -> Result<String, String> {
    let arrows = arrows(root)?;
    let found = components::circles(&arrows);
    let allowed = allowed(&tree::read(root, Path::new(ALLOWED))?)?;
    let mut wrong = Vec::new();
    for circle in found.iter().filter(|circle| allowed.iter().all(|entry| !entry.is_superset(circle))) {
        wrong.push(describe(circle, &arrows));
    }
    for entry in &allowed {
        let left: Circle =
            found.iter().filter(|circle| entry.is_superset(circle)).flatten().cloned().collect();
        for file in entry.difference(&left) {
            wrong.push(format!(
                "{} is in no allowed circle any more: remove it from {ALLOWED}",
                file.display()
            ));
        }
    }
    if wrong.is_empty() {
        let (imports, circles) = (arrows.len(), found.len());
        return Ok(format!("{imports} imports between files, {circles} allowed circles and no other"));
    }
    Err(format!(
        "matters of circles between files, {} in all:\n  - {}\n\
         To end a circle, move what both sides need into a file of its own, or the name that points back up to the file that uses it.",
        wrong.len(),
        wrong.join("\n  - ")
    ))
}

/// Imports between files of every crate below `root`.
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

/// The allowed circles of the list: paragraphs of paths, each with a reason.
fn allowed(list: &str) -> Result<Vec<Circle>, String> {
    let mut circles = Vec::new();
    for paragraph in list.trim().split("\n\n").filter(|text| !text.is_empty() && !text.starts_with('#')) {
        match paragraph.rsplit_once("\nreason: ") {
            Some((files, _)) => circles.push(files.lines().map(PathBuf::from).collect()),
            None => {
                return Err(format!(
                    "{ALLOWED}: files and a line `reason: ...` are wanted, not\n{paragraph}"
                ));
            }
        }
    }
    Ok(circles)
}

/// The folder of the files of a module's submodules.
fn folder(module: &Path) -> PathBuf {
    let whole = ["lib.rs", "main.rs", "mod.rs"].iter().any(|name| module.ends_with(name));
    if whole { module.with_file_name("") } else { module.with_extension("") }
}

/// Text about a circle: its files and the names that each import brings.
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

#[cfg(test)]
mod tests;
