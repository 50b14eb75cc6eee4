//! The folder of one party: its identity, what it agreed on, the cards it saw first, its records, its keys and its ledger.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sunzi::parties::Party;
use sunzi::rlwe::wire::{WireError, create};

use super::agreement::{AGREEMENT, Agreement, whole};
use crate::args::party::HomeArgs;
use crate::error::{CliError, quoted};
use crate::files::folder::{Entry, whole as whole_folder};
use crate::files::input::read_text;
use crate::files::{named, refuse};

/// File that says whose folder it is.
const PARTY: &str = "party.json";
/// File of the identity, which is secret.
pub(super) const IDENTITY: &str = "identity.sz";
/// File of the own secret, where all parties open results.
pub(super) const SECRET: &str = "secret.sz";
/// File of the share of a threshold, where some parties open results.
pub(super) const SHARE: &str = "share.sz";
/// File of the ledger.
pub(super) const LEDGER: &str = "sharing.sz";
/// File with the hashes of the keys that were made.
pub(super) const KEYS: &str = "keys.json";
/// Folder of the cards that were seen first.
pub(super) const CARDS: &str = "cards";
/// Files that nobody but their owner may reach.
const SECRETS: [&str; 4] = [IDENTITY, SECRET, SHARE, LEDGER];
/// File that one process at a time holds.
const LOCK: &str = ".lock";
/// Largest number of bytes of a small file of a home.
pub(super) const LONGEST: u64 = 1 << 16;
/// Version of the form of `party.json`.
const VERSION: u32 = 1;

/// Whose folder it is, as it is stored.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    party: u32,
    name: String,
    session: PathBuf,
    /// Fingerprint of the agreement that the party joined.
    agreement: String,
    /// Folder of this party in the session of before, if it was one of that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before: Option<PathBuf>,
}

/// The folder of a party that has joined.
pub(super) struct Home {
    folder: PathBuf,
    session: PathBuf,
    /// Folder of this party in the session of before.
    before: Option<PathBuf>,
    pub(super) agreement: Agreement,
    pub(super) me: Party,
    /// Held against other processes until dropped; none where the folder is only looked at.
    _lock: Option<File>,
}

impl Home {
    /// Makes the folder of a party: all of it, or nothing. `fill` writes what belongs to the identity.
    pub(super) fn create<T>(
        folder: &Path,
        (session, before): (&Path, Option<&Path>),
        (agreement, me): (&Agreement, Party),
        fill: impl FnOnce(&Path) -> Result<T, CliError>,
    ) -> Result<T, CliError> {
        let stored = Stored {
            party: VERSION,
            name: agreement.everyone.name(me).to_owned(),
            session: whole(session)?,
            agreement: agreement.fingerprint.digits(),
            before: before.map(whole).transpose()?,
        };
        let text = serde_json::to_string(&stored).map_err(CliError::failure)? + "\n";
        whole_folder(folder, Entry::OwnerAlone, |made| {
            write_text(&made.join(PARTY), &text)?;
            write_text(&made.join(AGREEMENT), agreement.text())?;
            fs::create_dir(made.join(CARDS)).map_err(|error| refuse(folder, WireError::Io(error)))?;
            fill(made)
        })
    }

    /// Opens the folder of a party, and holds it against other processes.
    pub(super) fn open(args: &HomeArgs) -> Result<Self, CliError> {
        let home = Self::look(args)?;
        let lock = Some(lock(&args.home)?);
        Ok(Self { _lock: lock, ..home })
    }

    /// Opens the folder of a party to look at it.
    pub(super) fn look(args: &HomeArgs) -> Result<Self, CliError> {
        let home = Self::read(&args.home, args.session.as_deref())?;
        home.check_session()?;
        Ok(home)
    }

    /// Opens the folder of a party whose session is over, and holds it against other processes.
    pub(super) fn open_alone(folder: &Path) -> Result<Self, CliError> {
        let home = Self::read(folder, None)?;
        Ok(Self { _lock: Some(lock(folder)?), ..home })
    }

    fn read(folder: &Path, session: Option<&Path>) -> Result<Self, CliError> {
        check_folder(folder)?;
        let stored = stored(folder)?;
        let agreement = Agreement::load(folder)?;
        let damaged = |what: &str| {
            let folder = named(folder);
            CliError::damaged(format!(
                "{folder}: {what}; this folder is no longer as sunzi party join made it"
            ))
        };
        if agreement.fingerprint.digits() != stored.agreement {
            return Err(damaged("its agreement is not the one that the party joined"));
        }
        let me = agreement.everyone.named(&stored.name);
        let me = me.map_err(|_| damaged("its party is not among those of its agreement"))?;
        let session = session.map_or(stored.session, Path::to_owned);
        let (folder, before) = (folder.to_owned(), stored.before);
        let home = Self { folder, session, before, agreement, me, _lock: None };
        SECRETS.iter().try_for_each(|file| check_secret(&home.path(file)))?;
        Ok(home)
    }

    /// Checks that the session has the agreement that this party joined.
    fn check_session(&self) -> Result<(), CliError> {
        if !self.session.is_dir() {
            let session = named(&self.session);
            return Err(CliError::io(format!(
                "there is no folder {session}, where this party joined: give the folder of the session with --session"
            )));
        }
        let now = Agreement::load(&self.session)?;
        if now.fingerprint == self.agreement.fingerprint {
            return Ok(());
        }
        Err(CliError::mismatch(format!(
            "{}: this party joined agreement {}, and here is {}: somebody changed it, or it is another session; ask the other parties which one is theirs",
            named(&self.session),
            self.agreement.fingerprint,
            now.fingerprint
        )))
    }

    /// Path of a file or folder of this party.
    pub(super) fn path(&self, file: &str) -> PathBuf {
        self.folder.join(file)
    }

    /// Name of the folder of this party in messages.
    pub(super) fn place(&self) -> String {
        named(&self.folder)
    }

    /// Folder of this party.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Folder of the session.
    pub(super) fn session(&self) -> &Path {
        &self.session
    }

    /// Folder of this party in the session of before, if it was one of that.
    pub(super) fn before(&self) -> Option<&Path> {
        self.before.as_deref()
    }

    /// Name of this party.
    pub(super) fn name(&self) -> &str {
        self.agreement.everyone.name(self.me)
    }
}

/// Returns whose folder it is.
fn stored(folder: &Path) -> Result<Stored, CliError> {
    check_party(folder)?;
    let file = folder.join(PARTY);
    let text = read_text(&file, "whose folder this is", LONGEST)?;
    let damaged = |error: String| CliError::damaged(format!("{}: {error}", named(&file)));
    let stored: Stored = serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
    if stored.party == VERSION {
        return Ok(stored);
    }
    Err(damaged(format!("it is of version {}, expected {VERSION}", stored.party)))
}

/// Fails for a folder of something else.
fn check_party(folder: &Path) -> Result<(), CliError> {
    if folder.join(PARTY).exists() {
        return Ok(());
    }
    let folder = named(folder);
    let message = "is not the folder of a party: give the one that sunzi party join made";
    Err(CliError::io(format!("{folder} {message}")))
}

/// Fails where a folder is there already, and says whose it is.
pub(super) fn check_new(folder: &Path) -> Result<(), CliError> {
    if fs::symlink_metadata(folder).is_err() {
        return crate::files::check_parent(folder);
    }
    let place = named(folder);
    Err(CliError::input(match stored(folder) {
        Ok(stored) => format!(
            "{place} is the folder of {}, who has joined already: go on with sunzi party keygen, or choose another folder for another party",
            quoted(&stored.name)
        ),
        Err(_) => format!("{place} is there already: choose another folder for this party"),
    }))
}

/// Fails where others on the machine can enter the folder of a party.
fn check_folder(folder: &Path) -> Result<(), CliError> {
    let place = named(folder);
    let Ok(metadata) = fs::symlink_metadata(folder) else {
        return Err(CliError::io(format!(
            "there is no folder {place}: give the one that sunzi party join made"
        )));
    };
    if metadata.is_symlink() {
        return Err(CliError::input(format!("{place} is a link: give the folder that it leads to")));
    }
    check_party(folder)?;
    match open_mode(&metadata) {
        Some(mode) => Err(CliError::input(format!(
            "{place} holds secrets, and others on this machine can enter it (mode {mode:04o}): run chmod 700 {place}"
        ))),
        None => Ok(()),
    }
}

/// Fails for a secret that others on the machine can reach, and for a link in the place of one.
pub(super) fn check_secret(file: &Path) -> Result<(), CliError> {
    let Ok(metadata) = fs::symlink_metadata(file) else { return Ok(()) };
    let place = named(file);
    if metadata.is_symlink() {
        return Err(CliError::input(format!(
            "{place} is a link, where a secret of this party should be: put the file itself there"
        )));
    }
    match open_mode(&metadata) {
        Some(mode) => Err(CliError::input(format!(
            "{place} is a secret that others on this machine can reach (mode {mode:04o}): run chmod 600 {place}"
        ))),
        None => Ok(()),
    }
}

/// Returns the mode of a file or folder that others than its owner may use.
#[cfg(unix)]
fn open_mode(metadata: &fs::Metadata) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    let mode = metadata.permissions().mode() & 0o777;
    (mode & 0o077 != 0).then_some(mode)
}

/// Returns nothing: only Unix has these modes.
#[cfg(not(unix))]
fn open_mode(_: &fs::Metadata) -> Option<u32> {
    None
}

/// Holds the folder of a party against other processes.
fn lock(folder: &Path) -> Result<File, CliError> {
    let path = folder.join(LOCK);
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
    let file = file.map_err(|error| refuse(&path, WireError::Io(error)))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            let folder = named(folder);
            Err(CliError::input(format!(
                "another process of this party uses {folder}: let it end first, two at a time would spoil its secrets"
            )))
        }
        Err(TryLockError::Error(error)) => Err(refuse(&path, WireError::Io(error))),
    }
}

/// Writes a text to a file that is not there yet, all of it or nothing.
pub(super) fn write_text(file: &Path, text: &str) -> Result<(), CliError> {
    let write = |out: &mut File| out.write_all(text.as_bytes()).map_err(WireError::Io);
    create(file, false, write).map_err(|error| match error {
        WireError::Io(error) if error.kind() == ErrorKind::AlreadyExists => {
            CliError::input(format!("{} is there already", named(file)))
        }
        other => refuse(file, other),
    })
}
