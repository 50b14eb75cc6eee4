//! `sunzi rekey`: tables and results brought from an old key of their owner to a new one, by whoever stores them.

mod key;
mod run;

use crate::args::rekey::{RekeyArgs, RekeyCommand};
use crate::error::CliError;

/// File name of the rekeying key in its folder.
const KEY: &str = "rekeying.sz";

/// Runs a command of rekeying.
pub(crate) fn run(args: &RekeyArgs) -> Result<(), CliError> {
    match &args.command {
        RekeyCommand::Key(args) => key::run(args),
        RekeyCommand::Run(args) => run::run(args),
    }
}
