//! Options of commands that compute programs.

use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args, ValueEnum};

use sunzi::program::analysis::SchemeChoice;
use sunzi::program::packed::Packing;
use sunzi::rlwe::reencryption::MOST_HOPS;
use sunzi::rlwe::{Reencryptions, SecretDistribution, SharingPolicy};

use super::passphrase::PassphraseArgs;
use super::tables::{ReadingArgs, parse_bytes};
use super::{AcceptArgs, FILE_CODES};
use crate::audit::LogArgs;
use crate::error::CliError;
use crate::files::mode::ModeArgs;
use crate::files::target::ForceArgs;

/// Bits of every intermediate number of CKKS that are right, unless given.
pub(crate) const PRECISION: u32 = 16;
/// Ciphertexts under one key that are handed on, unless given.
pub(crate) const QUERIES: u64 = 1 << 16;
/// Bits of the statistical distance of what is shared or handed on, unless given.
pub(crate) const STATISTICAL_BITS: u32 = 40;

/// Scheme that a program may run in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlanScheme {
    /// The BFV scheme.
    Bfv,
    /// The BGV scheme.
    Bgv,
    /// The CKKS scheme.
    Ckks,
    /// Encrypted integers.
    Integers,
    /// The cheapest scheme that can compute the program.
    Auto,
}

/// Whether the table may be packed for the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PackingChoice {
    /// Columns have ciphertexts of their own.
    Never,
    /// Where it costs less.
    Auto,
    /// Or the program is refused.
    Always,
}

/// How a table may be packed.
#[derive(Debug, Args)]
pub(crate) struct PackingArgs {
    /// Pack columns and groups side by side, for this program alone: keep what --json prints for the --plan of keygen and encrypt
    #[arg(long, value_name = "never|auto|always", default_value = "never", hide_possible_values = true)]
    pub(crate) packing: PackingChoice,
    /// With --packing: no label of the category after `by` has more rows, which the server learns; all rows unless given
    #[arg(long, value_name = "ROWS")]
    pub(crate) longest_group: Option<u64>,
    /// With --packing: no sum and no sum of products is larger, in units of the last decimal; as ranges of columns allow unless given
    #[arg(long, value_name = "M")]
    pub(crate) largest: Option<u128>,
}

impl PackingArgs {
    /// Returns the packing that the options ask for, if they ask for one.
    pub(crate) fn asked(&self) -> Result<Option<Packing>, CliError> {
        let always = self.packing == PackingChoice::Always;
        let (longest_group, largest) = (self.longest_group, self.largest);
        let given = longest_group.is_some() || largest.is_some();
        match self.packing {
            PackingChoice::Never if given => {
                Err(CliError::input("--longest-group and --largest are for --packing auto or always"))
            }
            PackingChoice::Never => Ok(None),
            _ => Ok(Some(Packing { longest_group, largest, always, ..Packing::default() })),
        }
    }
}

/// Options of `sunzi plan`.
#[derive(Debug, Args)]
#[command(after_help = FILE_CODES, group = ArgGroup::new("written").args(["output", "picture"]).multiple(true))]
pub(crate) struct PlanArgs {
    /// What is to be computed, such as "mean(age); corr(age, chol); sum(cost) by region": see `sunzi help language`; @FILE takes the text of a file, - standard input
    pub(crate) program: String,
    /// A table, clear or encrypted, whose columns and rows it is for; - for standard input
    #[arg(value_name = "TABLE", required_unless_present_any = ["table", "schema"], conflicts_with_all = ["table", "schema"])]
    file: Option<PathBuf>,
    /// The table, in place of TABLE
    #[arg(long, value_name = "FILE", conflicts_with = "schema")]
    table: Option<PathBuf>,
    /// Instead: a file with the schema of the table as JSON, as `sunzi schema` writes it
    #[arg(long, value_name = "FILE")]
    pub(crate) schema: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    /// Whether the parameters in this file suffice, instead of choosing some; - for standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["output", "scheme", "security", "share", "reencryptions", "parties"])]
    pub(crate) params: Option<PathBuf>,
    /// Keep the parameters in this file; - for standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Draw the plan in this file, as SVG: moduli by level, noise beside the room, sizes; - for standard output
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) picture: Option<PathBuf>,
    /// Replace the files of --output and --picture if they are there already, once the new ones are whole
    #[arg(long, requires = "written")]
    pub(crate) force: bool,
    /// The scheme; auto takes the cheapest that can compute the program
    #[arg(
        long,
        value_name = "bfv|bgv|ckks|integers|auto",
        default_value = "auto",
        hide_possible_values = true
    )]
    pub(crate) scheme: PlanScheme,
    /// CKKS: bits of every intermediate number that are right, 4 to 30; 16 unless given
    #[arg(long, value_name = "BITS", value_parser = clap::value_parser!(u32).range(4..=30))]
    pub(crate) precision: Option<u32>,
    /// Security in bits: 128, 192 or 256
    #[arg(long, value_name = "BITS", default_value = "128", value_parser = ["128", "192", "256"])]
    pub(crate) security: String,
    #[command(flatten)]
    pub(crate) room: RoomArgs,
    /// For the secret of PARTIES parties together, 2 to 1024, each of which may encrypt rows of the table: they open results by shares, which takes --share
    #[arg(long, value_name = "PARTIES", default_value_t = 1, hide_default_value = true, requires = "share",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(SecretDistribution::MOST_PARTIES)))]
    pub(crate) parties: u32,
    #[command(flatten)]
    pub(crate) packing: PackingArgs,
    /// A category in the clear that will cut the table, as in `sunzi encrypt`
    #[arg(long, value_name = "COLUMN")]
    pub(crate) partition: Option<String>,
    #[command(flatten)]
    pub(crate) accept: AcceptArgs,
    /// Do not measure how long it takes here
    #[arg(long)]
    pub(crate) no_time: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

impl PlanArgs {
    /// Path of the table, if one is given.
    pub(crate) fn table(&self) -> Option<&Path> {
        self.file.as_deref().or(self.table.as_deref())
    }

    /// Returns the scheme that is asked for, if one is.
    pub(crate) fn asked_scheme(&self) -> Option<SchemeChoice> {
        match self.scheme {
            PlanScheme::Auto => None,
            PlanScheme::Bfv => Some(SchemeChoice::Bfv),
            PlanScheme::Bgv => Some(SchemeChoice::Bgv),
            PlanScheme::Ckks => Some(SchemeChoice::Ckks),
            PlanScheme::Integers => Some(SchemeChoice::Integers),
        }
    }
}

/// Options of room for results that somebody else will see.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("seen").args(["share", "reencryptions"]).multiple(true))]
pub(crate) struct RoomArgs {
    /// Leave room for `sunzi decrypt --share`, of at most QUERIES ciphertexts under one key
    #[arg(long, value_name = "QUERIES")]
    pub(crate) share: Option<u64>,
    /// BFV and BGV: leave room for `sunzi reencrypt`, which hands results on HOPS times in a row, each time to another owner
    #[arg(long, value_name = "HOPS", value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_HOPS)))]
    pub(crate) reencryptions: Option<u32>,
    /// With --reencryptions: at most QUERIES ciphertexts under one key are handed on
    #[arg(long, value_name = "QUERIES", default_value_t = QUERIES, requires = "reencryptions")]
    pub(crate) queries: u64,
    /// With --share or --reencryptions: within statistical distance 2^-BITS of what does not depend on the key, 1 to 80; each is a bit of noise budget or of precision
    #[arg(long, value_name = "BITS", default_value_t = STATISTICAL_BITS, requires = "seen")]
    pub(crate) statistical_bits: u32,
}

impl RoomArgs {
    /// Returns the policy of results that are going to be shared, if any are.
    pub(crate) fn policy(&self) -> Result<Option<SharingPolicy>, CliError> {
        let policy = |queries| SharingPolicy::new(self.statistical_bits, queries).map_err(CliError::input);
        self.share.map(policy).transpose()
    }

    /// Returns how often results are going to be handed on, and how well, if they are.
    pub(crate) fn reencryptions(&self) -> Result<Option<Reencryptions>, CliError> {
        let Some(hops) = self.reencryptions else { return Ok(None) };
        let policy = SharingPolicy::new(self.statistical_bits, self.queries).map_err(CliError::input)?;
        Ok(Some(Reencryptions { hops, policy }))
    }
}

/// Options of `sunzi eval`.
#[derive(Debug, Args)]
#[command(after_help = FILE_CODES)]
pub(crate) struct EvalArgs {
    /// What is to be computed: see `sunzi help language`; @FILE takes the text of a file, - standard input
    pub(crate) program: String,
    /// The folder with the keys of those who compute
    #[arg(long, value_name = "FOLDER")]
    pub(crate) keys: PathBuf,
    /// The encrypted table, as `sunzi encrypt` writes it, or the parts of several parties, which have each row once; - for standard input
    #[arg(required = true)]
    pub(crate) tables: Vec<PathBuf>,
    /// The file to write; - for standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) force: ForceArgs,
    /// CKKS: bits of every intermediate number that are right, 4 to 30; 16 unless given
    #[arg(long, value_name = "BITS", value_parser = clap::value_parser!(u32).range(4..=30))]
    pub(crate) precision: Option<u32>,
    #[command(flatten)]
    pub(crate) accept: AcceptArgs,
    /// Refuse to start if it would take more memory than this, such as 512M or 4G
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub(crate) memory: Option<u64>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Show no progress bars
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Text of `sunzi decrypt` on who may see what it prints.
const FOR_WHOM: &str = "What it prints is for the key holder: errors of CKKS, and failures of exact schemes, depend on the secret key, so give nothing \
to whoever made or chose the ciphertexts. With --share noise is added that hides those errors, and every ciphertext is counted in sharing.sz beside the secret key: \
keep that file with the key, and never put an older copy of it back.";

/// Options of `sunzi decrypt`.
#[derive(Debug, Args)]
#[command(after_help = format!("{FOR_WHOM}\n\n{FILE_CODES}"))]
pub(crate) struct DecryptArgs {
    /// The results, as `sunzi eval` writes them; - for standard input
    pub(crate) file: PathBuf,
    /// The folder with the secret key
    #[arg(long, value_name = "FOLDER")]
    pub(crate) keys: PathBuf,
    #[command(flatten)]
    pub(crate) sharing: SharingArgs,
    #[command(flatten)]
    pub(crate) accept: AcceptArgs,
    #[command(flatten)]
    pub(crate) mode: ModeArgs,
    #[command(flatten)]
    pub(crate) passphrase: PassphraseArgs,
    #[command(flatten)]
    pub(crate) log: LogArgs,
    /// Print CSV: result, group or row, value, error, whether it came encrypted
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Say nothing of who may see the results
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Options of results for somebody else to see.
#[derive(Debug, Args)]
pub(crate) struct SharingArgs {
    /// For somebody else to see: hide the errors. At most QUERIES ciphertexts are ever shared under this key, which is fixed the first time
    #[arg(long, value_name = "QUERIES")]
    pub(crate) share: Option<u64>,
    /// With --share: all that is shared is within statistical distance 2^-BITS of what does not depend on the key, 1 to 80
    #[arg(long, value_name = "BITS", default_value_t = 40, requires = "share")]
    pub(crate) statistical_bits: u32,
    /// The program that was agreed on, or @FILE with its text; results of another one are refused. Sharing results of CKKS needs it, for the errors that it leaves
    #[arg(long = "for", value_name = "PROGRAM", requires = "schema")]
    pub(crate) program: Option<String>,
    /// With --for: a file with the schema of the table as JSON
    #[arg(long, value_name = "FILE", requires = "program")]
    pub(crate) schema: Option<PathBuf>,
    /// With --for: the category in the clear that cut the table, as in `sunzi encrypt`
    #[arg(long, value_name = "COLUMN", requires = "program")]
    pub(crate) partition: Option<String>,
    /// With --for: the bits that `sunzi eval` was given, 4 to 30; 16 unless given
    #[arg(long, value_name = "BITS", requires = "program", value_parser = clap::value_parser!(u32).range(4..=30))]
    pub(crate) precision: Option<u32>,
}
