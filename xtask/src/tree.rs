//! Files and folders of the repository, as tasks list and read them.

use std::fs;
use std::path::{Path, PathBuf};

/// Folders of the repository that hold no source of Sunzi.
const SKIPPED: [&str; 6] = ["target", ".git", "__pycache__", ".venv", "node_modules", "build"];

/// Returns the repository root: the folder above this crate's manifest.
pub(crate) fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_path_buf()
}

/// Returns the folder where cargo builds, as an absolute path.
pub(crate) fn target(root: &Path) -> PathBuf {
    root.join(std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from))
}

/// Environment variable by which tests find the file of figures.
pub(crate) const FIGURES: &str = "SUNZI_FIGURES";

/// Returns the file in which the tests' figures of a run are collected.
pub(crate) fn figures_file(root: &Path) -> PathBuf {
    target(root).join("figures.jsonl")
}

/// Lists every file below `root` outside build outputs, relative to it, in a fixed order.
pub(crate) fn files(root: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    let mut pending = vec![root.to_path_buf()];
    while let Some(folder) = pending.pop() {
        let entries =
            fs::read_dir(&folder).map_err(|error| format!("cannot list {}: {error}", folder.display()))?;
        for entry in entries {
            let entry = entry.map_err(|error| error.to_string())?;
            let path = entry.path();
            let name = entry.file_name();
            let kind = entry.file_type().map_err(|error| error.to_string())?;
            if kind.is_dir() {
                if !SKIPPED.iter().any(|skipped| name == *skipped) {
                    pending.push(path);
                }
            } else if kind.is_file() {
                found.push(path.strip_prefix(root).unwrap_or(&path).to_path_buf());
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Returns the folders in a folder below `root`, relative to `root`, in order.
pub(crate) fn folders(root: &Path, above: &Path) -> Result<Vec<PathBuf>, String> {
    let why = |error| format!("cannot list {}: {error}", above.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(root.join(above)).map_err(why)? {
        let entry = entry.map_err(why)?;
        if entry.path().is_dir() {
            found.push(above.join(entry.file_name()));
        }
    }
    found.sort();
    Ok(found)
}

/// Whether a path ends in one of these extensions.
pub(crate) fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    path.extension()
        .and_then(|extension| extension.to_str())
        .is_some_and(|extension| extensions.contains(&extension))
}

/// Reads a text file of the repository below `root`.
pub(crate) fn read(root: &Path, path: &Path) -> Result<String, String> {
    fs::read_to_string(root.join(path)).map_err(|error| format!("cannot read {}: {error}", path.display()))
}
