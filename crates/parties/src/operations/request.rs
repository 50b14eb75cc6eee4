//! Requests of operations: a request of a decryption, and what the result is for.

use std::io::BufRead;
use std::marker::PhantomData;
use std::sync::Arc;

use sunzi_rlwe::wire::{self, Format, Header, Kind, Sink, Source, WireError};
use sunzi_rlwe::{KeyId, RlweContext};

use super::Operation;
use crate::decryption::Request;
use crate::digest::{Digest, digest};
use crate::{PartiesError, Roster, Session};

/// A request of an operation, the same for all who are asked. Its bytes may come from anybody:
/// [`Decryptor::review_operation`](crate::decryption::Decryptor::review_operation) holds it against the ciphertext and against what the party declared.
pub struct OperationRequest<O> {
    pub(super) request: Request,
    target: Digest,
    operation: PhantomData<fn() -> O>,
}

impl<O: Operation> OperationRequest<O> {
    /// Makes the request to do the operation on the ciphertext of a request, by the parties and for what it says. The part c_1 in it is that of the ciphertext itself.
    ///
    /// # Errors
    /// [`PartiesError::Wire`] for a target of another context.
    pub fn new(context: &RlweContext, request: Request, target: &O::Target) -> Result<Self, PartiesError> {
        Ok(Self { request, target: O::target(context, target)?, operation: PhantomData })
    }

    /// The ciphertext, its noise, the parties that are asked, and what the operation is for.
    #[must_use]
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// Returns the session of the request, in which parties answer it.
    ///
    /// # Errors
    /// [`PartiesError::Setting`] unless the context is one for joint secrets of the parties of the roster; [`PartiesError::Wire`] never.
    pub fn session(&self, context: &RlweContext, roster: &Arc<Roster>) -> Result<Session, PartiesError> {
        let terms = wire::to_bytes(context, self)?;
        Session::new(context, Arc::clone(roster), O::NAME, &terms)
    }

    /// Returns the seed of the encryption that the parties make by shares.
    ///
    /// # Errors
    /// Every error of [`session`](Self::session).
    pub fn seed(&self, context: &RlweContext, roster: &Arc<Roster>) -> Result<[u8; 32], PartiesError> {
        Ok(self.seed_in(&self.session(context, roster)?))
    }

    pub(super) fn seed_in(&self, session: &Session) -> Digest {
        digest("sunzi seed of an encryption by shares", [&session.id()[..], &self.request.ciphertext])
    }

    /// Fails unless the result is for a target.
    pub(super) fn check_target(&self, context: &RlweContext, target: &O::Target) -> Result<(), PartiesError> {
        if O::target(context, target)? == self.target {
            return Ok(());
        }
        Err(PartiesError::refused(
            "whom the result is for",
            "the public key that this party has",
            "another one",
        ))
    }
}

impl<O: Operation> Format<OperationRequest<O>> for RlweContext {
    const KIND: Kind = O::REQUEST;

    fn key(&self, request: &OperationRequest<O>) -> Option<KeyId> {
        Some(request.request.key())
    }

    fn put(&self, request: &OperationRequest<O>, sink: &mut impl Sink) -> Result<(), WireError> {
        sink.sealed(&request.target)?;
        Format::<Request>::put(self, &request.request, sink)
    }

    fn get(
        &self,
        header: &Header,
        source: &mut Source<impl BufRead>,
    ) -> Result<OperationRequest<O>, WireError> {
        let record = source.sealed("the target of an operation", 32)?;
        let target = wire::FieldReader::new(&record).array()?;
        let request = Format::<Request>::get(self, header, source)?;
        Ok(OperationRequest { request, target, operation: PhantomData })
    }
}
