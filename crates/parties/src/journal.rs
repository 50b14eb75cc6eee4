//! Journals: what a party keeps of a session, so that it can begin again where it stopped.

mod folder;
mod memory;
mod state;

pub use folder::FolderStore;
pub use memory::MemoryStore;
pub(crate) use state::{open_state, seal_state};

use sunzi_rlwe::wire::{Fingerprint, WireError};
use zeroize::Zeroizing;

use crate::{PartiesError, Party, Session};

/// A place where a party keeps records. A record that is there is never replaced.
pub trait Store {
    /// Returns a record; `None` if there is none.
    ///
    /// # Errors
    /// [`WireError::Io`] where reading fails.
    fn get(&self, record: &str) -> Result<Option<Zeroizing<Vec<u8>>>, WireError>;
    /// Writes a record, which lasts when this returns. A `secret` one is for its owner alone.
    ///
    /// # Errors
    /// [`WireError::Io`] where writing fails, and for a record that is there.
    fn put(&mut self, record: &str, bytes: &[u8], secret: bool) -> Result<(), WireError>;
    /// Removes a record, if it is there.
    ///
    /// # Errors
    /// [`WireError::Io`] where removing fails.
    fn remove(&mut self, record: &str) -> Result<(), WireError>;
}

/// Record that names session and party.
const SESSION: &str = "session";
/// Record that is there once the session was given up.
const ABORTED: &str = "aborted";
/// Record with the own contribution to the reference.
pub(crate) const CONTRIBUTION: &str = "contribution";
/// Record with the own secret key.
pub(crate) const SECRET: &str = "secret";
/// Record with the ephemeral secret of the relinearisation key.
pub(crate) const EPHEMERAL: &str = "ephemeral";
/// Record with the own shares of keys, before they are sent.
pub(crate) const SHARES: &str = "shares";
/// Record with the own messages of a dealing, one after the other.
pub(crate) const PIECES: &str = "pieces";

/// The records of one party of one session.
pub(crate) struct Journal<S> {
    store: S,
    parameters: Fingerprint,
    /// Why the session was given up, if it was.
    aborted: Option<String>,
}

impl<S: Store> Journal<S> {
    /// Opens the records of a session, or begins them.
    ///
    /// # Errors
    /// [`PartiesError::Aborted`] for a session that was given up; [`PartiesError::Journal`] for records of another session or party; [`PartiesError::Wire`].
    pub(crate) fn open(mut store: S, session: &Session, me: Party) -> Result<Self, PartiesError> {
        let parameters = session.parameters();
        let own = seal_state(parameters, &[session.id(), &me.number().to_le_bytes()]);
        match store.get(SESSION)? {
            None => store.put(SESSION, &own, true)?,
            Some(kept) if *kept == *own => {}
            Some(_) => return Err(PartiesError::journal(SESSION, "it is of another session or party")),
        }
        let mut journal = Self { store, parameters, aborted: None };
        journal.aborted =
            journal.secret(ABORTED)?.map(|reason| String::from_utf8_lossy(&reason).into_owned());
        journal.check().map(|()| journal)
    }

    /// Fails for a session that was given up.
    pub(crate) fn check(&self) -> Result<(), PartiesError> {
        match &self.aborted {
            None => Ok(()),
            Some(reason) => Err(PartiesError::Aborted { reason: reason.clone() }),
        }
    }

    /// Returns a message that was kept.
    pub(crate) fn message(&self, record: &str) -> Result<Option<Zeroizing<Vec<u8>>>, PartiesError> {
        Ok(self.store.get(record)?)
    }

    /// Keeps a message.
    pub(crate) fn keep(&mut self, record: &str, bytes: &[u8]) -> Result<(), PartiesError> {
        self.check()?;
        Ok(self.store.put(record, bytes, false)?)
    }

    /// Returns a secret that was kept.
    pub(crate) fn secret(&self, record: &str) -> Result<Option<Zeroizing<Vec<u8>>>, PartiesError> {
        let Some(bytes) = self.store.get(record)? else { return Ok(None) };
        let damaged = |error: WireError| PartiesError::journal(record, error);
        let [part] = open_state(self.parameters, &bytes).map_err(damaged)?;
        Ok(Some(part))
    }

    /// Returns a secret that must be there.
    pub(crate) fn required(&self, record: &str) -> Result<Zeroizing<Vec<u8>>, PartiesError> {
        self.secret(record)?.ok_or_else(|| PartiesError::journal(record, "it is missing"))
    }

    /// Keeps a secret for its owner alone.
    pub(crate) fn keep_secret(&mut self, record: &str, bytes: &[u8]) -> Result<(), PartiesError> {
        self.check()?;
        Ok(self.store.put(record, &seal_state(self.parameters, &[bytes]), true)?)
    }

    /// Removes a record that is not needed any more, or was not finished.
    pub(crate) fn remove(&mut self, record: &str) -> Result<(), PartiesError> {
        Ok(self.store.remove(record)?)
    }

    /// Gives the session up for ever, and removes its secrets.
    pub(crate) fn abort(&mut self, reason: &str) -> Result<(), PartiesError> {
        if self.aborted.is_none() {
            self.keep_secret(ABORTED, reason.as_bytes())?;
            self.aborted = Some(reason.to_owned());
        }
        [CONTRIBUTION, SECRET, EPHEMERAL, SHARES, PIECES]
            .into_iter()
            .try_for_each(|record| self.remove(record))
    }
}

/// Returns the name of the record of the own message of a round.
pub(crate) fn sent(round: u64) -> String {
    format!("{round}-sent")
}

/// Returns the name of the record of a party's message of a round.
pub(crate) fn received(round: u64, party: Party) -> String {
    format!("{round}-from-{party}")
}
