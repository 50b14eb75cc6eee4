//! `sunzi reencrypt`: results handed from one owner to another by a proxy, which has no secret.

mod key;
mod public;
mod run;

use sunzi::program::Contexts;
use sunzi::program::contexts::{PARAMETERS, SecretKey};

use crate::args::reencrypt::{OwnerArgs, ReencryptArgs, ReencryptCommand};
use crate::error::CliError;
use crate::passphrase::opened;
use crate::{files, program};

/// File name of the re-encryption key in the folder of a proxy.
const KEY: &str = "reencryption.sz";

/// Runs a command of re-encryption.
pub(crate) fn run(args: &ReencryptArgs) -> Result<(), CliError> {
    match &args.command {
        ReencryptCommand::Public(args) => public::run(args),
        ReencryptCommand::Key(args) => key::run(args),
        ReencryptCommand::Run(args) => run::run(args),
    }
}

/// Reads the parameters and the secret key of an owner.
fn owner(args: &OwnerArgs) -> Result<(Contexts, SecretKey), CliError> {
    let of_keys = |error| files::refuse_keys(&args.keys, "secret", error);
    let contexts = files::contexts(args.accept.parameters(), &args.keys.join(PARAMETERS)).map_err(of_keys)?;
    contexts.check_reencryption().map_err(|error| program::refuse_in(&args.keys, error))?;
    let secret = opened::secret(&contexts, &args.keys, &args.mode, &args.passphrase)?;
    Ok((contexts, secret))
}
