//! `sunzi reencrypt key`: the folder of a proxy, with the key from one owner to another and the ledger that counts.

use std::fs;
use std::path::Path;

use serde::Serialize;
use sunzi::program::Contexts;
use sunzi::program::contexts::{LEDGER, PARAMETERS};
use sunzi::rlwe::wire::{Kind, WireError, create, load, store};
use sunzi::rlwe::words::bytes;
use sunzi::rlwe::{
    LedgerFile, ReencryptionKey, ReencryptionPublicKey, RlweError, SharingLedger, SharingPolicy, randomness,
};
use sunzi_keystore::log::Event;

use super::KEY;
use crate::args::reencrypt::KeyArgs;
use crate::ask::confirm;
use crate::audit::Audit;
use crate::error::CliError;
use crate::files::folder::{Entry, whole};
use crate::files::input::InputFile;
use crate::files::keygen::check_new;
use crate::files::{named, refuse};
use crate::{fingerprint, output};

/// Advice to an owner who got a public key with another fingerprint.
const REMEDY: &str =
    "it is the key of somebody else, or somebody changed it on its way; ask the new owner for the file again";

/// Report of `sunzi reencrypt key`.
#[derive(Serialize)]
struct Made {
    folder: String,
    /// Name of the key that results are handed on from.
    from: String,
    /// Name of the key that results are handed on to, and the fingerprint of the public one.
    to: String,
    fingerprint: String,
    queries: u64,
    statistical_bits: u32,
    bytes: u64,
}

/// Makes the folder of a proxy: all of it, or nothing.
pub(super) fn run(args: &KeyArgs) -> Result<(), CliError> {
    check_new(&args.directory)?;
    let policy = SharingPolicy::new(args.statistical_bits, args.queries).map_err(CliError::input)?;
    let input = InputFile::open(&args.to)?;
    let (contexts, secret) = super::owner(&args.owner)?;
    let public: ReencryptionPublicKey =
        load(contexts.rlwe(), input.path()).map_err(|error| refuse(&args.to, error))?;
    if public.id() == secret.id() {
        return Err(CliError::mismatch(format!("{}: {}", named(&args.to), RlweError::SameKey)));
    }
    let shown = public.fingerprint(contexts.rlwe()).map_err(CliError::failure)?;
    fingerprint::expect(args.expect.as_deref(), &shown, &named(&args.to), REMEDY)?;
    if args.expect.is_none() && !args.yes {
        output::print_beside(&format!("fingerprint  {shown}"));
        confirm(
            "Whoever made this public key will read all results that are handed on. Does the new owner read out the same fingerprint?",
            "--expect with the fingerprint, or --yes",
        )?;
    }
    let event = Event::Enable { by: Kind::ReencryptionKey.to_string(), to: public.id().to_string() };
    let audit = Audit::new(&args.log, &args.owner.keys, secret.id());
    let (key, len) = audit.recorded(event, || {
        let mut rng = randomness::from_os().map_err(CliError::failure)?;
        let key = ReencryptionKey::generate(contexts.rlwe(), &secret, &public, &mut rng);
        let key = key.map_err(CliError::input)?;
        let ledger = SharingLedger::new(contexts.rlwe().fingerprint(), secret.id(), policy);
        let write = |folder: &Path| write(&contexts, &key, ledger, folder);
        let len = whole(&args.directory, Entry::OwnerAlone, write)?;
        Ok((key, len))
    })?;
    let made = Made {
        folder: args.directory.display().to_string(),
        from: key.source().to_string(),
        to: key.target().to_string(),
        fingerprint: shown,
        queries: policy.queries(),
        statistical_bits: policy.statistical_bits(),
        bytes: len,
    };
    output::report(args.json, &made, Made::text)
}

/// Writes what a proxy needs, and returns the bytes of the key.
fn write(
    contexts: &Contexts,
    key: &ReencryptionKey,
    ledger: SharingLedger,
    folder: &Path,
) -> Result<u64, CliError> {
    let [parameters, own, count] = [PARAMETERS, KEY, LEDGER].map(|file| folder.join(file));
    create(&parameters, false, |out| contexts.parameters().write(out))
        .map_err(|error| refuse(&parameters, error))?;
    store(contexts.rlwe(), key, &own).map_err(|error| refuse(&own, error))?;
    LedgerFile::create(&count, ledger).map_err(|error| refuse(&count, error))?;
    Ok(fs::metadata(&own).map_err(|error| refuse(&own, WireError::Io(error)))?.len())
}

impl Made {
    fn text(&self) -> String {
        let Self { folder, from, to, fingerprint, queries, statistical_bits, bytes: size } = self;
        format!(
            "{folder}: key from {from} to {to}, {}\n\
             fingerprint  {fingerprint}\n\
             hands on     {queries} ciphertexts at 2^-{statistical_bits}, which add up with those of other proxies and of sunzi decrypt --share\n\
             keep         it is for the proxy alone: with the secret key of the new owner it opens all that is encrypted for {from}, and it cannot be called back",
            bytes(*size)
        )
    }
}
