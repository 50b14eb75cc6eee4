//! Links that leave the book: a preprocessor of mdBook turns them into links to the repository.

use std::io::Read;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use crate::tree;

/// Folder of the book's chapters.
const BOOK: &str = "docs/book";
/// Branch whose files the book refers to.
const BRANCH: &str = "main";

/// Reads a book from standard input as mdBook writes it, and returns it with other links.
pub(crate) fn preprocess(root: &Path) -> Result<String, String> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).map_err(|error| format!("cannot read the book: {error}"))?;
    let parts: Value =
        serde_json::from_str(&text).map_err(|error| format!("mdBook sent no book: {error}"))?;
    let Value::Array(mut parts) = parts else { return Err("mdBook sent no context with a book".to_owned()) };
    let Some(mut book) = parts.pop() else { return Err("mdBook sent no book".to_owned()) };
    chapters(&mut book, root, &repository(root)?);
    Ok(book.to_string())
}

/// Returns the address of the repository, as the workspace states it.
pub(crate) fn repository(root: &Path) -> Result<String, String> {
    let manifest = tree::read(root, Path::new("Cargo.toml"))?;
    let line = manifest.lines().find_map(|line| line.strip_prefix("repository = "));
    line.map(|address| address.trim_matches('"').to_owned())
        .ok_or("Cargo.toml names no repository".to_owned())
}

/// Changes the links of all chapters in a value.
fn chapters(value: &mut Value, root: &Path, repository: &str) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(|value| chapters(value, root, repository)),
        Value::Object(fields) => {
            let path = fields.get("path").and_then(Value::as_str).map(PathBuf::from);
            if let Some(Value::String(content)) = fields.get_mut("content") {
                let folder =
                    Path::new(BOOK).join(path.as_deref().and_then(Path::parent).unwrap_or(Path::new("")));
                *content = rewritten(content, &folder, root, repository);
            }
            fields.values_mut().for_each(|value| chapters(value, root, repository));
        }
        _ => {}
    }
}

/// Returns the text of a chapter in `folder` with links that leave the book turned into links to the repository.
fn rewritten(content: &str, folder: &Path, root: &Path, repository: &str) -> String {
    let mut code = false;
    let line = |line: &str| {
        code ^= line.trim_start().starts_with("```");
        if code { line.to_owned() } else { in_line(line, folder, root, repository) }
    };
    content.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

fn in_line(line: &str, folder: &Path, root: &Path, repository: &str) -> String {
    let mut parts = line.split("](");
    let mut changed = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        changed.push_str("](");
        let end = part.find([')', '#', ' ']).unwrap_or(part.len());
        let (target, rest) = part.split_at(end);
        match address(target, folder, root, repository) {
            Some(address) => changed.push_str(&address),
            None => changed.push_str(target),
        }
        changed.push_str(rest);
    }
    changed
}

/// Returns the address in the repository of a target outside of the book.
fn address(target: &str, folder: &Path, root: &Path, repository: &str) -> Option<String> {
    if target.is_empty() || target.contains(':') {
        return None;
    }
    let path = normal(&folder.join(target))?;
    if path.starts_with(BOOK) {
        return None;
    }
    let kind = if root.join(&path).is_dir() { "tree" } else { "blob" };
    let path: Vec<_> = path.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    Some(format!("{repository}/{kind}/{BRANCH}/{}", path.join("/")))
}

/// Returns a path without steps upwards; `None` for one that leaves the repository.
fn normal(path: &Path) -> Option<PathBuf> {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => normal.pop().then_some(())?,
            Component::Normal(name) => normal.push(name),
            _ => {}
        }
    }
    Some(normal)
}

/// Returns the path in the repository that an address names.
pub(crate) fn path_of<'a>(address: &'a str, repository: &str) -> Option<&'a str> {
    let rest = address.strip_prefix(repository)?;
    ["blob", "tree"].iter().find_map(|kind| rest.strip_prefix(&format!("/{kind}/{BRANCH}/")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_links_out_of_the_book_change() {
        let root = tree::root();
        let text = "[a](../../README.md#x) [b](quick-start.md) [c](https://d.org) ![e](plots/slots.svg)\n\
                    ```\n[f](../../README.md)\n```\n[g](../papers/README.md), [h](../../data) [i](#j)";
        let changed = rewritten(text, Path::new(BOOK), &root, "https://r.org/s");
        assert_eq!(
            changed,
            "[a](https://r.org/s/blob/main/README.md#x) [b](quick-start.md) [c](https://d.org) ![e](plots/slots.svg)\n\
             ```\n[f](../../README.md)\n```\n[g](https://r.org/s/blob/main/docs/papers/README.md), \
             [h](https://r.org/s/tree/main/data) [i](#j)"
        );
        assert_eq!(path_of("https://r.org/s/blob/main/README.md", "https://r.org/s"), Some("README.md"));
        assert!(repository(&root).unwrap().starts_with("https://"));
    }

    #[test]
    fn chapters_are_found_at_any_depth() {
        let chapter = r#"{"Chapter": {"content": "[a](../../README.md)", "path": "x.md", "sub_items": []}}"#;
        let mut book: Value =
            serde_json::from_str(&format!("{{\"items\": [{chapter}, \"Separator\"]}}")).unwrap();
        chapters(&mut book, &tree::root(), "https://r.org/s");
        assert!(book.to_string().contains("https://r.org/s/blob/main/README.md"), "{book}");
    }
}
