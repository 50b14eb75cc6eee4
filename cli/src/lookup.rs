//! `sunzi demo --job lookup`: finds where a secret word of DNA stands in a public sequence.

mod encrypted;
mod genome;
mod page;
mod report;

use std::time::Instant;

use crate::args::{DemoArgs, SchemeChoice};
use crate::deliver::deliver;
use crate::error::CliError;
use crate::files::target::Target;
use crate::progress::Progress;
use genome::Genome;
use report::Report;

/// Searches the sequence for the word, prints, and says whether the encrypted answer is the clear one.
pub(crate) fn run(args: &DemoArgs, target: Option<&Target<'_>>) -> Result<(), CliError> {
    if args.scheme == SchemeChoice::Bfv {
        return Err(CliError::input("a lookup runs in BGV: leave --scheme away"));
    }
    if args.input.is_some() || !args.columns.is_empty() || args.group_by.is_some() {
        return Err(CliError::input(
            "--input, --columns and --group-by are for --job statistics and regression: a lookup has a table of its own",
        ));
    }
    let report = report(args)?;
    let differs = || CliError::Check("the encrypted answer differs from the clear one".to_owned());
    let error = (!report.ok()).then(differs);
    deliver((args, target), &report, Report::text, Report::page, error)
}

fn report(args: &DemoArgs) -> Result<Report, CliError> {
    let start = Instant::now();
    let progress = Progress::new(!args.json && !args.quiet);
    let genome = Genome::embedded()?;
    let word = genome::word(args.word.as_deref().unwrap_or(genome::USUAL_WORD))?;
    let outcome = encrypted::run(&genome, &word, &progress)?;
    Report::new(&genome, &word, outcome, start.elapsed().as_secs_f64())
}
