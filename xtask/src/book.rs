//! Task `cargo xtask book`: the book as HTML by mdBook, with every link checked, and its page of the language.

mod html;
mod outside;
mod tool;

use std::fs;
use std::path::Path;
use std::process::Command;

use clap::Args;

use crate::step::cargo;
use crate::tree;

/// Page that is written from the table of the language.
const LANGUAGE: &str = "docs/book/language.md";

#[derive(Args)]
pub(crate) struct Arguments {
    /// Write docs/book/language.md anew from the table of the language, and build nothing
    #[arg(long)]
    record: bool,
    /// Turn links out of the book into links to the repository: what mdBook asks of a preprocessor
    #[arg(long, hide = true, conflicts_with = "record")]
    links: bool,
    /// Question of mdBook to its preprocessor: `supports` and a renderer
    #[arg(hide = true, requires = "links", num_args = 2)]
    question: Vec<String>,
}

/// Builds the book below the target directory, or writes its page of the language.
pub(crate) fn run(arguments: &Arguments) -> Result<String, String> {
    let root = tree::root();
    if arguments.links {
        // Every renderer is supported: the question is answered by the exit code.
        return if arguments.question.is_empty() { outside::preprocess(&root) } else { Ok(String::new()) };
    }
    let result = if arguments.record { record(&root) } else { build(&root) };
    result.map_err(|error| format!("book: {error}"))
}

/// Writes the page of the language.
fn record(root: &Path) -> Result<String, String> {
    let mut command = Command::new(cargo());
    command.args(["run", "--quiet", "-p", "sunzi-program", "--example", "language"]).current_dir(root);
    let output = command.output().map_err(|error| format!("cannot start cargo: {error}"))?;
    if !output.status.success() {
        return Err(format!("the table of the language: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    fs::write(root.join(LANGUAGE), output.stdout)
        .map_err(|error| format!("cannot write {LANGUAGE}: {error}"))?;
    Ok(format!("book: {LANGUAGE} is written"))
}

/// Builds the HTML of the book and checks its links.
fn build(root: &Path) -> Result<String, String> {
    let target = tree::target(root);
    let mdbook = tool::find(&target)?;
    let output = target.join("book");
    // mdBook leaves pages of chapters that are gone.
    match fs::remove_dir_all(&output) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(format!("cannot clear {}: {error}", output.display()));
        }
        _ => {}
    }
    let mut command = Command::new(&mdbook);
    command.arg("build").arg(root.join("docs/book")).arg("--dest-dir").arg(&output).env("CARGO", cargo());
    let status = command.status().map_err(|error| format!("cannot start {}: {error}", mdbook.display()))?;
    if !status.success() {
        return Err(format!("{} ended with {status}", mdbook.display()));
    }
    let links = html::check(root, &output)?;
    Ok(format!("book: {links} links lead somewhere; open {}", output.join("index.html").display()))
}
