//! Round 2 of handing on: confirmations that all parties have their shares, after which those of before may be erased.

use std::collections::BTreeMap;

use sunzi_rlwe::joint::{ThresholdPiece, ThresholdShare};
use sunzi_rlwe::wire::WireError;
use zeroize::Zeroizing;

use super::{Dealing, PIECES, Terms, piece_from};
use crate::digest::{Digest, digest, hex};
use crate::journal::{Journal, Store};
use crate::round::Core;
use crate::{Fault, PartiesError, Party, Round, Stage, Step};

/// Record that is there once all parties confirmed.
const CONFIRMED: &str = "confirmed";

/// Round 2 of handing on: confirmations of shares.
pub struct ConfirmingShares {
    terms: Terms,
    pieces: BTreeMap<Party, ThresholdPiece>,
    /// Own piece of a party that deals and gets a share, as a message.
    own: Option<Zeroizing<Vec<u8>>>,
}

impl<S: Store> Dealing<S> {
    /// Opens the round in which all parties of a session confirm that their records have what makes their shares. A party that leaves confirms that it sent its pieces.
    ///
    /// # Errors
    /// [`PartiesError::Missing`], which names the parties whose messages did not come; [`PartiesError::Wire`] where the records cannot be written.
    pub fn confirm(self) -> Result<Round<S, ConfirmingShares>, PartiesError> {
        let Self { terms, me, journal, mut messages, inbox } = self;
        let own = messages.remove(&me);
        let (pieces, _, hashes) = inbox.finish()?;
        let core = Core::go_on(terms.session.clone(), me, journal, (Step::Deal.round(), hashes));
        let stage = ConfirmingShares { terms, pieces, own };
        Round::open(core, stage, |core, stage| Ok(content(&stage.terms, core.me).to_vec()))
    }
}

/// Returns the confirmation of a party, which nobody can copy from another.
fn content(terms: &Terms, party: Party) -> Digest {
    digest("sunzi confirmation of a share", [terms.session.id(), &party.number().to_le_bytes()[..]])
}

impl Stage for ConfirmingShares {
    type Item = ();
    const STEP: Step = Step::ConfirmShare;

    fn next(&self) -> Option<Step> {
        None
    }

    fn most(&self) -> u64 {
        32
    }

    fn read(&self, sender: Party, bytes: &[u8]) -> Result<(), Fault> {
        let expected = content(&self.terms, sender);
        if bytes == expected {
            return Ok(());
        }
        Err(Fault::Content(WireError::value("the confirmation of a share", hex(&expected), hex(bytes))))
    }
}

impl<S: Store> Round<S, ConfirmingShares> {
    /// Returns the share of this party, `None` for one that leaves, once the confirmations of all parties are there. The own pieces, of which the share of before follows, are removed from the records.
    ///
    /// # Errors
    /// [`PartiesError::Missing`]; [`PartiesError::Wire`] where the records cannot be written.
    pub fn advance(self) -> Result<Option<ThresholdShare>, PartiesError> {
        let (mut core, ConfirmingShares { terms, pieces, own }, _) = self.close()?;
        let (me, journal) = (core.me, &mut core.journal);
        if !is_confirmed(journal)? {
            if let Some(own) = own {
                journal.keep_secret(&piece_from(me), &own)?;
            }
            journal.keep(CONFIRMED, &[])?;
        }
        journal.remove(PIECES)?;
        terms.receives(me).then(|| terms.share(me, pieces)).transpose()
    }
}

/// Whether all parties confirmed in the session of these records.
pub(super) fn is_confirmed<S: Store>(journal: &Journal<S>) -> Result<bool, PartiesError> {
    Ok(journal.message(CONFIRMED)?.is_some())
}
