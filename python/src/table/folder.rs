//! Folders of keys, one for each party, as the command line makes and reads them.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use sunzi_circuits::EvaluationKeys;
use sunzi_keystore::Passphrase;
use sunzi_keystore::files::create;
use sunzi_program::Contexts;
use sunzi_program::analysis::{Parameters, SchemeChoice};
use sunzi_program::contexts::{BOOTSTRAPPING, GALOIS, LEDGER, PARAMETERS, PUBLIC, RELINEARIZATION, SECRET};
use sunzi_rlwe::LedgerFile;
use sunzi_rlwe::randomness::from_os;
use sunzi_rlwe::wire::{Accept, WireError, load as read, store};
use sunzi_table::in_memory::{Evaluation, Keys};

use crate::error::Failure;

/// Folders of the owner, of whoever encrypts, and of whoever computes.
const FOLDERS: [&str; 3] = ["secret", "public", "eval"];

/// Writes the folders of the parties that there are keys for.
pub(super) fn save(keys: &Keys, path: &Path, passphrase: Option<&Passphrase>) -> Result<(), Failure> {
    if is_there(path) {
        let message =
            format!("{} is there already: keys are never overwritten; choose another folder", path.display());
        return Err(Failure::new("Io", message));
    }
    make_folder(path, false)?;
    write(keys, path, passphrase).inspect_err(|_| {
        // Keys are there in whole or not at all.
        let _ = fs::remove_dir_all(path);
    })
}

fn write(keys: &Keys, path: &Path, passphrase: Option<&Passphrase>) -> Result<(), Failure> {
    let (contexts, rlwe) = (&keys.contexts, keys.contexts.rlwe());
    let party = |name: &str| {
        let folder = path.join(name);
        make_folder(&folder, name == "secret")?;
        contexts.parameters().store(&folder.join(PARAMETERS))?;
        Ok::<_, Failure>(folder)
    };
    let [owner, encrypting, computing] = FOLDERS;
    if let Some(secret) = &keys.secret {
        let folder = party(owner)?;
        create(rlwe, secret, &folder.join(SECRET), passphrase, &mut from_os()?)?;
        LedgerFile::prepare(folder.join(LEDGER), rlwe.fingerprint(), secret.id())?;
    }
    if let Some(public) = &keys.public {
        store(rlwe, &**public, party(encrypting)?.join(PUBLIC))?;
    }
    let Some(evaluation) = &keys.evaluation else { return Ok(()) };
    let folder = party(computing)?;
    match &**evaluation {
        Evaluation::Keys(own) => {
            let none = || Failure::internal("keys of a plan without those of products and rotations");
            let products = own.relinearization.as_ref().ok_or_else(none)?;
            store(rlwe, products, folder.join(RELINEARIZATION))?;
            store(rlwe, own.galois.as_ref().ok_or_else(none)?, folder.join(GALOIS))?;
        }
        Evaluation::LookUps(own) => {
            contexts.store_bootstrapping(own, &folder)?;
        }
        Evaluation::Bootstraps(own, rotations) => {
            contexts.store_bootstrapping(own, &folder)?;
            store(rlwe, rotations, folder.join(GALOIS))?;
        }
        _ => return Err(Failure::internal("keys of a form that no file has")),
    }
    Ok(())
}

/// Makes a folder; a secret one is for its owner alone.
fn make_folder(path: &Path, secret: bool) -> Result<(), Failure> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    if secret {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    #[cfg(not(unix))]
    let _ = secret;
    builder.create(path).map_err(|error| failed(path, &error))
}

fn failed(path: &Path, error: &io::Error) -> Failure {
    Failure::new("Io", format!("{}: {error}", path.display()))
}

/// Reads the keys in a folder: of a party, or of all parties whose folders are in it.
pub(super) fn load(path: &Path, accept: Accept, passphrase: Option<&Passphrase>) -> Result<Keys, Failure> {
    let parties = FOLDERS.map(|name| path.join(name));
    let all = !is_there(&path.join(PARAMETERS));
    let folders: Vec<&Path> = if all {
        parties.iter().map(|folder| &**folder).filter(|folder| is_there(folder)).collect()
    } else {
        vec![path]
    };
    let Some((first, others)) = folders.split_first() else {
        let message = format!(
            "{} has no keys: give a folder that Keys.save or sunzi keygen made, or one of the folders in it",
            path.display()
        );
        return Err(Failure::new("Io", message));
    };
    let parameters = Parameters::load_as(accept, &first.join(PARAMETERS))?;
    for other in others {
        if Parameters::load_as(accept, &other.join(PARAMETERS))? != parameters {
            return Err(WireError::Parameters { what: "folder of another party" }.into());
        }
    }
    let contexts = Contexts::new(&parameters)?;
    let mut keys = Keys { contexts, secret: None, public: None, evaluation: None };
    for folder in folders {
        take(&mut keys, folder, passphrase)?;
    }
    keys.check()?;
    Ok(keys)
}

/// Reads the keys that are in the folder of a party.
fn take(keys: &mut Keys, folder: &Path, passphrase: Option<&Passphrase>) -> Result<(), Failure> {
    let contexts = &keys.contexts;
    if is_there(&folder.join(SECRET)) {
        let file = folder.join(SECRET);
        check_mode(&file)?;
        keys.secret = Some(Arc::new(sunzi_keystore::files::load(contexts.rlwe(), &file, passphrase)?));
    }
    if is_there(&folder.join(PUBLIC)) {
        keys.public = Some(Arc::new(contexts.load_public(folder)?));
    }
    let bootstraps = contexts.scheme() == SchemeChoice::Integers
        || matches!(contexts.parameters(), Parameters::Bootstrapped(_));
    if bootstraps && is_there(&folder.join(BOOTSTRAPPING)) {
        let own = contexts.load_bootstrapping(folder)?;
        keys.evaluation = Some(Arc::new(if contexts.scheme() == SchemeChoice::Integers {
            Evaluation::LookUps(own)
        } else {
            Evaluation::Bootstraps(own, read(contexts.rlwe(), folder.join(GALOIS))?)
        }));
    } else if !bootstraps && is_there(&folder.join(RELINEARIZATION)) {
        let relinearization = Some(read(contexts.rlwe(), folder.join(RELINEARIZATION))?);
        let galois = Some(read(contexts.rlwe(), folder.join(GALOIS))?);
        keys.evaluation = Some(Arc::new(Evaluation::Keys(EvaluationKeys { relinearization, galois })));
    }
    Ok(())
}

/// Refuses a secret key that anybody but its owner can read or write.
fn check_mode(path: &Path) -> Result<(), Failure> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(path).map_err(|error| failed(path, &error))?.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            let name = path.display();
            let message = format!(
                "{name} is a secret key that others on this machine can reach (mode {mode:04o}): run chmod 600 {name}"
            );
            return Err(Failure::new("Io", message));
        }
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// Whether a path is a folder or a file that is there.
fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}
