//! `sunzi keys`: what is kept beside keys.

mod log;

use crate::args::keys::{KeysArgs, KeysCommand};
use crate::error::CliError;

/// Runs a command of `sunzi keys`.
pub(crate) fn run(args: &KeysArgs) -> Result<(), CliError> {
    match &args.command {
        KeysCommand::Log(args) => log::run(args),
    }
}
