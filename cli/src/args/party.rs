//! Options of `sunzi party`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::FILE_CODES;
use super::passphrase::PassphraseArgs;

/// Seconds that a party waits for others in each round unless told otherwise: people start their processes by hand.
const PATIENCE: u64 = 600;

/// Text of `sunzi party` on who has what.
const WHO: &str = "A SESSION is a folder that all parties reach, or a copy of it at each: it has what they agree on, their public cards, and what they send. \
A HOME is the folder of one party, for its owner alone: never copy it, never put an older copy of it back, and never run two copies of it.";

/// Command of `sunzi party`.
#[derive(Debug, Args)]
#[command(subcommand_required = true, after_help = format!("{WHO}\n\n{FILE_CODES}"))]
pub(crate) struct PartyArgs {
    #[command(subcommand)]
    pub(crate) command: PartyCommand,
}

/// Commands of `sunzi party`, in the order in which they are typed.
#[derive(Debug, Subcommand)]
pub(crate) enum PartyCommand {
    /// Write down what parties agree on, in a new folder for all of them
    Create(CreateArgs),
    /// Say what the parties of a folder agree on, and who has joined
    Show(ShowArgs),
    /// Join: check what is agreed on, make a folder for this party alone, and put its public card into the session
    Join(JoinArgs),
    /// Make keys together with all other parties, each in a process of its own
    Keygen(KeygenArgs),
    /// Open results together: each party computes them again, then sends its share
    Decrypt(DecryptArgs),
    /// Say what this party has: cards it knows, keys, and how many results it may still open
    Status(StatusArgs),
    /// Erase the share of this party for good, once the key was handed on to another session
    Retire(RetireArgs),
}

/// Options of `sunzi party create`.
#[derive(Debug, Args)]
#[command(after_help = FILE_CODES)]
pub(crate) struct CreateArgs {
    /// The folder to make, which must not be there yet
    pub(crate) session: PathBuf,
    /// The plan, as `sunzi plan --parties K --json` prints it; - for standard input
    #[arg(long, value_name = "FILE", required_unless_present = "from", conflicts_with = "from")]
    pub(crate) plan: Option<PathBuf>,
    /// Hand the key of an earlier session on to these parties, some of whom may be new; its plan, limits and public keys stay. FOLDER is the home of one of its parties
    #[arg(long, value_name = "FOLDER")]
    pub(crate) from: Option<PathBuf>,
    /// Parties of the earlier session that hand the key on, as many as open a result; those that stay, and then others, unless given
    #[arg(long, value_name = "A,B,...", value_delimiter = ',', requires = "from")]
    pub(crate) dealers: Vec<String>,
    /// Number of ciphertexts that any party of the earlier session opened; that of this home unless given
    #[arg(long, value_name = "N", requires = "from")]
    pub(crate) opened: Option<u64>,
    /// Names of all parties in their order, as in north,south,west
    #[arg(long, value_name = "A,B,...", value_delimiter = ',', required = true)]
    pub(crate) parties: Vec<String>,
    /// How many parties open a result together; all of them unless given
    #[arg(long, value_name = "T")]
    pub(crate) threshold: Option<usize>,
    /// At most this many ciphertexts are ever opened under the keys, by each party's count
    #[arg(long, value_name = "QUERIES", required_unless_present = "from", conflicts_with = "from")]
    pub(crate) share: Option<u64>,
    /// All that is opened is within statistical distance 2^-BITS of what does not depend on any secret, 1 to 80
    #[arg(long, value_name = "BITS", default_value_t = 40, conflicts_with = "from")]
    pub(crate) statistical_bits: u32,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Options of `sunzi party show`.
#[derive(Debug, Args)]
#[command(after_help = FILE_CODES)]
pub(crate) struct ShowArgs {
    /// The folder of the session
    pub(crate) session: PathBuf,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Options of `sunzi party join`.
#[derive(Debug, Args)]
#[command(after_help = FILE_CODES)]
pub(crate) struct JoinArgs {
    /// The folder of the session
    pub(crate) session: PathBuf,
    /// The name of this party among those of the session
    #[arg(long = "as", value_name = "NAME")]
    pub(crate) name: String,
    /// The folder to make for this party alone, which must not be there yet
    #[arg(long, value_name = "FOLDER")]
    pub(crate) home: PathBuf,
    /// Speak TLS at this address, as others reach it, in place of leaving messages in the session's folder
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) listen: Option<String>,
    /// The folder of this party in the session of before, where a key is handed on: its identity stays, and its share is handed on
    #[arg(long, value_name = "FOLDER")]
    pub(crate) from: Option<PathBuf>,
    /// Refuse an agreement with another fingerprint than this one
    #[arg(long, value_name = "FINGERPRINT")]
    pub(crate) expect: Option<String>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Options of every command of a party that has joined.
#[derive(Debug, Args)]
pub(crate) struct HomeArgs {
    /// The folder of this party
    #[arg(long, value_name = "FOLDER")]
    pub(crate) home: PathBuf,
    /// The folder of the session, if it is not where it was when this party joined
    #[arg(long, value_name = "FOLDER")]
    pub(crate) session: Option<PathBuf>,
}

/// Options of commands that wait for other parties.
#[derive(Debug, Args)]
pub(crate) struct WaitArgs {
    /// Seconds to wait for the others in each round; who is missing then is named, and the same command goes on later
    #[arg(long, value_name = "SECONDS", default_value_t = PATIENCE, value_parser = clap::value_parser!(u64).range(1..=604_800))]
    pub(crate) timeout: u64,
    /// Ask nothing
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Show no progress bars
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Options of `sunzi party keygen`.
#[derive(Debug, Args)]
#[command(after_help = FILE_CODES)]
pub(crate) struct KeygenArgs {
    #[command(flatten)]
    pub(crate) home: HomeArgs,
    /// Refuse cards with another fingerprint of all than this one
    #[arg(long, value_name = "FINGERPRINT")]
    pub(crate) expect: Option<String>,
    #[command(flatten)]
    pub(crate) wait: WaitArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Options of `sunzi party decrypt`.
#[derive(Debug, Args)]
#[command(after_help = FILE_CODES)]
pub(crate) struct DecryptArgs {
    /// The results, as `sunzi eval` writes them
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) home: HomeArgs,
    /// The encrypted tables that the results were computed from, in their order: this party computes the agreed program from them again
    #[arg(long, value_name = "FILE", num_args = 1.., required_unless_present = "attested", conflicts_with = "attested")]
    pub(crate) tables: Vec<PathBuf>,
    /// Rely on K other parties who say that they computed the results again, instead of doing so
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) attested: Option<u32>,
    /// Other parties that open the results with this one, where not all do, as in south,west
    #[arg(long = "with", value_name = "A,B,...", value_delimiter = ',')]
    pub(crate) others: Vec<String>,
    /// Parties that get to read the results, of those that open them; all of those unless given
    #[arg(long, value_name = "A,B,...", value_delimiter = ',')]
    pub(crate) to: Vec<String>,
    #[command(flatten)]
    pub(crate) wait: WaitArgs,
    #[command(flatten)]
    pub(crate) passphrase: PassphraseArgs,
    /// Print CSV: result, group or row, value, error, whether it came encrypted
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Options of `sunzi party status`.
#[derive(Debug, Args)]
#[command(after_help = FILE_CODES)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    pub(crate) home: HomeArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Options of `sunzi party retire`.
#[derive(Debug, Args)]
#[command(after_help = FILE_CODES)]
pub(crate) struct RetireArgs {
    /// The folder of this party in the session of before
    #[arg(long, value_name = "FOLDER")]
    pub(crate) home: PathBuf,
    /// Ask nothing
    #[arg(long, short)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Options of what every command of `sunzi party` prints.
#[derive(Debug, Args)]
pub(crate) struct OutputArgs {
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
