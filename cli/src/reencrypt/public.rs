//! `sunzi reencrypt public`: the public key of the owner to whom results are handed on.

use std::fs::File;

use serde::Serialize;
use sunzi::rlwe::wire::write;
use sunzi::rlwe::words::bytes;
use sunzi::rlwe::{ReencryptionPublicKey, randomness};

use crate::args::reencrypt::PublicArgs;
use crate::error::CliError;
use crate::files::target::{Content, Target};

/// Report of `sunzi reencrypt public`.
#[derive(Serialize)]
struct Made {
    file: String,
    key: String,
    fingerprint: String,
    bytes: u64,
}

/// Makes the public key, and shows the fingerprint that its owner reads out.
pub(super) fn run(args: &PublicArgs) -> Result<(), CliError> {
    let target = Target::new(&args.output, &args.force, Content::Binary, args.json)?;
    let (contexts, secret) = super::owner(&args.owner)?;
    let mut rng = randomness::from_os().map_err(CliError::failure)?;
    let public = ReencryptionPublicKey::generate(contexts.rlwe(), &secret, &mut rng);
    let public = public.map_err(CliError::failure)?;
    let fingerprint = public.fingerprint(contexts.rlwe()).map_err(CliError::failure)?;
    let store = |out: &mut File| write(contexts.rlwe(), &public, out);
    let len = target.write(store).map_err(|error| target.refuse(error))?;
    let key = secret.id().to_string();
    let made = Made { file: target.name(), key, fingerprint, bytes: len };
    target.report(args.json, &made, |Made { file, key, fingerprint, bytes: size }| {
        format!(
            "{file}: public key for re-encryption to key {key}, {}\n\
             fingerprint  {fingerprint}\n\
             next         read the fingerprint to the other owner, who runs: sunzi reencrypt key",
            bytes(*size)
        )
    })
}
