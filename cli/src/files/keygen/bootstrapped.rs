//! Keys for CKKS with bootstrapping: those of bootstraps, whatever the program, and those of rotations.

use std::path::Path;

use sunzi::circuits::bootstrap::{Blueprint, BootstrapParameters};
use sunzi::program::Contexts;
use sunzi::program::analysis::Parameters;
use sunzi::program::contexts::Parts;
use sunzi::rlwe::wire::{evaluation_keys_len, store};
use sunzi::rlwe::words::{bytes, counted};
use sunzi::rlwe::{GaloisKeys, memory, randomness};

use super::{Made, Stored, exponents, in_folder, planned, write_own};
use crate::args::{KeygenArgs, Rotations};
use crate::error::CliError;
use crate::files::refuse;
use crate::output;

/// Files of whoever computes.
const EVALUATION_FILES: [&str; 2] = ["eval/bootstrapping.sz", "eval/galois.sz"];
/// Level at which sums of any number of rows fit.
const SUMS: usize = 1;

/// Makes all keys for CKKS with bootstrapping; those of rotations are those of a plan or program, where one is given.
pub(super) fn make(
    own: &BootstrapParameters,
    parameters: &Stored,
    rotations: Option<&Rotations>,
    args: &KeygenArgs,
    file: &Path,
) -> Result<(), CliError> {
    let contexts = Contexts::new(&Parameters::Bootstrapped(own.clone())).map_err(CliError::input)?;
    let Parts::Ckks(context) = contexts.parts() else {
        return Err(CliError::failure("the contexts are not those of CKKS"));
    };
    let mut exponents: Vec<(u64, usize)> = match rotations {
        None => planned(args, file)?,
        Some(rotations) => {
            let level = context.key_level(SUMS).map_err(CliError::input)?;
            let exponents = exponents(context.ring(), parameters, rotations)?;
            exponents.into_iter().map(|exponent| (exponent, level)).collect()
        }
    };
    exponents.sort_unstable();
    exponents.dedup();
    exponents.retain(|&(exponent, _)| exponent != 1);
    let blueprint = Blueprint::new(context, own.set(), context.max_slots()).map_err(CliError::input)?;
    let rotation_bytes =
        evaluation_keys_len(context.rlwe().gadget(), exponents.iter().map(|&(_, level)| level));
    let beside = evaluation_keys_len(context.rlwe().gadget(), []).map_err(CliError::input)?;
    let rotation_bytes = rotation_bytes.map_err(CliError::input)?.saturating_sub(beside);
    let key_bytes = blueprint.key_bytes().map_err(CliError::input)? as u64 + rotation_bytes;
    memory::require(key_bytes).map_err(CliError::input)?;
    let file_bytes = blueprint.key_file_bytes().map_err(CliError::input)? + rotation_bytes;
    if !args.json {
        let text = format!(
            "{}\nmaking a secret key, a public key, and {} of keys for bootstraps and {}",
            parameters.claim(),
            bytes(file_bytes),
            counted(exponents.len(), "rotation", "rotations")
        );
        output::print(&text)?;
    }
    in_folder(args, |folder, progress| {
        let mut rng = randomness::from_os().map_err(CliError::failure)?;
        progress.say("public key");
        let secret = write_own(contexts.rlwe(), parameters, folder, &mut rng)?;
        let [bootstrapping_file, galois_file] = EVALUATION_FILES.map(|file| folder.join(file));
        progress.say("keys for rotations");
        let levels = exponents.iter().copied();
        let keys = GaloisKeys::generate_levels(contexts.rlwe(), &secret, levels, &mut rng, |_, _| {});
        let keys = keys.map_err(CliError::input)?;
        store(contexts.rlwe(), &keys, &galois_file).map_err(|error| refuse(&galois_file, error))?;
        drop(keys);
        progress.say("keys for bootstraps");
        let made = |done, total| progress.at(done, total);
        let keys = contexts.bootstrapping_keys(&secret, &mut rng, made).map_err(CliError::input)?;
        progress.say("writing");
        store(contexts.rlwe(), &keys, &bootstrapping_file)
            .map_err(|error| refuse(&bootstrapping_file, error))?;
        let own = (secret.id().to_string(), parameters.claim());
        Ok(Made { rotations: exponents.len(), ..Made::new(args, own, file_bytes, &EVALUATION_FILES) })
    })
}
