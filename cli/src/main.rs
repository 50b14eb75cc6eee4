//! The command line of Sunzi.
#![forbid(unsafe_code)]

mod args;
mod bench;
mod columns;
mod demo;
mod derived;
mod encrypted;
mod error;
mod files;
mod job;
mod lookup;
mod loss;
mod output;
mod params;
mod progress;
mod regression;
mod report;
mod repro;
mod statistics_clear;
mod sums;
mod table;

use std::process::ExitCode;

use args::{Asked, Command};
use error::CliError;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::print_error(&error);
            ExitCode::from(error.exit_code())
        }
    }
}

fn run() -> Result<(), CliError> {
    match args::read()? {
        Asked::Show(text) => output::print(&text),
        Asked::Run(Command::Demo(args)) => demo::run(&args),
        Asked::Run(Command::Params(args)) => params::run(&args),
        Asked::Run(Command::Keygen(args)) => files::keygen::run(&args),
        Asked::Run(Command::Inspect(args)) => files::inspect::run(&args),
        Asked::Run(Command::Check(args)) => files::check::run(&args),
        Asked::Run(Command::Bench(args)) => bench::run(&args),
        Asked::Run(Command::Repro { paper }) => repro::run(&paper),
    }
}
