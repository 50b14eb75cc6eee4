//! Builds of other libraries: each becomes a program that speaks the protocol, or a reason why there is none.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::ValueEnum;

use crate::step::cargo;

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Peer {
    /// fhe.rs: BFV in Rust
    FheRs,
    /// Lattigo: all schemes and transforms in Go
    Lattigo,
    /// tfhe-ntt: transforms in Rust, in one process with Sunzi's
    TfheNtt,
    /// SEAL as the wheel tenseal has it: all schemes
    Seal,
    /// OpenFHE as its wheel has it: all schemes
    Openfhe,
    /// A build of SEAL with HEXL, given by SUNZI_SEAL_HEXL
    SealHexl,
    /// A build of OpenFHE with HEXL, given by SUNZI_OPENFHE_HEXL
    OpenfheHexl,
    /// HEXL, given by SUNZI_HEXL: transforms
    Hexl,
    /// HElib, given by SUNZI_HELIB: BGV and CKKS
    Helib,
}

/// Folders of the sources and builds of other libraries.
pub(super) struct Places {
    pub(super) root: PathBuf,
    /// Folder of everything that is built for other libraries.
    pub(super) output: PathBuf,
}

impl Peer {
    /// Returns the two arguments of `lab` that select the library, or that say why it is absent.
    pub(super) fn arguments(self, places: &Places) -> [String; 2] {
        let name = match self.to_possible_value() {
            Some(value) => value.get_name().to_owned(),
            None => String::new(),
        };
        if self == Self::TfheNtt {
            return ["--rival".to_owned(), name];
        }
        match self.program(places) {
            Ok(program) => ["--rival".to_owned(), format!("{name}={}", program.display())],
            Err(reason) => ["--absent".to_owned(), format!("{name}={reason}")],
        }
    }

    /// Whether the library runs random circuits where no others are named: all that have BFV, builds of one's
    /// own where there is one.
    pub(super) fn runs_circuits(self) -> bool {
        match self {
            Self::FheRs | Self::Lattigo | Self::Seal | Self::Openfhe => true,
            Self::SealHexl => given("SUNZI_SEAL_HEXL").is_ok(),
            Self::OpenfheHexl => given("SUNZI_OPENFHE_HEXL").is_ok(),
            Self::TfheNtt | Self::Hexl | Self::Helib => false,
        }
    }

    fn program(self, places: &Places) -> Result<PathBuf, String> {
        match self {
            Self::FheRs => fhe_rs(places),
            Self::Lattigo => lattigo(places),
            Self::Seal => python(places, "seal", Interpreter::SEAL),
            Self::Openfhe => python(places, "openfhe", Interpreter::OPENFHE),
            Self::SealHexl => given("SUNZI_SEAL_HEXL"),
            Self::OpenfheHexl => given("SUNZI_OPENFHE_HEXL"),
            Self::Hexl => given("SUNZI_HEXL"),
            Self::Helib => given("SUNZI_HELIB"),
            Self::TfheNtt => Err("it needs no program".to_owned()),
        }
    }
}

/// Returns the program of a library that an environment variable names.
fn given(variable: &str) -> Result<PathBuf, String> {
    let path =
        std::env::var_os(variable).ok_or_else(|| format!("{variable} names no program (peers/README.md)"))?;
    std::path::absolute(path).map_err(|error| format!("{variable}: {error}"))
}

/// Builds fhe.rs with all instructions of this machine, one unit and link-time optimisation (its own manifest).
fn fhe_rs(places: &Places) -> Result<PathBuf, String> {
    let target = places.output.join("fhe-rs");
    let mut build = Command::new(cargo());
    build.current_dir(places.root.join("peers/fhe-rs"));
    build.args(["build", "--release", "--locked", "--quiet", "--target-dir"]).arg(&target);
    build.env("RUSTFLAGS", "-C target-cpu=native");
    done(&mut build, "its build")?;
    Ok(target.join("release").join(format!("fhe-rs-rival{}", std::env::consts::EXE_SUFFIX)))
}

/// Builds Lattigo at the highest level of the architecture that this machine has.
fn lattigo(places: &Places) -> Result<PathBuf, String> {
    go_program(places, "lattigo", ".")
}

/// Builds a package of peers/lattigo as a program of this name.
pub(super) fn go_program(places: &Places, name: &str, package: &str) -> Result<PathBuf, String> {
    let found = Command::new("go").arg("version").output();
    if !found.is_ok_and(|found| found.status.success()) {
        return Err("it needs Go 1.24 or newer on the path (https://go.dev/dl)".to_owned());
    }
    let program = places.output.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    let mut build = Command::new("go");
    build.current_dir(places.root.join("peers/lattigo"));
    build.args(["build", "-trimpath", "-mod=readonly", "-o"]).arg(&program).arg(package);
    build.env("GOAMD64", amd64_level()).env("GOFLAGS", "-buildvcs=false");
    done(&mut build, "its build")?;
    Ok(program)
}

#[cfg(target_arch = "x86_64")]
fn amd64_level() -> &'static str {
    use std::arch::is_x86_feature_detected as has;
    let three = has!("avx2") && has!("bmi1") && has!("bmi2") && has!("fma") && has!("lzcnt") && has!("movbe");
    let four =
        has!("avx512f") && has!("avx512bw") && has!("avx512cd") && has!("avx512dq") && has!("avx512vl");
    match (three, four) {
        (true, true) => "v4",
        (true, false) => "v3",
        (false, _) => "v1",
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn amd64_level() -> &'static str {
    "v1"
}

/// Versions of CPython that the wheel of a library imports on.
#[derive(Clone, Copy)]
pub(super) struct Interpreter {
    least: (u32, u32),
    most: (u32, u32),
}

impl Interpreter {
    /// Versions that the wheel tenseal imports on.
    pub(super) const SEAL: Self = Self { least: (3, 11), most: (3, 14) };
    /// Versions that the wheel openfhe imports on.
    pub(super) const OPENFHE: Self = Self { least: (3, 10), most: (3, 10) };

    /// Finds a CPython that the wheel imports on, on the path or among those of pyenv.
    fn find(self) -> Result<PathBuf, String> {
        let Self { least, most } = self;
        let minors = (least.1..=most.1).rev().map(|minor| format!("python3.{minor}"));
        let mut candidates: Vec<PathBuf> = minors.chain(["python3".to_owned()]).map(PathBuf::from).collect();
        let home = std::env::var_os("HOME").map(|home| Path::new(&home).join(".pyenv"));
        if let Some(pyenv) = std::env::var_os("PYENV_ROOT").map(PathBuf::from).or(home) {
            let versions = fs::read_dir(pyenv.join("versions")).into_iter().flatten().flatten();
            candidates.extend(versions.map(|version| version.path().join("bin/python")));
        }
        let fits = |candidate: &PathBuf| version(candidate).is_some_and(|got| (least..=most).contains(&got));
        candidates.into_iter().find(fits).ok_or_else(|| {
            let range = if least == most { String::new() } else { format!(" to {}.{}", most.0, most.1) };
            format!("its wheel needs CPython {}.{}{range}, which is not on the path", least.0, least.1)
        })
    }
}

fn version(python: &Path) -> Option<(u32, u32)> {
    let asked =
        Command::new(python).args(["-c", "import sys; print(*sys.version_info[:2])"]).output().ok()?;
    let text = String::from_utf8(asked.stdout).ok()?;
    let mut numbers = text.split_whitespace().map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

/// Installs a wheel in an environment of its own and returns that environment's Python.
pub(super) fn environment(places: &Places, name: &str, interpreter: Interpreter) -> Result<PathBuf, String> {
    let environment = places.output.join(format!("{name}-environment"));
    let pinned = places.root.join("peers/python").join(format!("{name}.txt"));
    let wanted = fs::read(&pinned).map_err(|error| format!("{}: {error}", pinned.display()))?;
    let marker = environment.join("installed.txt");
    let inside = environment.join("bin/python");
    if fs::read(&marker).ok().as_ref() != Some(&wanted) {
        let mut make = Command::new(interpreter.find()?);
        done(make.args(["-m", "venv", "--clear"]).arg(&environment), "its environment")?;
        let mut install = Command::new(&inside);
        install.args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--only-binary",
            ":all:",
        ]);
        install.arg("--requirement").arg(&pinned).stdout(std::process::Stdio::null());
        done(&mut install, "the installation of its wheel")?;
        fs::write(&marker, &wanted).map_err(|error| error.to_string())?;
    }
    Ok(inside)
}

/// Makes a program that runs a script of `peers/python` in the environment of a wheel.
fn python(places: &Places, name: &str, interpreter: Interpreter) -> Result<PathBuf, String> {
    let inside = environment(places, name, interpreter)?;
    let program = places.output.join(name);
    let script = places.root.join("peers/python").join(format!("{name}_rival.py"));
    let text = format!("#!/bin/sh\nexec '{}' -B '{}'\n", inside.display(), script.display());
    fs::write(&program, text).map_err(|error| error.to_string())?;
    executable(&program)?;
    Ok(program)
}

#[cfg(unix)]
fn executable(program: &Path) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(program, fs::Permissions::from_mode(0o755)).map_err(|error| error.to_string())
}

#[cfg(not(unix))]
fn executable(_program: &Path) -> Result<(), String> {
    Err("rivals in Python run on Unix only".to_owned())
}

pub(super) fn done(command: &mut Command, what: &str) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command.status().map_err(|error| format!("cannot start {program}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{what} ended with {status}")) }
}
