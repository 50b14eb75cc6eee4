//! The subcommand `lab bench peers`.

use std::fs;
use std::path::PathBuf;

use clap::Args;
use lab::bench::rivals::{self, Absence, Choice, Memory, Scheme, Selection, circuits, processor};
use lab::bench::{Options, report};
use lab::{LabError, Result};
use sunzi_rlwe::words::counted;

use super::super::output;
use super::super::progress::Progress;
use super::Common;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// A rival and its program, as lattigo=PROGRAM, sunzi=PROGRAM (another build of this one) or tfhe-ntt
    #[arg(long = "rival", value_name = "NAME=PROGRAM", required_unless_present = "absent")]
    rivals: Vec<Selection>,
    /// A rival that cannot be compared with, and why
    #[arg(long, value_name = "NAME=REASON")]
    absent: Vec<Absence>,
    #[command(flatten)]
    common: Common,
    /// Compare only these schemes, separated by commas
    #[arg(long, value_delimiter = ',')]
    schemes: Vec<Scheme>,
    /// Compare only these operations of a scheme, separated by commas
    #[arg(long, value_delimiter = ',')]
    operations: Vec<String>,
    /// How the memory of rivals is given, stock or kept, separated by commas (both, where it matters)
    #[arg(long, value_delimiter = ',')]
    memory: Vec<Memory>,
    /// Begin no new round of an operation after so many seconds
    #[arg(long)]
    seconds: Option<f64>,
    /// Most bits of a ciphertext modulus of the rivals, unless what they are fastest with
    #[arg(long, value_name = "BITS", value_parser = clap::value_parser!(u32).range(46..=60))]
    width: Option<u32>,
    /// Most bits of log2 QP, unless all that the security table has room for
    #[arg(long, value_name = "BITS")]
    bits: Option<u32>,
    /// Also write the rows of results to this file, as JSON
    #[arg(long)]
    save: Option<PathBuf>,
    /// Fail if a ratio misses its bar
    #[arg(long)]
    check: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Circuits {
    /// A rival and its program, as lattigo=PROGRAM
    #[arg(long = "rival", value_name = "NAME=PROGRAM", required_unless_present = "absent")]
    rivals: Vec<Selection>,
    /// A rival that cannot be compared with, and why
    #[arg(long, value_name = "NAME=REASON")]
    absent: Vec<Absence>,
    /// Number of random circuits for every rival
    #[arg(long, default_value_t = 1000)]
    count: usize,
    /// Print the results of random circuits as JSON instead of sentences
    #[arg(long)]
    json: bool,
}

/// Runs random circuits and prints how many were wrong; returns whether Sunzi's were all right.
pub(crate) fn circuits(arguments: &Circuits) -> Result<bool> {
    let mut rivals = arguments.rivals.clone();
    rivals.extend(arguments.absent.iter().cloned().map(Selection::from));
    let progress = Progress::new(true);
    let reports = circuits::run(&rivals, arguments.count, &mut |done, total| {
        progress.at(done, total, "circuits");
    });
    drop(progress);
    let reports = reports?;
    if arguments.json {
        output::print_pretty(&reports)?;
    } else {
        for circuits::Report { rival, circuits, ours_wrong, theirs_wrong, failed } in &reports {
            let failed = failed.as_ref().map_or_else(String::new, |why| format!("; {why}"));
            let wrong = format!("{ours_wrong} wrong in ours, {theirs_wrong} in theirs");
            output::print(&format!("{rival}: {circuits} circuits, {wrong}{failed}"))?;
        }
    }
    Ok(reports.iter().all(|report| report.ours_wrong == 0))
}

/// Compares Sunzi with rivals and prints the rows; returns whether every result was right.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    // Where it cannot be done, the operating system decides, for all contenders alike.
    let _ = processor::bind();
    let options = Options::from(&arguments.common);
    // Rows of a long run go to a file: the bar is for whoever started it.
    let progress = Progress::new(!arguments.common.quiet);
    let Arguments { schemes, operations, memory, seconds, width, bits, .. } = arguments;
    let (schemes, operations, memory) = (schemes.clone(), operations.clone(), memory.clone());
    let choice = Choice { schemes, operations, memory, seconds: *seconds, width: *width, bits: *bits };
    let mut rivals = arguments.rivals.clone();
    rivals.extend(arguments.absent.iter().cloned().map(Selection::from));
    let program = std::env::current_exe()?;
    let rows = rivals::run(&program, &options, &rivals, &choice, &mut |at| {
        progress.at(at.done, at.total, &format!("{}, n = {}", at.name, at.n));
    });
    drop(progress);
    let rows = rows?;
    if let Some(path) = &arguments.save {
        fs::write(path, report::json(&rows)? + "\n")?;
    }
    super::print(&rows, arguments.common.json)?;
    let missed = rows.iter().filter(|row| row.met == Some(false)).count();
    if arguments.check && missed > 0 {
        let missed = counted(missed, "bar", "bars");
        return Err(LabError::Failed(format!("{missed} missed: see the rows that say so")));
    }
    Ok(report::all_correct(&rows))
}
