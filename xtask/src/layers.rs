//! Task `cargo xtask layers`: checks that a crate imports only from the layers below its own; siblings never.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::{step, tree};

/// Place of a package among the layers of crates.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Number of the layer of a package; imports go to smaller numbers only.
    Layer(u8),
    /// Leaf: a package that may import any layer, and is imported by nothing.
    Leaf,
}

/// Folder and place of every package, as the table of `ARCHITECTURE.md` has them. Packages of later
/// milestones are listed before they exist, so that they arrive in the right place.
const PLACES: [(&str, &str, Place); 26] = [
    ("sunzi-math", "crates/math", Place::Layer(0)),
    ("sunzi-kernels", "crates/kernels", Place::Layer(1)),
    ("sunzi-ring", "crates/ring", Place::Layer(2)),
    ("sunzi-fermat", "research/fermat", Place::Layer(3)),
    ("sunzi-univariate", "research/univariate", Place::Layer(3)),
    ("sunzi-big", "research/big", Place::Layer(3)),
    ("sunzi-rlwe", "crates/rlwe", Place::Layer(3)),
    ("sunzi-encoding", "crates/encoding", Place::Layer(2)),
    ("sunzi-bfv", "crates/bfv", Place::Layer(4)),
    ("sunzi-bgv", "crates/bgv", Place::Layer(4)),
    ("sunzi-ckks", "crates/ckks", Place::Layer(4)),
    ("sunzi-parties", "crates/parties", Place::Layer(4)),
    ("sunzi-circuits", "crates/circuits", Place::Layer(5)),
    ("sunzi-program", "crates/program", Place::Layer(6)),
    ("sunzi-table", "crates/table", Place::Layer(7)),
    ("sunzi", "crates/sunzi", Place::Layer(8)),
    ("sunzi-keystore", "crates/keystore", Place::Layer(4)),
    ("sunzi-oprf", "crates/oprf", Place::Layer(4)),
    ("sunzi-service", "crates/service", Place::Layer(8)),
    ("sunzi-cli", "cli", Place::Leaf),
    ("lab", "lab", Place::Leaf),
    ("sunzi-python", "python", Place::Leaf),
    ("sunzi-wasm", "crates/wasm", Place::Leaf),
    (TESTING, "testing", Place::Leaf),
    ("xtask", "xtask", Place::Leaf),
    ("sunzi-docs", "docs", Place::Leaf),
];

/// Name of the one leaf that tests of any crate may import.
const TESTING: &str = "sunzi-testing";

/// Folder of storages of residues for research and tests: tests of any crate may import them, those of the ring included.
const RESEARCH: &str = "research/";

/// Checks the layers of this workspace and returns a summary.
pub(crate) fn run() -> Result<String, String> {
    check(&tree::root()).map(|summary| format!("layers: {summary}"))
}

/// Checks the layers of the workspace at `root`.
pub(crate) fn check(root: &Path) -> Result<String, String> {
    let metadata = metadata(root, &["--no-deps"])?;
    let violations = violations(&metadata)?;
    if violations.is_empty() {
        let count = packages(&metadata)?.len();
        return Ok(format!("{count} packages import downwards only"));
    }
    Err(format!(
        "violations of the layer order, {} in all:\n  - {}",
        violations.len(),
        violations.join("\n  - ")
    ))
}

/// Returns `cargo metadata` as JSON.
pub(crate) fn metadata(root: &Path, options: &[&str]) -> Result<Value, String> {
    let output = Command::new(step::cargo())
        .args(["metadata", "--format-version", "1"])
        .args(options)
        .current_dir(root)
        .output()
        .map_err(|error| format!("cannot start cargo metadata: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("cargo metadata printed something else than JSON: {error}"))
}

pub(crate) fn packages(metadata: &Value) -> Result<&Vec<Value>, String> {
    metadata
        .get("packages")
        .and_then(Value::as_array)
        .ok_or_else(|| "cargo metadata names no packages".to_owned())
}

pub(crate) fn text<'a>(value: &'a Value, key: &str) -> Result<&'a str, String> {
    value.get(key).and_then(Value::as_str).ok_or_else(|| format!("cargo metadata lacks the field {key}"))
}

/// Returns one line for each import against the order of layers, with its remedy.
fn violations(metadata: &Value) -> Result<Vec<String>, String> {
    let workspace = Path::new(text(metadata, "workspace_root")?);
    let packages = packages(metadata)?;
    let mut members = Vec::with_capacity(packages.len());
    for package in packages {
        members.push(text(package, "name")?);
    }
    let mut found = Vec::new();
    for package in packages {
        let name = text(package, "name")?;
        let Some((folder, place)) = place_of(name) else {
            found
                .push(format!("{name} has no layer: give it one in xtask/src/layers.rs and ARCHITECTURE.md"));
            continue;
        };
        let manifest = Path::new(text(package, "manifest_path")?);
        if manifest != workspace.join(folder).join("Cargo.toml") {
            found.push(format!("{name} lies in {} instead of {folder}: move it", manifest.display()));
        }
        let dependencies = package
            .get("dependencies")
            .and_then(Value::as_array)
            .ok_or_else(|| format!("cargo metadata lists no dependencies of {name}"))?;
        for dependency in dependencies {
            let target = text(dependency, "name")?;
            if members.contains(&target) {
                let in_tests = dependency.get("kind").and_then(Value::as_str) == Some("dev");
                found.extend(judge(name, place, target, in_tests));
            }
        }
    }
    Ok(found)
}

fn place_of(name: &str) -> Option<(&'static str, Place)> {
    PLACES.iter().find(|(package, _, _)| *package == name).map(|(_, folder, place)| (*folder, *place))
}

/// Returns what is wrong with `importer` depending on `target`, `None` if nothing is.
fn judge(importer: &str, place: Place, target: &str, in_tests: bool) -> Option<String> {
    let (folder, target_place) = place_of(target)?;
    if in_tests && (target == TESTING || target == importer || folder.starts_with(RESEARCH)) {
        return None;
    }
    let kind = if in_tests { "dev-dependency" } else { "dependency" };
    match (place, target_place) {
        (Place::Leaf, Place::Layer(_)) => None,
        (_, Place::Leaf) => Some(format!(
            "{importer} has the {kind} {target}, a leaf, which nothing may import: move what it needs into a layer below"
        )),
        (Place::Layer(own), Place::Layer(other)) if other < own => None,
        (Place::Layer(own), Place::Layer(other)) if other == own => Some(format!(
            "{importer} (layer {own}) has the {kind} {target}, a sibling: move what both share into a layer below {own}"
        )),
        (Place::Layer(own), Place::Layer(other)) => Some(format!(
            "{importer} (layer {own}) has the {kind} {target} (layer {other}), which lies above it: move the shared part down, or the caller up"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn package(name: &str, folder: &str, dependencies: &[(&str, Option<&str>)]) -> Value {
        let dependencies: Vec<Value> =
            dependencies.iter().map(|(name, kind)| json!({ "name": name, "kind": kind })).collect();
        json!({
            "name": name,
            "manifest_path": format!("/x/{folder}/Cargo.toml"),
            "dependencies": dependencies,
        })
    }

    fn judged(packages: &[Value]) -> Vec<String> {
        violations(&json!({ "workspace_root": "/x", "packages": packages })).unwrap()
    }

    #[test]
    fn downward_imports_and_testing_in_tests_are_fine() {
        let found = judged(&[
            package("sunzi-math", "crates/math", &[("sunzi-testing", Some("dev"))]),
            package("sunzi-ring", "crates/ring", &[("sunzi-big", Some("dev"))]),
            package("sunzi-big", "research/big", &[("sunzi-ring", None)]),
            package("sunzi-kernels", "crates/kernels", &[("sunzi-math", None), ("serde", None)]),
            package("sunzi-testing", "testing", &[("sunzi-kernels", None)]),
            package("sunzi-cli", "cli", &[("sunzi-kernels", None), ("sunzi-math", Some("build"))]),
        ]);
        assert_eq!(found, Vec::<String>::new());
    }

    #[test]
    fn upward_sibling_and_leaf_imports_are_named() {
        let found = judged(&[
            package("sunzi-math", "crates/math", &[("sunzi-ring", Some("dev"))]),
            package("sunzi-ring", "crates/ring", &[("sunzi-testing", None)]),
            package("sunzi-rlwe", "crates/rlwe", &[("sunzi-big", None)]),
            package("sunzi-big", "research/big", &[]),
            package("sunzi-bfv", "crates/bfv", &[("sunzi-bgv", None)]),
            package("sunzi-bgv", "crates/bgv", &[("sunzi-cli", Some("dev"))]),
            package("sunzi-cli", "cli", &[("sunzi-testing", None)]),
            package("sunzi-testing", "testing", &[]),
        ]);
        let expected = ["lies above it", "a leaf", "a sibling", "a sibling", "a leaf", "a leaf"];
        assert_eq!(found.len(), expected.len(), "{found:#?}");
        for (line, part) in found.iter().zip(expected) {
            assert!(line.contains(part), "{found:#?}");
        }
    }

    #[test]
    fn unknown_packages_and_wrong_folders_are_named() {
        let found =
            judged(&[package("sunzi-new", "crates/new", &[]), package("sunzi-math", "crates/maths", &[])]);
        assert_eq!(found.len(), 2, "{found:#?}");
        assert!(found[0].contains("has no layer"), "{found:#?}");
        assert!(found[1].contains("instead of crates/math"), "{found:#?}");
    }

    #[test]
    fn damaged_metadata_is_an_error() {
        assert!(violations(&json!({})).is_err());
        assert!(violations(&json!({ "workspace_root": "/x", "packages": [{}] })).is_err());
    }
}
