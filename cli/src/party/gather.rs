//! Messages of other parties while results are opened: attestations that they computed the results again, and shares.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use sunzi::parties::decryption::Collector;
use sunzi::parties::driver::Transport;
use sunzi::parties::{Message, PartiesError, Party};
use sunzi::rlwe::joint::{DecryptionShare, Quorum};

use super::link::{Link, telling};
use super::opening::Opening;
use crate::error::CliError;

/// Message of a party that computed the results again. Its channel is of these ciphertexts alone, and says who sent it.
const ATTESTED: &[u8] = b"sunzi: this party computed these results again";
/// Longest time between two looks at whether something came.
const LOOK: Duration = Duration::from_millis(250);

/// Shares of each ciphertext, by its place in the file.
pub(super) type Shares = BTreeMap<u64, Vec<DecryptionShare>>;

/// The answers of all members for each ciphertext.
pub(super) struct Gathered {
    /// Collections by the session in which a request is answered, with the places of their ciphertexts.
    collectors: BTreeMap<[u8; 32], (u64, Collector)>,
    attested: BTreeSet<Party>,
    names: BTreeMap<Party, String>,
    quorum: Option<Quorum>,
    me: Party,
    wait: Duration,
    refused: Box<dyn FnMut(&PartiesError)>,
}

impl Gathered {
    /// Makes the empty collection for all ciphertexts of results.
    pub(super) fn new(opening: &Opening<'_>, wait: Duration, quiet: bool) -> Result<Self, CliError> {
        let (roster, context) = (&opening.roster, opening.contexts.rlwe());
        let (mut collectors, mut quorum) = (BTreeMap::new(), None);
        opening.each(|asked| {
            let collector = Collector::new(context.clone(), roster, &asked.request).map_err(super::refuse)?;
            quorum = asked.request.quorum(roster).map_err(super::refuse)?;
            collectors.insert(*collector.session().id(), (asked.planned.place, collector));
            Ok(())
        })?;
        let names = opening.members.iter().map(|party| (*party, roster.name(*party).to_owned()));
        Ok(Self {
            collectors,
            attested: BTreeSet::new(),
            names: names.collect(),
            quorum,
            me: opening.home.me,
            wait,
            refused: Box::new(telling(quiet)),
        })
    }

    /// Tells the other members that this party computed the results again.
    pub(super) fn attest(&self, link: &mut Link) -> Result<(), CliError> {
        let others = self.names.keys().filter(|party| **party != self.me);
        others.copied().try_for_each(|member| link.send_to(member, ATTESTED)).map_err(super::refuse)
    }

    /// Waits until so many members say that they computed the results again, and returns them.
    pub(super) fn attestations(&mut self, link: &mut Link, count: usize) -> Result<Vec<Party>, CliError> {
        let others = self.names.len().saturating_sub(1);
        if count > others {
            return Err(CliError::input(format!(
                "--attested {count}: {others} other parties open these results with this one"
            )));
        }
        self.until(link, |own| own.attested.len() >= count)?;
        if self.attested.len() < count {
            let silent =
                self.names.iter().filter(|(party, _)| **party != self.me && !self.attested.contains(party));
            let silent: Vec<&str> = silent.map(|(_, name)| name.as_str()).collect();
            return Err(CliError::io(format!(
                "{} of {count} parties said that they computed the results again, nothing came from {}: ask them to run sunzi party decrypt with --tables, or give --tables yourself",
                self.attested.len(),
                silent.join(", ")
            )));
        }
        Ok(self.attested.iter().copied().collect())
    }

    /// Waits until the shares of all members are there.
    pub(super) fn complete(&mut self, link: &mut Link) -> Result<(), CliError> {
        self.until(link, |own| own.collectors.values().all(|(_, one)| one.missing().is_empty()))?;
        self.collectors.values().try_for_each(|(_, one)| one.check_complete()).map_err(super::refuse)
    }

    /// Takes messages until it is enough, or time is over.
    fn until(&mut self, link: &mut Link, enough: impl Fn(&Self) -> bool) -> Result<(), CliError> {
        let end = Instant::now().checked_add(self.wait);
        while !enough(self) {
            let left = end.map_or(LOOK, |end| end.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return Ok(());
            }
            let received = link.receive(left.min(LOOK)).map_err(super::refuse)?;
            for refusal in link.refusals() {
                (self.refused)(&refusal);
            }
            if let Some((from, bytes)) = received {
                self.take(from, &bytes)?;
            }
        }
        Ok(())
    }

    /// Takes a message of a party.
    pub(super) fn take(&mut self, from: Party, bytes: &[u8]) -> Result<(), CliError> {
        if bytes == ATTESTED {
            if self.names.contains_key(&from) && from != self.me {
                self.attested.insert(from);
            }
            return Ok(());
        }
        // Shares that other members gave to other quorums, or for another file, are not for this opening.
        let session = Message::read(bytes).ok().map(|message| message.session);
        let Some((_, collector)) = session.and_then(|session| self.collectors.get_mut(&session)) else {
            return Ok(());
        };
        match collector.accept(from, bytes) {
            Err(error) if error.is_fatal() || error.sender().is_none() => Err(super::refuse(error)),
            Err(error) => {
                (self.refused)(&error);
                Ok(())
            }
            Ok(_) => Ok(()),
        }
    }

    /// Returns the quorum whose shares these are, `None` where all parties open results, and the shares of every ciphertext by its place.
    pub(super) fn finish(self) -> Result<(Option<Quorum>, Shares), CliError> {
        let shares = self.collectors.into_values().map(|(place, one)| Ok((place, one.finish()?)));
        let shares = shares.collect::<Result<_, PartiesError>>().map_err(super::refuse)?;
        Ok((self.quorum, shares))
    }
}
