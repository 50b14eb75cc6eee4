//! Setup of a session in which the parties of a quorum hand the joint secret on to the parties of another roster.

use std::sync::Arc;

use rand_core::CryptoRng;
use sunzi_rlwe::joint::{Quorum, ThresholdShare};
use sunzi_rlwe::{KeyId, RlweContext};

use super::confirm::is_confirmed;
use super::{Dealing, Terms};
use crate::decryption::quorum_hash;
use crate::journal::Store;
use crate::{Message, PartiesError, Party, Roster, Session};

/// All that parties agree on before a joint secret is handed on: parameters, the roster of before and its members that deal, the roster of those who get shares, the name of the joint secret, and
/// a number for the session.
///
/// Parties join and leave so: public and evaluation keys and all ciphertexts stay. Names say who is who in both rosters. Every dealer deals what its share is worth in the quorum, so that all new shares
/// together are of a polynomial that has nothing in common with the old one but the joint secret: **an old share becomes worthless as soon as fewer old ones than the threshold of before are
/// left**, so all parties must erase theirs once all have confirmed that they have their new ones ([`Dealing::confirm`]). It does not help against a quorum that put its old shares together before.
///
/// The session has the parties that get shares, in the order of their roster, and behind them the dealers that leave.
#[derive(Clone)]
pub struct HandingOnSetup {
    terms: Terms,
    /// Roster of before, and the quorum of it that deals.
    from: Arc<Roster>,
    quorum: Quorum,
}

impl HandingOnSetup {
    /// Makes the setup of a session in which `dealers`, as many parties of the roster `from` as its threshold says, hand the joint secret of a name on to the parties of the roster `to`, by its
    /// threshold.
    ///
    /// # Errors
    /// [`PartiesError::Setting`] for a roster `from` without a threshold or of another number of parties than the context, for more or fewer dealers, and for one that is not on the
    /// roster, or twice; for a roster `to` of which more parties decrypt than the context is made for.
    pub fn new(
        context: RlweContext,
        (from, dealers): (&Roster, &[Party]),
        to: Roster,
        key: KeyId,
        nonce: [u8; 32],
    ) -> Result<Self, PartiesError> {
        let refuse = |expected, got| Err(PartiesError::setting("the parties that hand on", expected, got));
        if !from.has_shares() {
            return refuse("those of a roster with a threshold".to_owned(), "all of a roster".to_owned());
        }
        let [threshold, parties] = from.counts();
        let numbers: Vec<u32> = dealers.iter().map(|dealer| dealer.number()).collect();
        let Ok(quorum) = Quorum::new(threshold, parties, &numbers) else {
            return refuse(format!("{threshold} of {parties}"), format!("{numbers:?}"));
        };
        // Rooms for flooding noise are those of the parties of the parameters.
        let most = context.parties() as usize;
        if to.threshold() > most {
            let expected = format!("at most {most}, whose noise the parameters have room for");
            return Err(PartiesError::setting(
                "the number of parties that decrypt",
                expected,
                to.threshold(),
            ));
        }
        let hash = quorum_hash(&quorum, None);
        let terms = [&nonce[..], key.as_bytes(), &from.digest(), &to.digest(), &hash].concat();
        // The parties of before are those of the context, whoever comes after them.
        let from = Arc::new(from.clone());
        Session::new(&context, Arc::clone(&from), "handing on", &terms)?;
        let dealing = from.parties().filter(|party| quorum.parties().contains(&party.number()));
        let dealing: Vec<&str> = dealing.map(|party| from.name(party)).collect();
        let leaving = dealing.iter().copied().filter(|name| to.named(name).is_err());
        let all = Roster::new(to.names().chain(leaving))?;
        let dealers = all.parties().filter(|party| dealing.contains(&all.name(*party))).collect();
        let session = Session::of(&context, Arc::new(all), "handing on", &terms);
        let receivers = Arc::new(to.handed_on(*session.id()));
        Ok(Self { terms: Terms { context, session, key, dealers, receivers }, from, quorum })
    }

    /// The session of the setup.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.terms.session
    }

    /// The roster of those who get shares, by which they decrypt. Requests of the roster of before are of other sessions.
    #[must_use]
    pub fn roster(&self) -> &Arc<Roster> {
        &self.terms.receivers
    }

    /// The largest number of bytes of a message of the session, for transports.
    ///
    /// # Errors
    /// [`PartiesError::Rlwe`] for a ring that stores nothing.
    pub fn longest_message(&self) -> Result<u64, PartiesError> {
        self.terms.longest_content().map(Message::bytes)
    }

    /// Takes part in the session with the share of before, or without one as a party that deals nothing; or goes on with the records that the party kept. A dealer that kept its messages needs its
    /// share no more, and one that saw all confirmations needs neither.
    ///
    /// # Errors
    /// [`PartiesError::Setting`] for a party that is not of the session, for a share that is not this party's, and for a dealer that has neither share nor records; [`PartiesError::Aborted`] for a
    /// session that was given up; [`PartiesError::Journal`] for records of another session or party; [`PartiesError::Wire`] where records cannot be written.
    pub fn begin<S: Store>(
        &self,
        me: Party,
        share: Option<&ThresholdShare>,
        store: S,
        rng: &mut dyn CryptoRng,
    ) -> Result<Dealing<S>, PartiesError> {
        let Self { terms, from, quorum, .. } = self;
        let session = terms.session.roster();
        session.party(me.number().into())?;
        let refuse = |expected: String, got: String| {
            Err(PartiesError::setting("the share that this party hands on", expected, got))
        };
        let secret = match (share, terms.dealers.contains(&me)) {
            (None, _) => None,
            (Some(share), true) => {
                let named = |key, party| format!("that of party {party} of key {key}");
                let own = from.named(session.name(me))?.number();
                if (share.key(), share.party()) != (terms.key, own) {
                    return refuse(named(terms.key, own), named(share.key(), share.party()));
                }
                Some(share.in_quorum(&terms.context, quorum)?)
            }
            (Some(_), false) => return refuse("none: it is not asked to".into(), "one".into()),
        };
        let dealing = terms.begin(me, secret.as_ref(), store, rng)?;
        let has_none = dealing.messages.is_empty() && terms.dealers.contains(&me);
        if has_none && !is_confirmed(&dealing.journal)? {
            return refuse("the one of before, or records of this session".into(), "neither".into());
        }
        Ok(dealing)
    }
}
