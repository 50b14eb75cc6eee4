//! Part of `cargo xtask limits`: types that newcomers meet have an example in their documentation.
//!
//! These are the public types of CKKS, the functions of comparisons, and what the preludes of `sunzi` name. The examples
//! run as tests of the documentation.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::tree;

/// File with the preludes.
const PRELUDE: &str = "crates/sunzi/src/prelude.rs";
/// Files and folders of which every public type needs an example, with the functions that need one too.
const WHOLE: [(&str, bool); 2] = [("crates/ckks/src", false), ("crates/circuits/src/comparison.rs", true)];

/// Lists the types without an example.
pub(crate) fn missing(root: &Path, files: &[PathBuf]) -> Result<Vec<String>, String> {
    if !files.iter().any(|file| file == Path::new(PRELUDE)) {
        return Ok(Vec::new());
    }
    let named = named(&tree::read(root, Path::new(PRELUDE))?);
    let mut found = Vec::new();
    for path in files.iter().filter(|path| tree::has_extension(path, &["rs"])) {
        let whole = WHOLE.iter().find(|(place, _)| path.starts_with(place));
        let own: Option<&str> = path.strip_prefix("crates").ok().and_then(|rest| rest.to_str());
        let Some((package, inside)) = own.and_then(|rest| rest.split_once('/')) else { continue };
        if !inside.starts_with("src/") {
            continue;
        }
        for (name, function, documented) in items(&tree::read(root, path)?) {
            let wanted = whole.is_some_and(|(_, functions)| *functions || !function)
                || !function && named.contains(&(package.to_owned(), name.clone()));
            if wanted && !documented {
                found.push(format!(
                    "{}: {name} has no example: show it in its documentation, with an assertion",
                    path.display()
                ));
            }
        }
    }
    Ok(found)
}

/// Returns the names that preludes take, with the folder of the crate that each may be from: what the exact schemes
/// re-export is from `encoding`.
fn named(prelude: &str) -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    for used in prelude.split("pub use sunzi_").skip(1) {
        let Some((path, _)) = used.split_once(';') else { continue };
        let Some((package, names)) = path.split_once("::") else { continue };
        let words = names.split(|c: char| !c.is_alphanumeric() && c != '_');
        for word in words.filter(|word| word.starts_with(char::is_uppercase)) {
            for place in [package, "encoding"] {
                found.insert((place.to_owned(), word.to_owned()));
            }
        }
    }
    found
}

/// Returns the public types and functions of a file: name, whether it is a function, and whether it has an example.
fn items(contents: &str) -> Vec<(String, bool, bool)> {
    const KINDS: [&str; 5] = ["struct ", "enum ", "type ", "trait ", "fn "];
    let mut found = Vec::new();
    let mut example = false;
    for line in contents.lines() {
        if let Some(doc) = line.strip_prefix("///") {
            example |= doc.trim_start().starts_with("```");
        } else if let Some(item) = line.strip_prefix("pub ") {
            for kind in KINDS {
                let Some(rest) = item.strip_prefix(kind) else { continue };
                let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or(rest);
                found.push((name.to_owned(), kind == "fn ", example));
            }
            example = false;
        } else if line.is_empty() || line == "}" {
            example = false;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_has_its_examples_and_one_that_is_gone_is_found() {
        let root = tree::root();
        let files = tree::files(&root).unwrap();
        assert_eq!(missing(&root, &files).unwrap(), Vec::<String>::new());
        let names = named(&tree::read(&root, Path::new(PRELUDE)).unwrap());
        for (package, name) in [("ckks", "Encoder"), ("encoding", "BatchEncoder"), ("rlwe", "SecretKey")] {
            assert!(names.contains(&(package.to_owned(), name.to_owned())), "{package} {name}");
        }
    }

    #[test]
    fn examples_are_found_above_attributes() {
        let text = "/// A.\n///\n/// ```\n/// ```\n#[derive(Debug)]\npub struct A;\n\n/// B.\npub enum B {}\n\npub fn c() {}\n";
        let expected = [("A", false, true), ("B", false, false), ("c", true, false)];
        let expected = expected.map(|(name, function, example)| (name.to_owned(), function, example));
        assert_eq!(items(text), expected);
    }
}
