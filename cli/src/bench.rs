//! `sunzi bench`: times every operation, or one of them closely.

use ::bench::operations::{self, Progress as At};
use ::bench::report::{self, Row};
use ::bench::{BenchError, Options, cyclotomic, keyswitch, model, multiply, wire};

use crate::args::{BenchArgs, Timed};
use crate::columns::{empty_table, right_align};
use crate::error::CliError;
use crate::output;
use crate::progress::Progress;

/// Times every operation on one thread and prints the rows.
pub(crate) fn run(args: &BenchArgs) -> Result<(), CliError> {
    sunzi::kernels::active_isa().map_err(CliError::input)?;
    let progress = Progress::new(!args.json && !args.quiet);
    let options = Options { rounds: args.rounds, log_n: args.log_n.clone(), ..Options::default() };
    if args.model {
        return modelled(&options, args.json, progress);
    }
    let rows = match args.what {
        Timed::Bfv => operations(options, &progress),
        Timed::Keyswitch => keyswitch::run(&options),
        Timed::Multiply => multiply::run(&options),
        Timed::Cyclotomic => cyclotomic::run(&options),
        Timed::Wire => wire::run(&options),
    };
    let rows = rows.map_err(refuse)?;
    drop(progress);
    if args.json {
        output::print(&report::json(&rows).map_err(CliError::failure)?)?;
    } else {
        output::print(&report::table(&rows))?;
    }
    right(report::all_correct(&rows))
}

/// The cost model beside measured times.
fn modelled(options: &Options, json: bool, progress: Progress) -> Result<(), CliError> {
    progress.begin(model::count(options));
    let rows = model::run(options, &mut |done, what| {
        progress.at(done, model::count(options));
        progress.say(what);
    });
    let rows = rows.map_err(refuse)?;
    drop(progress);
    if json {
        output::print_json(&rows)?;
    } else {
        let [header, cells @ ..] = &*model::table(&rows) else { return Ok(()) };
        let mut table = empty_table(header);
        table.add_rows(cells);
        right_align(&mut table, 3..header.len());
        output::print(&format!("{table}\n"))?;
    }
    right(rows.iter().all(|row| row.correct))
}

/// The verdict on results that were timed.
fn right(all: bool) -> Result<(), CliError> {
    let wrong = "a result that was timed is wrong: see the rows that say so";
    if all { Ok(()) } else { Err(CliError::Check(wrong.to_owned())) }
}

/// Every operation of BFV; the smaller degrees unless others are asked for.
fn operations(mut options: Options, progress: &Progress) -> Result<Vec<Row>, BenchError> {
    if options.log_n.is_empty() {
        options.log_n = vec![12, 13];
    }
    operations::run(&options, &mut |at: At| {
        progress.at(at.done, at.total);
        progress.say(&format!("n = {}: {}", at.n, at.name));
    })
}

/// Options out of range are the user's to mend, everything else is a failure.
fn refuse(error: BenchError) -> CliError {
    match error {
        BenchError::Degree { .. } | BenchError::TooFewRounds { .. } => CliError::input(error),
        _ => CliError::failure(error),
    }
}
