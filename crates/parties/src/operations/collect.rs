//! Collection of the answers to a request of an operation.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use sunzi_rlwe::RlweContext;
use sunzi_rlwe::wire::WireError;

use super::{Operation, OperationRequest};
use crate::{Answers, PartiesError, Roster};

/// Collects the answers to a request of an operation, in any order.
pub struct OperationCollector<O: Operation> {
    answers: Answers<O::Share>,
    seed: [u8; 32],
}

impl<O: Operation> OperationCollector<O> {
    /// Makes the empty collection of answers.
    ///
    /// # Errors
    /// [`PartiesError::Setting`] unless the context is one for joint secrets of the parties of the roster; [`PartiesError::Refused`] for parties that are not on it.
    pub fn new(
        context: RlweContext,
        roster: &Arc<Roster>,
        request: &OperationRequest<O>,
    ) -> Result<Self, PartiesError> {
        let session = request.session(&context, roster)?;
        let (seed, level) = (request.seed_in(&session), request.request.level());
        let (members, most) = (request.request.members(roster)?, O::most(&context, level)?);
        let answers = Answers::of((context, session), O::STEP, members, (level, most), read::<O>);
        Ok(Self { answers, seed })
    }

    /// The seed of the encryption by shares, with which shares of a refresh are put together.
    #[must_use]
    pub fn seed(&self) -> &[u8; 32] {
        &self.seed
    }

    /// Returns the shares of all parties that were asked, by ascending number.
    ///
    /// # Errors
    /// [`PartiesError::Missing`], which names the parties whose answers did not come.
    pub fn finish(self) -> Result<Vec<O::Share>, PartiesError> {
        self.answers.finish()
    }
}

impl<O: Operation> Deref for OperationCollector<O> {
    type Target = Answers<O::Share>;

    fn deref(&self) -> &Self::Target {
        &self.answers
    }
}

impl<O: Operation> DerefMut for OperationCollector<O> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.answers
    }
}

/// Reads a share that opens the ciphertext at its level, or at a lower one where the scheme does so.
fn read<O: Operation>(context: &RlweContext, level: usize, content: &[u8]) -> Result<O::Share, WireError> {
    let share = O::read(context, content)?;
    let got = O::level(context, &share)?;
    if got <= level {
        Ok(share)
    } else {
        Err(WireError::value("level of a share", format!("at most {level}"), got))
    }
}
