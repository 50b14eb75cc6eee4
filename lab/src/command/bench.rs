//! `lab bench`: timings of Sunzi's operations, on their own or beside rivals.

mod bootstrap;
mod intersection;
mod matrices;
mod nearest;
#[cfg(feature = "peers")]
mod peers;
mod retrieval;

use std::fs;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use lab::bench::report::{self, Row};
use lab::bench::{
    Options, conversion, cyclotomic, growth, isa, keyswitch, model, mp, multiply, ntt, operations, publish,
    strategies, variants, wire,
};
use lab::{LabError, Result, alternate};

use super::output;
use super::progress::Progress;

/// Options of `lab bench`.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Without a subcommand every BFV operation is timed, at n = 2^12 and 2^13."
)]
pub(crate) struct Arguments {
    /// Benchmark that `lab bench` runs.
    #[command(subcommand)]
    what: Option<What>,
    /// Instead: count what operations of BFV compute and move, and set their time beside the least that takes
    #[arg(long)]
    model: bool,
    /// log2 of the ring degrees to time, instead of the usual ones
    #[arg(long, value_name = "L,...", value_delimiter = ',')]
    log_n: Vec<u32>,
    /// Rounds that each median of times stands on
    #[arg(long, value_name = "K", default_value_t = 21)]
    rounds: usize,
    /// Print the rows of results as a JSON array
    #[arg(long)]
    json: bool,
    /// Show no progress bars
    #[arg(long, short)]
    quiet: bool,
    /// Threads that the timed operations use; all processors unless given
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

#[derive(Debug, Subcommand)]
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
    /// Operations of BFV against the cost model, as JSON
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
    /// Products of a plain and an encrypted matrix of CKKS, both square with entries of 16 bits
    Matrices(matrices::Arguments),
    /// Private retrieval: an entry of a public database by its number
    Retrieval(retrieval::Arguments),
    /// Private set intersection: labels of the items that a client and a set have in common
    Intersection(intersection::Arguments),
    /// Private nearest neighbours: scores of all vectors of a public database
    Nearest(nearest::Arguments),
    /// BFV and transforms against other libraries, each in a process of its own (see `cargo xtask peers`)
    #[cfg(feature = "peers")]
    Peers(peers::Arguments),
    /// How costs grow with degree, modulus, depth, threads and batches, as growth.svg and growth.json
    Growth(Growth),
    /// Random circuits over BFV in Sunzi and in other libraries: how many decrypt to something wrong
    #[cfg(feature = "peers")]
    Circuits(peers::Circuits),
    /// Pages and pictures of the rows that comparisons saved
    Publish(Publish),
    /// Serve as a rival: requests on standard input, answers on standard output
    #[cfg(feature = "peers")]
    Serve,
}

#[derive(Debug, Args)]
struct Common {
    /// Print the rows of results as a JSON array instead of a table
    #[arg(long)]
    json: bool,
    /// Rounds in which the contenders take turns
    #[arg(long, default_value_t = alternate::ROUNDS)]
    rounds: usize,
    /// log2 of the ring degrees to time, separated by commas
    #[arg(long, value_delimiter = ',')]
    log_n: Vec<u32>,
    /// Show no progress bars
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Debug, Args)]
struct Growth {
    /// Folder that growth.svg and growth.json go into
    #[arg(long)]
    directory: PathBuf,
    /// Draw the picture again from this file, as growth.json is, and time nothing
    #[arg(long, value_name = "FILE", conflicts_with_all = ["rounds", "log_n", "threads"])]
    from: Option<PathBuf>,
    /// Machine and commit that the picture names
    #[arg(long, default_value = "")]
    about: String,
    /// Rounds in which the contenders take turns
    #[arg(long, default_value_t = 11)]
    rounds: usize,
    /// log2 of the ring degrees to time, separated by commas
    #[arg(long, value_delimiter = ',')]
    log_n: Vec<u32>,
    /// Most threads that the timed operations use
    #[arg(long, default_value_t = 2)]
    threads: usize,
}

#[derive(Debug, Args)]
struct Publish {
    /// Folder that the page of results, its pictures and its rows go into; the page of bars goes into its folder `notes`
    #[arg(long)]
    directory: PathBuf,
    /// Name of the page, pictures and rows before .md, -bfv.svg and the like, and .json
    #[arg(long, default_value = "benchmarks")]
    name: String,
    /// Text of the page on when, where and by which commands the rows were measured
    #[arg(long, default_value = "")]
    about: String,
    /// JSON arrays of rows; of rows about the same, the last counts
    #[arg(required = true)]
    files: Vec<PathBuf>,
}

#[derive(Debug, Args)]
struct Ntt {
    #[command(flatten)]
    common: Common,
    /// Compare with rivals, alternating in one process (needs the feature `peers`)
    #[arg(long)]
    peers: bool,
}

#[derive(Debug, Args)]
struct Scheme {
    #[command(flatten)]
    common: Common,
    /// Threads that the timed operations use
    #[arg(long, default_value_t = 1)]
    threads: usize,
}

#[derive(Debug, Args)]
struct Threads {
    #[command(flatten)]
    common: Common,
    /// Ciphertext levels to time, separated by commas; all unless given
    #[arg(long, value_delimiter = ',')]
    levels: Vec<usize>,
    /// Threads that the timed operations use
    #[arg(long, default_value_t = 2)]
    threads: usize,
}

impl From<&Common> for Options {
    fn from(common: &Common) -> Self {
        Self { rounds: common.rounds, log_n: common.log_n.clone(), ..Self::default() }
    }
}

impl Common {
    fn progress(&self) -> Progress {
        Progress::new(!self.json && !self.quiet)
    }

    fn on(&self, threads: usize) -> Options {
        Options { threads, ..self.into() }
    }
}

/// Times the benchmark asked for and prints its rows; wrong results are an error.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let right = match &arguments.what {
        Some(what) => timed(what)?,
        None => every(arguments)?,
    };
    if right {
        Ok(())
    } else {
        Err(LabError::Failed("a result that was timed is wrong: see the rows that say so".to_owned()))
    }
}

/// Times every operation of BFV, or sets the cost model beside measured times; returns whether all results
/// are right.
fn every(arguments: &Arguments) -> Result<bool> {
    let Arguments { log_n, rounds, json, quiet, threads, .. } = arguments;
    super::on_threads(*threads)?;
    let mut options = Options { rounds: *rounds, log_n: log_n.clone(), ..Options::default() };
    let progress = Progress::new(!json && !quiet);
    if arguments.model {
        return modelled(&options, *json, progress);
    }
    if options.log_n.is_empty() {
        options.log_n = vec![12, 13];
    }
    let rows = all_operations(&options, progress)?;
    print(&rows, *json)?;
    Ok(report::all_correct(&rows))
}

fn all_operations(options: &Options, progress: Progress) -> Result<Vec<Row>> {
    operations::run(options, &mut |at: operations::Progress| {
        progress.at(at.done, at.total, &format!("n = {}: {}", at.n, at.name));
    })
}

/// Prints the cost model beside measured times; returns whether all results are right.
fn modelled(options: &Options, json: bool, progress: Progress) -> Result<bool> {
    let rows = model_rows(options, progress)?;
    if json {
        output::print_json(&rows)?;
    } else if let [header, cells @ ..] = &*model::table(&rows) {
        let mut table = output::empty_table(header);
        table.add_rows(cells);
        output::right_align(&mut table, 3..header.len());
        output::print(&format!("{table}\n"))?;
    }
    Ok(rows.iter().all(|row| row.correct))
}

fn model_rows(options: &Options, progress: Progress) -> Result<Vec<model::Modelled>> {
    model::run(options, &mut |done, what| progress.at(done, model::count(options), what))
}

/// Serves Sunzi as a rival on standard input and output.
#[cfg(feature = "peers")]
pub(crate) fn serve() -> Result<()> {
    lab::bench::rivals::serve(std::io::stdin().lock(), std::io::stdout().lock())
}

/// Times a subcommand's benchmark and prints it; returns whether all results are right.
fn timed(what: &What) -> Result<bool> {
    let (common, rows) = match what {
        What::Ntt(Ntt { common, peers }) => {
            (common, transforms(&Options { peers: *peers, ..common.into() })?)
        }
        What::Conversion(common) => (common, conversion::run(&common.into())?),
        What::Mp(common) => (common, mp::run(&common.into())?),
        What::Variants(common) => (common, variants::run(&common.into())?),
        What::Keyswitch(common) => (common, keyswitch::run(&common.into())?),
        What::Multiply(common) => (common, multiply::run(&common.into())?),
        What::Cyclotomic(common) => (common, cyclotomic::run(&common.into())?),
        What::Isa(common) => (common, isa::run(&common.into())?),
        What::Bfv(Scheme { common, threads }) => {
            (common, all_operations(&common.on(*threads), common.progress())?)
        }
        What::Wire(Scheme { common, threads }) => (common, wire::run(&common.on(*threads))?),
        What::Strategies(Threads { common, levels, threads }) => {
            (common, strategies::run(&common.on(*threads), levels)?)
        }
        What::Bootstrap(arguments) => return bootstrap::run(arguments),
        What::Matrices(arguments) => return matrices::run(arguments),
        What::Retrieval(arguments) => return retrieval::run(arguments),
        What::Intersection(arguments) => return intersection::run(arguments),
        What::Nearest(arguments) => return nearest::run(arguments),
        #[cfg(feature = "peers")]
        What::Peers(arguments) => return peers::run(arguments),
        What::Model(common) => {
            let rows = model_rows(&common.into(), common.progress())?;
            output::print_pretty(&rows)?;
            return Ok(rows.iter().all(|row| row.correct));
        }
        What::Growth(arguments) => return grow(arguments),
        #[cfg(feature = "peers")]
        What::Circuits(arguments) => return peers::circuits(arguments),
        What::Publish(arguments) => return publish(arguments).map(|()| true),
        #[cfg(feature = "peers")]
        What::Serve => return serve().map(|()| true),
    };
    print(&rows, common.json)?;
    Ok(report::all_correct(&rows))
}

fn grow(Growth { directory, from, about, rounds, log_n, threads }: &Growth) -> Result<bool> {
    let picture = directory.join("growth.svg");
    if let Some(from) = from {
        let all = growth::Growth::from_json(&fs::read_to_string(from)?)?;
        fs::write(picture, growth::picture(&all, about)?)?;
        return Ok(all.correct);
    }
    let options = Options { rounds: *rounds, log_n: log_n.clone(), threads: *threads, ..Options::default() };
    let all = growth::run(&options, &mut output::say)?;
    fs::write(picture, growth::picture(&all, about)?)?;
    fs::write(directory.join("growth.json"), serde_json::to_string_pretty(&all)? + "\n")?;
    for gain in &all.gains {
        let growth::Gain { name, gain, spread, bar } = gain;
        let met = if gain >= bar { "met" } else { "MISSED" };
        let text =
            format!("{name}: {gain:.2} ± {spread:.2} times as fast on two threads, bar {bar:.1} {met}");
        output::print(&text)?;
    }
    Ok(all.correct)
}

fn publish(Publish { directory, name, about, files }: &Publish) -> Result<()> {
    let read = |path: &PathBuf| Ok::<Vec<Row>, LabError>(serde_json::from_str(&fs::read_to_string(path)?)?);
    let rows = publish::merged(files.iter().map(read).collect::<Result<_, _>>()?);
    let file = |extension: &str| directory.join(format!("{name}.{extension}"));
    fs::write(file("md"), publish::page(&rows, about, name))?;
    for (scheme, picture) in publish::pictures(&rows) {
        fs::write(directory.join(format!("{name}-{scheme}.svg")), picture)?;
    }
    let notes = directory.join("notes");
    fs::create_dir_all(&notes)?;
    fs::write(notes.join(format!("{name}-bars.md")), publish::bars::page(&rows, about, name))?;
    fs::write(notes.join(format!("{name}-bars.svg")), publish::bars::picture(&rows))?;
    Ok(fs::write(file("json"), report::json(&rows)? + "\n")?)
}

fn print(rows: &[Row], json: bool) -> Result<()> {
    match json {
        true => output::print_pretty(&rows),
        false => output::print(&report::table(rows)),
    }
}

/// Times all transforms, then the base conversion that is measured against them.
fn transforms(options: &Options) -> Result<Vec<Row>> {
    let mut rows = ntt::run(options)?;
    rows.extend(conversion::run(options)?);
    Ok(rows)
}
