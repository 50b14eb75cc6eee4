//! `sunzi lookup keygen`: the keys of a client.

use std::path::Path;

use serde::Serialize;
use sunzi::circuits::EvaluationKeys;
use sunzi::program::contexts::{GALOIS, RELINEARIZATION, SECRET};
use sunzi::rlwe::wire::{SecurityClaim, WireError, evaluation_keys_len, store};
use sunzi::rlwe::words::bytes;
use sunzi::rlwe::{SecretKey, memory, randomness};
use sunzi::table::lookup::Lookup;

use super::Written;
use crate::args::lookup::KeygenArgs;
use crate::error::CliError;
use crate::files::folder::{Entry, whole};
use crate::files::keygen::{check_new, make_folder};
use crate::files::refuse;
use crate::output;
use crate::progress::Progress;

/// Report of `sunzi lookup keygen`.
#[derive(Serialize)]
struct Made {
    folder: String,
    key: String,
    security: SecurityClaim,
    /// Bytes of the keys that the server gets.
    key_bytes: u64,
    files: Vec<Written>,
}

/// Makes the keys of a client: all of them, or none.
pub(super) fn run(args: &KeygenArgs) -> Result<(), CliError> {
    check_new(&args.directory)?;
    let lookup = super::given(args.accept.parameters(), &args.description)?;
    let context = lookup.context().rlwe();
    let exponents = lookup.layout().exponents().count() as u64;
    let each = context.switch_key_bytes(context.level()).map_err(CliError::input)?;
    memory::require(each.saturating_mul(exponents + 1)).map_err(CliError::input)?;
    let levels = lookup.layout().exponents().map(|_| context.level());
    let key_bytes = evaluation_keys_len(context.gadget(), levels).map_err(CliError::failure)?;
    let progress = Progress::new(!args.json && !args.quiet);
    progress.say("making keys");
    let key = whole(&args.directory, Entry::Usual, |folder| write(&lookup, folder))?;
    drop(progress);
    let files = ["secret/secret.sz", "eval/relinearization.sz", "eval/galois.sz"];
    let files = files.map(|file| Written::of(&args.directory, file));
    let folder = args.directory.display().to_string();
    let security = lookup.description().claim();
    let files = files.into_iter().collect::<Result<_, _>>()?;
    output::report(args.json, &Made { folder, key, security, key_bytes, files }, Made::text)
}

/// Writes all keys, and returns the name of the secret one.
fn write(lookup: &Lookup, folder: &Path) -> Result<String, CliError> {
    let context = lookup.context().rlwe();
    let mut rng = randomness::from_os().map_err(CliError::failure)?;
    let (own, eval) = (folder.join("secret"), folder.join("eval"));
    for (made, secret) in [(&own, true), (&eval, false)] {
        make_folder(made, secret).map_err(|error| refuse(made, WireError::Io(error)))?;
    }
    let secret = SecretKey::generate(context, &mut rng).map_err(CliError::failure)?;
    let file = own.join(SECRET);
    store(context, &secret, &file).map_err(|error| refuse(&file, error))?;
    let keys = EvaluationKeys::for_exponents(context, &secret, lookup.layout().exponents(), &mut rng);
    let EvaluationKeys { relinearization, galois } = keys.map_err(CliError::failure)?;
    if let Some(key) = relinearization {
        let file = eval.join(RELINEARIZATION);
        store(context, &key, &file).map_err(|error| refuse(&file, error))?;
    }
    if let Some(keys) = galois {
        let file = eval.join(GALOIS);
        store(context, &keys, &file).map_err(|error| refuse(&file, error))?;
    }
    Ok(secret.id().to_string())
}

impl Made {
    fn text(&self) -> String {
        let mut text = format!(
            "key {} in {}, {}\n{} for the server, once",
            self.key,
            self.folder,
            self.security,
            bytes(self.key_bytes)
        );
        for (file, what) in self.files.iter().zip(["keep it from others", "for the server", "for the server"])
        {
            text.push_str(&file.line(what));
        }
        text
    }
}
