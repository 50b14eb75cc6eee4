//! Dealing of a threshold: every party sends every other one a piece of its secret, and keeps the sum of those that it got.
//!
//! Afterwards any t parties of the roster decrypt ([`decryption`](crate::decryption)), and nobody needs its own secret any more. Any t of them hand the joint secret on to the parties of another
//! roster in the same way ([`HandingOnSetup`]). **Messages are secret**: whoever sees those for t parties knows the joint secret,
//! so channels must hide them from all but the one they are for. Nothing here can tell whether a dealer dealt its own secret: pieces that do not fit spoil every decryption, and tell nothing.
//!
//! Pieces are kept before they are sent, and a restart sends the same again: two dealings of one secret in one session would let t − 1 parties of each put together too much.

mod confirm;
mod handing_on;
mod setup;

use std::collections::BTreeMap;
use std::sync::Arc;

use rand_core::CryptoRng;
use sunzi_rlwe::joint::{AdditiveSecret, ThresholdPiece, ThresholdShare};
use sunzi_rlwe::wire::{self, WireError};
use sunzi_rlwe::{KeyId, RlweContext};
use zeroize::Zeroizing;

use crate::journal::{Journal, PIECES, Store};
use crate::{Fault, Inbox, Message, PartiesError, Party, Receipt, Roster, Session, Step, lengths};

pub use confirm::ConfirmingShares;
pub use handing_on::HandingOnSetup;
pub use setup::DealingSetup;

/// Terms of a dealing: the joint secret, the parties that deal, and those that get shares.
#[derive(Clone)]
struct Terms {
    context: RlweContext,
    session: Session,
    key: KeyId,
    /// Parties that deal, ascending.
    dealers: Vec<Party>,
    /// Parties that get shares, from number 1 on, and how many of them decrypt.
    receivers: Arc<Roster>,
}

impl Terms {
    fn receives(&self, party: Party) -> bool {
        self.receivers.has(party)
    }

    /// The parties of the session that get shares.
    fn receiving(&self) -> impl Iterator<Item = Party> + '_ {
        self.session.roster().parties().filter(|party| self.receives(*party))
    }

    /// Begins the dealing of a party, or goes on with the records that it kept. A party that deals does so by `secret`.
    fn begin<S: Store>(
        &self,
        me: Party,
        secret: Option<&impl AdditiveSecret>,
        store: S,
        rng: &mut dyn CryptoRng,
    ) -> Result<Dealing<S>, PartiesError> {
        let mut journal = Journal::open(store, &self.session, me)?;
        let kept = match (journal.secret(PIECES)?, secret) {
            (Some(kept), _) => kept,
            // Pieces that are gone because all confirmed are never drawn again: others have the first ones.
            (None, Some(secret)) if !confirm::is_confirmed(&journal)? => {
                let drawn = self.draw(me, secret, rng)?;
                // All in one record: no part of a dealing is ever mixed with another one.
                journal.keep_secret(PIECES, &drawn)?;
                drawn
            }
            (None, _) => Zeroizing::default(),
        };
        // Messages of one dealing have one length.
        let length = (kept.len() / self.receivers.len()).max(1);
        let messages = kept.chunks(length).map(|message| Zeroizing::new(message.to_vec()));
        Dealing::open(self, me, journal, self.receiving().zip(messages).collect())
    }

    /// Draws the pieces for all who get shares, as messages.
    fn draw(
        &self,
        me: Party,
        secret: &impl AdditiveSecret,
        rng: &mut dyn CryptoRng,
    ) -> Result<Zeroizing<Vec<u8>>, PartiesError> {
        let [threshold, parties] = self.receivers.counts();
        let pieces = ThresholdPiece::deal(&self.context, self.key, secret, threshold, parties, rng)?;
        let mut messages = Zeroizing::new(Vec::new());
        for piece in &pieces {
            let content = Zeroizing::new(wire::to_bytes(&self.context, piece)?);
            let (session, previous) = (&self.session, *self.session.id());
            let message = Message::new(session, Step::Deal, me.number(), previous, content.to_vec());
            let bytes = Zeroizing::new(message.to_bytes());
            // All room is there from the first one on: a buffer that grows leaves copies.
            if messages.is_empty() {
                messages.reserve_exact(bytes.len() * pieces.len());
            }
            messages.extend_from_slice(&bytes);
        }
        Ok(messages)
    }

    /// Returns the share of a party that follows from the pieces of all dealers.
    fn share(
        &self,
        me: Party,
        pieces: BTreeMap<Party, ThresholdPiece>,
    ) -> Result<ThresholdShare, PartiesError> {
        let pieces: Vec<ThresholdPiece> = pieces.into_values().collect();
        Ok(ThresholdShare::combine(&self.context, me.number(), &pieces)?)
    }

    /// The largest number of bytes of a message's content.
    fn longest_content(&self) -> Result<u64, PartiesError> {
        lengths::polynomial(self.context.key_ring())
    }
}

/// A dealing that a party takes part in: its messages, one for each party, and the pieces that it got.
pub struct Dealing<S: Store> {
    terms: Terms,
    me: Party,
    journal: Journal<S>,
    messages: BTreeMap<Party, Zeroizing<Vec<u8>>>,
    inbox: Inbox<ThresholdPiece>,
}

impl<S: Store> Dealing<S> {
    fn open(
        terms: &Terms,
        me: Party,
        journal: Journal<S>,
        messages: BTreeMap<Party, Zeroizing<Vec<u8>>>,
    ) -> Result<Self, PartiesError> {
        let session = terms.session.clone();
        // Who gets no share waits for nobody.
        let members = if terms.receives(me) { terms.dealers.clone() } else { Vec::new() };
        let inbox = Inbox::new(session, Step::Deal, members, *terms.session.id(), terms.longest_content()?);
        let own = messages.get(&me).cloned();
        let mut dealing = Self { terms: terms.clone(), me, journal, messages, inbox };
        if let Some(own) = own {
            dealing.take(me, &own)?;
        }
        for party in dealing.inbox.missing() {
            let record = piece_from(party);
            if let Some(kept) = dealing.journal.secret(&record)? {
                dealing.take(party, &kept).map_err(|error| PartiesError::journal(&record, error))?;
            }
        }
        Ok(dealing)
    }

    fn take(&mut self, from: Party, bytes: &[u8]) -> Result<Receipt, PartiesError> {
        let (terms, me) = (&self.terms, self.me);
        self.inbox.accept(from, bytes, |_, content| read(terms, me, content).map_err(Fault::Content))
    }

    /// The message for a party, which is for that party alone. `None` for this party and for those of other rosters.
    #[must_use]
    pub fn message_for(&self, party: Party) -> Option<&[u8]> {
        self.messages.get(&party).filter(|_| party != self.me).map(|message| &message[..])
    }

    /// The messages for all other parties, each with the one that it is for.
    pub fn messages(&self) -> impl Iterator<Item = (Party, &[u8])> {
        let others = self.messages.iter().filter(|(party, _)| **party != self.me);
        others.map(|(party, message)| (*party, &message[..]))
    }

    /// Takes a message that came from a party, by what the channel says, and keeps it for a restart if it counts.
    ///
    /// # Errors
    /// [`PartiesError::Message`] for a message that is refused. Where that is [fatal](PartiesError::is_fatal) the session is given up.
    pub fn accept(&mut self, from: Party, bytes: &[u8]) -> Result<Receipt, PartiesError> {
        self.journal.check()?;
        match self.take(from, bytes) {
            Ok(Receipt::Accepted) => {
                self.journal.keep_secret(&piece_from(from), bytes)?;
                Ok(Receipt::Accepted)
            }
            Err(error) if error.is_fatal() => {
                self.journal.abort(&error.to_string())?;
                let mut records = self.terms.dealers.iter().map(|party| piece_from(*party));
                records.try_for_each(|record| self.journal.remove(&record))?;
                Err(error)
            }
            other => other,
        }
    }

    /// The parties whose messages did not come yet, by ascending number.
    #[must_use]
    pub fn missing(&self) -> Vec<Party> {
        self.inbox.missing()
    }

    /// The session of the dealing.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.terms.session
    }

    /// The number of messages that count so far, this party's own included.
    #[must_use]
    pub fn received(&self) -> usize {
        self.inbox.received()
    }

    /// Fails unless the messages of all parties came.
    ///
    /// # Errors
    /// Every error of [`finish`](Self::finish).
    pub fn check_complete(&self) -> Result<(), PartiesError> {
        self.inbox.check_complete()
    }

    /// Whether this party gets a share: not one that hands the joint secret on and leaves.
    #[must_use]
    pub fn gets_share(&self) -> bool {
        self.terms.receives(self.me)
    }

    /// Returns the share of this party, once the pieces of all are there. The records keep what it was made of.
    ///
    /// # Errors
    /// [`PartiesError::Missing`], which names the parties whose messages did not come; [`PartiesError::Setting`] for a party that [gets none](Self::gets_share).
    pub fn finish(self) -> Result<ThresholdShare, PartiesError> {
        if !self.gets_share() {
            let name = self.terms.session.roster().name(self.me).to_owned();
            let expected = self.terms.receivers.names().collect::<Vec<_>>().join(", ");
            return Err(PartiesError::setting("the party that gets a share", expected, name));
        }
        let (pieces, _, _) = self.inbox.finish()?;
        self.terms.share(self.me, pieces)
    }
}

/// Returns the name of the record of the piece that a party dealt to this one.
fn piece_from(party: Party) -> String {
    format!("piece-from-{party}")
}

/// Reads a piece of the joint secret that is for this party.
fn read(terms: &Terms, me: Party, content: &[u8]) -> Result<ThresholdPiece, WireError> {
    let piece: ThresholdPiece = wire::from_bytes(&terms.context, content)?;
    if piece.key() != terms.key {
        return Err(WireError::Key { expected: Some(terms.key), got: Some(piece.key()) });
    }
    if piece.party() != me.number() {
        return Err(WireError::value("the party of a piece", me.number(), piece.party()));
    }
    Ok(piece)
}
