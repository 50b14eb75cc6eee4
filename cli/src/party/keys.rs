//! Keys that parties made: the own share for this party alone, and public ones for all, as `sunzi keygen` writes them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use serde::Serialize;
use sunzi::parties::decryption::Holding;
use sunzi::parties::keys::JointKeys;
use sunzi::program::Contexts;
use sunzi::program::contexts::{GALOIS, PARAMETERS, PUBLIC, RELINEARIZATION};
use sunzi::rlwe::wire::{self, Unfinished, WireError, create, store};
use sunzi::rlwe::words::bytes;
use sunzi::rlwe::{KeyId, LedgerFile, RlweContext, SharingLedger};

use super::hashes::{Hashes, Hashing};
use super::home::{Home, KEYS, LEDGER, LONGEST, SECRET, SHARE, write_text};
use crate::args::passphrase::PassphraseArgs;
use crate::error::CliError;
use crate::files::input::read_text;
use crate::files::mode::ModeArgs;
use crate::files::{named, refuse};
use crate::passphrase::opened::secret_in;

/// Folder of the keys that parties made, in their session.
const FOLDER: &str = "keys";
/// Folders of those who encrypt and of those who compute.
const FOLDERS: [&str; 2] = ["public", EVALUATION];
/// Folder of those who compute.
const EVALUATION: &str = "eval";

/// Report of the public keys in the session.
#[derive(Serialize)]
pub(super) struct Published {
    /// Whether this party wrote the folder, which it compared with its own keys otherwise.
    wrote: bool,
    folder: String,
    files: Vec<Written>,
}

#[derive(Serialize)]
struct Written {
    file: String,
    bytes: u64,
}

impl Published {
    pub(super) fn text(&self) -> String {
        let did = if self.wrote {
            "written by this party"
        } else {
            "compared: they are those that this party made"
        };
        let mut text = format!("keys         {}, {did}\n", self.folder);
        for Written { file, bytes: size } in &self.files {
            text.push_str(&format!("  {file:<26} {}\n", bytes(*size)));
        }
        text
    }
}

/// One public file of keys.
enum Public<'a> {
    Parameters,
    Key(&'a JointKeys),
    Relinearization(&'a JointKeys),
    Galois(&'a JointKeys),
}

/// Returns the files of keys, in the order in which they are written.
fn files(keys: &JointKeys) -> Vec<(String, Public<'_>)> {
    let mut all: Vec<(String, Public<'_>)> =
        FOLDERS.iter().map(|folder| (format!("{folder}/{PARAMETERS}"), Public::Parameters)).collect();
    all.push((format!("public/{PUBLIC}"), Public::Key(keys)));
    if keys.relinearization.is_some() {
        all.push((format!("{EVALUATION}/{RELINEARIZATION}"), Public::Relinearization(keys)));
    }
    all.push((format!("{EVALUATION}/{GALOIS}"), Public::Galois(keys)));
    all
}

impl Public<'_> {
    fn write(&self, home: &Home, contexts: &Contexts, out: &mut dyn Write) -> Result<(), WireError> {
        let context = contexts.rlwe();
        match self {
            Self::Parameters => home.agreement.plan.parameters.write(out),
            Self::Key(keys) => wire::write(context, &keys.public, out),
            Self::Relinearization(keys) => {
                keys.relinearization.as_ref().map_or(Ok(()), |key| wire::write(context, key, out))
            }
            Self::Galois(keys) => wire::write(context, &keys.galois, out),
        }
    }
}

/// Writes the public keys into the session, or compares those that are there, and keeps their hashes.
pub(super) fn publish(home: &Home, contexts: &Contexts, keys: &JointKeys) -> Result<Published, CliError> {
    let all = files(keys);
    let mut hashes = BTreeMap::new();
    let mut written = Vec::new();
    for (file, public) in &all {
        let mut hashing = Hashing::default();
        public.write(home, contexts, &mut hashing).map_err(CliError::failure)?;
        written.push(Written { file: file.clone(), bytes: hashing.bytes });
        hashes.insert(file.clone(), hashing.finish());
    }
    let hashes = Hashes { key: keys.public.id().to_string(), files: hashes };
    home.keep_hashes(&hashes)?;
    let folder = home.session().join(FOLDER);
    let wrote = match fs::symlink_metadata(&folder) {
        Ok(_) => false,
        Err(_) => write(home, contexts, &all, &folder)?,
    };
    hashes.compare(&folder, &home.remedy())?;
    Ok(Published { wrote, folder: folder.display().to_string(), files: written })
}

/// Keeps the hashes of keys that are handed on, and compares those in the session.
pub(super) fn adopt(home: &Home, keys: &Hashes) -> Result<(), CliError> {
    home.keep_hashes(keys)?;
    keys.compare(&home.session().join(FOLDER), &home.remedy())
}

/// Copies the public keys of a session, which must be those that a party made, to a folder in the making.
pub(super) fn copy(home: &Home, to: &Path) -> Result<(), CliError> {
    let (hashes, folder) = (home.hashes()?, home.session().join(FOLDER));
    hashes.compare(&folder, &home.remedy())?;
    let to = to.join(FOLDER);
    for file in hashes.files.keys() {
        let (from, to) = (folder.join(file), to.join(file));
        let parent = to.parent().unwrap_or(&to);
        fs::create_dir_all(parent).map_err(|error| refuse(parent, WireError::Io(error)))?;
        let mut source = wire::open_regular(&from).map_err(|error| refuse(&from, error))?;
        let write = |out: &mut File| io::copy(&mut source, out).map(drop).map_err(WireError::Io);
        create(&to, false, write).map_err(|error| refuse(&to, error))?;
    }
    hashes.compare(&to, &home.remedy())
}

/// Writes the folder of keys, all of it or nothing; `false` where another party wrote it meanwhile.
fn write(
    home: &Home,
    contexts: &Contexts,
    all: &[(String, Public<'_>)],
    folder: &Path,
) -> Result<bool, CliError> {
    let session = home.session();
    let refused = |error| refuse(session, WireError::Io(error));
    let temporary = || tempfile::Builder::new().prefix(".sunzi-").tempdir_in(session);
    let (_unfinished, made) = Unfinished::create(temporary, |made| made.path()).map_err(refused)?;
    FOLDERS.iter().try_for_each(|own| fs::create_dir(made.path().join(own))).map_err(refused)?;
    for (file, public) in all {
        let path = made.path().join(file);
        let write = |out: &mut File| public.write(home, contexts, out);
        create(&path, false, write).map_err(|error| refuse(&path, error))?;
    }
    match fs::rename(made.path(), folder) {
        Ok(()) => {
            // The folder has another name now: there is nothing to remove.
            let _ = made.keep();
            Ok(true)
        }
        Err(_) if fs::symlink_metadata(folder).is_ok() => Ok(false),
        Err(error) => Err(refuse(folder, WireError::Io(error))),
    }
}

impl Home {
    /// Keeps the hashes of the keys that this party made; those that it made before must be the same.
    fn keep_hashes(&self, hashes: &Hashes) -> Result<(), CliError> {
        let file = self.path(KEYS);
        if !file.exists() {
            let text = serde_json::to_string(hashes).map_err(CliError::failure)? + "\n";
            return write_text(&file, &text);
        }
        if *hashes == self.hashes()? {
            return Ok(());
        }
        Err(CliError::Check(format!(
            "{}: this party made other keys before: do not use these, and create another session",
            named(&file)
        )))
    }

    /// Says what to do about keys in the session that are not those that this party made.
    fn remedy(&self) -> String {
        let folder = named(&self.session().join(FOLDER));
        match self.agreement.before {
            Some(_) => format!("copy the folder {folder} anew from the session of before"),
            None => format!("remove the folder {folder} and run sunzi party keygen again"),
        }
    }

    /// Reads the hashes of the keys that this party made.
    pub(super) fn hashes(&self) -> Result<Hashes, CliError> {
        let file = self.path(KEYS);
        let text = read_text(&file, "hashes of the keys of this party", LONGEST)?;
        serde_json::from_str(&text).map_err(|error| CliError::damaged(format!("{}: {error}", named(&file))))
    }
}

/// Keeps what this party opens results with, beside a ledger that has counted what was opened before. What is there already stays.
pub(super) fn keep_holding(
    home: &Home,
    contexts: &Contexts,
    (joint, used): (KeyId, u64),
    holding: &Holding,
) -> Result<(), CliError> {
    let (context, ledger) = (contexts.rlwe(), home.path(LEDGER));
    let file = home.path(match holding {
        Holding::Secret(_) => SECRET,
        Holding::Share(_) => SHARE,
    });
    // A ledger is made before what it counts for: one that is missing later is never made again.
    if file.exists() {
        return Ok(());
    }
    if !ledger.exists() {
        let counted =
            SharingLedger::new(context.fingerprint(), joint, home.agreement.policy).taken_over(used);
        LedgerFile::create(&ledger, counted.map_err(CliError::input)?)
            .map_err(|error| refuse(&ledger, error))?;
    }
    let stored = match holding {
        Holding::Secret(secret) => store(context, secret, &file),
        Holding::Share(share) => store(context, share, &file),
    };
    stored.map_err(|error| refuse(&file, error))
}

impl Home {
    /// Fails unless the keys of the session are those that this party made, and returns the folder of those who compute.
    pub(super) fn checked_keys(&self) -> Result<std::path::PathBuf, CliError> {
        let folder = self.session().join(FOLDER);
        self.hashes()?.compare(&folder, &self.remedy())?;
        Ok(folder.join(EVALUATION))
    }

    /// Returns the name of the joint key; `None` before the keys are made.
    pub(super) fn joint_key(&self) -> Result<Option<String>, CliError> {
        if self.path(KEYS).exists() { self.hashes().map(|hashes| Some(hashes.key)) } else { Ok(None) }
    }

    /// Whether this party has what it opens results with.
    pub(super) fn has_holding(&self) -> bool {
        [SECRET, SHARE].iter().any(|file| self.path(file).exists())
    }

    /// Reads what this party opens results with, under a passphrase or not.
    pub(super) fn holding(
        &self,
        context: &RlweContext,
        passphrase: &PassphraseArgs,
    ) -> Result<Holding, CliError> {
        let all = !self.agreement.opens_by_shares();
        let file = self.path(if all { SECRET } else { SHARE });
        self.check_kept()?;
        if !file.exists() {
            let home = self.place();
            return Err(CliError::io(format!(
                "{home} has no share of a key yet: run sunzi party keygen --home {home} with all other parties"
            )));
        }
        let refused = |error| refuse(&file, error);
        let mode = ModeArgs::default();
        match all {
            true => secret_in(context, &file, (&mode, passphrase), refused).map(Holding::Secret),
            false => secret_in(context, &file, (&mode, passphrase), refused).map(Holding::Share),
        }
    }

    /// Opens the ledger of this party, which is never made anew.
    pub(super) fn ledger(&self) -> Result<LedgerFile, CliError> {
        let file = self.path(LEDGER);
        LedgerFile::open(&file).map_err(|error| match error {
            WireError::Io(error) if error.kind() == ErrorKind::NotFound => CliError::io(format!(
                "{} is missing, and without it nobody knows how many results this party opened: put it back, or create another session",
                named(&file)
            )),
            other => refuse(&file, other),
        })
    }
}
