//! Options of `sunzi lookup`.

#[cfg(feature = "serve")]
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::passphrase::PassphraseArgs;
use super::tables::{Names, parse_delimiter, parse_names};
use super::{AcceptArgs, FILE_CODES};
use crate::audit::LogArgs;
use crate::files::mode::ModeArgs;
use crate::files::target::ForceArgs;

/// Text of `sunzi lookup` on who learns what.
const WHO: &str = "Whoever has the table runs `build` and gives away description.sz; the client runs `keygen`, gives away the folder eval, runs `ask` and sends the query; the server runs \
`answer`; the client runs `read`. The server learns that somebody asked, and when, and nothing of what: neither keys nor queries tell it. The mode is public-database: the table is public to whoever may ask, and an \
answer tells about other rows too. The client takes what the server says: a server can answer falsely.";

/// Command of `sunzi lookup`.
#[derive(Debug, Args)]
#[command(subcommand_required = true, after_help = format!("{WHO}\n\n{FILE_CODES}"))]
pub(crate) struct LookupArgs {
    #[command(subcommand)]
    pub(crate) command: LookupCommand,
}

/// Commands of `sunzi lookup`, in the order in which they are typed.
#[derive(Debug, Subcommand)]
pub(crate) enum LookupCommand {
    /// Make a database of a public table, and the description by which clients ask
    Build(BuildArgs),
    /// Make a database with other cells in some rows of one, for clients of the same description
    Update(UpdateArgs),
    /// The client: make keys for a database
    Keygen(KeygenArgs),
    /// The client: make the query of a row
    Ask(AskArgs),
    /// The server: answer a query, and learn nothing of it
    Answer(AnswerArgs),
    /// The client: open an answer
    Read(ReadArgs),
    /// The server: have a database in memory, and answer over HTTP
    #[cfg(feature = "serve")]
    Serve(ServeArgs),
    /// The client: ask a server over HTTP, and print the row
    #[cfg(feature = "serve")]
    Query(QueryArgs),
}

/// Options of `sunzi lookup build`.
#[derive(Debug, Args)]
#[command(after_help = FILE_CODES)]
pub(crate) struct BuildArgs {
    /// A CSV file with a header line, or a Parquet file; - for standard input. All of it becomes public
    pub(crate) table: PathBuf,
    /// The column whose cells are the keywords that rows are asked by; each is in one row alone
    #[arg(long, value_name = "COLUMN", required_unless_present = "by_number", conflicts_with = "by_number")]
    pub(crate) by: Option<String>,
    /// Rows are asked by their numbers, from 1 on
    #[arg(long)]
    pub(crate) by_number: bool,
    /// Columns to look up; all others unless given. A name with a comma stands in quotation marks: 'age,"last, first"'
    #[arg(long, value_name = "A,B,...", value_parser = parse_names)]
    pub(crate) columns: Vec<Names>,
    /// CSV: what stands between cells, such as ';' or tab; the header line tells it unless given
    #[arg(long, value_name = "CHARACTER", value_parser = parse_delimiter)]
    pub(crate) delimiter: Option<u8>,
    /// The folder for the database, which must not be there yet: description.sz for clients, entries.sz for the server
    #[arg(long, short, value_name = "FOLDER")]
    pub(crate) directory: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Show no progress bars
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Options of `sunzi lookup update`.
#[derive(Debug, Args)]
#[command(after_help = FILE_CODES)]
pub(crate) struct UpdateArgs {
    /// The folder of a database by keyword, which stays as it is
    pub(crate) database: PathBuf,
    /// A table with the columns of the database, CSV or Parquet, whose rows take the place of those of the same keywords; - for standard input
    pub(crate) changes: PathBuf,
    /// CSV: what stands between cells, such as ';' or tab; the header line tells it unless given
    #[arg(long, value_name = "CHARACTER", value_parser = parse_delimiter)]
    pub(crate) delimiter: Option<u8>,
    /// The folder for the new database, which must not be there yet
    #[arg(long, short, value_name = "FOLDER")]
    pub(crate) directory: PathBuf,
    #[command(flatten)]
    pub(crate) accept: AcceptArgs,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Show no progress bars
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Options of `sunzi lookup keygen`.
#[derive(Debug, Args)]
#[command(after_help = FILE_CODES)]
pub(crate) struct KeygenArgs {
    /// The description of the database, as `sunzi lookup build` writes it; - for standard input
    pub(crate) description: PathBuf,
    /// The folder for the keys, which must not be there yet: secret stays, eval is for the server
    #[arg(long, short, value_name = "FOLDER")]
    pub(crate) directory: PathBuf,
    #[command(flatten)]
    pub(crate) accept: AcceptArgs,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Show no progress bars
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Options of what is asked for.
#[derive(Debug, Args)]
pub(crate) struct WantedArgs {
    /// The keyword of the row, or its number: other processes of this machine see it while this runs, unless --wanted gives it
    #[arg(value_name = "KEYWORD", required_unless_present = "wanted", conflicts_with = "wanted")]
    pub(crate) keyword: Option<String>,
    /// A file whose text is the keyword or the number, without the end of its last line; - for standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) wanted: Option<PathBuf>,
}

/// Options of `sunzi lookup ask`.
#[derive(Debug, Args)]
#[command(after_help = FILE_CODES)]
pub(crate) struct AskArgs {
    /// The description of the database
    pub(crate) description: PathBuf,
    #[command(flatten)]
    pub(crate) wanted: WantedArgs,
    /// The folder with the secret key
    #[arg(long, value_name = "FOLDER")]
    pub(crate) keys: PathBuf,
    /// The query to write, which the server gets; - for standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// The note to write of what the query asks for, which stays here: the name of the query and .asked unless given
    #[arg(long, value_name = "FILE")]
    pub(crate) note: Option<PathBuf>,
    /// Replace the files of --output and --note if they are there already
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) accept: AcceptArgs,
    #[command(flatten)]
    pub(crate) mode: ModeArgs,
    #[command(flatten)]
    pub(crate) passphrase: PassphraseArgs,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `sunzi lookup answer`.
#[derive(Debug, Args)]
#[command(after_help = FILE_CODES)]
pub(crate) struct AnswerArgs {
    /// The folder of the database, as `sunzi lookup build` makes it
    pub(crate) database: PathBuf,
    /// The query, as `sunzi lookup ask` writes it; - for standard input
    pub(crate) query: PathBuf,
    /// The folder eval of the client's keys
    #[arg(long, value_name = "FOLDER")]
    pub(crate) keys: PathBuf,
    /// The answer to write; - for standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) force: ForceArgs,
    #[command(flatten)]
    pub(crate) accept: AcceptArgs,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Show no progress bars
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Options of `sunzi lookup read`.
#[derive(Debug, Args)]
#[command(after_help = format!(
    "A keyword that no row has is an answer too: the exit code is 0, and \"found\" in JSON is false.\n{FILE_CODES}"
))]
pub(crate) struct ReadArgs {
    /// The answer, as `sunzi lookup answer` writes it; - for standard input
    pub(crate) answer: PathBuf,
    /// The note that `sunzi lookup ask` wrote beside the query
    #[arg(long, value_name = "FILE")]
    pub(crate) note: PathBuf,
    /// The folder with the secret key
    #[arg(long, value_name = "FOLDER")]
    pub(crate) keys: PathBuf,
    #[command(flatten)]
    pub(crate) accept: AcceptArgs,
    #[command(flatten)]
    pub(crate) mode: ModeArgs,
    #[command(flatten)]
    pub(crate) passphrase: PassphraseArgs,
    #[command(flatten)]
    pub(crate) log: LogArgs,
    /// Print one JSON object, with all cells exactly as they are in the table
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `sunzi lookup serve`.
#[cfg(feature = "serve")]
#[derive(Debug, Args)]
#[command(after_help = format!(
    "Anybody who reaches the address may ask: there are no accounts. Clients send keys once, which are kept in memory, and queries that wait are answered together.\n{FILE_CODES}"
))]
pub(crate) struct ServeArgs {
    /// The folder of the database, as `sunzi lookup build` makes it
    pub(crate) database: PathBuf,
    #[command(flatten)]
    pub(crate) listen: ListenArgs,
    /// Queries that are answered together where they wait
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) together: u16,
    #[command(flatten)]
    pub(crate) accept: AcceptArgs,
}

/// Options of a server without accounts.
#[cfg(feature = "serve")]
#[derive(Debug, Args)]
pub(crate) struct ListenArgs {
    /// The address and port to listen at
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8733")]
    pub(crate) listen: SocketAddr,
    /// The certificate of the server, with those that it follows from, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The key of the certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Listen without TLS at an address that other machines reach: something before this server ends TLS
    #[arg(long, conflicts_with = "tls_cert")]
    pub(crate) tls_elsewhere: bool,
    /// Clients whose keys are kept; whoever asked longest ago sends them again
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) clients: u16,
}

/// Options of `sunzi lookup query`.
#[cfg(feature = "serve")]
#[derive(Debug, Args)]
#[command(after_help = format!(
    "A keyword that no row has is an answer too: the exit code is 0, and \"found\" in JSON is false.\n{FILE_CODES}"
))]
pub(crate) struct QueryArgs {
    /// The description of the database
    pub(crate) description: PathBuf,
    #[command(flatten)]
    pub(crate) wanted: WantedArgs,
    /// The address of the server, such as https://lookup.example.org
    #[arg(long, value_name = "URL")]
    pub(crate) server: String,
    /// The folder with both sides' keys, as `sunzi lookup keygen` made it
    #[arg(long, value_name = "FOLDER")]
    pub(crate) keys: PathBuf,
    /// A file in PEM with the certificates to trust, in place of those of the system
    #[arg(long, value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) accept: AcceptArgs,
    #[command(flatten)]
    pub(crate) mode: ModeArgs,
    #[command(flatten)]
    pub(crate) passphrase: PassphraseArgs,
    #[command(flatten)]
    pub(crate) log: LogArgs,
    /// Print one JSON object, with all cells exactly as they are in the table
    #[arg(long)]
    pub(crate) json: bool,
}
