//! `sunzi demo --job lookup`: finds where a secret word stands in a public sequence of DNA, or in a column of a public table.

mod encrypted;
mod genome;
mod page;
mod public;
mod report;

use std::time::Instant;

use crate::args::{DemoArgs, SchemeChoice};
use crate::deliver::deliver;
use crate::error::CliError;
use crate::files::target::Target;
use crate::progress::Progress;
use public::Lookup;
use report::Report;

/// Searches for the word, prints, and says whether the encrypted answer is the clear one.
pub(crate) fn run(args: &DemoArgs, target: Option<&Target<'_>>) -> Result<(), CliError> {
    if args.scheme == SchemeChoice::Bfv {
        return Err(CliError::input("a lookup runs in BGV: leave --scheme away"));
    }
    if args.group_by.is_some() {
        return Err(CliError::input("--group-by is for --job statistics and regression"));
    }
    let start = Instant::now();
    let progress = Progress::new(!args.json && !args.quiet);
    let lookup = Lookup::prepare(args)?;
    let outcome = encrypted::run(&lookup, &progress)?;
    let report = Report::new(&lookup, outcome, start.elapsed().as_secs_f64())?;
    let differs = || CliError::Check("the encrypted answer differs from the clear one".to_owned());
    let error = (!report.ok()).then(differs);
    deliver((args, target), &report, Report::text, Report::page, error)
}
