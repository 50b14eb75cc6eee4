//! Check of the Python package: its wheel in a fresh virtual environment, its tests, and a strict type checker.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::{step, tree};

/// Least version of Python that is supported, as its `sys.version_info`.
const LEAST: &str = "(3, 9)";
/// Python packages that the tests of the Python package need.
const PACKAGES: [&str; 7] =
    ["httpx>=0.25", "maturin>=1.9.4,<2", "matplotlib", "mypy", "numpy", "pytest", "scikit-learn"];
/// Arguments that build the command line, whose server the tests start: packages, features and profile are those of `cargo xtask test`, so that
/// nothing is built twice.
const COMMAND_LINE: &str = "test --locked --workspace --exclude sunzi-python --features lab/peers,sunzi-cli/shared --test cli --no-run";
/// Environment variable that tells the tests where the command line is.
pub(crate) const BINARY: &str = "SUNZI_BINARY";

/// Builds the wheel of the Python package, installs it and runs its tests. Without Python, or without
/// packages for it, the check says so and does nothing else.
pub(crate) fn check(root: &Path) -> Result<String, String> {
    let Some(python) = find() else {
        return Ok("SKIPPED: there is no Python 3.9 or later; name one in SUNZI_PYTHON".to_owned());
    };
    let work = tree::target(root).join("python");
    let (environment, wheels) = (work.join("venv"), work.join("wheels"));
    if !quiet(Command::new(&python).args(["-m", "venv", "--clear"]).arg(&environment)) {
        return Ok(format!("SKIPPED: {} has no module venv", python.display()));
    }
    let binaries = environment.join(if cfg!(windows) { "Scripts" } else { "bin" });
    let inside = binaries.join("python");
    if !quiet(Command::new(&inside).args(["-m", "pip", "install", "--quiet"]).args(PACKAGES)) {
        return Ok(format!("SKIPPED: pip cannot install {}", PACKAGES.join(", ")));
    }
    // Wheels of an earlier version must not be taken for this one.
    match std::fs::remove_dir_all(&wheels) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.to_string()),
        _ => {}
    }
    // A profile of its own: built once, and then only changed crates.
    let folder = root.join("python");
    let build = ["-m", "maturin", "build", "--locked", "--profile", "wheel", "--interpreter"];
    run(Command::new(&inside).args(build).arg(&inside).arg("--out").arg(&wheels).current_dir(&folder))?;
    let wheel = only(&wheels, "whl")?;
    run(Command::new(&inside).args(["-m", "pip", "install", "--quiet", "--no-deps"]).arg(&wheel))?;
    let binary = command_line(root)?;
    // The tests run elsewhere, so that they import the installed package.
    let pytest = ["-B", "-m", "pytest", "-q", "-p", "no:cacheprovider"];
    let mut tests = Command::new(&inside);
    tests.env(tree::FIGURES, tree::figures_file(root)).env(BINARY, binary);
    run(tests.args(pytest).arg(folder.join("tests")).current_dir(&work))?;
    let mypy = ["-m", "mypy", "--config-file"].map(PathBuf::from);
    let checked = ["pyproject.toml", "sunzi", "examples", "tests", "notebooks"].map(|name| folder.join(name));
    // The code of notebooks, which are JSON.
    let extracted = work.join("notebooks");
    let extract = [folder.join("notebooks/run.py"), "--extract".into(), extracted.clone()];
    run(Command::new(&inside).arg("-B").args(extract))?;
    run(Command::new(&inside).args(mypy).args(checked).arg(extracted).current_dir(&work))?;
    Ok(String::new())
}

/// Builds the command line as the tests of the workspace have it, and returns its path.
pub(crate) fn command_line(root: &Path) -> Result<PathBuf, String> {
    run(Command::new(step::cargo()).args(COMMAND_LINE.split_whitespace()).current_dir(root))?;
    let binary = tree::target(root).join("debug").join(format!("sunzi{}", std::env::consts::EXE_SUFFIX));
    if binary.is_file() { Ok(binary) } else { Err(format!("{} was not built", binary.display())) }
}

/// Makes a fresh virtual environment with packages, and returns its Python.
pub(crate) fn environment(base: &Path, folder: &Path, packages: &[&str]) -> Result<PathBuf, String> {
    run(Command::new(base).args(["-m", "venv", "--clear"]).arg(folder))?;
    let inside = folder.join(if cfg!(windows) { "Scripts" } else { "bin" }).join("python");
    if !packages.is_empty() {
        run(Command::new(&inside).args(["-m", "pip", "install", "--quiet"]).args(packages))?;
    }
    Ok(inside)
}

/// Returns the Python of `SUNZI_PYTHON`, or the first on the path that is new enough.
pub(crate) fn find() -> Option<PathBuf> {
    let named = std::env::var_os("SUNZI_PYTHON").map(PathBuf::from);
    let usual = ["python3", "python"].map(PathBuf::from);
    let question = format!("import sys; sys.exit(sys.version_info < {LEAST})");
    named.into_iter().chain(usual).find(|python| quiet(Command::new(python).args(["-c", &question])))
}

/// Returns the first file of an extension in a folder.
pub(crate) fn only(folder: &Path, extension: &str) -> Result<PathBuf, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut files = entries.filter_map(Result::ok).map(|entry| entry.path());
    let file = files.find(|path| path.extension() == Some(OsStr::new(extension)));
    file.ok_or_else(|| format!("no file of the kind {extension} in {}", folder.display()))
}

/// Whether a command can be started and succeeds, its output dropped.
pub(crate) fn quiet(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// Runs a command; its output goes where that of the task goes.
pub(crate) fn run(command: &mut Command) -> Result<(), String> {
    let status = command.status().map_err(|error| format!("cannot start {command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} ended with {status}")) }
}
