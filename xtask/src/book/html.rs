//! Links of the built book: files, places in pages, and paths of the repository that they name.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use super::outside;
use crate::tree;

/// Pages whose links are relative to where the book is published.
const ABSOLUTE: [&str; 1] = ["404.html"];

/// Checks every link of the HTML in a folder and returns how many there are.
pub(crate) fn check(root: &Path, folder: &Path) -> Result<usize, String> {
    let mut pages = BTreeMap::new();
    for path in tree::files(folder)? {
        if tree::has_extension(&path, &["html"]) && !ABSOLUTE.iter().any(|name| path == Path::new(name)) {
            let text = tree::read(folder, &path)?;
            pages.insert(path, text);
        }
    }
    if pages.is_empty() {
        return Err(format!("there is no page in {}", folder.display()));
    }
    let places: BTreeMap<&Path, BTreeSet<String>> = pages
        .iter()
        .map(|(path, text)| (path.as_path(), attributes(text, &["id", "name"]).collect()))
        .collect();
    let repository = outside::repository(root)?;
    let (mut found, mut count) = (Vec::new(), 0);
    for (path, text) in &pages {
        for link in attributes(text, &["href", "src"]) {
            count += 1;
            if let Some(problem) = problem(&link, path, folder, root, &repository, &places) {
                found.push(format!("{}: the link to {link} {problem}", path.display()));
            }
        }
    }
    found.sort();
    found.dedup();
    if found.is_empty() { Ok(count) } else { Err(format!("broken links:\n  - {}", found.join("\n  - "))) }
}

/// Returns what is wrong with a link of a page.
fn problem(
    link: &str,
    page: &Path,
    folder: &Path,
    root: &Path,
    repository: &str,
    places: &BTreeMap<&Path, BTreeSet<String>>,
) -> Option<&'static str> {
    if let Some(path) = outside::path_of(link, repository) {
        let path = path.split('#').next().unwrap_or_default();
        return (!root.join(path).exists()).then_some("names no file of the repository");
    }
    if link.contains(':') {
        let known = ["https://", "mailto:", "data:"].iter().any(|begin| link.starts_with(begin));
        return (!known).then_some("is of no kind that the book has");
    }
    let (target, place) = link.split_once('#').unwrap_or((link, ""));
    let target = target.split('?').next().unwrap_or_default();
    let path = if target.is_empty() { page.to_path_buf() } else { beside(page, target)? };
    if !folder.join(&path).exists() {
        return Some("leads nowhere");
    }
    let known = places.get(path.as_path()).is_none_or(|places| place.is_empty() || places.contains(place));
    (!known).then_some("names no place of that page")
}

/// Returns the path of a target beside a page, without steps upwards.
fn beside(page: &Path, target: &str) -> Option<PathBuf> {
    let mut path = page.parent().unwrap_or(Path::new("")).to_path_buf();
    for part in Path::new(target).components() {
        match part {
            Component::ParentDir => path.pop().then_some(())?,
            Component::Normal(name) => path.push(name),
            _ => {}
        }
    }
    Some(path)
}

/// Yields the values of attributes in the tags of a page, with the characters that HTML escapes.
fn attributes<'a>(text: &'a str, names: &'a [&'a str]) -> impl Iterator<Item = String> + 'a {
    let tags = text.split('<').skip(1).map(|rest| rest.split('>').next().unwrap_or_default());
    tags.flat_map(|tag| {
        names.iter().filter_map(move |name| {
            let begin = format!(" {name}=\"");
            let value = tag.split_once(&begin)?.1.split('"').next()?;
            Some(value.replace("&amp;", "&").replace("&#x27;", "'"))
        })
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn links_and_places_are_found_and_checked() {
        let folder = tree::target(&tree::root()).join("test-book-links");
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("inner")).unwrap();
        let root = tree::root();
        let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
        write("inner/b.html", "<p id=\"here\"></p><a class=\"x\" href=\"../a.html\">back</a>");
        write("a.html", "<a href=\"inner/b.html#here\">b</a> <a href=\"https://c.org/x\">c</a>");
        assert_eq!(check(&root, &folder), Ok(3));
        let repository = outside::repository(&root).unwrap();
        for (link, part) in [
            ("inner/b.html#there".to_owned(), "no place"),
            ("gone.html".to_owned(), "nowhere"),
            ("javascript:x".to_owned(), "no kind"),
            (format!("{repository}/blob/main/no/such.rs"), "no file of the repository"),
        ] {
            write("a.html", &format!("<a href=\"{link}\">x</a>"));
            let told = check(&root, &folder).unwrap_err();
            assert!(told.contains(part) && told.contains(&link), "{told}");
        }
        write("a.html", &format!("<a href=\"{repository}/blob/main/README.md#x\">x</a>"));
        assert_eq!(check(&root, &folder), Ok(2));
        fs::remove_dir_all(&folder).unwrap();
        assert!(check(&root, &folder).is_err());
    }
}
