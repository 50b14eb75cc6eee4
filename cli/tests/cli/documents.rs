//! The commands that the documents show: blocks are run in order, in an empty folder for each document, and commands in the middle of a line are
//! looked up in the help of their programs and in the tree. A block whose commands may all run here goes through a shell as it is.
//!
//! `cargo xtask` and `cargo lab` are looked up where `cargo xtask test` has built both (it sets `SUNZI_FIGURES`).

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{Folder, stderr, stdout};

/// Documents beside the chapters of the book.
const DOCUMENTS: [&str; 4] = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "python/README.md"];
/// Commands of blocks that are looked up and not run, and why.
const NOT_RUN: [(&str, &str); 5] = [
    ("cargo xtask", "builds and tests everything, this test with it"),
    ("cargo install", "builds everything again, optimised at link time"),
    ("git clone", "needs the network"),
    ("pip install", "builds the package, which `cargo xtask python` does"),
    ("python", "takes minutes, and the Python package"),
];
/// Beginnings of commands in the middle of a line.
const COMMANDS: [&str; 9] = [
    "cargo xtask ",
    "cargo lab ",
    "cargo run ",
    "cargo test ",
    "cargo install ",
    "lab repro ",
    "sunzi ",
    "pip install ",
    "git clone ",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn documents() -> Vec<PathBuf> {
    let book = std::fs::read_dir(root().join("docs/book")).unwrap().map(|entry| entry.unwrap().path());
    let chapters = book.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    let mut all: Vec<PathBuf> = DOCUMENTS.iter().map(|name| root().join(name)).chain(chapters).collect();
    all.sort();
    all
}

/// Language and text of the fenced blocks of a document.
fn blocks(document: &str) -> Vec<(&str, String)> {
    let mut found = Vec::new();
    let mut lines = document.lines();
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            found.push((
                language,
                lines.by_ref().take_while(|line| *line != "```").collect::<Vec<_>>().join("\n"),
            ));
        }
    }
    found
}

/// Code spans of the lines outside of blocks.
fn spans(document: &str) -> Vec<&str> {
    let mut inside = false;
    let mut found = Vec::new();
    for line in document.lines() {
        inside ^= line.starts_with("```");
        if !inside {
            found.extend(line.split('`').skip(1).step_by(2));
        }
    }
    found
}

/// The words of a command, without variables before it and the remark after it.
fn words(command: &str) -> Vec<&str> {
    let command = command.split(" #").next().unwrap();
    let words = command.split_whitespace().map(|word| word.trim_matches('"'));
    words.skip_while(|word| word.contains('=') && !word.starts_with('-')).collect()
}

/// The value after an option.
fn value<'a>(words: &[&'a str], option: &str) -> Option<&'a str> {
    words.iter().skip_while(|word| **word != option).nth(1).copied()
}

/// The arguments of a command line that begins with `sunzi`.
fn of_sunzi<'a>(words: &'a [&'a str]) -> Option<&'a [&'a str]> {
    match words {
        ["sunzi", arguments @ ..] | ["cargo", "run", "--release", "--", arguments @ ..] => Some(arguments),
        _ => None,
    }
}

/// Whether a block begins no program but `sunzi` and those of every shell.
fn is_for_a_shell(block: &str) -> bool {
    let foreign = ["cargo", "git", "pip", "python"];
    !block.lines().any(|line| words(line).first().is_some_and(|word| foreign.contains(word)))
}

/// Runs a block in a shell that finds `sunzi`, and returns what it prints.
fn in_shell(folder: &Folder, block: &str) -> String {
    let own = Path::new(env!("CARGO_BIN_EXE_sunzi")).parent().unwrap().to_path_buf();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(own).chain(std::env::split_paths(&path))).unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-eu", "-c", block]).current_dir(folder.path("")).env("PATH", path).env_remove("SUNZI_ISA");
    let output = shell.output().unwrap();
    assert!(output.status.success(), "{block}\n{}", stderr(&output));
    stdout(&output)
}

/// Whether text is what a document shows, in which … stands for anything: within a line, and alone for any lines.
fn shows(shown: &[&str], printed: &[&str]) -> bool {
    match (shown, printed) {
        ([], []) => true,
        (["…", rest @ ..], _) => (0..=printed.len()).any(|skipped| shows(rest, &printed[skipped..])),
        ([first, rest @ ..], [line, lines @ ..]) => line_shows(first, line) && shows(rest, lines),
        _ => false,
    }
}

fn line_shows(shown: &str, line: &str) -> bool {
    let Some((first, others)) = shown.split_once('…') else { return shown == line };
    let Some(mut rest) = line.strip_prefix(first) else { return false };
    let parts: Vec<&str> = others.split('…').collect();
    let (last, middle) = parts.split_last().unwrap();
    for part in middle {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    rest.ends_with(last)
}

/// Finds subcommands and options of a command in the help of its program.
fn look_up(program: &Path, arguments: &[&str]) {
    let commands: Vec<&&str> = arguments.iter().take_while(|word| !word.starts_with('-')).collect();
    let output = Command::new(program).args(&commands).arg("--help").output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
    let help = stdout(&output);
    let known = |option: &str| {
        help.split(|sign: char| !sign.is_alphanumeric() && sign != '-').any(|word| word == option)
    };
    for option in arguments.iter().filter(|word| word.starts_with('-')) {
        assert!(
            known(option) || *option == "--help",
            "{arguments:?}: the help does not know {option}:\n{help}"
        );
    }
}

/// Another program of this build, where there is one for certain.
fn beside(name: &str) -> Option<PathBuf> {
    std::env::var_os("SUNZI_FIGURES")?;
    let program = Path::new(env!("CARGO_BIN_EXE_sunzi"))
        .with_file_name(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    assert!(program.exists(), "{} is not built", program.display());
    Some(program)
}

/// The folder of a package of the workspace.
fn package(name: &str) -> PathBuf {
    let folders = ["crates", "research", ""]
        .into_iter()
        .flat_map(|above| std::fs::read_dir(root().join(above)).unwrap());
    let manifests =
        folders.map(|folder| folder.unwrap().path().join("Cargo.toml")).filter(|manifest| manifest.exists());
    let line = format!("name = \"{name}\"");
    let mut found = manifests.filter(|manifest| read(manifest).lines().any(|other| other == line));
    found.next().unwrap_or_else(|| panic!("no package {name}")).parent().unwrap().to_path_buf()
}

/// Finds the packages, features, targets and files that a command of cargo names.
fn look_up_cargo(words: &[&str]) {
    let end = words.iter().position(|word| *word == "--").unwrap_or(words.len());
    let (own, after) = words.split_at(end);
    let path = value(own, "--path").map(|path| root().join(path));
    let folder = path.unwrap_or_else(|| package(value(own, "-p").unwrap_or("sunzi-cli")));
    assert!(folder.join("Cargo.toml").exists(), "{words:?}: no package there");
    for feature in value(own, "--features").into_iter().flat_map(|list| list.split(',')) {
        let manifest = read(folder.join("Cargo.toml"));
        assert!(manifest.contains(&format!("\n{feature} = [")), "{words:?}: no feature {feature}");
    }
    if let Some(profile) = value(own, "--profile") {
        assert!(read("Cargo.toml").contains(&format!("[profile.{profile}]")), "{words:?}: no profile");
    }
    if let Some(example) = value(own, "--example") {
        assert!(folder.join("examples").join(format!("{example}.rs")).exists(), "{words:?}: no example");
    }
    if let Some(test) = value(own, "--test") {
        let tests = folder.join("tests").join(test);
        assert!(tests.join("main.rs").exists(), "{words:?}: no such executable of tests");
        for module in own.iter().filter_map(|word| word.strip_suffix("::")) {
            assert!(tests.join(format!("{module}.rs")).exists(), "{words:?}: no such module of tests");
        }
    }
    if let (["cargo", "run", ..], Some("lab"), Some(lab)) = (words, value(own, "-p"), beside("lab")) {
        look_up(&lab, &after[1..]);
    }
}

/// Finds what a command names, without running it.
fn check(words: &[&str]) {
    if let Some(arguments) = of_sunzi(words) {
        return look_up(Path::new(env!("CARGO_BIN_EXE_sunzi")), arguments);
    }
    match words {
        ["cargo", name @ ("xtask" | "lab"), arguments @ ..] | [name @ "lab", arguments @ ..] => {
            if let Some(program) = beside(name) {
                look_up(&program, arguments);
            }
        }
        ["cargo", "install" | "run" | "test", ..] => look_up_cargo(words),
        ["pip", "install", .., what] => {
            let folder = root().join(what.split('[').next().unwrap());
            assert!(folder.join("pyproject.toml").exists(), "{words:?}: no Python package");
        }
        ["git", "clone", address, ..] => {
            assert!(read("Cargo.toml").contains(address.trim_end_matches(".git")), "{words:?}")
        }
        ["python", script, ..] => assert!(root().join(script).exists(), "{words:?}: no script"),
        _ => panic!("{words:?}: neither run nor known; say in this test what is to be done with it"),
    }
}

#[test]
fn blocks_of_commands_run_as_shown() {
    let (mut commands, mut compared) = (0, 0);
    for path in documents() {
        let name = path.strip_prefix(root()).unwrap().display().to_string();
        let document = read(&path);
        let folder = Folder::new(&format!("documents-{}", name.replace('/', "-")));
        let mut printed: Option<String> = None;
        for (language, text) in blocks(&document) {
            // What a block prints may stand in a block of text right behind it; text may also be a command that nobody runs as it is.
            match (language, printed.take()) {
                ("text", Some(printed)) => {
                    let (shown, lines): (Vec<_>, Vec<_>) =
                        (text.lines().collect(), str::lines(&printed).collect());
                    assert!(shows(&shown, &lines), "{name} shows\n{text}\nand this is printed:\n{printed}");
                    compared += 1;
                }
                ("text", None) if text.starts_with("python ") => check(&words(&text)),
                _ => {}
            }
            if language != "sh" {
                continue;
            }
            let mut all = String::new();
            let in_shell = is_for_a_shell(&text).then(|| in_shell(&folder, &text));
            let lines = text.replace("\\\n", " ");
            for line in lines.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
                if in_shell.is_some() {
                    commands += usize::from(matches!(words(line)[..], ["sunzi" | "sh", ..]));
                    continue;
                }
                let words = words(line);
                match of_sunzi(&words) {
                    Some(arguments) => all.push_str(&folder.fine_of(arguments)),
                    None => {
                        assert!(
                            NOT_RUN.iter().any(|(begin, _)| line.starts_with(begin)),
                            "{name}: {line}: not run for no reason"
                        );
                        check(&words);
                    }
                }
                commands += 1;
            }
            let all = in_shell.unwrap_or(all);
            printed =
                document.contains(&format!("{text}\n```\n\n```text\n")).then(|| all.trim_end().to_owned());
        }
    }
    assert!(commands >= 50, "{commands} commands in all documents");
    assert!(compared >= 13, "{compared} outputs in all documents");
}

#[test]
fn what_a_document_shows_is_compared() {
    let printed = ["a 17 ms", "b", "c", "sum: 5 ± 1e-3"];
    for (shown, same) in [
        (vec!["a … ms", "b", "c", "sum: 5 ± …"], true),
        (vec!["a … ms", "…", "sum: 5 ± …"], true),
        (vec!["…"], true),
        (vec!["a … min", "b", "c", "sum: 5 ± …"], false),
        (vec!["a … ms", "b", "sum: 5 ± …"], false),
        (vec!["…", "sum: 6 ± …"], false),
        (vec!["…", "b"], false),
    ] {
        assert_eq!(shows(&shown, &printed), same, "{shown:?}");
    }
    assert!(is_for_a_shell("cat > x <<'END'\n1\nEND\nsunzi schema --table x"));
    assert!(!is_for_a_shell("A=b cargo xtask test"));
}

#[test]
fn commands_in_lines_exist() {
    let mut commands = 0;
    for path in documents() {
        let document = read(&path);
        for span in
            spans(&document).into_iter().filter(|span| COMMANDS.iter().any(|begin| span.starts_with(begin)))
        {
            let words = words(span);
            println!("{}: {span}", path.display());
            check(&words.into_iter().filter(|word| *word != "…").collect::<Vec<_>>());
            commands += 1;
        }
    }
    assert!(commands >= 40, "{commands} commands in all documents");
}

#[test]
fn a_command_that_is_not_there_is_found() {
    for command in [
        "sunzi nonsense",
        "sunzi params --nonsense",
        "cargo install --path nonsense",
        "pip install ./nonsense",
        "frobnicate",
    ] {
        assert!(std::panic::catch_unwind(|| check(&words(command))).is_err(), "{command}");
    }
    check(&words("A=b cargo test -p sunzi-testing --test testing oracle::  # one module"));
}
