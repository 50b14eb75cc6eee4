//! `cargo xtask peers`: builds the rivals of `peers/` and lets them take turns with ours.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::{Args, ValueEnum};

use crate::step::cargo;
use crate::tree;

/// Rounds and log2 of the degree of a quick look; its figures are no figures to publish.
const QUICK: [&str; 4] = ["--rounds", "9", "--log-n", "13"];

#[derive(Args)]
pub(crate) struct Arguments {
    /// Only these, separated by commas
    #[arg(long, value_delimiter = ',', value_enum)]
    only: Vec<Peer>,
    /// One degree and few rounds: a look, not a figure
    #[arg(long)]
    quick: bool,
    /// Print a JSON array of rows instead of a table
    #[arg(long)]
    json: bool,
    /// Fail if a bar is missed
    #[arg(long)]
    check: bool,
    /// Rounds in which the contenders take turns (101 unless set)
    #[arg(long, conflicts_with = "quick")]
    rounds: Option<usize>,
    /// log2 of the degrees, separated by commas
    #[arg(long, conflicts_with = "quick")]
    log_n: Option<String>,
    /// Only these schemes, separated by commas
    #[arg(long)]
    schemes: Option<String>,
    /// Only these operations of a scheme, separated by commas
    #[arg(long)]
    operations: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Peer {
    /// fhe.rs: BFV in Rust
    FheRs,
    /// Lattigo: BFV and transforms in Go
    Lattigo,
    /// tfhe-ntt: transforms in Rust, in one process with ours
    TfheNtt,
}

impl Peer {
    /// The argument that selects it, once its program is built.
    fn selection(self, root: &Path, output: &Path) -> Result<String, String> {
        match self {
            Self::FheRs => Ok(format!("fhe-rs={}", fhe_rs(root, output)?.display())),
            Self::Lattigo => Ok(format!("lattigo={}", lattigo(root, output)?.display())),
            Self::TfheNtt => Ok("tfhe-ntt".to_owned()),
        }
    }
}

/// Builds, compares and prints.
pub(crate) fn run(arguments: &Arguments) -> Result<String, String> {
    let root = tree::root();
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let output = std::path::absolute(target.join("peers")).map_err(|error| error.to_string())?;
    fs::create_dir_all(&output).map_err(|error| format!("cannot make {}: {error}", output.display()))?;

    let mut comparison = Command::new(cargo());
    comparison.current_dir(&root);
    comparison.args(["run", "--release", "--quiet", "-p", "bench", "--features", "peers", "--", "peers"]);
    let peers = if arguments.only.is_empty() { Peer::value_variants() } else { &arguments.only };
    for peer in peers {
        comparison.arg("--rival").arg(peer.selection(&root, &output)?);
    }
    if arguments.quick {
        comparison.args(QUICK);
    }
    for (flag, wanted) in [("--json", arguments.json), ("--check", arguments.check)] {
        if wanted {
            comparison.arg(flag);
        }
    }
    if let Some(rounds) = arguments.rounds {
        comparison.args(["--rounds", &rounds.to_string()]);
    }
    let Arguments { log_n, schemes, operations, .. } = arguments;
    for (option, value) in [("--log-n", log_n), ("--schemes", schemes), ("--operations", operations)] {
        if let Some(value) = value {
            comparison.args([option, value]);
        }
    }
    done(&mut comparison, "the comparison")?;
    Ok(String::new())
}

/// With all instructions of this machine, one unit and link-time optimisation (its own manifest).
fn fhe_rs(root: &Path, output: &Path) -> Result<PathBuf, String> {
    let target = output.join("fhe-rs");
    let mut build = Command::new(cargo());
    build.current_dir(root.join("peers/fhe-rs"));
    build.args(["build", "--release", "--locked", "--quiet", "--target-dir"]).arg(&target);
    build.env("RUSTFLAGS", "-C target-cpu=native");
    done(&mut build, "the build of fhe.rs")?;
    Ok(target.join("release").join(format!("fhe-rs-rival{}", std::env::consts::EXE_SUFFIX)))
}

/// At the highest level of the architecture that this machine has.
fn lattigo(root: &Path, output: &Path) -> Result<PathBuf, String> {
    let found = Command::new("go").arg("version").output();
    if !found.is_ok_and(|found| found.status.success()) {
        return Err("peers: Lattigo needs Go 1.24 or newer on the path (https://go.dev/dl); \
                    without it: cargo xtask peers --only fhe-rs,tfhe-ntt"
            .to_owned());
    }
    let program = output.join(format!("lattigo{}", std::env::consts::EXE_SUFFIX));
    let mut build = Command::new("go");
    build.current_dir(root.join("peers/lattigo"));
    build.args(["build", "-trimpath", "-mod=readonly", "-o"]).arg(&program).arg(".");
    build.env("GOAMD64", amd64_level()).env("GOFLAGS", "-buildvcs=false");
    done(&mut build, "the build of Lattigo")?;
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

fn done(command: &mut Command, what: &str) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command.status().map_err(|error| format!("peers: cannot start {program}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("peers: {what} ended with {status}")) }
}
