//! `sunzi party`: keys of several parties, and results that they open together, each in a process of its own.

mod agreement;
mod before;
mod cards;
mod create;
mod decrypt;
mod fingerprint;
mod gather;
mod handing_on;
mod hashes;
mod home;
mod join;
mod keygen;
mod keys;
mod link;
mod opening;
mod run;
mod status;

use sunzi::parties::{Fault, PartiesError};

use crate::args::party::{PartyArgs, PartyCommand};
use crate::error::CliError;
use crate::files::of_fault;
use crate::program;

/// Runs a command of several parties.
pub(crate) fn run(args: &PartyArgs) -> Result<(), CliError> {
    match &args.command {
        PartyCommand::Create(args) => create::create(args),
        PartyCommand::Show(args) => create::show(args),
        PartyCommand::Join(args) => join::join(args),
        PartyCommand::Keygen(args) => keygen::run(args),
        PartyCommand::Decrypt(args) => decrypt::run(args),
        PartyCommand::Status(args) => status::run(args),
        PartyCommand::Retire(args) => handing_on::retire(args),
    }
}

/// Returns the command-line error for an error of a protocol, by whose fault it is.
fn refuse(error: PartiesError) -> CliError {
    let message = error.to_string();
    match error {
        PartiesError::Message { fault, .. } => of_message(&fault, message),
        PartiesError::Missing { .. } | PartiesError::Channel(_) => CliError::io(message),
        PartiesError::Refused { .. } => CliError::mismatch(message),
        PartiesError::Journal { .. } => CliError::damaged(message),
        PartiesError::Wire(error) => of_fault(error.fault(), message),
        PartiesError::Rlwe(error) => program::refuse_sharing(error),
        PartiesError::Stopped => CliError::failure(message),
        _ => CliError::input(message),
    }
}

/// Returns the command-line error for a message of another party.
fn of_message(fault: &Fault, message: String) -> CliError {
    match fault {
        Fault::Malformed(_) => CliError::damaged(message),
        fault if fault.is_fatal() => CliError::Check(crate::error::one_line(&message)),
        _ => CliError::mismatch(message),
    }
}
