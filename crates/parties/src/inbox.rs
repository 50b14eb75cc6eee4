//! Inboxes: the messages of one round, each from another party.

use std::collections::BTreeMap;

use sunzi_rlwe::wire::{Kind, WireError};

use crate::digest::{Digest, digest};
use crate::{Fault, Message, PartiesError, Party, Session, Step};

/// What became of a message that was not refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receipt {
    /// The message counts.
    Accepted,
    /// The same message came before: its sender may have begun again.
    Repeated,
    /// The message is of the next round, and is kept until then.
    Kept,
}

/// The messages of one round, in any order, each read as soon as it comes.
///
/// Every message must be of the round's kind, session and parameters, from the party that the channel says, and made after the same messages as this party saw. A wrong one is a
/// [`PartiesError::Message`], which names its sender, and leaves the inbox as it was.
pub struct Inbox<T> {
    session: Session,
    step: Step,
    /// Parties whose messages are awaited.
    members: Vec<Party>,
    previous: Digest,
    most: u64,
    got: BTreeMap<Party, (Digest, T)>,
}

impl<T> Inbox<T> {
    /// Makes the empty inbox of a step, for messages of the given parties, made after messages with the hash `previous`, with at most `most` bytes of content.
    #[must_use]
    pub fn new(session: Session, step: Step, members: Vec<Party>, previous: [u8; 32], most: u64) -> Self {
        Self { session, step, members, previous, most, got: BTreeMap::new() }
    }

    /// Takes a message that came from a party, by what the channel says, and reads its content by `read`.
    ///
    /// # Errors
    /// [`PartiesError::Message`] for a message that is refused; [`PartiesError::Setting`] for a party that is not on the roster.
    pub fn accept(
        &mut self,
        from: Party,
        bytes: &[u8],
        read: impl FnOnce(Party, &[u8]) -> Result<T, Fault>,
    ) -> Result<Receipt, PartiesError> {
        let message = self.open(from, bytes)?;
        self.place(from, Message::digest(bytes), message, read)
    }

    /// Reads a message and checks all but its round: kind, parameters, session and sender.
    pub(crate) fn open(&self, from: Party, bytes: &[u8]) -> Result<Message, PartiesError> {
        if !self.session.roster().has(from) {
            self.session.roster().party(from.number().into())?;
        }
        self.opened(from, bytes).map_err(|fault| self.refuse(from, fault))
    }

    fn opened(&self, from: Party, bytes: &[u8]) -> Result<Message, Fault> {
        let message = Message::read(bytes).map_err(|error| self.unread(bytes, error))?;
        let got = message.kind;
        let Some(step) = Step::of(got).filter(|step| self.is_of_protocol(*step)) else {
            return Err(Fault::Kind { expected: self.step.kind(), got });
        };
        self.session.parameters().check(&message.parameters).map_err(Fault::Parameters)?;
        if message.session != *self.session.id() {
            return Err(Fault::Session { expected: *self.session.id(), got: message.session });
        }
        let roster = self.session.roster();
        let claimed =
            roster.party(message.sender).map_err(|_| Fault::UnknownSender { got: message.sender })?;
        if claimed != from {
            return Err(Fault::OtherSender { claimed: roster.name(claimed).to_owned() });
        }
        if step.round() != message.round {
            return Err(Fault::Kind { expected: self.kind_of(message.round), got });
        }
        Ok(message)
    }

    /// Returns why bytes are no message: another kind of object, if its header can be read.
    fn unread(&self, mut bytes: &[u8], error: WireError) -> Fault {
        match sunzi_rlwe::wire::Header::read(&mut bytes) {
            Ok(header) if Step::of(header.kind).is_none() => {
                Fault::Kind { expected: self.step.kind(), got: header.kind }
            }
            _ => Fault::Malformed(error),
        }
    }

    /// Whether a step is of the protocol of this inbox.
    fn is_of_protocol(&self, step: Step) -> bool {
        step.protocol() == self.step.protocol()
    }

    fn kind_of(&self, round: u64) -> Kind {
        let steps = Step::ALL.into_iter().filter(|step| self.is_of_protocol(*step));
        steps.into_iter().find(|step| step.round() == round).unwrap_or(self.step).kind()
    }

    /// Puts a message that was opened in its place.
    pub(crate) fn place(
        &mut self,
        from: Party,
        hash: Digest,
        message: Message,
        read: impl FnOnce(Party, &[u8]) -> Result<T, Fault>,
    ) -> Result<Receipt, PartiesError> {
        match self.placed(from, hash, message, read) {
            Ok(receipt) => Ok(receipt),
            Err(fault) => Err(self.refuse(from, fault)),
        }
    }

    fn placed(
        &mut self,
        from: Party,
        hash: Digest,
        message: Message,
        read: impl FnOnce(Party, &[u8]) -> Result<T, Fault>,
    ) -> Result<Receipt, Fault> {
        let (expected, got) = (self.step.round(), message.round);
        if got < expected {
            return Err(Fault::Late { expected, got });
        }
        if got > expected {
            return Err(Fault::Early { expected, got });
        }
        // Parties that have no part in this round may have one in the next.
        if !self.members.contains(&from) {
            return Err(Fault::UnknownSender { got: message.sender });
        }
        if let Some(&(first, _)) = self.got.get(&from) {
            let conflict = Fault::Conflict { round: got, first, got: hash };
            return if first == hash { Ok(Receipt::Repeated) } else { Err(conflict) };
        }
        if message.previous != self.previous {
            return Err(Fault::Diverged { round: got, expected: self.previous, got: message.previous });
        }
        let length = message.content.len() as u64;
        if length > self.most {
            return Err(Fault::Length { most: self.most, got: length });
        }
        self.got.insert(from, (hash, read(from, &message.content)?));
        Ok(Receipt::Accepted)
    }

    pub(crate) fn refuse(&self, from: Party, fault: Fault) -> PartiesError {
        fault.of(self.session.roster().name(from))
    }

    /// The step whose messages the inbox takes.
    #[must_use]
    pub fn step(&self) -> Step {
        self.step
    }

    /// The largest number of bytes of a message, envelope included.
    #[must_use]
    pub fn longest_message(&self) -> u64 {
        Message::bytes(self.most)
    }

    /// The parties whose messages did not come yet, by ascending number.
    #[must_use]
    pub fn missing(&self) -> Vec<Party> {
        self.members.iter().copied().filter(|party| !self.got.contains_key(party)).collect()
    }

    /// Whether a message of a party counts already.
    pub(crate) fn has(&self, party: Party) -> bool {
        self.got.contains_key(&party)
    }

    /// The number of messages that count so far.
    #[must_use]
    pub fn received(&self) -> usize {
        self.got.len()
    }

    /// Returns the contents of all messages, the hash of all, and the hash of each.
    ///
    /// # Errors
    /// [`PartiesError::Missing`], which names the parties whose messages did not come.
    #[expect(clippy::type_complexity, reason = "three results of one closing")]
    pub fn finish(self) -> Result<(BTreeMap<Party, T>, [u8; 32], BTreeMap<Party, [u8; 32]>), PartiesError> {
        self.check_complete()?;
        let round = self.step.round().to_le_bytes();
        let hashes: BTreeMap<Party, Digest> =
            self.got.iter().map(|(&party, (hash, _))| (party, *hash)).collect();
        let parts = [&self.previous[..], &round].into_iter().chain(hashes.values().map(|hash| &hash[..]));
        let transcript = digest("sunzi transcript", parts);
        let contents = self.got.into_iter().map(|(party, (_, content))| (party, content)).collect();
        Ok((contents, transcript, hashes))
    }

    /// Fails unless the messages of all parties came.
    ///
    /// # Errors
    /// Every error of [`finish`](Self::finish).
    pub fn check_complete(&self) -> Result<(), PartiesError> {
        let missing = self.missing();
        if missing.is_empty() {
            return Ok(());
        }
        let parties = missing.into_iter().map(|party| self.session.roster().name(party).to_owned());
        Err(PartiesError::Missing { step: self.step.to_string(), parties: parties.collect() })
    }
}
