//! Task `cargo xtask faults`: faults that tests must catch, one after the other, in a copy of the repository.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;

use crate::{step, tree};

/// File of the faults that tests must catch.
const FAULTS: &str = "xtask/faults.txt";

#[derive(Args)]
pub(crate) struct Arguments {
    /// Parts of the paths of files whose faults are tried; all unless given
    files: Vec<String>,
}

/// A fault: a line of a file, what it becomes, and the tests that must fail then.
struct Fault<'a> {
    file: &'a str,
    sound: &'a str,
    faulty: &'a str,
    tests: &'a str,
}

/// Tries the faults on their tests and reports which of them are caught.
pub(crate) fn run(arguments: &Arguments) -> Result<String, String> {
    let root = tree::root();
    let text = tree::read(&root, Path::new(FAULTS))?;
    let faults = read(&text)?;
    let asked = |fault: &Fault| {
        arguments.files.is_empty() || arguments.files.iter().any(|part| fault.file.contains(part))
    };
    let copy = tree::target(&root).join("faults");
    for file in tree::files(&root)? {
        let contents = fs::read(root.join(&file)).map_err(|error| error.to_string())?;
        write(&copy.join(file), &contents)?;
    }
    let mut missed = 0;
    for fault in faults.iter().filter(|fault| asked(fault)) {
        let caught = fault.is_caught(&root, &copy)?;
        missed += usize::from(!caught);
        let said = if caught { "caught" } else { "NOT CAUGHT" };
        println!("{said:10} {}: {}", fault.file, fault.faulty.trim());
    }
    if missed == 0 { Ok("faults: all caught".to_owned()) } else { Err(format!("{missed} not caught")) }
}

impl Fault<'_> {
    /// The contents of a file with the fault in it.
    fn applied(&self, root: &Path) -> Result<String, String> {
        let contents = format!("\n{}", tree::read(root, Path::new(self.file))?);
        let [sound, faulty] = [self.sound, self.faulty].map(|line| format!("\n{line}\n"));
        match contents.matches(&sound).count() {
            1 => Ok(contents.replacen(&sound, &faulty, 1).split_off(1)),
            count => Err(format!(
                "{FAULTS}: {} has {count} lines {:?}, not one: change the fault",
                self.file, self.sound
            )),
        }
    }

    /// Whether the fault's tests fail with it; the fault has to compile.
    fn is_caught(&self, root: &Path, copy: &Path) -> Result<bool, String> {
        let file = copy.join(self.file);
        write(&file, self.applied(root)?.as_bytes())?;
        let target = tree::target(root);
        let passes = |more: &[&str]| {
            let mut command = Command::new(step::cargo());
            command.arg("test").args(self.tests.split(' ')).args(more).arg("--target-dir").arg(&target);
            let status = command.current_dir(copy).stdout(Stdio::null()).stderr(Stdio::null()).status();
            status.map(|status| status.success()).map_err(|error| format!("cannot start cargo: {error}"))
        };
        let compiles = passes(&["--no-run"])?;
        let passed = compiles && passes(&[])?;
        write(&file, tree::read(root, Path::new(self.file))?.as_bytes())?;
        let broken = || format!("{} does not compile with {:?}", self.file, self.faulty);
        compiles.then_some(!passed).ok_or_else(broken)
    }
}

/// The faults of a text: paragraphs of a file, a line, what it becomes, and arguments of cargo test.
fn read(text: &str) -> Result<Vec<Fault<'_>>, String> {
    text.split("\n\n").filter(|paragraph| !paragraph.starts_with('#')).map(fault).collect()
}

fn fault(paragraph: &str) -> Result<Fault<'_>, String> {
    let mut lines = paragraph.lines();
    let mut next = |mark: &str| lines.next().and_then(|line| line.strip_prefix(mark));
    match (next(""), next("- "), next("+ "), next("? ")) {
        (Some(file), Some(sound), Some(faulty), Some(tests)) => Ok(Fault { file, sound, faulty, tests }),
        _ => Err(format!(
            "{FAULTS}: a file and lines that begin with -, + and ? make a fault, not\n{paragraph}"
        )),
    }
}

/// Writes a file unless it has these contents already, so that cargo compiles nothing again.
fn write(path: &PathBuf, contents: &[u8]) -> Result<(), String> {
    if fs::read(path).is_ok_and(|old| old == contents) {
        return Ok(());
    }
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(path, contents))
        .map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_to_be_changed_is_there_once() {
        let text = tree::read(&tree::root(), Path::new(FAULTS)).unwrap();
        let faults = read(&text).unwrap();
        assert!(faults.len() >= 20);
        for fault in &faults {
            assert_ne!(
                fault.applied(&tree::root()).unwrap(),
                tree::read(&tree::root(), Path::new(fault.file)).unwrap()
            );
        }
    }

    #[test]
    fn a_fault_changes_one_line_that_is_there_once() {
        let of = |sound: &str| {
            let text = format!("# Faults.\n\nxtask/faults.txt\n- {sound}\n+ x\n? -p y z\n");
            let faults = read(&text).unwrap();
            assert_eq!((faults.len(), faults[0].tests), (1, "-p y z"));
            faults[0].applied(&tree::root())
        };
        let first = tree::read(&tree::root(), Path::new(FAULTS)).unwrap();
        let first = first.lines().next().unwrap();
        assert!(of(first).unwrap().starts_with("x\n"));
        assert!(of("no such line").unwrap_err().contains("0 lines"));
        assert!(read("xtask/faults.txt\n- a\n").is_err());
    }
}
