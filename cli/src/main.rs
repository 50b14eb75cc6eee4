//! Command-line program `sunzi`.
#![forbid(unsafe_code)]

mod args;
mod ask;
mod audit;
mod bench;
mod columns;
mod deliver;
mod demo;
mod demo_lookup;
mod derived;
mod encrypted;
mod error;
mod files;
mod fingerprint;
mod help;
mod hospitals;
mod html;
mod interrupt;
mod intersect;
mod job;
mod keys;
mod lookup;
mod loss;
mod output;
mod params;
#[cfg(feature = "net")]
mod party;
mod passphrase;
mod program;
mod progress;
mod reencrypt;
mod reference;
mod regression;
mod rekey;
#[cfg(feature = "serve")]
mod remote;
mod report;
#[cfg(feature = "serve")]
mod serve;
mod statistics_clear;
mod sums;
mod svg;
mod table;

use std::process::ExitCode;

use args::{Asked, Command, Manner};
use error::CliError;

fn main() -> ExitCode {
    let manner = Manner::of_process();
    output::set_color(manner.color);
    match run() {
        Ok(()) | Err(CliError::ReaderGone) => ExitCode::SUCCESS,
        Err(error) => {
            output::print_error(&error, manner.json);
            ExitCode::from(error.exit_code())
        }
    }
}

fn run() -> Result<(), CliError> {
    let (command, threads) = match args::read()? {
        Asked::Show(text) => return output::print_styled(&text),
        Asked::Run(command, threads) => (command, threads),
    };
    // A wrong override of the kernels is bad input, to be refused before any work.
    sunzi::kernels::active_isa().map_err(CliError::input)?;
    if !command.stops_itself() {
        interrupt::watch()?;
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0).into());
    pool.build_global().map_err(CliError::failure)?;
    match *command {
        Command::Demo(args) => demo::run(&args),
        Command::Params(args) => params::run(&args),
        Command::Keygen(args) => files::keygen::run(&args),
        Command::Passphrase(args) => passphrase::run(&args),
        Command::Keys(args) => keys::run(&args),
        Command::Plan(args) => program::plan::run(&args),
        Command::Eval(args) => program::eval::run(&args),
        Command::Decrypt(args) => program::decrypt::run(&args),
        Command::Reencrypt(args) => reencrypt::run(&args),
        Command::Rekey(args) => rekey::run(&args),
        Command::Lookup(args) => lookup::run(&args),
        Command::Intersect(args) => intersect::run(&args),
        #[cfg(feature = "net")]
        Command::Party(args) => party::run(&args),
        #[cfg(feature = "serve")]
        Command::Serve(args) => serve::run(&args, threads),
        #[cfg(feature = "serve")]
        Command::ServiceJob => serve::job::run(),
        #[cfg(feature = "serve")]
        Command::Account(args) => serve::account::run(&args),
        #[cfg(feature = "serve")]
        Command::Remote(args) => remote::run(&args),
        Command::Schema(args) => files::schema::run(&args),
        Command::Encrypt(args) => files::encrypt::run(&args),
        Command::Inspect(args) => files::inspect::run(&args),
        Command::Check(args) => files::check::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Completions { shell } => help::completions(shell),
        Command::Manual { command } => help::manual(command.as_deref()),
        Command::Help(args) => help::help(&args),
    }
}
