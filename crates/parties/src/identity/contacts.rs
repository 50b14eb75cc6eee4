//! Contacts: the cards of all parties, in the order of their numbers.

use sunzi_rlwe::words::grouped;

use super::{Card, Identity};
use crate::digest::{Digest, digest};
use crate::{PartiesError, Party, Roster};

/// The cards of all parties of a roster, in the order on which the parties agreed.
///
/// ```
/// use sunzi_parties::{Contacts, Identity};
/// use sunzi_rlwe::randomness;
///
/// let mut rng = randomness::from_os()?;
/// let [north, south] = [Identity::generate("north", &mut rng)?, Identity::generate("south", &mut rng)?];
/// let contacts = Contacts::new([north.card(None)?, south.card(Some("127.0.0.1:7100"))?])?;
/// assert_eq!(contacts.me(&south)?.number(), 2);
/// assert_eq!(contacts.roster().len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contacts {
    cards: Vec<Card>,
    roster: Roster,
}

impl Contacts {
    /// Makes the contacts of parties in the given order.
    ///
    /// # Errors
    /// [`PartiesError::Setting`] for cards with equal keys, and every error of [`Roster::new`].
    pub fn new(cards: impl IntoIterator<Item = Card>) -> Result<Self, PartiesError> {
        let cards: Vec<Card> = cards.into_iter().collect();
        let roster = Roster::new(cards.iter().map(Card::name))?;
        for (at, card) in cards.iter().enumerate() {
            let same = |other: &&Card| other.signing() == card.signing() || other.sealing() == card.sealing();
            if let Some(other) = cards.iter().take(at).find(same) {
                let got = format!("the same key for {} and {}", other.name(), card.name());
                return Err(PartiesError::setting("keys of cards", "different ones", got));
            }
        }
        Ok(Self { cards, roster })
    }

    /// The parties, all of whom decrypt unless their threshold is set.
    #[must_use]
    pub fn roster(&self) -> &Roster {
        &self.roster
    }

    /// The card of a party; `None` for a party of a longer roster.
    #[must_use]
    pub fn card(&self, party: Party) -> Option<&Card> {
        (party.number() as usize).checked_sub(1).and_then(|at| self.cards.get(at))
    }

    /// Returns the party that has an identity.
    ///
    /// # Errors
    /// [`PartiesError::Setting`] for an identity of no card: of another name, or with other keys.
    pub fn me(&self, identity: &Identity) -> Result<Party, PartiesError> {
        let me = self.roster.named(identity.name())?;
        let own = identity.card(None)?;
        match self.card(me) {
            Some(card) if card.digest() == own.digest() => Ok(me),
            other => {
                let expected = other.map(Card::fingerprint).unwrap_or_default();
                Err(PartiesError::setting("the identity of this party", expected, own.fingerprint()))
            }
        }
    }

    /// The fingerprint of all cards in their order, addresses left out: parties who agree on it have the same contacts.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        grouped(&self.digest())
    }

    /// The hash of all cards.
    pub(crate) fn digest(&self) -> Digest {
        let cards: Vec<Digest> = self.cards.iter().map(Card::digest).collect();
        digest("sunzi contacts", cards.iter().map(|card| &card[..]))
    }

    /// The party with a key of signatures, if any.
    pub(crate) fn with_key(&self, signing: &[u8]) -> Option<Party> {
        self.roster.parties().find(|party| self.card(*party).is_some_and(|card| card.signing() == signing))
    }
}
