//! Keys of bootstraps and look-ups, whatever the program, and those of rotations in CKKS.

use std::path::Path;

use sunzi::circuits::bootstrap::{AnyBlueprint, AnyBootstrapKeys};
use sunzi::program::Contexts;
use sunzi::program::analysis::Parameters;
use sunzi::program::contexts::Parts;
use sunzi::rlwe::wire::{evaluation_keys_len, store};
use sunzi::rlwe::words::{bytes, counted};
use sunzi::rlwe::{GaloisKeys, RlweContext, memory, randomness};

use super::{GALOIS_FILE, Made, Place, Stored, exponents, in_folder, needed, planned, write_own};
use crate::args::{KeygenArgs, Rotations};
use crate::error::CliError;
use crate::files::refuse;
use crate::output;
use crate::progress::Progress;

/// File of whoever bootstraps and looks up.
const BOOTSTRAPPING_FILE: &str = "eval/bootstrapping.sz";
/// File of the key of products of a real ring, which bootstraps in another one.
const PRODUCTS_FILE: &str = "eval/relinearization.sz";
/// Folder of whoever computes.
const EVALUATION: &str = "eval";
/// Level at which sums of any number of rows fit.
const SUMS: usize = 1;

/// Keys that are made beside those that every folder has.
struct Wanted<'a> {
    /// Automorphisms and the levels at which they are applied; none for encrypted integers, whose look-ups have them.
    rotations: Option<Vec<(u64, usize)>>,
    /// Files of whoever computes.
    files: &'a [&'a str],
}

/// Makes all keys for encrypted integers.
pub(super) fn of_integers(own: &Parameters, stored: &Stored, args: &KeygenArgs) -> Result<(), CliError> {
    let contexts = Contexts::new(own).map_err(CliError::input)?;
    let wanted = Wanted { rotations: None, files: &[BOOTSTRAPPING_FILE] };
    make(&contexts, stored, &wanted, args)
}

/// Makes all keys for CKKS with bootstrapping; those of rotations are those of a plan or program, where one is given.
pub(super) fn of_reals(
    own: &Parameters,
    stored: &Stored,
    rotations: Option<&Rotations>,
    args: &KeygenArgs,
    file: &Path,
) -> Result<(), CliError> {
    let contexts = Contexts::new(own).map_err(CliError::input)?;
    let Parts::Ckks(context) = contexts.parts() else {
        return Err(CliError::failure("the contexts are not those of CKKS"));
    };
    let exponents: Vec<(u64, usize)> = match rotations {
        None => planned(args, file)?,
        Some(rotations) => {
            let level = context.key_level(SUMS).map_err(CliError::input)?;
            let exponents = exponents(context.ring(), stored, rotations)?;
            exponents.into_iter().map(|exponent| (exponent, level)).collect()
        }
    };
    let files: &[&str] = if context.has_real_slots() {
        &[BOOTSTRAPPING_FILE, PRODUCTS_FILE, GALOIS_FILE]
    } else {
        &[BOOTSTRAPPING_FILE, GALOIS_FILE]
    };
    let wanted = Wanted { rotations: Some(needed(exponents)), files };
    make(&contexts, stored, &wanted, args)
}

fn make(
    contexts: &Contexts,
    stored: &Stored,
    wanted: &Wanted<'_>,
    args: &KeygenArgs,
) -> Result<(), CliError> {
    let blueprint = contexts.bootstrapping().map_err(CliError::input)?;
    let mut rotation_bytes = match &wanted.rotations {
        Some(rotations) => bytes_of(contexts.rlwe(), rotations)?,
        None => 0,
    };
    if matches!(blueprint, AnyBlueprint::Real(_)) {
        let products = evaluation_keys_len(contexts.rlwe().gadget(), []);
        rotation_bytes += products.map_err(CliError::input)?;
    }
    let key_bytes = blueprint.key_bytes().map_err(CliError::input)? as u64 + rotation_bytes;
    memory::require(key_bytes).map_err(CliError::input)?;
    let file_bytes = blueprint.key_file_bytes().map_err(CliError::input)? + rotation_bytes;
    if !args.json {
        let beside = match &wanted.rotations {
            Some(rotations) => {
                format!("bootstraps and {}", counted(rotations.len(), "rotation", "rotations"))
            }
            None => "look-ups".to_owned(),
        };
        let size = bytes(file_bytes);
        let keys = format!("making a secret key, a public key, and {size} of keys for {beside}");
        output::print(&format!("{}\n{keys}", stored.claim()))?;
    }
    in_folder(args, |place, progress| {
        let key = write((contexts, &blueprint), stored, wanted, place, progress)?;
        let rotations = wanted.rotations.as_ref().map_or(0, Vec::len);
        Ok(Made { rotations, ..Made::new(args, (key, stored.claim()), file_bytes, wanted.files) })
    })
}

/// Returns the bytes of the file of keys of rotations.
fn bytes_of(context: &RlweContext, rotations: &[(u64, usize)]) -> Result<u64, CliError> {
    let levels = rotations.iter().map(|&(_, level)| level);
    let all = evaluation_keys_len(context.gadget(), levels).map_err(CliError::input)?;
    let beside = evaluation_keys_len(context.gadget(), []).map_err(CliError::input)?;
    Ok(all.saturating_sub(beside))
}

/// Writes all keys, the secret key first: the others are made of it. Returns its name.
fn write(
    (contexts, blueprint): (&Contexts, &AnyBlueprint),
    stored: &Stored,
    wanted: &Wanted<'_>,
    place: &Place<'_>,
    progress: &Progress,
) -> Result<String, CliError> {
    let (context, folder) = (contexts.rlwe(), place.folder);
    let mut rng = randomness::from_os().map_err(CliError::failure)?;
    progress.say("public key");
    let secret = write_own(context, stored, place, &mut rng)?;
    if let Some(rotations) = &wanted.rotations {
        progress.say("keys for rotations");
        let levels = rotations.iter().copied();
        let keys = GaloisKeys::generate_levels(context, &secret, levels, &mut rng, |_, _| {});
        let file = folder.join(GALOIS_FILE);
        store(context, &keys.map_err(CliError::input)?, &file).map_err(|error| refuse(&file, error))?;
        progress.say("keys for bootstraps");
    } else {
        progress.say("keys for look-ups");
    }
    let made = |done, total| progress.at(done, total);
    let keys = AnyBootstrapKeys::generate(blueprint, &secret, &mut rng, made).map_err(CliError::input)?;
    progress.say("writing");
    let party = folder.join(EVALUATION);
    contexts.store_bootstrapping(&keys, &party).map_err(|error| refuse(&party, error))?;
    Ok(secret.id().to_string())
}
