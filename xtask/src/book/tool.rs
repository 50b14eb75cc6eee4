//! The program mdBook, on the path or installed below the target directory.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::step::{announce, cargo};

/// Version of mdBook that the book is built with.
const VERSION: &str = "0.5.4";

/// Returns the program mdBook of the pinned version, which is installed if it is neither on the path nor there.
pub(crate) fn find(target: &Path) -> Result<PathBuf, String> {
    let folder = target.join("tools");
    let own = folder.join("bin").join(format!("mdbook{}", std::env::consts::EXE_SUFFIX));
    if let Some(program) =
        [PathBuf::from("mdbook"), own.clone()].into_iter().find(|program| is_pinned(program))
    {
        return Ok(program);
    }
    install(&folder)?;
    if is_pinned(&own) { Ok(own) } else { Err(missing(&format!("{} does not run", own.display()))) }
}

/// Whether a program is mdBook of the pinned version.
fn is_pinned(program: &Path) -> bool {
    let output = Command::new(program).arg("--version").stderr(Stdio::null()).output();
    output.is_ok_and(|output| {
        let text = String::from_utf8_lossy(&output.stdout);
        output.status.success() && names_version(&text)
    })
}

/// Whether mdBook's own words, such as `mdbook v0.5.4`, name the pinned version.
fn names_version(text: &str) -> bool {
    text.split_whitespace().any(|word| word.trim_start_matches('v') == VERSION)
}

fn install(folder: &Path) -> Result<(), String> {
    announce(&format!("cargo install mdbook --version {VERSION} --locked --root {}", folder.display()));
    let mut command = Command::new(cargo());
    command.args(["install", "mdbook", "--version", VERSION, "--locked", "--root"]).arg(folder);
    // What it builds is of no use to the workspace.
    command.env("CARGO_TARGET_DIR", folder.join("build")).current_dir(std::env::temp_dir());
    let status = command.status().map_err(|error| missing(&format!("cannot start cargo: {error}")))?;
    if status.success() { Ok(()) } else { Err(missing(&format!("cargo install ended with {status}"))) }
}

/// Returns the error of a program that is not there, with what to do.
fn missing(why: &str) -> String {
    format!(
        "mdBook {VERSION} is neither on the path nor could it be installed ({why}): \
         with network, run cargo install mdbook --version {VERSION} --locked; the chapters are readable as they are, \
         from docs/book/SUMMARY.md"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_pinned_version_is_taken() {
        assert!(names_version(&format!("mdbook v{VERSION}\n")));
        assert!(!names_version("mdbook v0.4.40"));
        assert!(!names_version(""));
        assert!(!is_pinned(Path::new("no-such-program")));
    }

    #[test]
    fn a_missing_tool_is_named_with_what_to_do() {
        let told = missing("cargo install ended with exit status: 101");
        assert!(told.contains("cargo install mdbook") && told.contains("SUMMARY.md"), "{told}");
    }
}
