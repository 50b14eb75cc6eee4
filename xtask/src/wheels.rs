//! Task `cargo xtask wheels`: wheels of the Python package for Linux, and its source distribution, each tried after it is built.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use clap::Args;

use crate::{python, step, tree};

/// Tools that build the wheels; zig links against an old glibc, or musl, on any Linux.
const TOOLS: [&str; 2] = ["maturin>=1.9.4,<2", "ziglang>=0.14,<0.16"];
/// Targets of the wheels, and the least system of each: glibc 2.17 and musl 1.2.
const TARGETS: [(&str, &str); 4] = [
    ("x86_64-unknown-linux-gnu", "manylinux2014"),
    ("x86_64-unknown-linux-musl", "musllinux_1_2"),
    ("aarch64-unknown-linux-gnu", "manylinux2014"),
    ("aarch64-unknown-linux-musl", "musllinux_1_2"),
];
/// First program of a user, run on every wheel that this machine can load.
const FIRST: &str = "\
import time
begin = time.perf_counter()
import numpy as np
import sunzi
keys = sunzi.keygen(sunzi.Context.for_depth(1))
a, b = np.array([0.5, -1.0, 0.25]), np.array([1.0, 0.5, -0.75])
product = keys.decrypt(keys.encrypt(a) @ keys.encrypt(b))
assert abs(product - a @ b) < 1e-6, product
print(f'a first dot product in {time.perf_counter() - begin:.2f} s')
";

/// Options of `cargo xtask wheels`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Folder of the wheels and the source distribution
    #[arg(long, value_name = "FOLDER", default_value = "target/wheels")]
    out: PathBuf,
    /// Build for these targets only, such as x86_64-unknown-linux-gnu
    #[arg(long, value_name = "TARGET", value_delimiter = ',')]
    targets: Vec<String>,
    /// Also build and try the package from its source distribution: minutes
    #[arg(long)]
    from_source: bool,
}

/// Builds the wheels whose targets are installed, and the source distribution, and tries what runs here.
pub(crate) fn run(arguments: &Arguments) -> Result<String, String> {
    let root = tree::root();
    let out = root.join(&arguments.out);
    fs::create_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
    let base = python::find().ok_or("there is no Python 3.9 or later; name one in SUNZI_PYTHON")?;
    let tools = python::environment(&base, &tree::target(&root).join("wheels-tools"), &TOOLS)?;
    let mut lines = vec![source(&root, &tools, &out)?];
    let (mut built, mut left) = (Vec::new(), Vec::new());
    for (target, system) in chosen(&arguments.targets)? {
        if is_installed(target) {
            built.push(wheel(&root, &tools, &out, target, system)?);
        } else {
            left.push(target);
        }
    }
    for wheel in &built {
        lines.push(format!("{}: {}", described(wheel), tried(&root, &base, wheel)?));
    }
    if arguments.from_source {
        let archive = python::only(&out, "gz")?;
        lines.push(format!("{}: {}", described(&archive), tried(&root, &base, &archive)?));
    }
    let summary = format!("wheels:\n  {}", lines.join("\n  "));
    if left.is_empty() {
        return Ok(summary);
    }
    Err(format!("{summary}\nnot built, for want of targets: rustup target add {}", left.join(" ")))
}

/// Returns the targets that were asked for, all for none.
fn chosen(asked: &[String]) -> Result<Vec<(&'static str, &'static str)>, String> {
    if asked.is_empty() {
        return Ok(TARGETS.to_vec());
    }
    let of = |name: &String| {
        let names = || TARGETS.map(|(target, _)| target).join(", ");
        let found = TARGETS.iter().find(|(target, _)| target == name);
        found.copied().ok_or_else(|| format!("no wheel is built for {name}; there are {}", names()))
    };
    asked.iter().map(of).collect()
}

/// Whether the standard library of a target is installed.
fn is_installed(target: &str) -> bool {
    let asked = Command::new("rustc").args(["--print", "target-libdir", "--target", target]).output();
    asked.is_ok_and(|output| Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir())
}

/// Builds the source distribution, and returns a line about it.
fn source(root: &Path, tools: &Path, out: &Path) -> Result<String, String> {
    emptied(out, "gz")?;
    let mut command = Command::new(tools);
    command.args(["-m", "maturin", "sdist", "--out"]).arg(out).current_dir(root.join("python"));
    step::announce("maturin sdist");
    python::run(&mut command)?;
    python::only(out, "gz").map(|archive| described(&archive))
}

/// Builds the wheel of a target, in a folder of its own below the output so that it can be told from others.
fn wheel(root: &Path, tools: &Path, out: &Path, target: &str, system: &str) -> Result<PathBuf, String> {
    let folder = out.join(target);
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    emptied(&folder, "whl")?;
    let mut command = Command::new(tools);
    command.args(["-m", "maturin", "build", "--locked", "--profile", "wheel", "--zig", "--target", target]);
    command.args(["--compatibility", system, "--out"]).arg(&folder).current_dir(root.join("python"));
    // Zig is a module of the environment of the tools, not of the Python on the path.
    command.env("CARGO_ZIGBUILD_PYTHON_PATH", tools);
    step::announce(&format!("maturin build --zig --target {target} --compatibility {system}"));
    python::run(&mut command)?;
    python::only(&folder, "whl")
}

/// Removes the files of an extension from a folder, so that none of an earlier version is taken for the new one.
fn emptied(folder: &Path, extension: &str) -> Result<(), String> {
    while let Ok(old) = python::only(folder, extension) {
        fs::remove_file(&old).map_err(|error| format!("{}: {error}", old.display()))?;
    }
    Ok(())
}

/// Returns the name of a file and its size.
fn described(path: &Path) -> String {
    let bytes = path.metadata().map_or(0, |metadata| metadata.len());
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    format!("{name}, {:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

/// Installs a wheel or a source distribution into a fresh environment, runs a first program, and says how long both took.
fn tried(root: &Path, base: &Path, package: &Path) -> Result<String, String> {
    let name = package.file_name().unwrap_or_default().to_string_lossy();
    let native = format!("{}.whl", std::env::consts::ARCH);
    let is_musl = cfg!(target_env = "musl");
    if name.ends_with(".whl") && !(name.ends_with(&native) && name.contains("musllinux") == is_musl) {
        return Ok("not tried: made for another system".to_owned());
    }
    let folder = tree::target(root).join("wheels-tried");
    let inside = python::environment(base, &folder, &[])?;
    let begin = Instant::now();
    python::run(Command::new(&inside).args(["-m", "pip", "install", "--quiet"]).arg(package))?;
    let installed = begin.elapsed().as_secs_f64();
    let output = Command::new(&inside)
        .args(["-c", FIRST])
        .current_dir(&folder)
        .output()
        .map_err(|error| format!("{}: {error}", inside.display()))?;
    if !output.status.success() {
        return Err(format!("the first program on {name}: {}", String::from_utf8_lossy(&output.stderr)));
    }
    Ok(format!("installed in {installed:.1} s, {}", String::from_utf8_lossy(&output.stdout).trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_target_is_refused_with_those_there_are() {
        let error = chosen(&["sparc".to_owned()]).unwrap_err();
        assert!(error.contains("sparc") && error.contains("x86_64-unknown-linux-musl"), "{error}");
        assert_eq!(chosen(&[]).unwrap().len(), TARGETS.len());
    }
}
