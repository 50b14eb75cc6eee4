//! Answers: shares of decryptions, counted and kept.

use std::sync::Arc;

use rand_core::CryptoRng;
use sunzi_ring::{Evaluation, Poly};
use sunzi_rlwe::joint::{DecryptionShare, Quorum};
use sunzi_rlwe::sharing::Flooding;
use sunzi_rlwe::wire::{self, WireError};
use sunzi_rlwe::{DeclaredNoise, LedgerFile, RlweContext};

use super::{Holding, Request, Subject};
use crate::digest::{Digest, digest, hex};
use crate::journal::{Store, open_state, seal_state};
use crate::{Message, PartiesError, Party, Roster, Session, Step};

/// A party that answers requests: its secret, its ledger, what it declared, and the shares it gave.
pub struct Decryptor<S: Store> {
    pub(crate) context: RlweContext,
    pub(crate) roster: Arc<Roster>,
    pub(crate) me: Party,
    pub(crate) holding: Holding,
    pub(crate) ledger: LedgerFile,
    pub(crate) store: S,
}

/// A request that a party holds for right: the next step is its answer.
pub struct Reviewed<'a> {
    request: &'a Request,
    linear: &'a Poly<Evaluation>,
    session: Session,
    quorum: Option<Quorum>,
    declared: DeclaredNoise,
}

impl Reviewed<'_> {
    /// The request.
    #[must_use]
    pub fn request(&self) -> &Request {
        self.request
    }

    /// The session in which the request is answered.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }
}

impl<S: Store> Decryptor<S> {
    /// Makes the party that holds its own secret, or a share of the roster's threshold, of the joint secret to which the ledger belongs.
    ///
    /// # Errors
    /// [`PartiesError::Setting`] for a party that is not on the roster, and for what is not this party's of the ledger's key.
    pub fn new(
        context: RlweContext,
        roster: Arc<Roster>,
        me: Party,
        holding: impl Into<Holding>,
        ledger: LedgerFile,
        store: S,
    ) -> Result<Self, PartiesError> {
        roster.party(me.number().into())?;
        let holding = holding.into();
        holding.check(&roster, me, ledger.ledger().key())?;
        Ok(Self { context, roster, me, holding, ledger, store })
    }

    /// Holds a request against the ciphertext that this party has, and against the noise that this party declares for it, from its own analysis of the program.
    ///
    /// # Errors
    /// [`PartiesError::Refused`] for another ciphertext, another key, parties that are not asked, and noise above the declared one.
    pub fn review<'a>(
        &self,
        request: &'a Request,
        subject: Subject<'a>,
        declared: DeclaredNoise,
    ) -> Result<Reviewed<'a>, PartiesError> {
        self.check(request, subject, declared)?;
        let session = request.session(&self.context, &self.roster)?;
        let quorum = request.quorum(&self.roster)?;
        Ok(Reviewed { request, linear: subject.linear, session, quorum, declared })
    }

    /// Fails unless a request is for a ciphertext, for this party, and for what it declared.
    pub(crate) fn check(
        &self,
        request: &Request,
        subject: Subject<'_>,
        declared: DeclaredNoise,
    ) -> Result<(), PartiesError> {
        let key = self.ledger.ledger().key();
        if request.key() != key {
            return Err(PartiesError::refused("the key of the request", key, request.key()));
        }
        request.check(&self.context, subject)?;
        if !request.members(&self.roster)?.contains(&self.me) {
            return Err(PartiesError::refused("parties asked", self.roster.name(self.me), "others"));
        }
        // A bound that is NaN claims nothing that could be relied on.
        if request.noise_bits() > declared.bits() || declared.bits().is_nan() {
            let expected = format!("at most the declared 2^{:.1}", declared.bits());
            let got = format!("2^{:.1}", request.noise_bits());
            return Err(PartiesError::refused("the noise of the ciphertext", expected, got));
        }
        Ok(())
    }

    /// Answers a request: returns the message with this party's share. Asked again for the same c_1, the share is the same and does not count again.
    ///
    /// # Errors
    /// [`PartiesError::Rlwe`] with [`SharingSpent`](sunzi_rlwe::RlweError::SharingSpent) where all that may be shared was shared; [`PartiesError::Refused`] where a share was given
    /// for this c_1 under smaller declared noise; [`PartiesError::Journal`] for a kept share that cannot be read; [`PartiesError::Wire`] where the share cannot be kept.
    pub fn answer(
        &mut self,
        reviewed: Reviewed<'_>,
        rng: &mut dyn CryptoRng,
    ) -> Result<Vec<u8>, PartiesError> {
        let record = record("share", reviewed.request, &self.roster, reviewed.quorum.as_ref());
        let share = match self.store.get(&record)? {
            Some(kept) => self.kept(&record, &kept, &reviewed)?,
            None => self.draw(&record, &reviewed, rng)?,
        };
        let previous = *reviewed.session.id();
        Ok(Message::new(&reviewed.session, Step::Answer, self.me.number(), previous, share).to_bytes())
    }

    /// Whether a share was given before, so that an answer is the same again and does not count.
    ///
    /// # Errors
    /// [`PartiesError::Wire`] where records cannot be read.
    pub fn is_answered(&self, reviewed: &Reviewed<'_>) -> Result<bool, PartiesError> {
        let record = record("share", reviewed.request, &self.roster, reviewed.quorum.as_ref());
        Ok(self.store.get(&record)?.is_some())
    }

    /// Returns the bytes of the share that was given before.
    fn kept(&self, record: &str, kept: &[u8], reviewed: &Reviewed<'_>) -> Result<Vec<u8>, PartiesError> {
        let damaged = |error: WireError| PartiesError::journal(record, error);
        let [declared, share] = open_state(self.context.fingerprint(), kept).map_err(damaged)?;
        let bits = declared.first_chunk().map_or(f64::NEG_INFINITY, |bits| f64::from_le_bytes(*bits));
        if reviewed.request.noise_bits() > bits {
            let got = format!("2^{:.1}", reviewed.request.noise_bits());
            let expected = format!("at most 2^{bits:.1}, for which a share was given before");
            return Err(PartiesError::refused("the noise of the ciphertext", expected, got));
        }
        Ok(share.to_vec())
    }

    /// Counts, draws and keeps a share. If that fails in between, a result is counted that nobody got.
    fn draw(
        &mut self,
        record: &str,
        reviewed: &Reviewed<'_>,
        rng: &mut dyn CryptoRng,
    ) -> Result<Vec<u8>, PartiesError> {
        let Self { context, holding, ledger, store, .. } = self;
        let degree = context.ring().degree();
        let flooding = Flooding::new(ledger.ledger().policy(), reviewed.declared, degree)?;
        let key = ledger.ledger().key();
        ledger.spend(key)?;
        let quorum = reviewed.quorum.as_ref();
        let secret = holding.held(context, quorum)?;
        let share = DecryptionShare::new(context, reviewed.linear, &secret, &flooding, rng)?;
        let bytes = wire::to_bytes(context, &share)?;
        let declared = reviewed.declared.bits().to_le_bytes();
        store.put(record, &seal_state(context.fingerprint(), &[&declared, &bytes]), true)?;
        Ok(bytes)
    }

    /// The context of the keys.
    #[must_use]
    pub fn context(&self) -> &RlweContext {
        &self.context
    }

    /// The parties of the joint secret.
    #[must_use]
    pub fn roster(&self) -> &Arc<Roster> {
        &self.roster
    }

    /// The ledger of this party.
    #[must_use]
    pub fn ledger(&self) -> &LedgerFile {
        &self.ledger
    }

    /// This party.
    #[must_use]
    pub fn me(&self) -> Party {
        self.me
    }
}

/// The name of the record of a share. A share of one quorum is none of another, and a secret that was handed on has other shares: every one is a draw of its own, and counts.
pub(crate) fn record(of: &str, request: &Request, roster: &Roster, quorum: Option<&Quorum>) -> String {
    let linear = hex(&request.linear);
    let Some(quorum) = quorum else { return format!("{of}-{linear}") };
    format!("{of}-{linear}-{}", hex(&quorum_hash(quorum, roster.origin())))
}

/// Returns the hash of the parties of a quorum, and of the session in which a joint secret was handed on to them.
pub(crate) fn quorum_hash(quorum: &Quorum, origin: Option<&Digest>) -> Digest {
    let numbers: Vec<u8> = quorum.parties().iter().flat_map(|number| number.to_le_bytes()).collect();
    digest("sunzi quorum", [&numbers[..]].into_iter().chain(origin.map(|origin| &origin[..])))
}
