//! Links of Markdown documents: they name only files that exist, as links and as paths in code spans.

use std::path::Path;

use crate::tree;

/// First components of a code span that make it a path of this repository.
const TOPS: [&str; 10] =
    ["crates/", "cli/", "testing/", "xtask/", "docs/", "peers/", "python/", "examples/", "research/", ".ci/"];

/// Returns one line for each path in a Markdown file that does not exist.
pub(crate) fn broken(root: &Path, files: &[impl AsRef<Path>]) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    for path in files.iter().map(AsRef::as_ref) {
        if !tree::has_extension(path, &["md"]) {
            continue;
        }
        let contents = tree::read(root, path)?;
        let folder = root.join(path.parent().unwrap_or(Path::new("")));
        for (index, line) in contents.lines().enumerate() {
            for target in links(line) {
                if !folder.join(target).exists() {
                    found.push(format!(
                        "{}:{}: the link to {target} leads nowhere",
                        path.display(),
                        index + 1
                    ));
                }
            }
            for target in code_paths(line) {
                if !root.join(target).exists() {
                    found.push(format!("{}:{}: {target} does not exist", path.display(), index + 1));
                }
            }
        }
    }
    Ok(found)
}

/// Yields targets of Markdown links `[text](target)` that stay inside the repository.
fn links(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| {
        let target = rest.split([')', '#', ' ']).next()?;
        let outside = target.contains("://") || target.starts_with("mailto:");
        (!target.is_empty() && !outside).then_some(target)
    })
}

/// Yields code spans of a Markdown line that are plain paths: no spaces, patterns or braces.
fn code_paths(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2).filter(|span| {
        TOPS.iter().any(|top| span.starts_with(top)) && !span.contains([' ', '*', '{', '<', '…', ','])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_links_and_code_paths() {
        let line =
            "See [a](docs/a.md#part), [b](https://b.org/c), `crates/x/src/y.rs`, `crates/*` and `let x`.";
        assert_eq!(links(line).collect::<Vec<_>>(), ["docs/a.md"]);
        assert_eq!(code_paths(line).collect::<Vec<_>>(), ["crates/x/src/y.rs"]);
    }

    #[test]
    fn reports_what_is_missing() {
        let root = tree::root();
        let readme = Path::new("README.md");
        assert!(broken(&root, &[readme]).unwrap().is_empty());
        assert!(broken(&root, &[Path::new("no-such.md")]).is_err());
    }
}
