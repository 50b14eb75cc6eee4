//! Task `cargo xtask package`: packages every crate as it would be published, and compiles each from its package alone.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use flate2::read::GzDecoder;
use serde_json::Value;

use crate::step::{self, cargo};
use crate::{layers, python, tree};

/// Most keywords of a package, and most letters of one: the registry refuses more.
const MOST_KEYWORDS: usize = 5;
const MOST_LETTERS: usize = 20;
/// Licences that every package has, those of the repository.
const LICENCES: [&str; 2] = ["LICENSE-MIT", "LICENSE-APACHE"];
/// Most bytes of one package: the largest has a fifth of them, so that a file that strayed in is noticed.
const MOST_BYTES: u64 = 1 << 20;

/// Options of `cargo xtask package`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Build every package, not only check that it compiles: minutes
    #[arg(long)]
    build: bool,
}

/// Packages the crates that are published, compiles them, and checks what their packages say and have.
pub(crate) fn run(arguments: &Arguments) -> Result<String, String> {
    let root = tree::root();
    let summary = packages(&root, if arguments.build { "build" } else { "check" })?;
    Ok(format!("package: {summary}"))
}

/// Compiles each package by a command of cargo, `check` or `build`, and returns a summary.
fn packages(root: &Path, command: &str) -> Result<String, String> {
    let metadata = layers::metadata(root, &["--locked", "--no-deps"])?;
    let all = metadata.get("packages").and_then(Value::as_array).ok_or("cargo metadata lists no packages")?;
    let (published, kept): (Vec<&Value>, Vec<&Value>) = all.iter().partition(|package| is_published(package));
    let mut found: Vec<String> = published.iter().flat_map(|package| faults(package)).collect();
    if found.is_empty() {
        pack(root, &kept)?;
        published.iter().try_for_each(|package| unpack(root, package))?;
        write_workspace(root, &published)?;
        for package in &published {
            compile(root, command, text(package, "name"))?;
        }
        found = published.iter().flat_map(|package| missing(root, package)).collect();
    }
    if !found.is_empty() {
        return Err(format!("faults of packages, {} in all:\n  - {}", found.len(), found.join("\n  - ")));
    }
    let bytes: u64 = published.iter().map(|package| size(root, package)).sum();
    let count = published.len();
    Ok(format!("{count} packages, {} KiB together; cargo {command} holds on each alone", bytes / 1024))
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

/// Packages all crates but those that are kept.
fn pack(root: &Path, kept: &[&Value]) -> Result<(), String> {
    let mut command = Command::new(cargo());
    // A tree with changes is packaged too: nothing is sent anywhere.
    command.args(["package", "--workspace", "--locked", "--allow-dirty", "--no-verify", "--quiet"]);
    for package in kept {
        command.args(["--exclude", text(package, "name")]);
    }
    python::run(command.env("CARGO_TARGET_DIR", folder(root)).current_dir(root))
}

/// Unpacks a package below the folder of packages.
fn unpack(root: &Path, package: &Value) -> Result<(), String> {
    let path = file(root, package);
    let report = |error| format!("{}: {error}", path.display());
    let unpacked = alone(root).join(stem(package));
    if unpacked.exists() {
        fs::remove_dir_all(&unpacked).map_err(report)?;
    }
    let mut archive = tar::Archive::new(GzDecoder::new(File::open(&path).map_err(report)?));
    // Files of packages bear one old time, by which cargo would take those of an earlier run for unchanged.
    archive.set_preserve_mtime(false);
    archive.unpack(alone(root)).map_err(report)
}

/// Writes the manifest of a workspace of unpacked packages, which takes each of them for the one of a registry. The workspace of this
/// repository lends its lock file and its profiles, nothing else.
fn write_workspace(root: &Path, packages: &[&Value]) -> Result<(), String> {
    let path = alone(root).join("Cargo.toml");
    let report = |error| format!("{}: {error}", path.display());
    let manifest = fs::read_to_string(root.join("Cargo.toml")).map_err(report)?;
    fs::write(&path, workspace(&manifest, packages)).map_err(report)?;
    fs::copy(root.join("Cargo.lock"), alone(root).join("Cargo.lock")).map_err(report)?;
    Ok(())
}

/// Returns the manifest of a workspace of packages, with the profiles of another manifest.
fn workspace(manifest: &str, packages: &[&Value]) -> String {
    let mut written = String::from("[workspace]\nresolver = \"3\"\nmembers = [\n");
    for package in packages {
        written.push_str(&format!("    \"{}\",\n", stem(package)));
    }
    written.push_str("]\n\n[patch.crates-io]\n");
    for package in packages {
        written.push_str(&format!("{} = {{ path = \"{}\" }}\n", text(package, "name"), stem(package)));
    }
    let profiles = manifest.split("\n[").filter(|table| table.starts_with("profile.dev"));
    written.extend(profiles.map(|table| format!("\n[{table}")));
    written
}

/// Compiles a package with its own features alone, by a command of cargo.
fn compile(root: &Path, command: &str, name: &str) -> Result<(), String> {
    let arguments = [command, "--quiet", "--package", name];
    step::announce(&format!("cargo {}", arguments.join(" ")));
    // What was compiled for the workspace of this repository is not compiled again.
    let target = tree::target(root);
    python::run(
        Command::new(cargo()).args(arguments).env("CARGO_TARGET_DIR", target).current_dir(alone(root)),
    )
}

/// Returns the folder that packages are unpacked in.
fn alone(root: &Path) -> PathBuf {
    folder(root).join("alone")
}

/// Returns the path of a package.
fn file(root: &Path, package: &Value) -> PathBuf {
    folder(root).join("package").join(format!("{}.crate", stem(package)))
}

fn folder(root: &Path) -> PathBuf {
    tree::target(root).join("packages")
}

/// Returns the name of a package with its version, as the registry names its file.
fn stem(package: &Value) -> String {
    format!("{}-{}", text(package, "name"), text(package, "version"))
}

/// Returns the bytes of a package, 0 for none.
fn size(root: &Path, package: &Value) -> u64 {
    file(root, package).metadata().map_or(0, |metadata| metadata.len())
}

/// Returns what a package lacks that was built, or has too much of.
fn missing(root: &Path, package: &Value) -> Vec<String> {
    let unpacked = alone(root).join(stem(package));
    let mut found = lacking(root, &unpacked, &stem(package));
    let bytes = size(root, package);
    if bytes == 0 || bytes > MOST_BYTES {
        found
            .push(format!("the package {} has {bytes} bytes: 1 to {MOST_BYTES} are expected", stem(package)));
    }
    found
}

/// Returns what the folder of a package lacks besides its sources. A link that became a file has the name of a licence alone.
fn lacking(root: &Path, unpacked: &Path, stem: &str) -> Vec<String> {
    let mut found = Vec::new();
    if !unpacked.join("README.md").is_file() {
        found.push(format!("the package {stem} has no README.md"));
    }
    for text in LICENCES {
        let (own, expected) = (fs::read(unpacked.join(text)), fs::read(root.join(text)));
        match (own, expected) {
            (Ok(own), Ok(expected)) if own == expected => {}
            (Ok(_), _) => found.push(format!("the package {stem} has another {text} than the repository")),
            (Err(_), _) => found.push(format!("the package {stem} has no {text}")),
        }
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

    #[test]
    fn a_licence_that_is_no_more_than_a_name_is_found() {
        let folder = tree::target(&tree::root()).join(format!("licences-{}", std::process::id()));
        let package = folder.join("a");
        fs::create_dir_all(&package).unwrap();
        let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
        LICENCES.iter().for_each(|name| write(name, "words"));
        write("a/README.md", "a");
        write("a/LICENSE-MIT", "words");
        write("a/LICENSE-APACHE", "../LICENSE-APACHE");
        let found = lacking(&folder, &package, "a-1.0.0");
        assert_eq!(found, ["the package a-1.0.0 has another LICENSE-APACHE than the repository"]);
        fs::remove_file(package.join("LICENSE-MIT")).unwrap();
        fs::remove_file(package.join("README.md")).unwrap();
        assert_eq!(lacking(&folder, &package, "a-1.0.0").len(), 3);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn packages_see_one_another_and_the_profiles() {
        let package = serde_json::json!({"name": "a", "version": "1.0.0"});
        let written = workspace(
            "[workspace]\n[profile.dev]\nopt-level = 1\n\n[profile.release]\nlto = \"off\"\n",
            &[&package],
        );
        for part in ["    \"a-1.0.0\",\n", "a = { path = \"a-1.0.0\" }", "[profile.dev]\nopt-level = 1\n"] {
            assert!(written.contains(part), "{written}");
        }
        assert!(!written.contains("profile.release"), "{written}");
    }
}
