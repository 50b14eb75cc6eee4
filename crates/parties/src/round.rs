//! Rounds: the message of this party and those of all others, kept for a restart.

use std::collections::BTreeMap;

use zeroize::Zeroizing;

use crate::digest::Digest;
use crate::inbox::{Inbox, Receipt};
use crate::journal::{Journal, Store, received, sent};
use crate::{Fault, Message, PartiesError, Party, Session, Step};

/// What a round of a protocol knows, and how it reads messages. Rounds of this crate alone are stages.
pub trait Stage {
    /// Content of a message, read and checked.
    type Item;
    /// Step of the round.
    const STEP: Step;
    /// Returns the steps that may follow, whose messages may come early.
    fn next(&self) -> Option<Step>;
    /// Returns the largest number of bytes of the content of a message of this round or the next one.
    fn most(&self) -> u64;
    /// Reads the content of a message of a party.
    ///
    /// # Errors
    /// Any [`Fault`] of contents.
    fn read(&self, sender: Party, content: &[u8]) -> Result<Self::Item, Fault>;
}

/// What goes from one round to the next.
pub(crate) struct Core<S> {
    pub(crate) session: Session,
    pub(crate) me: Party,
    pub(crate) journal: Journal<S>,
    pub(crate) transcript: Digest,
    /// Hashes of the messages of rounds that are over.
    past: BTreeMap<u64, BTreeMap<Party, Digest>>,
    /// Messages of the next round.
    early: BTreeMap<Party, Zeroizing<Vec<u8>>>,
}

impl<S: Store> Core<S> {
    pub(crate) fn new(session: Session, me: Party, store: S) -> Result<Self, PartiesError> {
        session.roster().party(me.number().into())?;
        let journal = Journal::open(store, &session, me)?;
        let transcript = *session.id();
        Ok(Self { session, me, journal, transcript, past: BTreeMap::new(), early: BTreeMap::new() })
    }

    /// Goes on behind a round whose messages were secret: of them, no hash is known to all.
    pub(crate) fn go_on(
        session: Session,
        me: Party,
        journal: Journal<S>,
        past: (u64, BTreeMap<Party, Digest>),
    ) -> Self {
        let transcript = *session.id();
        Self { session, me, journal, transcript, past: BTreeMap::from([past]), early: BTreeMap::new() }
    }
}

/// A round of a protocol, open for messages. What follows it is made from it: [`keys`](crate::keys) has the rounds in their order.
pub struct Round<S: Store, G: Stage> {
    pub(crate) core: Core<S>,
    pub(crate) stage: G,
    inbox: Inbox<G::Item>,
    message: Zeroizing<Vec<u8>>,
}

impl<S: Store, G: Stage> Round<S, G> {
    /// Opens a round. Its message is the one that was kept, or has the content that `content` makes, and is kept before anybody sees it.
    pub(crate) fn open(
        mut core: Core<S>,
        stage: G,
        content: impl FnOnce(&mut Core<S>, &G) -> Result<Vec<u8>, PartiesError>,
    ) -> Result<Self, PartiesError> {
        let record = sent(G::STEP.round());
        let message = match core.journal.message(&record)? {
            Some(kept) => kept,
            None => {
                let content = content(&mut core, &stage)?;
                let message =
                    Message::new(&core.session, G::STEP, core.me.number(), core.transcript, content);
                let bytes = Zeroizing::new(message.to_bytes());
                core.journal.keep(&record, &bytes)?;
                bytes
            }
        };
        let members = core.session.roster().parties().collect();
        let inbox = Inbox::new(core.session.clone(), G::STEP, members, core.transcript, stage.most());
        let mut round = Self { core, stage, inbox, message };
        round.replay()?;
        let early = std::mem::take(&mut round.core.early);
        for (party, bytes) in early {
            round.accept(party, &bytes)?;
        }
        Ok(round)
    }

    /// Takes the own message, and those of others that were kept.
    fn replay(&mut self) -> Result<(), PartiesError> {
        let number = G::STEP.round();
        let (me, message) = (self.core.me, std::mem::take(&mut self.message));
        let own = self.take(me, &message);
        self.message = message;
        own.map_err(|error| PartiesError::journal(&sent(number), error))?;
        let others: Vec<Party> = self.missing();
        for party in others {
            let record = received(number, party);
            if let Some(kept) = self.core.journal.message(&record)? {
                self.take(party, &kept).map_err(|error| PartiesError::journal(&record, error))?;
            }
        }
        Ok(())
    }

    fn take(&mut self, from: Party, bytes: &[u8]) -> Result<Receipt, PartiesError> {
        let Self { inbox, stage, .. } = self;
        inbox.accept(from, bytes, |sender, content| stage.read(sender, content))
    }

    /// The message of this party, to be sent to all others. It is the same whenever the round is opened again.
    #[must_use]
    pub fn message(&self) -> &[u8] {
        &self.message
    }

    /// Returns the messages that this party has sent in the session so far, this round's last: for a party that begins again, and may lack them. Whatever it has already it
    /// takes as [`Receipt::Repeated`].
    ///
    /// # Errors
    /// [`PartiesError::Wire`] where the records cannot be read.
    pub fn messages_so_far(&self) -> Result<Vec<Zeroizing<Vec<u8>>>, PartiesError> {
        let kept = (1..=G::STEP.round()).map(|round| self.core.journal.message(&sent(round)));
        Ok(kept.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }

    /// Takes a message that came from a party, by what the channel says, and keeps it for a restart if it counts.
    ///
    /// # Errors
    /// [`PartiesError::Message`] for a message that is refused. Where that is [fatal](PartiesError::is_fatal) the session is given up: it cannot be opened again, and its
    /// secrets are removed.
    pub fn accept(&mut self, from: Party, bytes: &[u8]) -> Result<Receipt, PartiesError> {
        self.core.journal.check()?;
        let taken = self.accepted(from, bytes);
        if let Err(error) = &taken
            && error.is_fatal()
        {
            self.core.journal.abort(&error.to_string())?;
        }
        taken
    }

    fn accepted(&mut self, from: Party, bytes: &[u8]) -> Result<Receipt, PartiesError> {
        let message = self.inbox.open(from, bytes)?;
        let (hash, round) = (Message::digest(bytes), message.round);
        if let Some(&first) = self.core.past.get(&round).and_then(|hashes| hashes.get(&from)) {
            let conflict = Fault::Conflict { round, first, got: hash };
            return if first == hash {
                Ok(Receipt::Repeated)
            } else {
                Err(self.inbox.refuse(from, conflict))
            };
        }
        let next = self.stage.next().map(Step::round);
        if next == Some(round) && from != self.core.me {
            return self.keep_early(from, bytes, &message);
        }
        let is_new = !self.inbox.has(from);
        let Self { inbox, stage, core, .. } = self;
        let receipt = inbox.place(from, hash, message, |sender, content| stage.read(sender, content))?;
        if is_new && receipt == Receipt::Accepted {
            core.journal.keep(&received(round, from), bytes)?;
        }
        Ok(receipt)
    }

    /// Keeps a message of the next round, which is checked when that begins.
    fn keep_early(&mut self, from: Party, bytes: &[u8], message: &Message) -> Result<Receipt, PartiesError> {
        let (most, got) = (self.stage.most(), message.content.len() as u64);
        if got > most {
            return Err(self.inbox.refuse(from, Fault::Length { most, got }));
        }
        match self.core.early.get(&from).map(|first| Message::digest(first)) {
            None => {
                self.core.early.insert(from, Zeroizing::new(bytes.to_vec()));
                Ok(Receipt::Kept)
            }
            Some(first) if first == Message::digest(bytes) => Ok(Receipt::Repeated),
            Some(first) => {
                let got = Message::digest(bytes);
                Err(self.inbox.refuse(from, Fault::Conflict { round: message.round, first, got }))
            }
        }
    }

    /// The session of the round.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.core.session
    }

    /// This party.
    #[must_use]
    pub fn me(&self) -> Party {
        self.core.me
    }

    /// The step of the round.
    #[must_use]
    pub fn step(&self) -> Step {
        G::STEP
    }

    /// The largest number of bytes of a message that the round takes.
    #[must_use]
    pub fn longest_message(&self) -> u64 {
        self.inbox.longest_message()
    }

    /// The number of messages that count so far, this party's own included.
    #[must_use]
    pub fn received(&self) -> usize {
        self.inbox.received()
    }

    /// The parties whose messages did not come yet, by ascending number.
    #[must_use]
    pub fn missing(&self) -> Vec<Party> {
        self.inbox.missing()
    }

    /// Fails unless the messages of all parties came.
    ///
    /// # Errors
    /// [`PartiesError::Missing`], which names the parties whose messages did not come.
    pub fn check_complete(&self) -> Result<(), PartiesError> {
        self.inbox.check_complete()
    }

    /// Gives the session up: it cannot be opened again, so that its reference serves no other keys, and its secrets are removed.
    ///
    /// # Errors
    /// [`PartiesError::Wire`] where the records cannot be written.
    pub fn abort(mut self, reason: &str) -> Result<(), PartiesError> {
        self.core.journal.abort(reason)
    }

    /// Closes the round, whose messages must all be there, and returns their contents.
    #[expect(clippy::type_complexity, reason = "three results of one closing")]
    pub(crate) fn close(self) -> Result<(Core<S>, G, BTreeMap<Party, G::Item>), PartiesError> {
        let Self { mut core, stage, inbox, .. } = self;
        core.journal.check()?;
        let (items, transcript, hashes) = inbox.finish()?;
        core.transcript = transcript;
        core.past.insert(G::STEP.round(), hashes);
        Ok((core, stage, items))
    }
}
