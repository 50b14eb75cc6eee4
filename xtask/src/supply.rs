//! Task `cargo xtask supply`: checks the packages of others. Licences, sources and checksums of all packages of the lock file, without network and without
//! other tools; `--sbom FILE` writes them down (CycloneDX 1.5).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::{layers, tree};

/// Options of `cargo xtask supply`: where to write the bill of materials.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Write a software bill of materials to this file: CycloneDX 1.5, the same bytes for the same lock file
    #[arg(long)]
    sbom: Option<PathBuf>,
}

/// Checks the packages of others, and writes the bill of materials if requested.
pub(crate) fn run(arguments: &Arguments) -> Result<String, String> {
    let root = tree::root();
    if let Some(path) = &arguments.sbom {
        let bill = bill(&metadata(&root)?, &checksums(&tree::read(&root, Path::new("Cargo.lock"))?)?)?;
        let text = serde_json::to_string_pretty(&bill).map_err(|error| error.to_string())?;
        std::fs::write(path, text + "\n").map_err(|error| format!("{}: {error}", path.display()))?;
    }
    check(&root).map(|summary| format!("supply: {summary}"))
}

/// Fails for a package of an unknown source, without a checksum, or of a licence that deny.toml does not have.
pub(crate) fn check(root: &Path) -> Result<String, String> {
    let metadata = metadata(root)?;
    let allowed = allowed(&tree::read(root, Path::new("deny.toml"))?)?;
    let checksums = checksums(&tree::read(root, Path::new("Cargo.lock"))?)?;
    let (found, foreign) = violations(&metadata, &allowed, &checksums)?;
    if !found.is_empty() {
        return Err(format!(
            "packages that may not be used, {} in all:\n  - {}",
            found.len(),
            found.join("\n  - ")
        ));
    }
    let summary = format!(
        "{foreign} packages of others, all with a checksum, from one registry, under {} licences",
        allowed.len()
    );
    let deny = ["deny", "--offline", "check", "bans", "licenses", "sources"];
    match Command::new("cargo").args(["deny", "--version"]).output() {
        Ok(output) if output.status.success() => {
            let output = Command::new("cargo")
                .args(deny)
                .current_dir(root)
                .output()
                .map_err(|error| error.to_string())?;
            let said = String::from_utf8_lossy(&output.stderr);
            if output.status.success() {
                Ok(format!("{summary}; cargo deny agrees"))
            } else {
                Err(said.into_owned())
            }
        }
        _ => Ok(format!("{summary}; cargo deny is not installed")),
    }
}

/// Returns the metadata of all packages of the lock file.
fn metadata(root: &Path) -> Result<Value, String> {
    layers::metadata(root, &["--locked", "--all-features"])
}

/// Returns the licences of deny.toml, and "package: licence" for each exception.
fn allowed(text: &str) -> Result<Vec<String>, String> {
    let list = |head: &'static str| {
        text.lines().skip_while(move |line| *line != head).skip(1).take_while(|line| *line != "]")
    };
    let mut allowed: Vec<String> =
        list("allow = [").map(|line| line.trim().trim_matches([',', '"']).to_owned()).collect();
    for line in list("exceptions = [") {
        match line.split('"').collect::<Vec<_>>().as_slice() {
            [_, package, _, licence, _] => allowed.push(format!("{package}: {licence}")),
            _ => return Err(format!("deny.toml: an exception has one package and one licence: {line}")),
        }
    }
    if allowed.is_empty() {
        Err("deny.toml allows no licence: one in a line behind `allow = [`".to_owned())
    } else {
        Ok(allowed)
    }
}

/// Returns package checksums of the lock file by name and version; none for packages of this workspace.
fn checksums(lock: &str) -> Result<BTreeMap<(String, String), String>, String> {
    let mut found = BTreeMap::new();
    for package in lock.split("[[package]]").skip(1) {
        let field = |key: &str| {
            let value = package
                .lines()
                .find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"'));
            value.map(str::to_owned)
        };
        let (Some(name), Some(version)) = (field("name"), field("version")) else {
            return Err("Cargo.lock has a package without name or version".to_owned());
        };
        found.extend(field("checksum").map(|checksum| ((name, version), checksum)));
    }
    Ok(found)
}

/// Returns the packages against the rules of supply, and the number of packages of others.
fn violations(
    metadata: &Value,
    allowed: &[String],
    checksums: &BTreeMap<(String, String), String>,
) -> Result<(Vec<String>, usize), String> {
    let (mut found, mut foreign, mut first) = (Vec::new(), 0, None);
    for package in layers::packages(metadata)? {
        let (name, version) = (layers::text(package, "name")?, layers::text(package, "version")?);
        let licence = package.get("license").and_then(Value::as_str).unwrap_or_default();
        // The spelling of SPDX since version 3, which is all that cargo-deny accepts.
        let spelled = licence.strip_suffix('+').map(|licence| format!("{licence}-or-later"));
        let exception = format!("{name}: {}", spelled.as_deref().unwrap_or(licence));
        if !permitted(licence, allowed) && !allowed.contains(&exception) {
            found.push(format!(
                "{name} {version} has the licence {licence:?}, which deny.toml does not allow"
            ));
        }
        let Some(source) = package.get("source").and_then(Value::as_str) else { continue };
        foreign += 1;
        if !source.starts_with("registry+") || *first.get_or_insert(source) != source {
            found.push(format!(
                "{name} {version} comes from {source}: take it from the registry that all others come from"
            ));
        }
        if !checksums.contains_key(&(name.to_owned(), version.to_owned())) {
            found.push(format!("{name} {version} has no checksum in Cargo.lock"));
        }
    }
    Ok((found, foreign))
}

/// Whether a licence expression can be satisfied: `AND` before `OR`, a slash is an `OR`, parentheses one deep.
fn permitted(expression: &str, allowed: &[String]) -> bool {
    let mut flat = expression.replace('/', " OR ");
    while let Some((before, inner, behind)) = parenthesis(&flat) {
        // A parenthesis counts as one licence: the first one allowed, or one that is not.
        let inner =
            if permitted(inner, allowed) { allowed.first().map_or("", String::as_str) } else { "none" };
        flat = format!("{before}{inner}{behind}");
    }
    let one = |licence: &str| allowed.iter().any(|known| known == licence.trim());
    flat.split(" OR ").any(|all| all.split(" AND ").all(one))
}

/// Splits a licence expression at the first innermost pair of parentheses: the text before, inside and behind.
fn parenthesis(text: &str) -> Option<(&str, &str, &str)> {
    let (open, behind) = text.split_once(')')?;
    let (before, inner) = open.rsplit_once('(')?;
    Some((before, inner, behind))
}

/// Returns the software bill of materials: every package with its licence and checksum, and its dependencies.
fn bill(metadata: &Value, checksums: &BTreeMap<(String, String), String>) -> Result<Value, String> {
    let (mut references, mut components) = (BTreeMap::new(), Vec::new());
    for package in layers::packages(metadata)? {
        let (name, version) = (layers::text(package, "name")?, layers::text(package, "version")?);
        let reference = format!("pkg:cargo/{name}@{version}");
        references.insert(layers::text(package, "id")?, reference.clone());
        let mut component = json!({
            "type": "library", "bom-ref": reference, "purl": reference, "name": name, "version": version,
            "licenses": [{ "expression": package.get("license").and_then(Value::as_str).unwrap_or("NOASSERTION").replace('/', " OR ") }],
        });
        if let (Some(checksum), Some(fields)) =
            (checksums.get(&(name.to_owned(), version.to_owned())), component.as_object_mut())
        {
            fields.insert("hashes".to_owned(), json!([{ "alg": "SHA-256", "content": checksum }]));
        }
        components.push(component);
    }
    let nodes = metadata
        .pointer("/resolve/nodes")
        .and_then(Value::as_array)
        .ok_or("cargo metadata resolves nothing")?;
    let named = |id: &Value| id.as_str().and_then(|id| references.get(id)).cloned();
    let dependencies = nodes.iter().map(|node| {
        let on = node.get("dependencies").and_then(Value::as_array).into_iter().flatten();
        json!({ "ref": node.get("id").and_then(named), "dependsOn": on.filter_map(named).collect::<Vec<_>>() })
    });
    Ok(json!({
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": { "component": { "type": "application", "name": "sunzi", "version": env!("CARGO_PKG_VERSION") } },
        "dependencies": dependencies.collect::<Vec<_>>(), "components": components,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allow() -> Vec<String> {
        ["MIT", "Apache-2.0", "Unicode-3.0"].map(str::to_owned).to_vec()
    }

    #[test]
    fn licences_are_read_as_they_are_meant() {
        for fine in
            ["MIT", "MIT OR GPL-3.0", "GPL-3.0/MIT", "(GPL-3.0 OR MIT) AND Unicode-3.0", "MIT AND Apache-2.0"]
        {
            assert!(permitted(fine, &allow()), "{fine}");
        }
        for refused in [
            "",
            "GPL-3.0",
            "MIT AND GPL-3.0",
            "(GPL-3.0 OR AGPL-3.0) AND MIT",
            "(MIT OR GPL-3.0) AND GPL-2.0",
        ] {
            assert!(!permitted(refused, &allow()), "{refused}");
        }
    }

    #[test]
    fn other_sources_and_missing_checksums_are_found() {
        let package = |name: &str, source: Option<&str>, licence: &str| json!({ "id": name, "name": name, "version": "1.0.0", "source": source, "license": licence });
        let lock = "[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nchecksum = \"12\"\n\n[[package]]\nname = \"b\"\nversion = \"1.0.0\"\n";
        let checksums = checksums(lock).unwrap();
        let found = |packages: &[Value]| {
            violations(&json!({ "packages": packages }), &allow(), &checksums).unwrap().0
        };
        let own = package("own", None, "MIT");
        let a = package("a", Some("registry+x"), "MIT");
        assert!(found(&[own.clone(), a.clone()]).is_empty());
        assert_eq!(found(&[a.clone(), package("b", Some("registry+x"), "MIT")]).len(), 1);
        assert_eq!(found(&[a.clone(), package("a", Some("registry+y"), "MIT")]).len(), 1);
        assert_eq!(found(&[package("a", Some("git+x"), "GPL-3.0")]).len(), 2);
        let text =
            "allow = [\n    \"MIT\",\n]\nexceptions = [\n    { crate = \"a\", allow = [\"GPL-3.0\"] },\n]\n";
        let allowed = allowed(text).unwrap();
        for (name, wrong) in [("a", 0), ("own", 1)] {
            let packages = json!({ "packages": [package(name, None, "GPL-3.0")] });
            assert_eq!(violations(&packages, &allowed, &checksums).unwrap().0.len(), wrong);
        }
        let later = ["a: LGPL-3.0-or-later".to_owned()];
        let packages = json!({ "packages": [package("a", None, "LGPL-3.0+")] });
        assert!(violations(&packages, &later, &checksums).unwrap().0.is_empty());
        let metadata =
            json!({ "packages": [own, a], "resolve": { "nodes": [{ "id": "own", "dependencies": ["a"] }] } });
        let bill = bill(&metadata, &checksums).unwrap();
        assert_eq!(bill.pointer("/components/1/hashes/0/content"), Some(&json!("12")));
        assert_eq!(bill.pointer("/dependencies/0/dependsOn/0"), Some(&json!("pkg:cargo/a@1.0.0")));
    }
}
