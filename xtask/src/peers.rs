//! Task `cargo xtask peers`: builds the other libraries of `peers/` and alternates them with Sunzi.

mod build;
mod porting;

use std::fs;
use std::process::Command;

use clap::{Args, ValueEnum};

use crate::step::cargo;
use crate::tree;
use build::{Peer, Places, done};

/// Options of `cargo xtask peers --quick`, whose figures are not for publication.
const QUICK: [&str; 6] = ["--rounds", "5", "--log-n", "13", "--seconds", "1"];
/// Longest time of the rounds of one compared operation, in seconds, unless given.
const SECONDS: &str = "10";

#[derive(Args)]
pub(crate) struct Arguments {
    /// Build and compare only these libraries, separated by commas
    #[arg(long, value_delimiter = ',', value_enum)]
    only: Vec<Peer>,
    /// Compare at one degree in few rounds, for a look and not for figures
    #[arg(long)]
    quick: bool,
    /// Print the rows of results as a JSON array instead of a table
    #[arg(long)]
    json: bool,
    /// Fail if a ratio misses its bar
    #[arg(long)]
    check: bool,
    /// Write docs/benchmarks.md with its pictures and rows, and the page of bars in docs/notes, from the rows of this run
    #[arg(long)]
    publish: bool,
    /// Rounds in which the contenders take turns (101 unless set)
    #[arg(long, conflicts_with = "quick")]
    rounds: Option<usize>,
    /// Begin no new round of an operation after so many seconds (10 unless set)
    #[arg(long, conflicts_with = "quick")]
    seconds: Option<f64>,
    /// log2 of the ring degrees to compare at, separated by commas
    #[arg(long, conflicts_with = "quick")]
    log_n: Option<String>,
    /// Compare only these schemes, separated by commas
    #[arg(long)]
    schemes: Option<String>,
    /// Compare only these operations of a scheme, separated by commas
    #[arg(long)]
    operations: Option<String>,
    /// Most bits of a ciphertext modulus of the rivals, unless what they are fastest with
    #[arg(long, value_name = "BITS", conflicts_with = "publish")]
    width: Option<u32>,
    /// Most bits of log2 QP, unless all that the security table has room for
    #[arg(long, value_name = "BITS", conflicts_with = "publish")]
    bits: Option<u32>,
    /// Instead of timing, run so many random circuits in Sunzi and in every rival, and count wrong results
    #[arg(long, value_name = "COUNT", conflicts_with_all = ["check", "publish", "rounds", "seconds", "log_n", "schemes", "operations", "memory", "width", "bits"])]
    circuits: Option<usize>,
    /// Instead of timing operations, run the programs of the book's porting guides on both sides, and compare results
    #[arg(long, conflicts_with_all = ["only", "quick", "json", "check", "publish", "rounds", "seconds", "log_n", "schemes", "operations", "memory", "width", "bits", "circuits"])]
    porting: bool,
    /// How the memory of rivals is given: stock, kept, or both, separated by commas
    #[arg(long)]
    memory: Option<String>,
}

/// Builds the other libraries, compares them with Sunzi and prints the results.
pub(crate) fn run(arguments: &Arguments) -> Result<String, String> {
    let places = places()?;
    if arguments.porting {
        return porting::run(&places);
    }
    if let Some(count) = arguments.circuits {
        let mut command = circuits(&places, &arguments.only, count);
        if arguments.json {
            command.arg("--json");
        }
        done(&mut command, "the circuits").map_err(|error| format!("peers: {error}"))?;
        return Ok(String::new());
    }
    let rows = places.output.join("rows.json");

    let mut comparison = bench(&places, "peers");
    comparison.arg("--save").arg(&rows);
    for peer in chosen(&arguments.only) {
        comparison.args(peer.arguments(&places));
    }
    if arguments.quick {
        comparison.args(QUICK);
    } else {
        comparison.args(["--seconds", &arguments.seconds.map_or(SECONDS.to_owned(), |it| it.to_string())]);
    }
    for (flag, wanted) in [("--json", arguments.json), ("--check", arguments.check)] {
        if wanted {
            comparison.arg(flag);
        }
    }
    let Arguments { rounds, log_n, schemes, operations, memory, width, bits, .. } = arguments;
    let rounds = rounds.map(|rounds| rounds.to_string());
    let [width, bits] = [width, bits].map(|bits| bits.map(|bits| bits.to_string()));
    let options = [
        ("--rounds", &rounds),
        ("--log-n", log_n),
        ("--schemes", schemes),
        ("--operations", operations),
        ("--memory", memory),
        ("--width", &width),
        ("--bits", &bits),
    ];
    for (option, value) in options {
        if let Some(value) = value {
            comparison.args([option, value]);
        }
    }
    done(&mut comparison, "the comparison").map_err(|error| format!("peers: {error}"))?;
    if arguments.publish {
        let mut publication = bench(&places, "publish");
        publication.arg("--directory").arg(places.root.join("docs")).arg(&rows);
        done(&mut publication, "the page").map_err(|error| format!("peers: {error}"))?;
    }
    Ok(String::new())
}

/// Finds the folders of the libraries' sources and builds.
fn places() -> Result<Places, String> {
    let root = tree::root();
    let output = tree::target(&root).join("peers");
    fs::create_dir_all(&output).map_err(|error| format!("cannot make {}: {error}", output.display()))?;
    Ok(Places { root, output })
}

fn chosen(only: &[Peer]) -> &[Peer] {
    if only.is_empty() { Peer::value_variants() } else { only }
}

/// Makes the command for `count` random circuits with the libraries asked for, or with all that run them.
fn circuits(places: &Places, only: &[Peer], count: usize) -> Command {
    let mut command = bench(places, "circuits");
    for peer in chosen(only).iter().filter(|peer| !only.is_empty() || peer.runs_circuits()) {
        command.args(peer.arguments(places));
    }
    command.args(["--count", &count.to_string()]);
    command
}

/// Returns the results of `count` random circuits in other libraries, as JSON.
pub(crate) fn circuits_json(count: usize) -> Result<String, String> {
    let mut command = circuits(&places()?, &[], count);
    command.arg("--json").stderr(std::process::Stdio::inherit());
    let output = command.output().map_err(|error| format!("cannot start cargo: {error}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Makes a subcommand of `lab bench` with other libraries.
fn bench(places: &Places, subcommand: &str) -> Command {
    let mut command = Command::new(cargo());
    command.current_dir(&places.root);
    command.args([
        "run",
        "--release",
        "--quiet",
        "-p",
        "lab",
        "--features",
        "peers",
        "--",
        "bench",
        subcommand,
    ]);
    command
}
