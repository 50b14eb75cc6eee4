//! Options of `sunzi keys`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::FILE_CODES;

/// Options of `sunzi keys`.
#[derive(Debug, Args)]
#[command(subcommand_required = true, after_help = FILE_CODES)]
pub(crate) struct KeysArgs {
    #[command(subcommand)]
    pub(crate) command: KeysCommand,
}

/// Commands of `sunzi keys`.
#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// Show what was opened with a secret key, and check that no line was changed or removed
    Log(ShowLogArgs),
}

/// Options of `sunzi keys log`.
#[derive(Debug, Args)]
#[command(after_help = FILE_CODES)]
pub(crate) struct ShowLogArgs {
    /// The audit log, or the folder of the secret key that it is in
    pub(crate) log: PathBuf,
    /// Refuse a log that has no line with this hash: the head that an earlier look showed, and that was noted elsewhere
    #[arg(long, value_name = "SHA-256")]
    pub(crate) expect: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
