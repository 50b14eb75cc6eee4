//! The subcommand `peers`.

use std::io::IsTerminal;

use bench::report;
use bench::rivals::{self, Choice, Scheme, Selection, processor};
use bench::{BenchError, Options};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use super::Common;

#[derive(Args)]
pub(crate) struct Arguments {
    /// A rival and its program, as fhe-rs=PROGRAM, lattigo=PROGRAM, sunzi=PROGRAM (another build of
    /// this one) or tfhe-ntt
    #[arg(long = "rival", value_name = "NAME=PROGRAM", required = true)]
    rivals: Vec<Selection>,
    #[command(flatten)]
    common: Common,
    /// Only these schemes, separated by commas
    #[arg(long, value_delimiter = ',')]
    schemes: Vec<Scheme>,
    /// Only these operations of a scheme, separated by commas
    #[arg(long, value_delimiter = ',')]
    operations: Vec<String>,
    /// Fail if a bar is missed
    #[arg(long)]
    check: bool,
}

/// Compares and prints; whether every result was right.
pub(crate) fn run(arguments: &Arguments) -> Result<bool, BenchError> {
    // Where it cannot be done, the operating system decides, for all contenders alike.
    let _ = processor::bind();
    let options = Options::from(&arguments.common);
    let bar = if std::io::stderr().is_terminal() { ProgressBar::new(1) } else { ProgressBar::hidden() };
    if let Ok(style) = ProgressStyle::with_template("{msg:<32} [{bar:32}] {pos}/{len} {elapsed}") {
        bar.set_style(style.progress_chars("=> "));
    }
    let choice = Choice { schemes: arguments.schemes.clone(), operations: arguments.operations.clone() };
    let rows = rivals::run(&options, &arguments.rivals, &choice, &mut |at| {
        bar.set_length(at.total as u64);
        bar.set_position(at.done as u64);
        bar.set_message(format!("{}, n = {}", at.name, at.n));
        bar.tick();
    });
    bar.finish_and_clear();
    let rows = rows?;
    super::print(&rows, arguments.common.json)?;
    let missed = rows.iter().filter(|row| row.met == Some(false)).count();
    if arguments.check && missed > 0 {
        return Err(BenchError::BarsMissed { missed });
    }
    Ok(report::all_correct(&rows))
}
