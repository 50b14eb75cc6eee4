//! `sunzi repro`: the tables of a paper, computed again.

mod human;

use ::repro::behz::{self, Part};

use crate::args::{BehzArgs, Paper};
use crate::error::CliError;
use crate::output;

/// Computes what was asked for and prints it.
pub(crate) fn run(paper: &Paper) -> Result<(), CliError> {
    match paper {
        Paper::Behz(args) => run_behz(args),
    }
}

fn run_behz(args: &BehzArgs) -> Result<(), CliError> {
    let parts = if args.only.is_empty() { Part::ALL.to_vec() } else { args.only.clone() };
    let report = behz::run(&parts).map_err(CliError::failure)?;
    if args.json { output::print_json(&report) } else { output::print(&human::render(&report)) }
}
