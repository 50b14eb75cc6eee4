//! `sunzi bench`: times every operation.

use ::bench::operations::{self, Progress as At};
use ::bench::{BenchError, Options, report};

use crate::args::BenchArgs;
use crate::error::CliError;
use crate::output;
use crate::progress::Progress;

/// Times every operation on one thread and prints the rows.
pub(crate) fn run(args: &BenchArgs) -> Result<(), CliError> {
    sunzi::kernels::active_isa().map_err(CliError::input)?;
    let progress = Progress::new(!args.json && !args.quiet);
    let log_n = if args.log_n.is_empty() { vec![12, 13] } else { args.log_n.clone() };
    let options = Options { rounds: args.rounds, log_n, ..Options::default() };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(CliError::failure)?;
    let mut show = |at: At| {
        progress.at(at.done, at.total);
        progress.say(&format!("n = {}: {}", at.n, at.name));
    };
    let rows = pool.install(|| operations::run(&options, &mut show)).map_err(refuse)?;
    drop(progress);
    if args.json {
        output::print(&report::json(&rows).map_err(CliError::failure)?)?;
    } else {
        output::print(&report::table(&rows))?;
    }
    if report::all_correct(&rows) {
        return Ok(());
    }
    Err(CliError::Check("a result that was timed is wrong: see the rows that say so".to_owned()))
}

/// Options out of range are the user's to mend, everything else is a failure.
fn refuse(error: BenchError) -> CliError {
    match error {
        BenchError::Degree { .. } | BenchError::TooFewRounds { .. } => CliError::input(error),
        _ => CliError::failure(error),
    }
}
