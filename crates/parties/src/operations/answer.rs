//! Answers to requests of operations: shares that are made by the scheme, counted and kept.

use sunzi_rlwe::joint::Quorum;
use sunzi_rlwe::wire::WireError;
use sunzi_rlwe::{DeclaredNoise, SharingPolicy};
use zeroize::Zeroizing;

use super::{Operation, OperationRequest};
use crate::decryption::{Decryptor, HeldSecret, Subject, record};
use crate::journal::{Store, open_state, seal_state};
use crate::{Message, PartiesError, Session};

/// A request of an operation that a party holds for right: the next step is its answer.
pub struct ReviewedOperation<'a, O> {
    request: &'a OperationRequest<O>,
    session: Session,
    quorum: Option<Quorum>,
    declared: DeclaredNoise,
}

impl<O> ReviewedOperation<'_, O> {
    /// The session in which the request is answered.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }
}

/// What a share is made from, besides the ciphertext.
pub struct Making<'a> {
    /// Noise that this party declared.
    pub declared: DeclaredNoise,
    /// Policy of this party's ledger.
    pub policy: SharingPolicy,
    /// Seed of the part c_1 of an encryption by shares, for this share alone.
    pub seed: [u8; 32],
    /// What this party holds of the joint secret.
    pub secret: HeldSecret<'a>,
}

/// A share that was made, and what the party keeps for itself beside it: its additive share of the message, as bytes of the caller's choice.
pub struct Made<T> {
    /// Share for whoever asked.
    pub share: T,
    /// What the party keeps; empty for operations that leave nothing.
    pub own: Zeroizing<Vec<u8>>,
}

/// An operation without anything to keep.
impl<T> From<T> for Made<T> {
    fn from(share: T) -> Self {
        Self { share, own: Zeroizing::default() }
    }
}

/// An answer, and what the party keeps beside it.
pub struct Given {
    /// Message for whoever asked.
    pub message: Vec<u8>,
    /// What the party keeps, as it was made.
    pub own: Zeroizing<Vec<u8>>,
}

impl<S: Store> Decryptor<S> {
    /// Holds a request of an operation against the ciphertext that this party has, against the noise that this party declares for it, and against whom this party means the result
    /// for.
    ///
    /// # Errors
    /// [`PartiesError::Refused`] for another ciphertext, another key, another target, parties that are not asked, and noise above the declared one.
    pub fn review_operation<'a, O: Operation>(
        &self,
        request: &'a OperationRequest<O>,
        subject: Subject<'_>,
        declared: DeclaredNoise,
        target: &O::Target,
    ) -> Result<ReviewedOperation<'a, O>, PartiesError> {
        self.check(&request.request, subject, declared)?;
        request.check_target(&self.context, target)?;
        let session = request.session(&self.context, &self.roster)?;
        let quorum = request.request.quorum(&self.roster)?;
        Ok(ReviewedOperation { request, session, quorum, declared })
    }

    /// Answers a request of an operation with the share that `make` makes. Asked again in the same session, the share is the one that was kept, and does not count again.
    ///
    /// # Errors
    /// Every error of `make`, before anything counts; [`PartiesError::Rlwe`] with [`SharingSpent`](sunzi_rlwe::RlweError::SharingSpent) where all that may be shared was shared;
    /// [`PartiesError::Refused`] where a share was given for this part c_1 in another session; [`PartiesError::Journal`] for a kept share that cannot be read;
    /// [`PartiesError::Wire`] where the share cannot be kept.
    pub fn answer_operation<O, E>(
        &mut self,
        reviewed: ReviewedOperation<'_, O>,
        make: impl FnOnce(&Making<'_>) -> Result<Made<O::Share>, E>,
    ) -> Result<Given, E>
    where
        O: Operation,
        E: From<PartiesError>,
    {
        let ReviewedOperation { request, session, quorum, declared } = reviewed;
        let record = record(O::NAME, &request.request, &self.roster, quorum.as_ref());
        let kept = self.store.get(&record).map_err(PartiesError::from)?;
        let (share, own) = match kept {
            Some(kept) => self.kept_operation(&record, &kept, &session)?,
            None => {
                let secret = self.holding.held(&self.context, quorum.as_ref())?;
                let (policy, seed) = (self.ledger.ledger().policy(), request.seed_in(&session));
                let made = make(&Making { declared, policy, seed, secret })?;
                let share = O::write(&self.context, &made.share).map_err(PartiesError::from)?;
                self.keep_operation(&record, &session, &share, &made.own)?;
                (Zeroizing::new(share), made.own)
            }
        };
        let message = Message::new(&session, O::STEP, self.me.number(), *session.id(), share.to_vec());
        Ok(Given { message: message.to_bytes(), own })
    }

    /// Returns a share that was given before, and what was kept beside it.
    #[expect(clippy::type_complexity, reason = "two secrets of bytes")]
    fn kept_operation(
        &self,
        record: &str,
        kept: &[u8],
        session: &Session,
    ) -> Result<(Zeroizing<Vec<u8>>, Zeroizing<Vec<u8>>), PartiesError> {
        let damaged = |error: WireError| PartiesError::journal(record, error);
        let [first, share, own] = open_state(self.context.fingerprint(), kept).map_err(damaged)?;
        if first[..] != session.id()[..] {
            let expected = "the one for which a share was given before";
            return Err(PartiesError::refused("the request for this ciphertext", expected, "another one"));
        }
        Ok((share, own))
    }

    /// Counts and keeps a share. If that fails in between, a result is counted that nobody got.
    fn keep_operation(
        &mut self,
        record: &str,
        session: &Session,
        share: &[u8],
        own: &[u8],
    ) -> Result<(), PartiesError> {
        let key = self.ledger.ledger().key();
        self.ledger.spend(key)?;
        let state = seal_state(self.context.fingerprint(), &[session.id(), share, own]);
        Ok(self.store.put(record, &state, true)?)
    }
}
