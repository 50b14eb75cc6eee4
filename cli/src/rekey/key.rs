//! `sunzi rekey key`: the key from an old secret key to a new one, with the parameters that whoever stores ciphertexts needs.

use std::fs;
use std::path::Path;

use serde::Serialize;
use sunzi::program::Contexts;
use sunzi::program::contexts::{PARAMETERS, SECRET};
use sunzi::rlwe::wire::{Kind, WireError, create, store};
use sunzi::rlwe::words::bytes;
use sunzi::rlwe::{RekeyingKey, RlweError, SecretKey, memory, randomness};
use sunzi_keystore::log::Event;

use super::KEY;
use crate::args::rekey::KeyArgs;
use crate::audit::Audit;
use crate::error::CliError;
use crate::files::folder::{Entry, whole};
use crate::files::keygen::check_new;
use crate::files::{named, refuse, refuse_keys};
use crate::passphrase::opened;
use crate::{files, output};

/// Report of `sunzi rekey key`.
#[derive(Serialize)]
struct Made {
    folder: String,
    /// Names of the old key and the new one.
    from: String,
    to: String,
    bytes: u64,
}

/// Makes the folder: all of it, or nothing.
pub(super) fn run(args: &KeyArgs) -> Result<(), CliError> {
    check_new(&args.directory)?;
    let of_keys = |error| refuse_keys(&args.keys, "secret", error);
    let contexts = files::contexts(args.accept.parameters(), &args.keys.join(PARAMETERS)).map_err(of_keys)?;
    let context = contexts.rlwe();
    memory::require(context.switch_key_bytes(context.level()).map_err(CliError::input)?)
        .map_err(CliError::input)?;
    let old = opened::secret(&contexts, &args.keys, &args.mode, &args.passphrase)?;
    let to = args.to_passphrase.options();
    let new: SecretKey = opened::secret_in(context, &args.to.join(SECRET), (&args.mode, &to), |error| {
        refuse_keys(&args.to, "secret", error)
    })?;
    if old.id() == new.id() {
        return Err(CliError::mismatch(format!("{}: {}", named(&args.to), RlweError::SameSecret)));
    }
    let event = Event::Enable { by: Kind::RekeyingKey.to_string(), to: new.id().to_string() };
    let len = Audit::new(&args.log, &args.keys, old.id()).recorded(event, || {
        let mut rng = randomness::from_os().map_err(CliError::failure)?;
        let key = RekeyingKey::generate(context, &old, &new, &mut rng).map_err(CliError::input)?;
        whole(&args.directory, Entry::Usual, |folder| write(&contexts, &key, folder))
    })?;
    let [from, to] = [old.id(), new.id()].map(|id| id.to_string());
    let made = Made { folder: args.directory.display().to_string(), from, to, bytes: len };
    output::report(args.json, &made, Made::text)
}

/// Writes what whoever stores ciphertexts needs, and returns the bytes of the key.
fn write(contexts: &Contexts, key: &RekeyingKey, folder: &Path) -> Result<u64, CliError> {
    let [parameters, own] = [PARAMETERS, KEY].map(|file| folder.join(file));
    create(&parameters, false, |out| contexts.parameters().write(out))
        .map_err(|error| refuse(&parameters, error))?;
    store(contexts.rlwe(), key, &own).map_err(|error| refuse(&own, error))?;
    Ok(fs::metadata(&own).map_err(|error| refuse(&own, WireError::Io(error)))?.len())
}

impl Made {
    fn text(&self) -> String {
        let Self { folder, from, to, bytes: size } = self;
        format!(
            "{folder}: key from {from} to {to}, {}\n\
             next  give it to whoever stores tables and results, for sunzi rekey run; give the new folders public and eval to those who had the old ones\n\
             then  sunzi keys set OLD --expires now, and have what is under the old key deleted",
            bytes(*size)
        )
    }
}
