//! Links to the other parties: over the folder of the session, or over TLS where cards have addresses.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use sunzi::parties::driver::folder::{FolderLink, FolderOptions};
use sunzi::parties::driver::tls::{TlsLink, TlsOptions};
use sunzi::parties::driver::{Progress, Transport};
use sunzi::parties::{Contacts, Identity, PartiesError, Party};
use zeroize::Zeroizing;

use crate::error::{CliError, listed, one_line};
use crate::output;
use crate::progress::Progress as Bar;

/// Folder of messages in a session.
pub(super) const MESSAGES: &str = "messages";
/// Number of refused messages that are told one by one.
const TOLD: usize = 8;

/// Identity, cards and folder by which a party opens links.
pub(super) struct Speaker<'a> {
    pub(super) identity: &'a Identity,
    /// Cards of all parties of the session.
    pub(super) contacts: &'a Contacts,
    pub(super) session: &'a Path,
    pub(super) wait: Duration,
}

/// A link of one channel among members of a session.
pub(super) struct Link {
    transport: Box<dyn Transport>,
    /// Members of the channel, which has numbers of its own: the first is party 1 there.
    members: Vec<Party>,
    contacts: Contacts,
}

impl Speaker<'_> {
    /// Whether parties speak TLS: all but one have addresses. Nobody has one where they leave messages in the folder.
    fn speaks_tls(&self) -> Result<bool, CliError> {
        let roster = self.contacts.roster();
        let silent = |party: &Party| self.contacts.card(*party).is_none_or(|card| card.address().is_none());
        let without: Vec<&str> = roster.parties().filter(silent).map(|party| roster.name(party)).collect();
        match without.len() {
            all if all == roster.len() => Ok(false),
            0 | 1 => Ok(true),
            _ => Err(CliError::input(format!(
                "of two parties one must have an address, and {} joined without --listen while others have one: create the session again, where all join with --listen or none does",
                listed(&without, 8)
            ))),
        }
    }

    /// Opens the link of a channel among these members of the session, for messages of at most this length. Who is no member is not waited for.
    pub(super) fn link(&self, channel: &[u8; 32], members: &[Party], longest: u64) -> Result<Link, CliError> {
        let cards = members.iter().filter_map(|party| self.contacts.card(*party).cloned());
        let contacts = Contacts::new(cards).map_err(super::refuse)?;
        let transport: Box<dyn Transport> = if self.speaks_tls()? {
            let link = TlsLink::open(self.identity, &contacts, channel, TlsOptions::new(longest));
            Box::new(link.map_err(super::refuse)?)
        } else {
            let (folder, options) = (self.session.join(MESSAGES), FolderOptions::new(longest));
            let link = FolderLink::open(folder, self.identity, &contacts, channel, options);
            Box::new(link.map_err(super::refuse)?)
        };
        Ok(Link { transport, members: members.to_vec(), contacts })
    }

    /// Stays until the others have what this party sent, and says who may not.
    pub(super) fn finish(&self, mut link: Link, quiet: bool) -> Result<(), CliError> {
        let left = link.finish(self.wait).map_err(super::refuse)?;
        if !left.is_empty() && !quiet {
            let names: Vec<&str> = left.into_iter().map(|party| self.contacts.roster().name(party)).collect();
            output::remark(&format!(
                "{} may not have all that this party sent: run the same command again when they do",
                names.join(", ")
            ));
        }
        Ok(())
    }
}

impl Link {
    /// Returns the member with a number of the channel.
    fn member(&self, party: Party) -> Option<Party> {
        let at = (party.number() as usize).checked_sub(1)?;
        self.members.get(at).copied()
    }
}

impl Transport for Link {
    fn send(&mut self, message: &[u8]) -> Result<(), PartiesError> {
        self.transport.send(message)
    }

    fn send_to(&mut self, to: Party, message: &[u8]) -> Result<(), PartiesError> {
        let number =
            self.members.iter().zip(1..).find(|(member, _)| **member == to).map_or(0, |found| found.1);
        let to = self.contacts.roster().party(number)?;
        self.transport.send_to(to, message)
    }

    fn receive(&mut self, wait: Duration) -> Result<Option<(Party, Zeroizing<Vec<u8>>)>, PartiesError> {
        let received = self.transport.receive(wait)?;
        Ok(received.and_then(|(from, message)| Some((self.member(from)?, message))))
    }

    fn refusals(&mut self) -> Vec<PartiesError> {
        self.transport.refusals()
    }

    fn finish(&mut self, wait: Duration) -> Result<Vec<Party>, PartiesError> {
        let left = self.transport.finish(wait)?;
        Ok(left.into_iter().filter_map(|party| self.member(party)).collect())
    }
}

/// Returns what shows the progress of rounds in a bar, the rounds of `of` beside it.
pub(super) fn showing(bar: &Bar, of: u64) -> impl FnMut(Progress) -> ControlFlow<()> + '_ {
    move |progress| {
        bar.say(&format!("round {} of {of}", progress.step.round()));
        bar.at(progress.received, progress.of);
        ControlFlow::Continue(())
    }
}

/// Returns what tells of refused messages, the first few of them: somebody may send thousands.
pub(super) fn telling(quiet: bool) -> impl FnMut(&PartiesError) {
    let mut told = 0_usize;
    move |error| {
        told = told.saturating_add(1);
        if quiet || told > TOLD {
            return;
        }
        output::warn(&one_line(&error.to_string()));
        if told == TOLD {
            output::warn("further messages that are refused are not told");
        }
    }
}
