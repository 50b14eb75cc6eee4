//! Commands and options of secret keys under a passphrase.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::FILE_CODES;

/// Options for the passphrase of a secret key that is read.
#[derive(Debug, Args)]
pub(crate) struct PassphraseArgs {
    /// If the secret key is under a passphrase: a file whose first line it is, or SUNZI_PASSPHRASE_FILE; asked for at the terminal unless given
    #[arg(long, value_name = "FILE")]
    pub(crate) passphrase_file: Option<PathBuf>,
    /// If the secret key is under a passphrase: a command of the shell that prints it, such as one of a key management service
    #[arg(long, value_name = "COMMAND", conflicts_with = "passphrase_file")]
    pub(crate) passphrase_command: Option<String>,
}

/// Options for the passphrase under which a secret key is put.
#[derive(Debug, Args)]
pub(crate) struct NewPassphraseArgs {
    /// A file whose first line is the new passphrase; asked for at the terminal unless given
    #[arg(long, value_name = "FILE")]
    pub(crate) new_passphrase_file: Option<PathBuf>,
    /// A command of the shell that prints the new passphrase, such as one of a key management service
    #[arg(long, value_name = "COMMAND", conflicts_with = "new_passphrase_file")]
    pub(crate) new_passphrase_command: Option<String>,
}

/// Options of `sunzi passphrase`.
#[derive(Debug, Args)]
#[command(subcommand_required = true, after_help = FILE_CODES)]
pub(crate) struct PassphraseCommands {
    #[command(subcommand)]
    pub(crate) command: PassphraseCommand,
}

/// Commands of `sunzi passphrase`.
#[derive(Debug, Subcommand)]
pub(crate) enum PassphraseCommand {
    /// Put a secret key under a passphrase
    Set(SetArgs),
    /// Put a secret key under another passphrase
    Change(ChangeArgs),
    /// Write a secret key without its passphrase
    Remove(RemoveArgs),
}

/// Options of `sunzi passphrase set`.
#[derive(Debug, Args)]
pub(crate) struct SetArgs {
    /// The file with the secret key, or the folder that it is in
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) new: NewPassphraseArgs,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `sunzi passphrase change`.
#[derive(Debug, Args)]
pub(crate) struct ChangeArgs {
    /// The file with the secret key, or the folder that it is in
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) old: PassphraseArgs,
    #[command(flatten)]
    pub(crate) new: NewPassphraseArgs,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `sunzi passphrase remove`.
#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// The file with the secret key, or the folder that it is in
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) old: PassphraseArgs,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
