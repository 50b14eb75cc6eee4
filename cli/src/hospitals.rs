//! `sunzi demo --job hospitals`: statistics and a logistic regression over the rows of three hospitals, whose keys they make together.

mod joint;
mod page;
mod parts;
mod report;
mod statistics;
mod text;
mod training;

use std::time::Instant;

use sunzi::circuits::regression::{ClearReals, ITERATION_DEPTH, Layout, Scaling, Training, train};
use sunzi::rlwe::SharingPolicy;

use crate::args::{DemoArgs, SchemeChoice};
use crate::deliver::deliver;
use crate::derived::{Derived, derive};
use crate::error::CliError;
use crate::files::target::Target;
use crate::job::Job;
use crate::progress::Progress;
use crate::statistics_clear;
use parts::{COLUMNS, Parts};
use report::{Models, Report, Ring, Sizes, Times};

/// Bits s of the statistical distance 2^-s of all that is opened from what tells nothing of noise.
const STATISTICAL_BITS: u32 = 40;
/// Iterations of the regression unless given: each takes a refresh, and a bit of precision for every four times as many.
const ITERATIONS: usize = 5;
/// Largest number of iterations: the lowest modulus has room for masks of so many refreshes.
const MOST_ITERATIONS: usize = 16;
/// Length of the step along the mean gradient, and width of scores: shorter and narrower than for one key holder, so that noise grows less.
const RATE: f64 = 2.0;
const WIDTH: f64 = 8.0;
/// Iterations of the model in the clear that is shown as the one to which training comes.
const MANY_ITERATIONS: usize = 200;
/// Levels of vectors in the clear: as many as any training takes.
const CLEAR_LEVELS: usize = ITERATION_DEPTH * MANY_ITERATIONS;

/// One computation under a joint secret: its result, and what it took.
struct Run<T> {
    result: T,
    times: Times,
    ring: Ring,
    sizes: Sizes,
    /// Results that the ledger of each hospital counts.
    counted: Vec<u64>,
    policy: SharingPolicy,
}

/// Computes over the rows of all hospitals, prints what two of them open, and says whether it is what is found in the clear.
pub(crate) fn run(args: &DemoArgs, target: Option<&Target<'_>>) -> Result<(), CliError> {
    if args.scheme != SchemeChoice::Auto {
        return Err(CliError::input(
            "--scheme is for --job statistics: hospitals take BFV for sums and CKKS for the regression",
        ));
    }
    let report = report(args)?;
    let outside = || {
        let (wrong, all) = (report.outside(), report.checked());
        CliError::Check(format!("{wrong} of {all} opened results are outside of their bounds"))
    };
    let error = (!report.ok()).then(outside);
    deliver((args, target), &report, Report::text, Report::page, error)
}

fn report(args: &DemoArgs) -> Result<Report, CliError> {
    let start = Instant::now();
    let progress = Progress::new(!args.json && !args.quiet);
    let job = Job::prepare_of(args, &COLUMNS)?;
    let parts = Parts::of(&job)?;
    let iterations = args.iterations.map_or(ITERATIONS, usize::from);
    if iterations > MOST_ITERATIONS {
        return Err(CliError::input(format!(
            "--iterations {iterations}: at most {MOST_ITERATIONS} are possible for --job hospitals, who refresh between them"
        )));
    }
    let training = Training { iterations, rate: RATE, width: WIDTH };

    // What is found in the clear comes first: a table on which training leaves its range is refused before there are keys.
    let decimals = job.decimals();
    let plain = derive(&statistics_clear::sums(&job).total, &decimals);
    let clear_scaling = scaling(&plain)?;
    let in_clear = |training| clear(&job, &parts, &clear_scaling, training);
    let models = Models {
        clear: in_clear(training)?,
        // Weights may grow beyond what training holds, where a hyperplane tells the groups apart.
        converged: in_clear(Training { iterations: MANY_ITERATIONS, ..training }).ok(),
    };

    let sums = statistics::run(&job, &parts, args.quick, &progress)?;
    let opened = derive(&sums.result, &decimals);
    // Hospitals scale their rows by what was opened.
    let scaling = scaling(&opened)?;
    let model = training::run(&job, &parts, &scaling, (training, args.quick), &progress)?;
    let statistics = [&opened, &plain];
    let seconds = start.elapsed().as_secs_f64();
    Report::new((&job, &parts), (sums, model), statistics, (&models, &scaling, training), seconds)
}

/// Returns the scaling of columns by their means and variances over all rows.
fn scaling(statistics: &Derived) -> Result<Scaling, CliError> {
    let missing = || CliError::failure("a mean or a variance is missing");
    let means: Option<Vec<f64>> = statistics.means.iter().copied().collect();
    let means = means.ok_or_else(missing)?;
    let count = statistics.count as f64;
    // Sample variances have the divisor n − 1.
    let variance = |x: usize| {
        let own = statistics.covariances.get(crate::sums::pair_index(x, x)).copied().flatten();
        own.map(|own| own * (count - 1.0) / count).ok_or_else(missing)
    };
    let variances = (0..means.len()).map(variance).collect::<Result<Vec<_>, _>>()?;
    Scaling::from_moments(means, &variances).map_err(CliError::input)
}

/// Returns the weights that the same algorithm finds in the clear.
fn clear(job: &Job, parts: &Parts, scaling: &Scaling, training: Training) -> Result<Vec<f64>, CliError> {
    let layout = Layout::new(job.rows, job.columns.len(), usize::MAX >> 1).map_err(CliError::input)?;
    let arithmetic = ClearReals::new(layout.slots(), CLEAR_LEVELS);
    let blocks = layout.pack(scaling, &job.rows_of(0..job.rows), &parts.labels).map_err(CliError::input)?;
    let table: Vec<_> = blocks.iter().map(|block| arithmetic.encrypt(block)).collect();
    let trained = train(&arithmetic, &layout, &training, &table, &mut |_| ()).map_err(CliError::input)?;
    Ok(layout.weights(trained.values()))
}
