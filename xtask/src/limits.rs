//! Task `cargo xtask limits`: checks limits on files that no lint checks.
//!
//! Function length is checked by clippy (`too_many_lines`); `cargo xtask limits` reads the files as text.

use std::path::{Path, PathBuf};

use crate::{examples, links, tree};

/// Largest length that a source file may have, in lines.
const LONGEST_FILE: usize = 500;
/// The only folder whose code may use `unsafe`.
const UNSAFE_FOLDER: &str = "crates/kernels";
/// Extensions of files with a length limit.
const SOURCES: [&str; 5] = ["rs", "py", "pyi", "sh", "ts"];
/// Extensions of files that must not name a path of somebody's machine.
const TEXTS: [&str; 10] = ["rs", "py", "pyi", "sh", "ts", "md", "toml", "bib", "json", "yml"];

/// Checks the limits of all files of the repository and returns a summary.
pub(crate) fn run() -> Result<String, String> {
    check(&tree::root()).map(|summary| format!("limits: {summary}"))
}

/// Checks the limits of every file below `root`.
pub(crate) fn check(root: &Path) -> Result<String, String> {
    let files = tree::files(root)?;
    let mut found = links::broken(root, &files)?;
    for path in &files {
        if tree::has_extension(path, &TEXTS) {
            found.extend(judge(path, &tree::read(root, path)?));
        }
    }
    found.extend(unguarded(root, &files)?);
    found.extend(examples::missing(root, &files)?);
    if found.is_empty() {
        return Ok(format!("{} files within the limits", files.len()));
    }
    Err(format!("broken limits, {} in all:\n  - {}", found.len(), found.join("\n  - ")))
}

/// Returns the limits that one file exceeds.
fn judge(path: &Path, contents: &str) -> Vec<String> {
    let name = path.display();
    let mut found = Vec::new();
    let lines = contents.lines().count();
    if tree::has_extension(path, &SOURCES) && lines > LONGEST_FILE {
        found.push(format!(
            "{name}: {lines} lines, the limit is {LONGEST_FILE}: split it where a reader would look for each part"
        ));
    }
    let rust = tree::has_extension(path, &["rs"]);
    for (index, line) in contents.lines().enumerate() {
        let number = index + 1;
        if rust && !path.starts_with(UNSAFE_FOLDER) && uses_unsafe(line) {
            found.push(format!(
                "{name}:{number}: `unsafe` outside {UNSAFE_FOLDER}: move the operation there behind a safe function"
            ));
        }
        if rust && ignores_without_reason(line) {
            found.push(format!(
                "{name}:{number}: an ignored test needs `#[ignore = \"long: ...\"]`, so that `cargo xtask test --long` owns it"
            ));
        }
        if let Some(place) = machine_path(line) {
            found.push(format!(
                "{name}:{number}: names {place}, a place on one machine: use a path relative to the repository"
            ));
        }
    }
    found
}

/// Lists crate roots outside the kernels that do not forbid unsafe code.
fn unguarded(root: &Path, files: &[PathBuf]) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    for path in files {
        let is_root = path.ends_with("src/lib.rs") || path.ends_with("src/main.rs");
        if !is_root || path.starts_with(UNSAFE_FOLDER) {
            continue;
        }
        if !tree::read(root, path)?.contains("#![forbid(unsafe_code)]") {
            found.push(format!(
                "{}: add `#![forbid(unsafe_code)]` after the crate's documentation",
                path.display()
            ));
        }
    }
    Ok(found)
}

/// Whether a line of Rust holds the keyword `unsafe` as code.
fn uses_unsafe(line: &str) -> bool {
    let line = line.replace("\\\"", "");
    let code = line.split("//").next().unwrap_or(&line);
    // Every second piece between quotation marks lies inside a string.
    code.split('"').step_by(2).any(|piece| {
        piece
            .split(|character: char| !character.is_alphanumeric() && character != '_')
            .any(|word| word == "unsafe")
    })
}

fn ignores_without_reason(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("#[ignore") && !line.starts_with("#[ignore = \"long: ")
}

/// Returns the beginning of an absolute path that exists on one machine only, if the line names one.
fn machine_path(line: &str) -> Option<&'static str> {
    const PLACES: [&str; 5] = [
        concat!("/", "home/"),
        concat!("/", "root/"),
        concat!("/", "Users/"),
        concat!("/", "work/"),
        concat!("C:", "\\Users"),
    ];
    PLACES.into_iter().find(|place| {
        line.match_indices(place).any(|(position, _)| {
            // Within a longer path or an address the match is part of another name.
            let before = line.get(..position).and_then(|text| text.chars().next_back());
            !before.is_some_and(|character| character.is_alphanumeric() || "._-}".contains(character))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(path: &str, contents: &str) -> Vec<String> {
        judge(Path::new(path), contents)
    }

    #[test]
    fn length_is_limited_for_sources_only() {
        let long = "x\n".repeat(LONGEST_FILE + 1);
        assert_eq!(judged("crates/a/src/b.rs", &long).len(), 1);
        assert!(judged("docs/a.md", &long).is_empty());
        assert!(judged("crates/a/src/b.rs", &"x\n".repeat(LONGEST_FILE)).is_empty());
    }

    #[test]
    fn unsafe_is_seen_in_code_only() {
        assert_eq!(judged("cli/src/a.rs", "let x = unsafe { y() };").len(), 1);
        assert!(judged("crates/kernels/src/a.rs", "unsafe fn f() {}").is_empty());
        assert!(judged("cli/src/a.rs", "#![forbid(unsafe_code)] // unsafe").is_empty());
        assert!(judged("cli/src/a.rs", "let x = \"unsafe\";").is_empty());
    }

    #[test]
    fn ignored_tests_say_that_they_are_long() {
        assert_eq!(judged("cli/src/a.rs", "    #[ignore]").len(), 1);
        assert_eq!(judged("cli/src/a.rs", "#[ignore = \"flaky\"]").len(), 1);
        assert!(judged("cli/src/a.rs", "#[ignore = \"long: 3 minutes\"]").is_empty());
    }

    #[test]
    fn machine_paths_are_seen_and_addresses_are_not() {
        let home = concat!("see /", "home/me/x");
        assert_eq!(judged("docs/a.md", home).len(), 1);
        assert!(judged("docs/a.md", concat!("https://a.org/", "home/x")).is_empty());
    }
}
