//! What drivers wait for: messages of other parties, until none is missing.

use crate::dealing::Dealing;
use crate::driver::Progress;
use crate::{Answers, Fault, PartiesError, Party, Receipt, Round, Stage, Step, Store};

/// Messages that a driver takes.
pub(super) trait Gathering {
    /// Takes a message.
    fn take(&mut self, from: Party, bytes: &[u8]) -> Result<Receipt, PartiesError>;
    /// How far it is.
    fn progress(&self) -> Progress;
    /// Fails unless all messages are there.
    fn check_complete(&self) -> Result<(), PartiesError>;

    /// Whether all messages are there.
    fn is_complete(&self) -> bool {
        let Progress { received, of, .. } = self.progress();
        received == of
    }

    /// Whether a message that is refused is not worth a word.
    fn passes(_: &PartiesError) -> bool {
        false
    }
}

impl<S: Store, G: Stage> Gathering for Round<S, G> {
    fn take(&mut self, from: Party, bytes: &[u8]) -> Result<Receipt, PartiesError> {
        self.accept(from, bytes)
    }

    fn progress(&self) -> Progress {
        Progress { step: G::STEP, received: self.received(), of: self.session().roster().len() }
    }

    fn check_complete(&self) -> Result<(), PartiesError> {
        Round::check_complete(self)
    }
}

impl<S: Store> Gathering for Dealing<S> {
    fn take(&mut self, from: Party, bytes: &[u8]) -> Result<Receipt, PartiesError> {
        self.accept(from, bytes)
    }

    fn progress(&self) -> Progress {
        let received = self.received();
        Progress { step: Step::Deal, received, of: received + self.missing().len() }
    }

    fn check_complete(&self) -> Result<(), PartiesError> {
        Dealing::check_complete(self)
    }
}

impl<S> Gathering for Answers<S> {
    fn take(&mut self, from: Party, bytes: &[u8]) -> Result<Receipt, PartiesError> {
        self.accept(from, bytes)
    }

    fn progress(&self) -> Progress {
        let received = self.received();
        Progress { step: self.step(), received, of: received + self.missing().len() }
    }

    fn check_complete(&self) -> Result<(), PartiesError> {
        Answers::check_complete(self)
    }

    /// A channel of requests has answers to others too.
    fn passes(error: &PartiesError) -> bool {
        matches!(error.fault(), Some(Fault::Session { .. }))
    }
}
