//! Options of `sunzi rekey`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::passphrase::{PassphraseArgs, ToPassphraseArgs};
use super::{AcceptArgs, FILE_CODES};
use crate::audit::LogArgs;
use crate::files::mode::ModeArgs;
use crate::files::target::ForceArgs;

/// Text of `sunzi rekey` on who has what.
const WHO: &str = "The owner makes new keys with sunzi keygen, from the parameters beside the old ones, then the folder for whoever stores tables and results with `key`; they run \
`run`, and learn nothing. The old secret key opens all copies that were made before: let them be deleted. With that folder the new secret key opens all that the old one opens.";

/// Command of `sunzi rekey`.
#[derive(Debug, Args)]
#[command(subcommand_required = true, after_help = format!("{WHO}\n\n{FILE_CODES}"))]
pub(crate) struct RekeyArgs {
    #[command(subcommand)]
    pub(crate) command: RekeyCommand,
}

/// Commands of `sunzi rekey`, in the order in which they are typed.
#[derive(Debug, Subcommand)]
pub(crate) enum RekeyCommand {
    /// The owner: make the folder with the key from the old secret key to the new one
    Key(KeyArgs),
    /// Whoever stores them: bring tables and results under the new key
    Run(RunArgs),
}

/// Options of `sunzi rekey key`.
#[derive(Debug, Args)]
#[command(after_help = FILE_CODES)]
pub(crate) struct KeyArgs {
    /// The folder with the old secret key
    #[arg(long, value_name = "FOLDER")]
    pub(crate) keys: PathBuf,
    /// The folder with the new secret key, of the same parameters
    #[arg(long, value_name = "FOLDER")]
    pub(crate) to: PathBuf,
    /// The folder to make, which must not be there yet
    #[arg(long, short, value_name = "FOLDER")]
    pub(crate) directory: PathBuf,
    #[command(flatten)]
    pub(crate) accept: AcceptArgs,
    #[command(flatten)]
    pub(crate) mode: ModeArgs,
    #[command(flatten)]
    pub(crate) passphrase: PassphraseArgs,
    #[command(flatten)]
    pub(crate) to_passphrase: ToPassphraseArgs,
    #[command(flatten)]
    pub(crate) log: LogArgs,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `sunzi rekey run`.
#[derive(Debug, Args)]
#[command(after_help = FILE_CODES)]
pub(crate) struct RunArgs {
    /// A table, as `sunzi encrypt` writes it, or results, as `sunzi eval` writes them; - for standard input
    pub(crate) file: PathBuf,
    /// The folder that `sunzi rekey key` made
    #[arg(long, value_name = "FOLDER")]
    pub(crate) keys: PathBuf,
    /// The file to write; - for standard output
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
