//! Commands and options of the command line.

pub(crate) mod intersect;
pub(crate) mod keys;
pub(crate) mod lookup;
mod params;
#[cfg(feature = "net")]
pub(crate) mod party;
pub(crate) mod passphrase;
mod program;
mod read;
pub(crate) mod reencrypt;
pub(crate) mod rekey;
#[cfg(feature = "serve")]
pub(crate) mod service;
mod tables;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use sunzi::rlwe::wire::Accept;
use sunzi_keystore::Label;

use crate::bench::BenchArgs;
use crate::files::mode::ModeArgs;
use crate::reference::HelpArgs;
use crate::table::fixed_point::{Decimals, MOST_DECIMALS};

pub(crate) use self::params::{ParamsArgs, ParamsScheme, security};
pub(crate) use self::program::{DecryptArgs, EvalArgs, PRECISION, PlanArgs, RoomArgs, SharingArgs};
pub(crate) use self::read::{Asked, Manner, read};
use self::tables::parse_names;
pub(crate) use self::tables::{EncryptArgs, Names, RowRange, SchemaArgs, TableArgs, flat};

/// Compute on encrypted numbers, exactly.
#[derive(Debug, Parser)]
#[command(
    name = "sunzi",
    version,
    subcommand_required = true,
    disable_help_subcommand = true,
    after_help = "With --json standard output has one JSON value, of an error {\"error\": MESSAGE, \"code\": EXIT CODE}; errors are on standard error too.\n\
    - is standard input for a table, a program or another file, and standard output for --output.\n\
    Exit codes: 0 fine; 1 a check failed; 2 the input was refused; 3 another key, other parameters or another kind of object; 4 the parameters do not suffice; 5 a \
    file is damaged; 6 a file is missing, or cannot be read or written."
)]
pub(crate) struct Cli {
    /// Command to run.
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Threads to use; all processors unless given
    #[arg(long, global = true, value_name = "K", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Colours in texts; auto where a terminal shows them and NO_COLOR is not set
    #[arg(
        long,
        global = true,
        value_name = "auto|always|never",
        default_value = "auto",
        hide_possible_values = true
    )]
    // `Manner` looks for it before the arguments are parsed, for errors of theirs.
    color: Color,
}

/// When texts have colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// Where a terminal shows them.
    Auto,
    /// Everywhere.
    Always,
    /// Nowhere.
    Never,
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
    /// Put a secret key under a passphrase, change it, or remove it
    Passphrase(passphrase::PassphraseCommands),
    /// Label and expiry of keys, and the audit log of what was opened with them
    Keys(keys::KeysArgs),
    /// Compute on an encrypted table
    Eval(EvalArgs),
    /// Decrypt results
    Decrypt(DecryptArgs),
    /// Hand results on to another owner, by a proxy that reads nothing
    Reencrypt(reencrypt::ReencryptArgs),
    /// Bring tables and results from an old key of their owner to a new one, without decrypting them
    Rekey(rekey::RekeyArgs),
    /// Look up a row of a public table without telling whoever has the table which one
    Lookup(lookup::LookupArgs),
    /// Find which of your items a secret table of somebody else has, with their rows
    Intersect(intersect::IntersectArgs),
    /// Keys of several parties, of whom none has the secret, and results that they open together
    #[cfg(feature = "net")]
    Party(party::PartyArgs),
    /// Compute for key holders on other machines: a server that never has a secret key
    #[cfg(feature = "serve")]
    Serve(service::ServeArgs),
    /// Say who may use a server
    #[cfg(feature = "serve")]
    Account(service::AccountArgs),
    /// Have a server compute: send keys, programs and tables, fetch results
    #[cfg(feature = "serve")]
    Remote(service::RemoteArgs),
    /// Compute one job of a server, which starts this itself
    #[cfg(feature = "serve")]
    #[command(hide = true)]
    ServiceJob,
    /// Find the schema of a table: columns, ranges, labels
    Schema(SchemaArgs),
    /// Encrypt a table
    Encrypt(EncryptArgs),
    /// Say what a file is and what it has, without the parameters it belongs to
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

impl Command {
    /// Whether the command itself says what happens when the process is interrupted.
    pub(crate) fn stops_itself(&self) -> bool {
        #[cfg(feature = "serve")]
        if matches!(self, Self::Serve(_)) {
            return true;
        }
        #[cfg(feature = "serve")]
        if let Self::Intersect(args) = self {
            return matches!(args.command, intersect::IntersectCommand::Serve(_));
        }
        #[cfg(feature = "serve")]
        if let Self::Lookup(args) = self {
            return matches!(args.command, lookup::LookupCommand::Serve(_));
        }
        false
    }
}

/// Options of `sunzi demo`.
#[derive(Debug, Args)]
#[command(
    after_help = "Without --input the table is Breast Cancer Wisconsin (Diagnostic), 569 x 30, by diagnosis.\n\
    Exit codes: 0 every encrypted result equals the plain one; 1 some check did not hold; 2 the input was refused; 6 a file is missing, or cannot be read or written.\n\
    SUNZI_ISA=portable|neon|avx2|avx512dq|avx512ifma overrides the choice of kernels."
)]
pub(crate) struct DemoArgs {
    /// The job: statistics of columns and groups, a logistic regression that tells two groups apart, a secret word looked up
    /// in a public sequence of DNA or a column of a public table, or both of the first over the rows of three hospitals, none of whom has the key
    #[arg(
        long,
        value_name = "statistics|regression|lookup|hospitals",
        default_value = "statistics",
        hide_possible_values = true
    )]
    pub(crate) job: DemoJob,
    /// The word of a lookup: 16 letters A, C, G, T; with --input and one of --columns, a cell of it
    #[arg(long, value_name = "WORD")]
    pub(crate) word: Option<String>,
    /// A CSV file with a header line; - for standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) input: Option<PathBuf>,
    /// Columns to use, by name; all columns of numbers unless given. A name with a comma stands in quotation marks
    #[arg(long, value_name = "A,B,...", value_parser = parse_names)]
    pub(crate) columns: Vec<Names>,
    /// A column whose values group the rows
    #[arg(long, value_name = "COLUMN")]
    pub(crate) group_by: Option<String>,
    /// Decimals that columns keep: auto for all they have, or a number to round to
    #[arg(long, value_name = "auto|K", default_value = "auto", value_parser = parse_decimals, allow_hyphen_values = true)]
    pub(crate) decimals: Decimals,
    /// Iterations of a regression; 16 unless given, 5 for hospitals
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) iterations: Option<u16>,
    /// Regression or hospitals on small rings WITHOUT SECURITY: seconds instead of minutes, never for data that matters
    #[arg(long)]
    pub(crate) quick: bool,
    /// The scheme: auto takes the one that is predicted to be faster, and says why
    #[arg(long, value_name = "bfv|bgv|auto", default_value = "auto", hide_possible_values = true)]
    pub(crate) scheme: SchemeChoice,
    /// Write the report to this file as one page of HTML: results, differences, sizes, times, and what the server saw; - for standard output
    #[arg(long, value_name = "FILE.html")]
    pub(crate) html: Option<PathBuf>,
    /// Replace the file of --html if it is there already, once the new one is whole
    #[arg(long, requires = "html")]
    pub(crate) force: bool,
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
    /// Statistics and a regression over the rows of three hospitals.
    Hospitals,
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
const FILE_CODES: &str = "Exit codes: 0 fine; 2 the input was refused; 3 another key, other parameters or another kind of object; 4 the parameters do not suffice; 5 a file is damaged; 6 a file is missing, or cannot be read or written.";

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
    /// A file with parameters, as `sunzi params -o` writes it; - for standard input
    pub(crate) params: PathBuf,
    /// The folder for the keys, which must not be there yet
    #[arg(long, short, value_name = "FOLDER")]
    pub(crate) directory: PathBuf,
    /// Keys for this computation alone, over the table of --schema; @FILE takes its text from a file
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
    /// Put the secret key under a passphrase, asked for at the terminal unless it is given
    #[arg(long)]
    pub(crate) passphrase: bool,
    #[command(flatten)]
    pub(crate) new_passphrase: passphrase::NewPassphraseArgs,
    /// Label of the keys: up to 64 letters, digits, spaces and punctuation of ASCII
    #[arg(long, value_name = "TEXT")]
    pub(crate) label: Option<Label>,
    /// First day, in UTC, on which nothing is encrypted under these keys any more, or a time such as 2027-06-01T12:00:00Z, or a duration from now such as 90d, 12w or 48h
    #[arg(long, value_name = "DATE|DURATION", value_parser = keys::parse_expiry)]
    pub(crate) expires: Option<keys::Expiry>,
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
    /// A file with parameters, keys, plaintexts or ciphertexts; - for standard input
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
    /// A file with keys, plaintexts or ciphertexts; - for standard input
    pub(crate) file: PathBuf,
    /// The file with the parameters that it should belong to; - for standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) params: PathBuf,
    #[command(flatten)]
    pub(crate) accept: AcceptArgs,
    #[command(flatten)]
    pub(crate) mode: ModeArgs,
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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn decimals_are_auto_or_a_small_number() {
        assert_eq!(parse_decimals("auto"), Ok(Decimals::Auto));
        assert_eq!(parse_decimals("3"), Ok(Decimals::Fixed(3)));
        for bad in ["", "-1", "1.5", "401", "automatic", "99999999999"] {
            assert!(parse_decimals(bad).is_err(), "{bad}");
        }
    }
}
