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
    /// If the secret key is under a key that a key management service wrapped: a command of the shell that gets the wrapped key on standard input, and prints the 32 bytes
    /// that were wrapped
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["passphrase_file", "passphrase_command"])]
    pub(crate) unwrap_command: Option<String>,
    /// How the names of these options begin.
    #[arg(skip)]
    pub(crate) prefix: &'static str,
}

/// Options for the passphrase of the secret key that another one leads to.
#[derive(Debug, Args)]
pub(crate) struct ToPassphraseArgs {
    /// If the secret key of --to is under a passphrase: a file whose first line it is
    #[arg(long, value_name = "FILE")]
    to_passphrase_file: Option<PathBuf>,
    /// If the secret key of --to is under a passphrase: a command of the shell that prints it
    #[arg(long, value_name = "COMMAND", conflicts_with = "to_passphrase_file")]
    to_passphrase_command: Option<String>,
    /// If the secret key of --to is under a wrapped key: a command of the shell that unwraps it
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["to_passphrase_file", "to_passphrase_command"])]
    to_unwrap_command: Option<String>,
}

impl ToPassphraseArgs {
    /// Returns these options as those of any secret key.
    pub(crate) fn options(&self) -> PassphraseArgs {
        let Self { to_passphrase_file, to_passphrase_command, to_unwrap_command } = self;
        PassphraseArgs {
            passphrase_file: to_passphrase_file.clone(),
            passphrase_command: to_passphrase_command.clone(),
            unwrap_command: to_unwrap_command.clone(),
            prefix: "to-",
        }
    }
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
    /// In place of a passphrase: a command of the shell, such as one of a key management service, that gets 32 random bytes on standard input, and prints them wrapped.
    /// The file has the wrapped bytes
    #[arg(long, value_name = "COMMAND", requires = "new_unwrap_command", conflicts_with_all = ["new_passphrase_file", "new_passphrase_command"])]
    pub(crate) new_wrap_command: Option<String>,
    /// With --new-wrap-command: the command that gets the wrapped bytes on standard input, and prints what was wrapped; tried before the secret key is written
    #[arg(long, value_name = "COMMAND", requires = "new_wrap_command")]
    pub(crate) new_unwrap_command: Option<String>,
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
