//! Options of `sunzi intersect`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[cfg(feature = "serve")]
use super::lookup::ListenArgs;
use super::tables::{Names, parse_delimiter, parse_names};
use super::{AcceptArgs, FILE_CODES};
#[cfg(feature = "serve")]
use crate::files::mode::ModeArgs;
#[cfg(feature = "serve")]
use crate::files::target::ForceArgs;

/// Text of `sunzi intersect` on who learns what.
const WHO: &str = "Whoever has the table runs `build`, gives away description.sz, and runs `serve`; a client runs `query` with items of its own. The server learns how many items that are, and nothing of \
them. The client learns which of its items the table has, with the cells of their rows, how many items the table has, and nothing else: but whatever it can guess it can ask for, so the server limits how many items it evaluates in an hour.";

/// Command of `sunzi intersect`.
#[derive(Debug, Args)]
#[command(subcommand_required = true, after_help = format!("{WHO}\n\n{FILE_CODES}"))]
pub(crate) struct IntersectArgs {
    #[command(subcommand)]
    pub(crate) command: IntersectCommand,
}

/// Commands of `sunzi intersect`, in the order in which they are typed.
#[derive(Debug, Subcommand)]
pub(crate) enum IntersectCommand {
    /// The server: make a private set of a table, and the description by which clients ask
    Build(BuildArgs),
    /// The server: answer over HTTP
    #[cfg(feature = "serve")]
    Serve(ServeArgs),
    /// The client: ask which of its items the set has, and print their rows
    #[cfg(feature = "serve")]
    Query(QueryArgs),
}

/// Options of `sunzi intersect build`.
#[derive(Debug, Args)]
#[command(after_help = FILE_CODES)]
pub(crate) struct BuildArgs {
    /// A CSV file with a header line, or a Parquet file; - for standard input
    pub(crate) table: PathBuf,
    /// The column whose cells are the items; each is in one row alone
    #[arg(long, value_name = "COLUMN")]
    pub(crate) by: String,
    /// Columns whose cells clients get for their items; all others unless given. A name with a comma stands in quotation marks: 'age,"last, first"'
    #[arg(long, value_name = "A,B,...", value_parser = parse_names, conflicts_with = "without_columns")]
    pub(crate) columns: Vec<Names>,
    /// Clients learn which items are there, and no cells
    #[arg(long)]
    pub(crate) without_columns: bool,
    /// CSV: what stands between cells, such as ';' or tab; the header line tells it unless given
    #[arg(long, value_name = "CHARACTER", value_parser = parse_delimiter)]
    pub(crate) delimiter: Option<u8>,
    /// The folder for the set, which must not be there yet: description.sz for clients, set.sz for the server alone
    #[arg(long, short, value_name = "FOLDER")]
    pub(crate) directory: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Show no progress bars
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Options of `sunzi intersect serve`.
#[cfg(feature = "serve")]
#[derive(Debug, Args)]
#[command(after_help = format!("Anybody who reaches the address may ask: there are no accounts.\n{FILE_CODES}"))]
pub(crate) struct ServeArgs {
    /// The folder of the set, as `sunzi intersect build` makes it
    pub(crate) set: PathBuf,
    #[command(flatten)]
    pub(crate) listen: ListenArgs,
    /// Items that an address may ask for in an hour; of IPv6 a network of 64 bits is one address
    #[arg(long, value_name = "N", default_value_t = 1 << 16, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) items: u64,
    #[command(flatten)]
    pub(crate) accept: AcceptArgs,
    #[command(flatten)]
    pub(crate) mode: ModeArgs,
}

/// Options of `sunzi intersect query`.
#[cfg(feature = "serve")]
#[derive(Debug, Args)]
#[command(after_help = FILE_CODES)]
pub(crate) struct QueryArgs {
    /// The description of the set
    pub(crate) description: PathBuf,
    /// A CSV file with a header line, or a Parquet file, with the items; - for standard input
    pub(crate) items: PathBuf,
    /// The column whose cells are the items; the column of the set's items unless given
    #[arg(long, value_name = "COLUMN")]
    pub(crate) by: Option<String>,
    /// CSV: what stands between cells, such as ';' or tab; the header line tells it unless given
    #[arg(long, value_name = "CHARACTER", value_parser = parse_delimiter)]
    pub(crate) delimiter: Option<u8>,
    /// The address of the server, such as https://sets.example.org
    #[arg(long, value_name = "URL")]
    pub(crate) server: String,
    /// A file in PEM with the certificates to trust, in place of those of the system
    #[arg(long, value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,
    /// The CSV file to write with the items that the set has; they are printed unless given, or with --json
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) force: ForceArgs,
    #[command(flatten)]
    pub(crate) accept: AcceptArgs,
    /// Print one JSON object with the items and their cells
    #[arg(long)]
    pub(crate) json: bool,
    /// Show no progress bars
    #[arg(long, short)]
    pub(crate) quiet: bool,
}
