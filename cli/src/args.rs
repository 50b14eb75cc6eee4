//! Commands and options of the command line.

mod program;
mod tables;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use sunzi::rlwe::wire::Accept;

use crate::bench::BenchArgs;
use crate::error::{CliError, one_line};
use crate::reference::HelpArgs;
use crate::table::fixed_point::{Decimals, MOST_DECIMALS};

pub(crate) use self::program::{DecryptArgs, EvalArgs, PlanArgs, PlanScheme, RoomArgs, SharingArgs};
pub(crate) use self::tables::{EncryptArgs, SchemaArgs, TableArgs};

/// Compute on encrypted numbers, exactly.
#[derive(Debug, Parser)]
#[command(name = "sunzi", version, subcommand_required = true, disable_help_subcommand = true)]
pub(crate) struct Cli {
    /// Command to run.
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Threads to use; all processors unless given
    #[arg(long, global = true, value_name = "K", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
}

/// Commands of `sunzi`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// A table or a word that stays encrypted: statistics, a model trained on it, or where it stands
    Demo(DemoArgs),
    /// Choose parameters for a computation and explain the choice
    Params(ParamsArgs),
    /// Make keys for parameters, in folders for the owner, for those who encrypt and for those who compute
    Keygen(KeygenArgs),
    /// Say what a computation takes: scheme, parameters, keys, memory and time
    Plan(PlanArgs),
    /// Compute on an encrypted table
    Eval(EvalArgs),
    /// Decrypt results
    Decrypt(DecryptArgs),
    /// Find the schema of a table: columns, ranges, labels
    Schema(SchemaArgs),
    /// Encrypt a table
    Encrypt(EncryptArgs),
    /// Say what a file is, by its header alone
    Inspect(InspectArgs),
    /// Read all of a file, and say whether it is whole and belongs to parameters
    Check(CheckArgs),
    /// Time the operations of each scheme on this machine
    Bench(BenchArgs),
    /// Print what completes commands and options in a shell
    Completions {
        /// Shell to complete commands for
        shell: clap_complete::Shell,
    },
    /// Print the page of the manual, or that of a command or of the language, for man
    Manual {
        /// Command whose page is printed, or language
        command: Option<String>,
    },
    /// Print the help of a command, or the language of programs
    Help(HelpArgs),
}

/// Options of `sunzi demo`.
#[derive(Debug, Args)]
#[command(
    after_help = "Without --input the table is Breast Cancer Wisconsin (Diagnostic), 569 x 30, by diagnosis.\n\
    Exit codes: 0 every encrypted result equals the plain one; 1 some check did not hold; 2 the input was refused.\n\
    SUNZI_ISA=portable|neon|avx2|avx512dq|avx512ifma overrides the choice of kernels."
)]
pub(crate) struct DemoArgs {
    /// The job: statistics of columns and groups, a logistic regression that tells two groups apart, or a secret word of DNA looked up
    /// in a public sequence
    #[arg(
        long,
        value_name = "statistics|regression|lookup",
        default_value = "statistics",
        hide_possible_values = true
    )]
    pub(crate) job: DemoJob,
    /// The word of a lookup: 16 letters A, C, G, T
    #[arg(long, value_name = "LETTERS")]
    pub(crate) word: Option<String>,
    /// A CSV file with a header line
    #[arg(long, value_name = "FILE")]
    pub(crate) input: Option<PathBuf>,
    /// Columns to use, by name; all columns of numbers unless given
    #[arg(long, value_name = "A,B,...", value_delimiter = ',')]
    pub(crate) columns: Vec<String>,
    /// A column whose values group the rows
    #[arg(long, value_name = "COLUMN")]
    pub(crate) group_by: Option<String>,
    /// Decimals that columns keep: auto for all they have, or a number to round to
    #[arg(long, value_name = "auto|K", default_value = "auto", value_parser = parse_decimals, allow_hyphen_values = true)]
    pub(crate) decimals: Decimals,
    /// Iterations of a regression; 16 unless given
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) iterations: Option<u16>,
    /// Regression on a small ring WITHOUT SECURITY: seconds instead of minutes, never for data that matters
    #[arg(long)]
    pub(crate) quick: bool,
    /// The scheme: auto takes the one that is predicted to be faster, and says why
    #[arg(long, value_name = "bfv|bgv|auto", default_value = "auto", hide_possible_values = true)]
    pub(crate) scheme: SchemeChoice,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Show no progress bars
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Job that `sunzi demo` does with its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum DemoJob {
    /// Counts, means, variances, covariances, correlations.
    Statistics,
    /// A logistic regression.
    Regression,
    /// A word in a sequence.
    Lookup,
}

/// Scheme that `sunzi demo` may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum SchemeChoice {
    /// The BFV scheme.
    Bfv,
    /// The BGV scheme.
    Bgv,
    /// The faster of both schemes.
    Auto,
}

/// Scheme that `sunzi params` chooses for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ParamsScheme {
    /// The BFV scheme.
    Bfv,
    /// The BGV scheme.
    Bgv,
    /// The CKKS scheme.
    Ckks,
    /// The scheme that the other options ask for.
    Auto,
}

/// Options of `sunzi params`.
#[derive(Debug, Args)]
pub(crate) struct ParamsArgs {
    /// Multiplications of ciphertexts in a row
    #[arg(long, value_name = "D", default_value_t = 1)]
    pub(crate) depth: u32,
    /// Bits of the plaintext modulus, 1 to 60
    #[arg(long, value_name = "B", default_value_t = 17, conflicts_with = "plain_range")]
    pub(crate) plain_bits: u32,
    /// Instead: room for integers from -M to M, over several plaintext moduli if need be
    #[arg(long, value_name = "M")]
    pub(crate) plain_range: Option<u128>,
    /// Instead: slots of GF(P^d), for a prime P that may be as small as 2; the ring index is chosen
    #[arg(long, value_name = "P", conflicts_with_all = ["plain_bits", "plain_range", "no_batching", "share"])]
    pub(crate) plain: Option<u64>,
    /// With --plain: slots modulo P^R
    #[arg(long, value_name = "R", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=59))]
    pub(crate) plain_exponent: u32,
    /// log2 of the terms that are summed at each level
    #[arg(long, value_name = "A", default_value_t = 0)]
    pub(crate) additions: u32,
    /// Rotate-and-add steps at each level
    #[arg(long, value_name = "R", default_value_t = 0)]
    pub(crate) rotations: u32,
    /// The scheme: BFV and BGV for integers, CKKS for real numbers; auto takes the exact one with smaller ciphertexts, and CKKS with --precision
    #[arg(long, value_name = "bfv|bgv|ckks|auto", default_value = "bfv", hide_possible_values = true)]
    pub(crate) scheme: ParamsScheme,
    /// CKKS: bits behind the binary point that results keep, 1 to 45
    #[arg(long, value_name = "BITS", conflicts_with_all = ["plain_bits", "plain_range", "plain", "additions", "rotations", "no_batching"])]
    pub(crate) precision: Option<u32>,
    /// Keep the parameters in this file, which must not be there yet
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) room: RoomArgs,
    /// At least so many numbers in a ciphertext
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=1 << 32))]
    pub(crate) slots: Option<u64>,
    /// One number a coefficient instead of slots
    #[arg(long)]
    pub(crate) no_batching: bool,
    /// Security in bits: 128, 192 or 256
    #[arg(long, value_name = "BITS", default_value = "128", value_parser = ["128", "192", "256"])]
    pub(crate) security: String,
    /// Instead: the sets that CKKS bootstraps with, what each keeps, leaves and costs
    #[arg(long, conflicts_with_all = [
        "depth", "plain_bits", "plain_range", "plain", "plain_exponent", "additions", "rotations", "slots", "no_batching", "security",
        "scheme", "precision", "output", "share"
    ])]
    pub(crate) bootstrapping: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Option for parameters that were made without security.
#[derive(Debug, Args)]
pub(crate) struct AcceptArgs {
    /// Take parameters that were written WITHOUT SECURITY too, never for data that matters
    #[arg(long)]
    insecure_for_research_only: bool,
}

impl AcceptArgs {
    pub(crate) fn parameters(&self) -> Accept {
        Accept::insecure_for_research_only(self.insecure_for_research_only)
    }
}

/// Exit codes of commands that read files.
const FILE_CODES: &str = "Exit codes: 0 fine; 2 the input was refused; 3 another key, other parameters or another kind of object; 4 the parameters do not suffice; 5 the file is damaged.";

/// Rotations that `sunzi keygen` makes keys for.
#[derive(Clone, Debug)]
pub(crate) enum Rotations {
    /// Keys for no rotation.
    None,
    /// Keys for rotations by powers of two, and for the swap of rows or the conjugation: for sums of all
    /// slots.
    Sums,
    /// Keys for rotations by these steps.
    Steps(Vec<i64>),
}

/// Options of `sunzi keygen`.
#[derive(Debug, Args)]
#[command(after_help = FILE_CODES)]
pub(crate) struct KeygenArgs {
    /// A file with parameters, as `sunzi params -o` writes it
    pub(crate) params: PathBuf,
    /// The folder for the keys, which must not be there yet
    #[arg(long, short, value_name = "FOLDER")]
    pub(crate) directory: PathBuf,
    /// Keys for this computation alone, over the table of --schema
    #[arg(long = "for", value_name = "PROGRAM", requires = "schema", conflicts_with = "rotations")]
    pub(crate) program: Option<String>,
    /// With --for: a file with the schema of the table as JSON
    #[arg(long, value_name = "FILE", requires = "program")]
    pub(crate) schema: Option<PathBuf>,
    /// With --for: a category in the clear that will cut the table, as in `sunzi encrypt`
    #[arg(long, value_name = "COLUMN", requires = "program")]
    pub(crate) partition: Option<String>,
    /// Keys for this plan alone, as `sunzi plan --json` prints it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["program", "rotations"])]
    pub(crate) plan: Option<PathBuf>,
    /// Keys for rotations: sums for those that sum all slots, none, or steps such as 1,2,-4
    #[arg(long, value_name = "sums|none|K,...", default_value = "sums", value_parser = parse_rotations, allow_hyphen_values = true)]
    pub(crate) rotations: Rotations,
    #[command(flatten)]
    pub(crate) accept: AcceptArgs,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Show no progress bars
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Options of `sunzi inspect`.
#[derive(Debug, Args)]
#[command(after_help = FILE_CODES)]
pub(crate) struct InspectArgs {
    /// A file with parameters, keys, plaintexts or ciphertexts
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) accept: AcceptArgs,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `sunzi check`.
#[derive(Debug, Args)]
#[command(after_help = FILE_CODES)]
pub(crate) struct CheckArgs {
    /// A file with keys, plaintexts or ciphertexts
    pub(crate) file: PathBuf,
    /// The file with the parameters that it should belong to
    #[arg(long, value_name = "FILE")]
    pub(crate) params: PathBuf,
    #[command(flatten)]
    pub(crate) accept: AcceptArgs,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

fn parse_rotations(text: &str) -> Result<Rotations, String> {
    match text {
        "none" => Ok(Rotations::None),
        "sums" => Ok(Rotations::Sums),
        _ => match text.split(',').map(str::parse).collect() {
            Ok(steps) => Ok(Rotations::Steps(steps)),
            Err(_) => Err("expected sums, none, or whole numbers with commas between".to_owned()),
        },
    }
}

fn parse_decimals(text: &str) -> Result<Decimals, String> {
    if text == "auto" {
        return Ok(Decimals::Auto);
    }
    match text.parse() {
        Ok(k) if k <= MOST_DECIMALS => Ok(Decimals::Fixed(k)),
        _ => Err(format!("expected auto or a whole number from 0 to {MOST_DECIMALS}")),
    }
}

/// Request that the arguments of the process make.
pub(crate) enum Asked {
    /// Run this command, on this number of threads if given.
    Run(Box<Command>, Option<u16>),
    /// Show this text, which is help or the version.
    Show(String),
}

/// Reads the arguments of the process.
pub(crate) fn read() -> Result<Asked, CliError> {
    match Cli::try_parse() {
        Ok(cli) => Ok(Asked::Run(Box::new(cli.command), cli.threads)),
        Err(error) if !error.use_stderr() => Ok(Asked::Show(error.render().to_string())),
        Err(error) => Err(CliError::Input(in_one_line(&error))),
    }
}

/// Returns the names of all commands in one text.
fn commands() -> String {
    let command = <Cli as clap::CommandFactory>::command();
    let names: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
    match names.split_last() {
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

/// Returns the parser's message, which spans several lines, in one line.
fn in_one_line(error: &clap::Error) -> String {
    use clap::error::ErrorKind;
    let text = error.render().to_string();
    if error.kind() == ErrorKind::MissingSubcommand
        || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    {
        return format!("no command: expected {}; see sunzi --help", commands());
    }
    let useful = text.lines().map(str::trim).filter(|line| {
        !line.is_empty() && !line.starts_with("Usage:") && !line.starts_with("For more information")
    });
    let joined = useful.fold(String::new(), |text, line| {
        let between = match text.as_bytes().last() {
            None => "",
            Some(b':') => " ",
            Some(_) => "; ",
        };
        text + between + line
    });
    let message = joined.strip_prefix("error: ").unwrap_or(&joined);
    one_line(&format!("{message}; see sunzi --help"))
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
    fn what_is_missing_follows_its_colon() {
        let message = in_one_line(&Cli::try_parse_from(["sunzi", "check", "a.sz"]).unwrap_err());
        assert!(message.contains("not provided: --params <FILE>; see"), "{message}");
    }

    #[test]
    fn decimals_are_auto_or_a_small_number() {
        assert_eq!(parse_decimals("auto"), Ok(Decimals::Auto));
        assert_eq!(parse_decimals("3"), Ok(Decimals::Fixed(3)));
        for bad in ["", "-1", "1.5", "401", "automatic", "99999999999"] {
            assert!(parse_decimals(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_parser_message_becomes_one_line() {
        let error = Cli::try_parse_from(["sunzi", "demo", "--thread", "2"]).unwrap_err();
        let line = in_one_line(&error);
        assert!(!line.contains('\n') && line.contains("--thread") && line.contains("--threads"), "{line}");
    }
}
