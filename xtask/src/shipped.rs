//! Task `cargo xtask shipped`: checks the features and packages of what users build. Cargo joins the features that any dependency requests, so that one crate
//! among them enables one for all. The laboratory is no part of what users build.

use std::path::Path;
use std::process::Command;

use crate::step;

/// Packages that users build, each of which is checked.
const SHIPPED: [&str; 3] = ["sunzi-cli", "sunzi-python", "sunzi"];
/// Features that no shipped package may have: measurements by the secret key, counts and paths of all
/// operations, marks for memory checkers.
const FORBIDDEN: [&str; 4] = ["danger", "tally", "memcheck", "paths"];
/// Packages that are linked with no shipped one: the laboratory, and the storages of `research/`, which users
/// ask for by a feature.
const LABORATORY: [&str; 4] = ["lab", "sunzi-big", "sunzi-fermat", "sunzi-univariate"];

/// Fails if a crate of the workspace has a forbidden feature in a shipped package, or if the laboratory is linked with one.
pub(crate) fn check(root: &Path) -> Result<String, String> {
    let mut found = Vec::new();
    for package in SHIPPED {
        let tree = tree(root, package)?;
        found.extend(forbidden(&tree)?.into_iter().map(|line| format!("{package} builds {line}")));
    }
    if found.is_empty() {
        let [shipped, forbidden, laboratory] =
            [&SHIPPED[..], &FORBIDDEN, &LABORATORY].map(|names| names.join(", "));
        return Ok(format!("{shipped} have none of {forbidden}, and none of {laboratory}"));
    }
    Err(format!(
        "features and packages that no user should get: ask for them in tests only\n  - {}",
        found.join("\n  - ")
    ))
}

/// Returns every package that is built into `package`, with its features in brackets.
fn tree(root: &Path, package: &str) -> Result<String, String> {
    let output = Command::new(step::cargo())
        .args(["tree", "--locked", "-p", package, "-e", "normal", "--prefix", "none", "-f", "{p} [{f}]"])
        .current_dir(root)
        .output()
        .map_err(|error| format!("cannot start cargo tree: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns the lines of this workspace's packages with a forbidden feature, and those of the laboratory.
fn forbidden(tree: &str) -> Result<Vec<String>, String> {
    let is_laboratory = |line: &str| line.split(' ').next().is_some_and(|name| LABORATORY.contains(&name));
    let own = |line: &&str| line.starts_with("sunzi") || is_laboratory(line);
    let mut found: Vec<String> = Vec::new();
    let mut packages = 0;
    for line in tree.lines().filter(own) {
        packages += 1;
        let (_, features) = line.rsplit_once('[').ok_or_else(|| format!("cargo tree prints {line:?}"))?;
        let features = features.trim_end_matches(" (*)").trim_end_matches(']');
        let bad = is_laboratory(line) || features.split(',').any(|feature| FORBIDDEN.contains(&feature));
        if bad && found.iter().all(|known| !line.starts_with(known.as_str())) {
            found.push(line.to_owned());
        }
    }
    if packages == 0 { Err("cargo tree names no package of this workspace".to_owned()) } else { Ok(found) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_users_build_opens_no_door() {
        check(&crate::tree::root()).unwrap();
    }

    #[test]
    fn a_door_is_found_wherever_it_is() {
        let tree = "sunzi-cli v0.1.0 (/x) []\nsunzi-bfv v0.1.0 (/x) [danger,default]\nserde v1.0.0 [danger]\n\
                    sunzi-kernels v0.1.0 (/x) [tally] (*)\n";
        assert_eq!(forbidden(tree).unwrap().len(), 2);
        assert_eq!(forbidden("sunzi v0.1.0 [parquet]\n").unwrap().len(), 0);
        let linked = "sunzi-cli v0.1.0 (/x) []\nlab v0.1.0 (/x/lab) []\nlabels v1.0.0 [danger]\nlab v0.1.0 (/x/lab) [] (*)\n";
        assert_eq!(forbidden(linked).unwrap(), ["lab v0.1.0 (/x/lab) []"]);
        assert!(forbidden("serde v1.0.0 []\n").is_err());
    }
}
