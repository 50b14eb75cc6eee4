//! Channels through a shared folder: a network share, or a folder that is synchronised among the parties.
//!
//! Every message is a file, a *letter*. A folder does not tell who wrote a file, so letters are signed, and secret ones are encrypted for the one party that they are for
//! ([format](https://github.com/sunzi-he/sunzi/blob/main/docs/format.md)). Whoever can write to the folder can hold messages back or remove them: the parties then miss them.
//!
//! The name of a file follows from its content, so that a party that begins again finds what it wrote before and writes nothing twice. Files of other names, and of other
//! channels, are left alone: many sessions may share a folder.

use std::collections::{BTreeMap, VecDeque};
use std::fs::{self, Metadata};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use sunzi_rlwe::wire::{self, WireError};
use zeroize::Zeroizing;

use super::letter::{self, Letter, Post};
use super::{Incoming, Transport, check_length};
use crate::digest::{hex, short};
use crate::{ChannelFault, Contacts, Identity, PartiesError, Party};

/// End of the names of letters.
const EXTENSION: &str = "szl";
/// Largest number of letters that are looked at for each sender that their names tell.
const MOST_LETTERS: usize = 4096;
/// A letter that was refused is read again after this time: it may have been on its way.
const PATIENCE: Duration = Duration::from_secs(5);

/// How a folder is read.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FolderOptions {
    /// Largest number of bytes of a message. Longer files are not read.
    pub longest_message: u64,
    /// Time between two looks at the folder.
    pub poll: Duration,
}

impl FolderOptions {
    /// Makes options for messages of at most so many bytes, with a look at the folder four times a second.
    #[must_use]
    pub fn new(longest_message: u64) -> Self {
        Self { longest_message, poll: Duration::from_millis(250) }
    }
}

/// When a file was changed, and how long it was.
type Stamp = (u64, Option<SystemTime>);

/// A letter that was seen in the folder.
struct Seen {
    stamp: Stamp,
    /// Whether it was read and counts, or is for somebody else.
    done: bool,
    /// When it was looked at last.
    looked: Instant,
    /// Why it is refused, where that was told.
    told: Option<ChannelFault>,
}

/// The end of one party of channels through a shared folder.
pub struct FolderLink {
    folder: PathBuf,
    identity: Identity,
    contacts: Contacts,
    channel: [u8; 32],
    me: Party,
    options: FolderOptions,
    seen: BTreeMap<String, Seen>,
    /// Letters to be read.
    waiting: VecDeque<(String, Stamp)>,
    looked: Option<Instant>,
    refusals: Vec<PartiesError>,
}

impl FolderLink {
    /// Opens a folder for the messages of one channel: the number of a session, or [`decryption::channel`](crate::decryption::channel). The folder must be there.
    ///
    /// # Errors
    /// [`PartiesError::Setting`] for an identity that is on no card; [`PartiesError::Channel`] where the folder cannot be read.
    pub fn open(
        folder: impl AsRef<Path>,
        identity: &Identity,
        contacts: &Contacts,
        channel: &[u8; 32],
        options: FolderOptions,
    ) -> Result<Self, PartiesError> {
        let me = contacts.me(identity)?;
        let folder = folder.as_ref().to_owned();
        fs::read_dir(&folder).map_err(PartiesError::Channel)?;
        Ok(Self {
            folder,
            identity: identity.duplicate(),
            contacts: contacts.clone(),
            channel: *channel,
            me,
            options,
            seen: BTreeMap::new(),
            waiting: VecDeque::new(),
            looked: None,
            refusals: Vec::new(),
        })
    }

    fn post(&self) -> Post<'_> {
        let Self { contacts, channel, identity, me, .. } = self;
        Post { contacts, channel, identity, me: *me }
    }

    /// Writes a letter, unless the same is there.
    fn put(&mut self, to: Option<Party>, message: &[u8]) -> Result<(), PartiesError> {
        check_length(message, self.options.longest_message)?;
        let bytes = self.post().write(to, message).map_err(|fault| fault.of("this party"))?;
        let content = bytes.get(letter::HEAD_LEN..).unwrap_or_default();
        let path = self.folder.join(self.name(self.me, to, &letter::mark(content)));
        if self.read(&path).is_ok_and(|kept| *kept == bytes) {
            return Ok(());
        }
        let write = |file: &mut fs::File| file.write_all(&bytes).map_err(WireError::Io);
        wire::replace(&path, false, write).map_err(|error| channel_error(error, &path))
    }

    /// The name of a letter.
    fn name(&self, from: Party, to: Option<Party>, mark: &[u8; 32]) -> String {
        let to = to.map_or("all".to_owned(), |to| to.to_string());
        format!("{}-{from}-{to}-{}.{EXTENSION}", short(&self.channel), hex(&mark[..16]))
    }

    /// Returns the party that a name says has sent the letter to this one or to all; `None` for all other names.
    fn sender(&self, name: &str) -> Option<Party> {
        let rest = name.strip_prefix(&short(&self.channel))?.strip_prefix('-')?;
        let mut parts = rest.strip_suffix(EXTENSION)?.strip_suffix('.')?.split('-');
        let (from, to, mark) = (parts.next()?, parts.next()?, parts.next()?);
        let from = self.contacts.roster().party(from.parse().ok()?).ok()?;
        let is_for_me = to == "all" || to == self.me.to_string();
        let is_mark = mark.len() == 32 && mark.bytes().all(|byte| byte.is_ascii_hexdigit());
        (from != self.me && is_for_me && is_mark && parts.next().is_none()).then_some(from)
    }

    /// Looks for letters that were not read yet.
    fn look(&mut self) -> Result<(), PartiesError> {
        self.looked = Some(Instant::now());
        let mut counts: BTreeMap<Party, usize> = BTreeMap::new();
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(PartiesError::Channel)? {
            let entry = entry.map_err(PartiesError::Channel)?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            let Some(from) = self.sender(&name) else { continue };
            let count = counts.entry(from).or_default();
            *count += 1;
            if self.seen.get(&name).is_some_and(|seen| seen.done) {
                continue;
            }
            // A file that is gone again is missed later.
            let Ok(metadata) = fs::metadata(entry.path()) else { continue };
            if *count <= MOST_LETTERS && self.is_due(&name, stamp(&metadata)) {
                found.push((name, stamp(&metadata)));
            }
        }
        // The order of the folder is that of its system: the one that came first is read first.
        found.sort_by(|(a, (_, x)), (b, (_, y))| x.cmp(y).then_with(|| a.cmp(b)));
        self.waiting = found.into();
        Ok(())
    }

    fn is_due(&self, name: &str, stamp: Stamp) -> bool {
        let Some(seen) = self.seen.get(name) else { return true };
        // A letter that was cut short is looked at once more before that is told.
        !seen.done && (seen.stamp != stamp || seen.told.is_none() || seen.looked.elapsed() >= PATIENCE)
    }

    /// Reads the next letter that waits; `None` for one that is refused or for others.
    fn open_letter(&mut self, name: String, stamp: Stamp) -> Option<Incoming> {
        let read = self.read_letter(&name);
        let before = self.seen.remove(&name);
        let mut seen = Seen { stamp, done: read.is_ok(), looked: Instant::now(), told: None };
        let letter = match read {
            Ok(letter) => letter,
            Err(fault) => {
                let first = before.as_ref().is_none_or(|before| before.stamp != stamp);
                let is_short = matches!(fault, ChannelFault::Truncated { .. });
                let was_told = before.and_then(|before| before.told);
                if was_told.as_ref() != Some(&fault) && !(first && is_short) {
                    self.refusals.push(fault.clone().of(format!("file {name}")));
                }
                seen.told = (!(first && is_short)).then_some(fault);
                None
            }
        };
        self.seen.insert(name, seen);
        letter
    }

    fn read_letter(&self, name: &str) -> Result<Option<Incoming>, ChannelFault> {
        let bytes = self.read(&self.folder.join(name))?;
        let Some(Letter { from, mark, message }) = self.post().read(&bytes)? else { return Ok(None) };
        let names = [None, Some(self.me)].map(|to| self.name(from, to, &mark));
        if !names.iter().any(|own| own == name) {
            return Err(ChannelFault::Foreign { expected: "the name that follows from the content" });
        }
        Ok(Some((from, message)))
    }

    /// Reads a file that is not longer than a letter can be.
    fn read(&self, path: &Path) -> Result<Zeroizing<Vec<u8>>, ChannelFault> {
        let fault = |error: &dyn std::fmt::Display| ChannelFault::Connection { reason: error.to_string() };
        let file = wire::open_regular(path).map_err(|error| fault(&error))?;
        let got = file.metadata().map_err(|error| fault(&error))?.len();
        let most = letter::longest(self.options.longest_message);
        if got > most {
            return Err(ChannelFault::Length { most, got });
        }
        let mut bytes = Zeroizing::new(Vec::with_capacity(usize::try_from(got).unwrap_or(0)));
        file.take(got).read_to_end(&mut bytes).map_err(|error| fault(&error))?;
        Ok(bytes)
    }
}

impl Transport for FolderLink {
    fn send(&mut self, message: &[u8]) -> Result<(), PartiesError> {
        self.put(None, message)
    }

    fn send_to(&mut self, to: Party, message: &[u8]) -> Result<(), PartiesError> {
        if to == self.me || self.contacts.card(to).is_none() {
            return Err(PartiesError::setting(
                "the party that gets a message",
                "another one of the roster",
                to,
            ));
        }
        self.put(Some(to), message)
    }

    fn receive(&mut self, wait: Duration) -> Result<Option<Incoming>, PartiesError> {
        let end = Instant::now().checked_add(wait);
        loop {
            while let Some((name, stamp)) = self.waiting.pop_front() {
                if let Some(letter) = self.open_letter(name, stamp) {
                    return Ok(Some(letter));
                }
                if end.is_some_and(|end| Instant::now() >= end) {
                    return Ok(None);
                }
            }
            let poll = self.options.poll;
            let rest = self.looked.map_or(Duration::ZERO, |looked| poll.saturating_sub(looked.elapsed()));
            let left = end.map_or(poll, |end| end.saturating_duration_since(Instant::now()));
            if rest.is_zero() {
                self.look()?;
                if self.waiting.is_empty() && left.is_zero() {
                    return Ok(None);
                }
            } else if left.is_zero() {
                return Ok(None);
            } else {
                thread::sleep(rest.min(left));
            }
        }
    }

    fn refusals(&mut self) -> Vec<PartiesError> {
        std::mem::take(&mut self.refusals)
    }
}

fn stamp(metadata: &Metadata) -> Stamp {
    (metadata.len(), metadata.modified().ok())
}

fn channel_error(error: WireError, path: &Path) -> PartiesError {
    let place = path.display();
    match error {
        WireError::Io(error) => {
            PartiesError::Channel(std::io::Error::new(error.kind(), format!("{place}: {error}")))
        }
        other => PartiesError::Wire(other),
    }
}
