//! `bench`: timings of Sunzi's operations, on their own or beside rivals.
//!
//! Exit codes: 0 every result that was timed is right, 1 one is wrong or nothing could be timed,
//! 2 the command line was wrong. A bar that is missed does not change the exit code; rows say it
//! (`peers --check` makes it 1).
#![forbid(unsafe_code)]

mod bootstrap;
#[cfg(feature = "peers")]
mod peers;

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use bench::report::{self, Row};
use bench::{
    BenchError, Options, alternate, conversion, cyclotomic, growth, isa, keyswitch, model, mp, multiply, ntt,
    operations, publish, strategies, variants, wire,
};
use clap::{Args, Parser, Subcommand};

#[derive(Parser)]
#[command(name = "bench", version, about = "Timings of Sunzi's operations, on their own or beside rivals")]
struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Transforms of degree 2^12 to 2^16, and base conversion against eight of them
    Ntt(Ntt),
    /// Base conversion from 8 to 8 moduli alone
    Conversion(Common),
    /// The variants of extension, scaling, decryption and key switching against the default ones
    Variants(Common),
    /// Multi-precision decryption, extension and scaling at 800 bits; beside GMP with the feature `gmp`
    Mp(Common),
    /// Transforms and BFV on every instruction set of this machine, against the fastest one
    Isa(Common),
    /// Rotations by BV, GHS and hybrid key switching, against the least time of their transforms and keys
    Keyswitch(Common),
    /// The four multiplications of BFV at growing depth, and lazy inner products
    Multiply(Common),
    /// Operations of BFV against the cost model, as JSON; counts need the feature `tally`
    Model(Common),
    /// Products of BGV and BFV in rings of general index, beside power-of-two rings
    Cyclotomic(Common),
    /// Objects to bytes and back, beside a copy of the bytes
    Wire(Scheme),
    /// Every BFV operation, from key generation to slot sums
    Bfv(Scheme),
    /// CKKS operations shared among threads by coefficients, by moduli and by both, at every level of the default bootstrapping set
    Strategies(Threads),
    /// Bootstrapping of CKKS: time, memory, and precision over random and adversarial messages
    Bootstrap(bootstrap::Arguments),
    /// BFV and transforms against other libraries, each in a process of its own (see `cargo xtask peers`)
    #[cfg(feature = "peers")]
    Peers(peers::Arguments),
    /// How costs grow with degree, modulus, depth, threads and batches, as growth.svg and growth.json
    Growth(Growth),
    /// Random circuits over BFV in ours and in other libraries: how many open to something wrong
    #[cfg(feature = "peers")]
    Circuits(peers::Circuits),
    /// A page and a picture of the rows that comparisons saved
    Publish(Publish),
    /// Serve as a rival: requests on standard input, answers on standard output
    #[cfg(feature = "peers")]
    Serve,
}

#[derive(Args)]
struct Common {
    /// Print a JSON array of rows instead of a table
    #[arg(long)]
    json: bool,
    /// Rounds in which the contenders take turns
    #[arg(long, default_value_t = alternate::ROUNDS)]
    rounds: usize,
    /// log2 of the degrees, separated by commas
    #[arg(long, value_delimiter = ',')]
    log_n: Vec<u32>,
}

#[derive(Args)]
struct Growth {
    /// Where growth.svg and growth.json go
    #[arg(long)]
    directory: PathBuf,
    /// Machine and commit, for the picture
    #[arg(long, default_value = "")]
    about: String,
    /// Rounds in which the contenders take turns
    #[arg(long, default_value_t = 11)]
    rounds: usize,
    /// log2 of the degrees, separated by commas
    #[arg(long, value_delimiter = ',')]
    log_n: Vec<u32>,
    /// Threads at most
    #[arg(long, default_value_t = 2)]
    threads: usize,
}

#[derive(Args)]
struct Publish {
    /// Where the page, its picture and its rows go
    #[arg(long)]
    directory: PathBuf,
    /// What the three files are called before .md, .svg and .json
    #[arg(long, default_value = "benchmarks")]
    name: String,
    /// When, where and by which commands, for the page
    #[arg(long, default_value = "")]
    about: String,
    /// JSON arrays of rows; of rows about the same, the last counts
    #[arg(required = true)]
    files: Vec<PathBuf>,
}

#[derive(Args)]
struct Ntt {
    #[command(flatten)]
    common: Common,
    /// Compare with rivals, alternating in one process (needs the feature `peers`)
    #[arg(long)]
    peers: bool,
}

#[derive(Args)]
struct Scheme {
    #[command(flatten)]
    common: Common,
    /// Threads to use
    #[arg(long, default_value_t = 1)]
    threads: usize,
}

#[derive(Args)]
struct Threads {
    #[command(flatten)]
    common: Common,
    /// The levels to time, separated by commas; all unless given
    #[arg(long, value_delimiter = ',')]
    levels: Vec<usize>,
    /// Threads to use
    #[arg(long, default_value_t = 2)]
    threads: usize,
}

impl From<&Common> for Options {
    fn from(common: &Common) -> Self {
        Self { rounds: common.rounds, log_n: common.log_n.clone(), ..Self::default() }
    }
}

impl From<&Ntt> for Options {
    fn from(Ntt { common, peers }: &Ntt) -> Self {
        Self { peers: *peers, ..common.into() }
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments.what) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => fail("a result that was timed is wrong: see the rows that say so", 1),
        Err(error) => fail(&error.to_string(), if error.is_usage() { 2 } else { 1 }),
    }
}

fn fail(message: &str, code: u8) -> ExitCode {
    // Nothing is left to do if standard error is gone.
    let _ = writeln!(io::stderr(), "bench: {message}");
    ExitCode::from(code)
}

fn run(what: &What) -> Result<bool, BenchError> {
    let (common, rows) = match what {
        What::Ntt(ntt) => (&ntt.common, transforms(&ntt.into())?),
        What::Conversion(common) => (common, conversion::run(&common.into())?),
        What::Mp(common) => (common, mp::run(&common.into())?),
        What::Variants(common) => (common, variants::run(&common.into())?),
        What::Keyswitch(common) => (common, keyswitch::run(&common.into())?),
        What::Multiply(common) => (common, multiply::run(&common.into())?),
        What::Cyclotomic(common) => (common, cyclotomic::run(&common.into())?),
        What::Isa(common) => (common, isa::run(&common.into())?),
        What::Bfv(Scheme { common, threads }) => {
            let options = Options { threads: *threads, ..common.into() };
            (common, operations::run(&options, &mut |_| ())?)
        }
        What::Wire(Scheme { common, threads }) => {
            (common, wire::run(&Options { threads: *threads, ..common.into() })?)
        }
        What::Strategies(Threads { common, levels, threads }) => {
            (common, strategies::run(&Options { threads: *threads, ..common.into() }, levels)?)
        }
        What::Bootstrap(arguments) => return bootstrap::run(arguments),
        #[cfg(feature = "peers")]
        What::Peers(arguments) => return peers::run(arguments),
        What::Model(common) => {
            let rows = model::run(&common.into(), &mut |_, _| ())?;
            writeln!(io::stdout(), "{}", serde_json::to_string_pretty(&rows)?)?;
            return Ok(rows.iter().all(|row| row.correct));
        }
        What::Growth(arguments) => return grow(arguments),
        #[cfg(feature = "peers")]
        What::Circuits(arguments) => return peers::circuits(arguments),
        What::Publish(arguments) => {
            publish(arguments)?;
            return Ok(true);
        }
        #[cfg(feature = "peers")]
        What::Serve => {
            bench::rivals::serve(io::stdin().lock(), io::stdout().lock())?;
            return Ok(true);
        }
    };
    print(&rows, common.json)?;
    Ok(report::all_correct(&rows))
}

fn grow(Growth { directory, about, rounds, log_n, threads }: &Growth) -> Result<bool, BenchError> {
    let options = Options { rounds: *rounds, log_n: log_n.clone(), threads: *threads, ..Options::default() };
    let mut report = |what: &str| {
        // Nothing is left to do if standard error is gone.
        let _ = writeln!(io::stderr(), "{what}");
    };
    let all = growth::run(&options, &mut report)?;
    fs::write(directory.join("growth.svg"), growth::picture(&all, about)?)?;
    fs::write(directory.join("growth.json"), serde_json::to_string_pretty(&all)? + "\n")?;
    let mut out = io::stdout().lock();
    for gain in &all.gains {
        let growth::Gain { name, gain, spread, bar } = gain;
        let met = if gain >= bar { "met" } else { "MISSED" };
        writeln!(out, "{name}: {gain:.2} ± {spread:.2} times as fast on two threads, bar {bar:.1} {met}")?;
    }
    Ok(all.correct)
}

fn publish(Publish { directory, name, about, files }: &Publish) -> Result<(), BenchError> {
    let read = |path: &PathBuf| Ok::<Vec<Row>, BenchError>(serde_json::from_str(&fs::read_to_string(path)?)?);
    let rows = publish::merged(files.iter().map(read).collect::<Result<_, _>>()?);
    let file = |extension: &str| directory.join(format!("{name}.{extension}"));
    fs::write(file("md"), publish::page(&rows, about, name))?;
    fs::write(file("svg"), publish::picture(&rows))?;
    Ok(fs::write(file("json"), report::json(&rows)? + "\n")?)
}

fn print(rows: &[Row], json: bool) -> Result<(), BenchError> {
    let text = match json {
        true => report::json(rows)?,
        false => report::table(rows),
    };
    Ok(writeln!(io::stdout(), "{}", text.trim_end())?)
}

/// All transforms, then the conversion that is measured against them.
fn transforms(options: &Options) -> Result<Vec<Row>, BenchError> {
    let mut rows = ntt::run(options)?;
    rows.extend(conversion::run(options)?);
    Ok(rows)
}
