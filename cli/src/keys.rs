//! `sunzi keys`: what is kept beside keys, their audit log, label and expiry.

mod log;
pub(crate) mod properties;
mod set;

use crate::args::keys::{KeysArgs, KeysCommand};
use crate::error::CliError;

/// Runs a command of `sunzi keys`.
pub(crate) fn run(args: &KeysArgs) -> Result<(), CliError> {
    match &args.command {
        KeysCommand::Log(args) => log::run(args),
        KeysCommand::Set(args) => set::run(args),
    }
}
