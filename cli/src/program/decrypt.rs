//! `sunzi decrypt`: opens results for the key holder, or for sharing.

use std::fs::File;
use std::io::BufReader;

use sunzi::program::analysis::SchemeChoice;
use sunzi::program::contexts::{Codec, PARAMETERS, SecretKey};
use sunzi::program::results::ResultsReader;
use sunzi::program::{Contexts, Program, Sharing};
use sunzi::rlwe::KeyId;
use sunzi::rlwe::wire::{WireError, open_regular};
use sunzi_keystore::log::Event;

use super::agreed;
use super::plan::check_precision;
use super::shown::{Form, Shown};
use super::stopped::Stopped;
use super::{refuse_in, share};
use crate::args::DecryptArgs;
use crate::audit::{self, Audit};
use crate::error::CliError;
use crate::files;
use crate::files::input::InputFile;
use crate::keys::properties::Held;
use crate::output;
use crate::passphrase::opened;

/// Decrypts results and prints them.
pub(crate) fn run(args: &DecryptArgs) -> Result<(), CliError> {
    let of_keys = |error| files::refuse_keys(&args.keys, "secret", error);
    let input = InputFile::open(&args.file)?;
    let policy = share::policy(&args.sharing)?;
    let contexts = files::contexts(args.accept.parameters(), &args.keys.join(PARAMETERS)).map_err(of_keys)?;
    check_precision(args.sharing.precision, Some(contexts.scheme()))?;
    let secret = opened::secret(&contexts, &args.keys, &args.mode, &args.passphrase)?;
    Held { folder: &args.keys, key: secret.id(), secret: Some((contexts.rlwe(), &secret)) }.remark();
    let reader = || reader(&input, args, &contexts, secret.id());
    let mut results = reader()?;
    let description = results.description().clone();
    let codec = contexts.codec(&description.layout).map_err(|error| refuse_in(&args.file, error))?;
    let plans = agreed::plans(&args.sharing, &contexts, &description)?;
    let mut opening = audit::opening("decrypt", &input, Some(&description.program))?;
    opening.agreed = plans.is_some();
    let sharing = match policy {
        Some(policy) => {
            let noise = share::declared(&contexts, plans.as_ref())?;
            // The file is read to its end first: what is damaged or does not fit neither makes a ledger nor is
            // counted.
            let whole = reader()?;
            let count =
                whole.check_shareable(policy, &noise).map_err(|stopped: Stopped| stopped.of(&args.file))?;
            opening.share = Some(audit::share(policy, count));
            Some(share::sharing(policy, noise, count, (secret.id(), &args.keys))?)
        }
        None => None,
    };
    let audit = Audit::new(&args.log, &args.keys, secret.id());
    let sharing = audit.recorded(Event::Open(opening), || {
        print(args, (&mut results, &description.program), (&codec, &secret), sharing)
    })?;
    if !args.quiet {
        if plans.is_none() {
            output::remark(&agreed::trusted(&description.program));
        }
        remark(&contexts, sharing.as_ref());
    }
    Ok(())
}

/// Decrypts results, for sharing if there is one, and prints them.
fn print(
    args: &DecryptArgs,
    (results, program): (&mut ResultsReader<'_, BufReader<File>>, &Program),
    (codec, secret): (&Codec, &SecretKey),
    mut sharing: Option<Sharing>,
) -> Result<Option<Sharing>, CliError> {
    let form = match (args.csv, args.json) {
        (true, _) => Form::Csv,
        (false, true) => Form::Json,
        (false, false) => Form::Text,
    };
    let mut shown = Shown::new(program, &results.clear(), form)?;
    let column = |id, first, cells| shown.column(id, first, cells).map_err(Stopped::Said);
    let totals = match &mut sharing {
        Some(sharing) => results.decrypt_for_sharing(codec, secret, sharing, column),
        None => results.decrypt(codec, secret, column),
    };
    shown.finish(&totals.map_err(|stopped| stopped.of(&args.file))?)?;
    Ok(sharing)
}

/// Opens a reader of the results, which must belong to this key.
fn reader<'a>(
    input: &InputFile,
    args: &DecryptArgs,
    contexts: &'a Contexts,
    key: KeyId,
) -> Result<ResultsReader<'a, BufReader<File>>, CliError> {
    let of_file = |error| files::refuse(&args.file, error);
    let file = open_regular(input.path()).map_err(of_file)?;
    let reader = ResultsReader::open(contexts, BufReader::with_capacity(1 << 20, file)).map_err(of_file)?;
    if reader.key() == key {
        Ok(reader)
    } else {
        Err(of_file(WireError::Key { expected: Some(key), got: Some(reader.key()) }))
    }
}

/// Prints who may see the results that were printed.
fn remark(contexts: &Contexts, sharing: Option<&Sharing>) {
    match sharing {
        Some(sharing) => {
            let ledger = sharing.ledger();
            let (used, queries) = (ledger.used(), ledger.policy().queries());
            output::remark(&format!(
                "{used} of the {queries} decryptions that may be shared under this key are used"
            ));
        }
        None if contexts.scheme() == SchemeChoice::Ckks => output::remark(
            "the errors of these numbers depend on the secret key: give them to nobody who made or chose the ciphertexts, or use --share",
        ),
        None => {}
    }
}
