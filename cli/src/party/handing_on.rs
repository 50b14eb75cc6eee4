//! Keys that are handed on: `sunzi party keygen` in a session that follows another one, and `sunzi party retire` of what was before.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sunzi::parties::dealing::HandingOnSetup;
use sunzi::parties::decryption::Holding;
use sunzi::parties::driver::Driver;
use sunzi::parties::{Contacts, FolderStore, Roster};
use sunzi::program::Contexts;
use sunzi::rlwe::joint::ThresholdShare;
use sunzi::rlwe::randomness;
use sunzi::rlwe::wire::WireError;

use super::before::Before;
use super::home::{Home, LONGEST, SECRET, SHARE, write_text};
use super::keys::keep_holding;
use super::link::{showing, telling};
use super::run::{DEALING, ROUNDS, Run, number};
use crate::args::party::RetireArgs;
use crate::ask::confirm;
use crate::error::{CliError, one_lines, quoted};
use crate::files::input::read_text;
use crate::files::{named, refuse};
use crate::output;

/// File of a home whose share was handed on.
const HANDED_ON: &str = "handed-on.json";
/// Number of rounds of handing on.
const COUNT: u64 = 2;

/// Where the share of a home went.
#[derive(Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
struct Mark {
    /// Fingerprint of the agreement of the session that follows.
    agreement: String,
    /// Folder of this party there, also if it leaves.
    home: std::path::PathBuf,
}

/// Report of `sunzi party keygen` in a session that follows another one.
#[derive(Serialize)]
pub(super) struct Received {
    name: String,
    key: String,
    cards: String,
    threshold: usize,
    parties: usize,
    /// Whether this party got a share: not one that leaves.
    has_share: bool,
    /// Folder of this party in the session of before, if it was one of that.
    before: Option<String>,
}

/// Report of `sunzi party retire`.
#[derive(Serialize)]
struct Retired {
    name: String,
    removed: Vec<String>,
}

impl Home {
    /// Returns the setup of a session in which a key is handed on; `None` where keys are made.
    pub(super) fn handing_on(
        &self,
        contexts: &Contexts,
        contacts: &Contacts,
    ) -> Result<Option<HandingOnSetup>, CliError> {
        let Some(before) = &self.agreement.before else { return Ok(None) };
        let from = before.roster().map_err(CliError::damaged)?;
        let dealing = before.dealing(&from).map_err(CliError::damaged)?;
        let key = before.key().map_err(CliError::damaged)?;
        let (context, to) = (contexts.rlwe().clone(), (*self.agreement.roster).clone());
        let setup = HandingOnSetup::new(context, (&from, &dealing), to, key, number(self, contacts));
        setup.map(Some).map_err(super::refuse)
    }

    /// Returns the roster by which results are opened.
    pub(super) fn roster(&self, contexts: &Contexts, contacts: &Contacts) -> Result<Arc<Roster>, CliError> {
        let setup = self.handing_on(contexts, contacts)?;
        Ok(setup.map_or_else(|| Arc::clone(&self.agreement.roster), |setup| Arc::clone(setup.roster())))
    }

    /// Fails for a home whose share was handed on, or that never gets one.
    pub(super) fn check_kept(&self) -> Result<(), CliError> {
        let home = self.place();
        if let Some(mark) = self.mark()? {
            return Err(CliError::input(format!(
                "the share in {home} was handed on to the session with agreement {}: open results there, with --home {}",
                mark.agreement,
                named(&mark.home)
            )));
        }
        if self.agreement.roster.named(self.name()).is_ok() {
            return Ok(());
        }
        Err(CliError::input(format!(
            "{home}: {} handed its share on in this session, and opens no results any more",
            quoted(self.name())
        )))
    }

    fn mark(&self) -> Result<Option<Mark>, CliError> {
        let file = self.path(HANDED_ON);
        if !file.exists() {
            return Ok(None);
        }
        let text = read_text(&file, "where the share of this party went", LONGEST)?;
        let mark = serde_json::from_str(&text);
        mark.map(Some).map_err(|error| CliError::damaged(format!("{}: {error}", named(&file))))
    }

    /// Marks this home as one whose share was handed on, to the home of the same party in the session that follows.
    fn hand_on(&self, next: &Self) -> Result<(), CliError> {
        let mark = Mark { agreement: next.agreement.fingerprint.to_string(), home: next.folder().to_owned() };
        if self.mark()?.is_some_and(|there| there == mark) {
            return Ok(());
        }
        let file = self.path(HANDED_ON);
        // A session that came to nothing may have left a mark: the share was handed on once more.
        remove(&file)?;
        write_text(&file, &(serde_json::to_string(&mark).map_err(CliError::failure)? + "\n"))
    }

    /// Opens the home of this party in the session of before, which must be the one of the agreement and have a share, and returns it with the number of ciphertexts that it opened.
    pub(super) fn of_before(folder: &Path, name: &str, before: &Before) -> Result<(Self, u64), CliError> {
        let home = Self::open_alone(folder)?;
        let place = home.place();
        if home.agreement.fingerprint.digits() != before.agreement {
            return Err(CliError::mismatch(format!(
                "{place} is of agreement {}, and these parties follow those of another one: give the home of the session of before",
                home.agreement.fingerprint
            )));
        }
        if home.name() != name {
            return Err(CliError::mismatch(format!(
                "{place} is the home of {}, expected that of {}",
                quoted(home.name()),
                quoted(name)
            )));
        }
        let used = home.ledger()?.ledger().used();
        if used <= before.opened {
            return Ok((home, used));
        }
        Err(CliError::mismatch(format!(
            "the agreement says that at most {} ciphertexts were opened under this key, and this party opened {used}: create the session again with --opened {used} or more",
            before.opened
        )))
    }
}

impl Run<'_> {
    /// Hands a key on with all other parties, and keeps the own share if there is one.
    pub(super) fn hand_on(
        &self,
        contexts: &Contexts,
        (setup, before): (&HandingOnSetup, &Before),
    ) -> Result<Received, CliError> {
        let (home, me) = (self.home, self.home.me);
        let key = before.key().map_err(CliError::damaged)?;
        let old = home.before().map(|old| Home::of_before(old, home.name(), before)).transpose()?;
        let deals = before.dealers.iter().any(|dealer| dealer == home.name());
        let share = match &old {
            Some((old, _)) if deals => old.share(contexts)?,
            _ => None,
        };
        let store = FolderStore::open(home.path(DEALING)).map_err(|error| self.in_records(DEALING, error))?;
        let longest = setup.longest_message().map_err(super::refuse)?;
        let mut link = self.speaker.link(setup.session().id(), &self.members(), longest)?;
        let mut rng = randomness::from_os().map_err(CliError::failure)?;
        let dealing = setup.begin(me, share.as_ref(), store, &mut rng).map_err(|error| self.refuse(error))?;
        let (mut shown, mut told) = (showing(self.progress, COUNT), telling(self.quiet));
        let driver = Driver::new(&mut link, self.speaker.wait, &mut shown);
        let share = driver.telling(&mut told).hand_on(dealing).map_err(|error| self.refuse(error))?;
        let opened = old.as_ref().map_or(before.opened, |(_, used)| before.opened.max(*used));
        // From here on the share of before opens nothing, so that no ciphertext is counted in two ledgers.
        old.as_ref().map_or(Ok(()), |(old, _)| old.hand_on(home))?;
        let has_share = share.is_some();
        if let Some(share) = share {
            keep_holding(home, contexts, (key, opened), &Holding::Share(share))?;
        }
        self.progress.say("until the others have all");
        self.speaker.finish(link, self.quiet)?;
        let roster = &home.agreement.roster;
        Ok(Received {
            name: home.name().to_owned(),
            key: key.to_string(),
            cards: self.speaker.contacts.fingerprint(),
            threshold: roster.threshold(),
            parties: roster.len(),
            has_share,
            before: old.map(|(old, _)| old.folder().display().to_string()),
        })
    }
}

impl Home {
    /// Reads the share that this party hands on; `None` once it was erased.
    fn share(&self, contexts: &Contexts) -> Result<Option<ThresholdShare>, CliError> {
        let file = self.path(SHARE);
        if !file.exists() {
            return Ok(None);
        }
        sunzi::rlwe::wire::load(contexts.rlwe(), &file).map(Some).map_err(|error| refuse(&file, error))
    }
}

impl Received {
    /// Returns the report as text for people.
    pub(super) fn text(&self) -> String {
        let Self { name, key, cards, threshold, parties, has_share, before } = self;
        let holds = match has_share {
            true => format!("{name} holds a share that {threshold} of {parties} open results with"),
            false => format!("{name} handed its share on, and holds none"),
        };
        let next = before.as_ref().map_or(String::new(), |before| {
            format!(
                "next         open a result with the new shares; then: sunzi party retire --home {before}\n"
            )
        });
        one_lines(&format!("key          {key}, of which {holds}\ncards        {cards}\n{next}"))
    }
}

/// Erases the share of a home, and the records that it follows from, once it was handed on.
pub(super) fn retire(args: &RetireArgs) -> Result<(), CliError> {
    let home = Home::open_alone(&args.home)?;
    let place = home.place();
    let Some(mark) = home.mark()? else {
        return Err(CliError::input(format!(
            "the share in {place} was not handed on: without it {} opens no results any more, so nothing is erased",
            quoted(home.name())
        )));
    };
    if !args.yes {
        confirm(
            &format!(
                "Erase the share in {place} for good? The one in {} must have opened a result before.",
                named(&mark.home)
            ),
            "--yes",
        )?;
    }
    let mut removed = Vec::new();
    for secret in [SHARE, SECRET, ROUNDS, DEALING] {
        if remove(&home.path(secret))? {
            removed.push(secret.to_owned());
        }
    }
    let retired = Retired { name: home.name().to_owned(), removed };
    output::report(args.output.json, &retired, |retired| {
        let removed = match &retired.removed[..] {
            [] => "nothing: all was erased before".to_owned(),
            some => some.join(", "),
        };
        one_lines(&format!("erased       {removed}"))
    })
}

/// Removes a file or a folder, and says whether it was there.
fn remove(path: &Path) -> Result<bool, CliError> {
    let removed = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(refuse(path, WireError::Io(error))),
    }
}
