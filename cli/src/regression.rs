//! `sunzi demo --job regression`: a logistic regression trained on a table that stays encrypted.

mod encrypted;
mod page;
mod report;
mod rows;

use std::time::Instant;

use sunzi::circuits::regression::{ClearReals, Layout, Training, train};

use crate::args::{DemoArgs, SchemeChoice};
use crate::deliver::deliver;
use crate::error::CliError;
use crate::files::target::Target;
use crate::job::Job;
use crate::progress::Progress;
use report::Report;
use rows::Split;

/// Trains a logistic regression, prints its model, and says whether it is the one that the same algorithm
/// finds in the clear.
pub(crate) fn run(args: &DemoArgs, target: Option<&Target<'_>>) -> Result<(), CliError> {
    if args.scheme != SchemeChoice::Auto {
        return Err(CliError::input("--scheme is for --job statistics: a regression is trained with CKKS"));
    }
    let report = report(args)?;
    let differs =
        || CliError::Check("the encrypted model differs from the one trained in the clear".to_owned());
    let error = (!report.ok()).then(differs);
    deliver((args, target), &report, Report::text, Report::page, error)
}

fn report(args: &DemoArgs) -> Result<Report, CliError> {
    let start = Instant::now();
    let progress = Progress::new(!args.json && !args.quiet);
    let job = Job::prepare(args)?;
    let split = Split::of(&job)?;
    let usual = Training::default();
    let training = Training { iterations: args.iterations.map_or(usual.iterations, usize::from), ..usual };
    let set = encrypted::set(args.quick);
    let outcome = encrypted::run(&split, &set, &training, &progress)?;
    progress.say("training in the clear");
    let clear = clear(&split, &training, &outcome.layout, set.residual.levels)?;
    Report::new(&job, &split, &set, &training, outcome, &clear, start.elapsed().as_secs_f64())
}

/// Returns the weights that the same algorithm finds in the clear.
fn clear(split: &Split, training: &Training, layout: &Layout, levels: usize) -> Result<Vec<f64>, CliError> {
    let arithmetic = ClearReals::new(layout.slots(), levels);
    let blocks = layout.pack(&split.scaling, &split.training.rows, &split.training.labels);
    let blocks = blocks.map_err(CliError::input)?;
    let table: Vec<_> = blocks.iter().map(|block| arithmetic.encrypt(block)).collect();
    let trained = train(&arithmetic, layout, training, &table, &mut |_| ()).map_err(CliError::input)?;
    Ok(layout.weights(trained.values()))
}
