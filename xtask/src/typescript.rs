//! Check of the npm package: Sunzi in WebAssembly, the TypeScript around it, and their tests in Node against a real server.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::python::{BINARY, command_line, quiet, run};
use crate::{layers, step, tree};

/// Target of browsers, and of Node.
const TARGET: &str = "wasm32-unknown-unknown";
/// Instructions that the module takes beside those of every browser: all have had vectors since 2023.
const FLAGS: &str = "-C target-feature=+simd128";
/// Compiler for WebAssembly, and its linker, where they are not those of the path.
const COMPILER: &str = "SUNZI_WASM_RUSTC";
const LINKER: &str = "SUNZI_WASM_LINKER";
/// Least version of Node that is supported.
const LEAST_NODE: &str = "20";
/// Module of the package, without the endings of its files.
const MODULE: &str = "sunzi_wasm";

/// Builds the npm package and runs its tests. Without Node, or without what WebAssembly takes, the check says what it left out.
pub(crate) fn check(root: &Path) -> Result<String, String> {
    let question =
        format!("process.exit(Number(process.versions.node.split('.')[0]) < {LEAST_NODE} ? 1 : 0)");
    if !quiet(Command::new("node").args(["-e", &question])) {
        return Ok(format!("SKIPPED: there is no Node {LEAST_NODE} or later"));
    }
    let folder = root.join("typescript");
    let left_out = module(root, &folder.join("build/wasm"))?;
    let npm = |arguments: &[&str]| {
        let mut command = Command::new("npm");
        command.args(arguments).current_dir(&folder);
        command
    };
    run(&mut npm(&["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]))?;
    run(npm(&["test"]).env(BINARY, command_line(root)?))?;
    Ok(left_out)
}

/// Builds the module with its glue into a folder; returns what was left out where the standard library of the target is missing.
fn module(root: &Path, out: &Path) -> Result<String, String> {
    let compiler = std::env::var_os(COMPILER).unwrap_or_else(|| OsString::from("rustc"));
    let library = Command::new(&compiler).args(["--print", "target-libdir", "--target", TARGET]).output();
    let library = library.map_err(|error| format!("cannot start {}: {error}", compiler.display()))?;
    if !Path::new(String::from_utf8_lossy(&library.stdout).trim()).is_dir() {
        return Ok(format!(
            "SKIPPED: no WebAssembly, there is no standard library: rustup target add {TARGET}"
        ));
    }
    let target = tree::target(root).join("wasm");
    let mut build = Command::new(step::cargo());
    build.args(["build", "--locked", "-p", "sunzi-wasm", "--profile", "wasm", "--target", TARGET]);
    build.env("RUSTC", compiler).env("RUSTFLAGS", FLAGS).env("CARGO_TARGET_DIR", &target).current_dir(root);
    if let Some(linker) = std::env::var_os(LINKER) {
        build.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker);
    }
    run(&mut build)?;
    let built = target.join(TARGET).join("wasm").join(format!("{MODULE}.wasm"));
    let mut glue = Command::new(bindgen(root)?);
    glue.args(["--target", "web", "--remove-name-section", "--remove-producers-section", "--out-dir"]);
    run(glue.arg(out).arg(built))?;
    Ok(String::new())
}

/// Returns the program that makes the glue, of the version that the module was built with; it is built where there is none.
fn bindgen(root: &Path) -> Result<PathBuf, String> {
    let version = version(root)?;
    let own = tree::target(root).join("tools");
    let installed = own.join("bin").join(format!("wasm-bindgen{}", std::env::consts::EXE_SUFFIX));
    for program in [PathBuf::from("wasm-bindgen"), installed.clone()] {
        let output = Command::new(&program).arg("--version").output();
        if output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).trim().ends_with(&version)) {
            return Ok(program);
        }
    }
    let install = ["install", "--quiet", "wasm-bindgen-cli", "--version", &version, "--root"];
    run(Command::new(step::cargo()).args(install).arg(own))?;
    Ok(installed)
}

/// Returns the version of the library of the glue.
fn version(root: &Path) -> Result<String, String> {
    let metadata = layers::metadata(root, &["--locked"])?;
    let packages = metadata.get("packages").and_then(serde_json::Value::as_array);
    let text = |package: &serde_json::Value, key: &str| Some(package.get(key)?.as_str()?.to_owned());
    let mut named = packages.into_iter().flatten();
    let found = named.find(|package| text(package, "name").as_deref() == Some("wasm-bindgen"));
    found.and_then(|package| text(package, "version")).ok_or_else(|| "there is no wasm-bindgen".to_owned())
}
