//! Keys for encrypted integers: those of look-ups, whatever the program.

use sunzi::circuits::bootstrap::Blueprint;
use sunzi::circuits::integers::IntegerParameters;
use sunzi::program::Contexts;
use sunzi::program::analysis::Parameters;
use sunzi::program::contexts::Parts;
use sunzi::rlwe::wire::store;
use sunzi::rlwe::words::bytes;
use sunzi::rlwe::{memory, randomness};

use super::{Made, Stored, in_folder, write_own};
use crate::args::KeygenArgs;
use crate::error::CliError;
use crate::files::refuse;
use crate::output;

/// Files of whoever computes.
const EVALUATION_FILES: [&str; 1] = ["eval/bootstrapping.sz"];

/// Makes all keys for encrypted integers.
pub(super) fn make(own: &IntegerParameters, parameters: &Stored, args: &KeygenArgs) -> Result<(), CliError> {
    let contexts = Contexts::new(&Parameters::Integers(own.clone())).map_err(CliError::input)?;
    let Parts::Integers(context) = contexts.parts() else {
        return Err(CliError::failure("the contexts are not those of integers"));
    };
    let (context, set) = (context.context(), context.set());
    let blueprint = Blueprint::new(context, set, context.max_slots()).map_err(CliError::input)?;
    let key_bytes = blueprint.key_bytes().map_err(CliError::input)? as u64;
    let file_bytes = blueprint.key_file_bytes().map_err(CliError::input)?;
    memory::require(key_bytes).map_err(CliError::input)?;
    if !args.json {
        let text = format!(
            "{}\nmaking a secret key, a public key, and {} of keys for look-ups",
            parameters.claim(),
            bytes(file_bytes)
        );
        output::print(&text)?;
    }
    in_folder(args, |folder, progress| {
        let mut rng = randomness::from_os().map_err(CliError::failure)?;
        progress.say("public key");
        let secret = write_own(contexts.rlwe(), parameters, folder, &mut rng)?;
        progress.say("keys for look-ups");
        let made = |done, total| progress.at(done, total);
        let keys = contexts.bootstrapping_keys(&secret, &mut rng, made).map_err(CliError::input)?;
        let [file] = EVALUATION_FILES.map(|file| folder.join(file));
        progress.say("writing");
        store(contexts.rlwe(), &keys, &file).map_err(|error| refuse(&file, error))?;
        let own = (secret.id().to_string(), parameters.claim());
        Ok(Made::new(args, own, file_bytes, &EVALUATION_FILES))
    })
}
