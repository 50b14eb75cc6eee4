//! Links of Markdown documents: they name only files and headings that exist, as links and as paths in code spans.

use std::collections::BTreeSet;
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
            for (target, place) in links(line) {
                let to = if target.is_empty() { root.join(path) } else { folder.join(target) };
                let problem = match place {
                    _ if !to.exists() => "leads nowhere",
                    Some(place) if tree::has_extension(&to, &["md"]) && !places(&to)?.contains(place) => {
                        "names no heading of it"
                    }
                    _ => continue,
                };
                let place = place.map_or(String::new(), |place| format!("#{place}"));
                let (name, line) = (path.display(), index + 1);
                found.push(format!("{name}:{line}: the link to {target}{place} {problem}"));
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

/// Yields targets of Markdown links `[text](target#place)` that stay inside the repository, with their places.
fn links(line: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    line.split("](").skip(1).filter_map(|rest| {
        let link = rest.split([')', ' ']).next()?;
        let outside = link.contains("://") || link.starts_with("mailto:");
        let (target, place) =
            link.split_once('#').map_or((link, None), |(target, place)| (target, Some(place)));
        (!link.is_empty() && !outside).then_some((target, place))
    })
}

/// Returns the places of a Markdown file that links may name: its headings, in small letters and with hyphens.
fn places(path: &Path) -> Result<BTreeSet<String>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let (mut code, mut found) = (false, BTreeSet::new());
    for line in text.lines() {
        code ^= line.starts_with("```");
        let heading = line.trim_start_matches('#');
        if code || heading.len() == line.len() || !heading.starts_with(' ') {
            continue;
        }
        let place = place_of(heading.trim());
        let again = (1..).map(|number| format!("{place}-{number}"));
        let free = std::iter::once(place.clone()).chain(again).find(|place| !found.contains(place));
        found.extend(free);
    }
    Ok(found)
}

/// Returns the place that a heading gets: letters, digits, `-` and `_`, hyphens for blanks.
fn place_of(heading: &str) -> String {
    let sign = |c: char| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
        _ => None,
    };
    heading.to_lowercase().chars().filter_map(sign).collect()
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
        assert_eq!(links(line).collect::<Vec<_>>(), [("docs/a.md", Some("part"))]);
        assert_eq!(code_paths(line).collect::<Vec<_>>(), ["crates/x/src/y.rs"]);
    }

    #[test]
    fn headings_are_places() {
        assert_eq!(place_of("8. Real numbers"), "8-real-numbers");
        assert_eq!(place_of("What `sum(x)` is, and why"), "what-sumx-is-and-why");
        let folder = tree::target(&tree::root()).join("test-links");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(
            folder.join("a.md"),
            "# One\n\n```\n# not one\n```\n\n## Two\n\n## Two\n[x](#two-1) [y](#three)",
        )
        .unwrap();
        let told = broken(&folder, &[Path::new("a.md")]).unwrap();
        assert_eq!(told, ["a.md:10: the link to #three names no heading of it"]);
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn reports_what_is_missing() {
        let root = tree::root();
        let readme = Path::new("README.md");
        assert!(broken(&root, &[readme]).unwrap().is_empty());
        assert!(broken(&root, &[Path::new("no-such.md")]).is_err());
    }
}
