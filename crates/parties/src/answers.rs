//! Answers to a request, whatever is asked for.

use sunzi_rlwe::RlweContext;
use sunzi_rlwe::wire::WireError;

use crate::{Fault, Inbox, PartiesError, Party, Receipt, Session, Step};

/// Reads a share for a ciphertext of a level.
pub(crate) type Read<S> = fn(&RlweContext, usize, &[u8]) -> Result<S, WireError>;

/// Collects the answers to a request, in any order. Whoever has the ciphertext and all answers to the request of a decryption can open it.
pub struct Answers<S> {
    context: RlweContext,
    session: Session,
    level: usize,
    inbox: Inbox<S>,
    read: Read<S>,
}

impl<S> Answers<S> {
    /// Makes the empty collection of answers of these parties, for a ciphertext of a level; answers have at most `most` bytes of content.
    pub(crate) fn of(
        (context, session): (RlweContext, Session),
        step: Step,
        members: Vec<Party>,
        (level, most): (usize, u64),
        read: Read<S>,
    ) -> Self {
        let previous = *session.id();
        let inbox = Inbox::new(session.clone(), step, members, previous, most);
        Self { context, session, level, inbox, read }
    }

    /// The session in which the request is answered.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The step of the answers.
    #[must_use]
    pub fn step(&self) -> Step {
        self.inbox.step()
    }

    /// Takes an answer that came from a party, by what the channel says.
    ///
    /// # Errors
    /// [`PartiesError::Message`] for a message that is refused.
    pub fn accept(&mut self, from: Party, bytes: &[u8]) -> Result<Receipt, PartiesError> {
        let Self { context, level, inbox, read, .. } = self;
        inbox.accept(from, bytes, |_, content| read(context, *level, content).map_err(Fault::Content))
    }

    /// The parties whose answers did not come yet, by ascending number.
    #[must_use]
    pub fn missing(&self) -> Vec<Party> {
        self.inbox.missing()
    }

    /// The number of answers that count so far.
    #[must_use]
    pub fn received(&self) -> usize {
        self.inbox.received()
    }

    /// The largest number of bytes of an answer.
    #[must_use]
    pub fn longest_message(&self) -> u64 {
        self.inbox.longest_message()
    }

    /// Fails unless the answers of all parties came.
    ///
    /// # Errors
    /// Every error of [`finish`](Self::finish).
    pub fn check_complete(&self) -> Result<(), PartiesError> {
        self.inbox.check_complete()
    }

    /// Returns the shares of all parties that were asked, by ascending number.
    ///
    /// # Errors
    /// [`PartiesError::Missing`], which names the parties whose answers did not come.
    pub fn finish(self) -> Result<Vec<S>, PartiesError> {
        Ok(self.inbox.finish()?.0.into_values().collect())
    }
}
