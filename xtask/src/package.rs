//! Task `cargo xtask package`: packages every crate as it would be published, and builds each from its package alone.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::step::cargo;
use crate::{layers, tree};

/// Most keywords of a package, and most letters of one: the registry refuses more.
const MOST_KEYWORDS: usize = 5;
const MOST_LETTERS: usize = 20;
/// Files that every package has besides its sources.
const TEXTS: [&str; 3] = ["README.md", "LICENSE-MIT", "LICENSE-APACHE"];
/// Most bytes of one package: the largest has a fifth of them, so that a file that strayed in is noticed.
const MOST_BYTES: u64 = 1 << 20;

/// Packages the crates that are published, builds them, and checks what their packages say and have.
pub(crate) fn check(root: &Path) -> Result<String, String> {
    let metadata = layers::metadata(root, &["--locked", "--no-deps"])?;
    let all = metadata.get("packages").and_then(Value::as_array).ok_or("cargo metadata lists no packages")?;
    let (published, kept): (Vec<&Value>, Vec<&Value>) = all.iter().partition(|package| is_published(package));
    let mut found: Vec<String> = published.iter().flat_map(|package| faults(package)).collect();
    if found.is_empty() {
        build(root, &kept)?;
        found = published.iter().flat_map(|package| missing(root, package)).collect();
    }
    if !found.is_empty() {
        return Err(format!("faults of packages, {} in all:\n  - {}", found.len(), found.join("\n  - ")));
    }
    let bytes: u64 = published.iter().map(|package| size(root, package)).sum();
    Ok(format!("{} packages, {} KiB together, each built alone", published.len(), bytes / 1024))
}

/// Whether a package may go to a registry: `publish = false` is an empty list of registries.
fn is_published(package: &Value) -> bool {
    package.get("publish").and_then(Value::as_array).is_none_or(|registries| !registries.is_empty())
}

fn text<'a>(package: &'a Value, field: &str) -> &'a str {
    package.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// Returns what the manifest of a published package lacks.
fn faults(package: &Value) -> Vec<String> {
    let name = text(package, "name");
    let mut found = Vec::new();
    for field in ["description", "license", "repository", "readme", "rust_version"] {
        if text(package, field).is_empty() {
            found.push(format!("{name} has no {field}"));
        }
    }
    let list = |field: &str| package.get(field).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let keywords = list("keywords");
    if keywords.is_empty() || keywords.len() > MOST_KEYWORDS {
        found.push(format!("{name} has {} keywords: 1 to {MOST_KEYWORDS} are allowed", keywords.len()));
    }
    for long in keywords.iter().filter_map(Value::as_str).filter(|word| word.len() > MOST_LETTERS) {
        found.push(format!("{name}: the keyword {long} has more than {MOST_LETTERS} letters"));
    }
    if list("categories").is_empty() {
        found.push(format!("{name} has no category"));
    }
    found
}

/// Packages all crates but those that are kept, and builds each from its package in one folder for all.
fn build(root: &Path, kept: &[&Value]) -> Result<(), String> {
    let mut command = Command::new(cargo());
    // A tree with changes is packaged too: nothing is sent anywhere.
    command.args(["package", "--workspace", "--locked", "--allow-dirty", "--quiet"]).current_dir(root);
    for package in kept {
        command.args(["--exclude", text(package, "name")]);
    }
    let status = command
        .env("CARGO_TARGET_DIR", folder(root))
        .status()
        .map_err(|error| format!("cannot start cargo: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} ended with {status}")) }
}

fn folder(root: &Path) -> std::path::PathBuf {
    tree::target(root).join("packages")
}

/// Returns the name of a package with its version, as the registry names its file.
fn stem(package: &Value) -> String {
    format!("{}-{}", text(package, "name"), text(package, "version"))
}

/// Returns the bytes of a package, 0 for none.
fn size(root: &Path, package: &Value) -> u64 {
    let path = folder(root).join("package").join(format!("{}.crate", stem(package)));
    path.metadata().map_or(0, |metadata| metadata.len())
}

/// Returns what a package lacks that was built, or has too much of.
fn missing(root: &Path, package: &Value) -> Vec<String> {
    let unpacked = folder(root).join("package").join(stem(package));
    let mut found: Vec<String> = TEXTS
        .iter()
        .filter(|text| !unpacked.join(text).is_file())
        .map(|text| format!("the package {} has no {text}", stem(package)))
        .collect();
    let bytes = size(root, package);
    if bytes == 0 || bytes > MOST_BYTES {
        found
            .push(format!("the package {} has {bytes} bytes: 1 to {MOST_BYTES} are expected", stem(package)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_without_words_is_named() {
        let bare = serde_json::json!({"name": "a", "version": "1.0.0", "publish": null, "keywords": ["x".repeat(21)]});
        let found = faults(&bare).join("; ");
        for part in ["a has no description", "a has no readme", "more than 20 letters", "a has no category"] {
            assert!(found.contains(part), "{found}");
        }
        assert!(is_published(&bare));
        assert!(!is_published(&serde_json::json!({"publish": []})));
        assert_eq!(stem(&bare), "a-1.0.0");
    }
}
