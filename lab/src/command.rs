//! The command line of `lab`: its options, and how results are printed.

mod bench;
mod output;
mod progress;
mod repro;

use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};
use lab::{LabError, Result};

/// Measure Sunzi: every operation, beside rivals, and the papers' tables and figures again.
#[derive(Debug, Parser)]
#[command(
    name = "lab",
    version,
    after_help = "Exit codes: 0 every result that was timed is right; 1 one is wrong, or something failed; 2 the input was refused.\n\
    SUNZI_ISA=portable|neon|avx2|avx512dq|avx512ifma overrides the choice of kernels, SUNZI_AMX=0 leaves out tiles."
)]
struct Cli {
    /// Command that `lab` is to run.
    #[command(subcommand)]
    command: Command,
}

/// The commands of `lab`.
#[derive(Debug, Subcommand)]
enum Command {
    /// Time Sunzi's operations, on their own or beside rivals
    Bench(Box<bench::Arguments>),
    /// Compute and time the tables and figures of a paper again, beside the printed ones
    Repro {
        /// Paper that `lab repro` reproduces.
        #[command(subcommand)]
        paper: repro::Paper,
    },
    /// Serve as a rival, as `lab bench serve` does: other builds of this program are started by this one word
    #[cfg(feature = "peers")]
    #[command(hide = true)]
    Serve,
}

/// Reads the arguments of `lab`, runs the command, and returns its exit code.
pub(crate) fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::print_error(&error);
            ExitCode::from(error.exit_code())
        }
    }
}

fn run() -> Result<()> {
    let command = match Cli::try_parse() {
        Ok(cli) => cli.command,
        Err(error) if !error.use_stderr() => return output::print(&error.render().to_string()),
        Err(error) => return Err(LabError::Usage(in_one_line(&error))),
    };
    // A wrong override of the kernels is bad input, to be refused before any work.
    sunzi_kernels::active_isa().map_err(|error| LabError::Usage(error.to_string()))?;
    match command {
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Repro { paper } => repro::run(&paper),
        #[cfg(feature = "peers")]
        Command::Serve => bench::serve(),
    }
}

/// Makes the thread pool of all work that has no threads of its own; all processors unless a number is given.
fn on_threads(threads: Option<u16>) -> Result<()> {
    let Some(threads) = threads.map(usize::from) else { return Ok(()) };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
    pool.map_err(|error| LabError::threads(threads, &error))
}

/// The argument parser's message, which spans several lines, in one line.
fn in_one_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let missing = [ErrorKind::MissingSubcommand, ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand];
    if missing.contains(&error.kind()) {
        return match text.contains("Usage: lab repro") {
            true => {
                "no paper: expected akimoto, bajard, behz, kpz or takeshita; see lab repro --help".to_owned()
            }
            false => "no command: expected bench or repro; see lab --help".to_owned(),
        };
    }
    // The usage, of one or two lines, and where to read more end the message.
    let useful = text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:"));
    let useful = useful.filter(|line| !line.is_empty() && !line.starts_with("For more information"));
    let joined = useful.collect::<Vec<_>>().join("; ").replace(":; ", ": ");
    format!("{}; see lab --help", joined.strip_prefix("error: ").unwrap_or(&joined))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_parser_message_becomes_one_line() {
        for (arguments, word) in [
            (&["lab", "bench", "wire", "--round", "2"][..], "'--rounds'"),
            (&["lab", "bench", "--model", "wire"], "'wire'"),
            (&["lab", "bench", "publish"], "not provided: --directory"),
            (&["lab", "repro"], "no paper"),
            (&["lab"], "no command"),
            (&["lab", "bench", "nonsense"], "'nonsense'"),
        ] {
            let line = in_one_line(&Cli::try_parse_from(arguments).unwrap_err());
            assert!(!line.contains('\n') && line.contains(word) && !line.contains("<COMMAND>"), "{line}");
        }
    }
}
