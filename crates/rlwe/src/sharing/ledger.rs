//! How many decryptions under a key were shared.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};

use super::SharingPolicy;
use crate::wire::{self, Fingerprint, NoContext, WireError};
use crate::{KeyId, RlweError};

/// Counts the shared decryptions under one secret key against its policy, which stays what it was.
///
/// It belongs to the key: whoever uses the same key with two ledgers, or puts an old copy of one back, shares more than the policy says.
/// [`LedgerFile`] keeps one on a disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharingLedger {
    pub(crate) parameters: Fingerprint,
    pub(crate) key: KeyId,
    pub(crate) policy: SharingPolicy,
    pub(crate) used: u64,
}

impl SharingLedger {
    /// The first ledger of a key.
    #[must_use]
    pub fn new(parameters: Fingerprint, key: KeyId, policy: SharingPolicy) -> Self {
        Self { parameters, key, policy, used: 0 }
    }

    /// The key.
    #[must_use]
    pub fn key(&self) -> KeyId {
        self.key
    }

    /// What was promised.
    #[must_use]
    pub fn policy(&self) -> SharingPolicy {
        self.policy
    }

    /// Results shared so far.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.used
    }

    /// Counts one result more.
    ///
    /// # Errors
    /// [`RlweError::SharingSpent`] when all were shared.
    fn count(&mut self) -> Result<(), RlweError> {
        if self.used >= self.policy.queries() {
            return Err(RlweError::SharingSpent { queries: self.policy.queries() });
        }
        self.used += 1;
        Ok(())
    }
}

/// A ledger in memory, or one in a file that counts before it gives and that several processes may use.
#[derive(Debug)]
pub struct LedgerFile {
    ledger: SharingLedger,
    path: Option<PathBuf>,
}

impl LedgerFile {
    /// Keeps a ledger in memory: whoever made it stores it.
    #[must_use]
    pub fn in_memory(ledger: SharingLedger) -> Self {
        Self { ledger, path: None }
    }

    /// Writes a new ledger, for its owner alone.
    ///
    /// # Errors
    /// [`WireError::Io`], also where a file of this name is there.
    pub fn create(path: impl AsRef<Path>, ledger: SharingLedger) -> Result<Self, WireError> {
        let path = path.as_ref().to_owned();
        let _lock = lock(&path)?;
        if path.try_exists()? {
            let refused = std::io::Error::from(std::io::ErrorKind::AlreadyExists);
            return Err(WireError::Io(refused));
        }
        wire::store(&NoContext, &ledger, &path)?;
        Ok(Self { ledger, path: Some(path) })
    }

    /// Opens the ledger of a file.
    ///
    /// # Errors
    /// Any [`WireError`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, WireError> {
        let path = path.as_ref().to_owned();
        Ok(Self { ledger: wire::load(&NoContext, &path)?, path: Some(path) })
    }

    /// What was counted when it was looked at last.
    #[must_use]
    pub fn ledger(&self) -> &SharingLedger {
        &self.ledger
    }

    /// Counts one result, on the disk too, before it is given away.
    ///
    /// # Errors
    /// [`RlweError::KeyMismatch`] for another key; [`RlweError::SharingSpent`]; [`RlweError::Ledger`] for a file that cannot be read or written, that has
    /// another ledger, or that counts fewer than this one has seen.
    pub fn spend(&mut self, key: KeyId) -> Result<(), RlweError> {
        if self.ledger.key != key {
            return Err(RlweError::KeyMismatch { what: "the sharing ledger" });
        }
        let Some(path) = &self.path else { return self.ledger.count() };
        let _lock = lock(path).map_err(ledger_error)?;
        let mut now: SharingLedger = wire::load(&NoContext, path).map_err(ledger_error)?;
        let same = SharingLedger { used: now.used, ..self.ledger.clone() } == now;
        if !same || now.used < self.ledger.used {
            let expected = format!("the ledger of key {key} with at least {} results", self.ledger.used);
            return Err(ledger_error(WireError::value(
                "the sharing ledger",
                expected,
                "another or an older one",
            )));
        }
        now.count()?;
        wire::store(&NoContext, &now, path).map_err(ledger_error)?;
        self.ledger = now;
        Ok(())
    }
}

fn ledger_error(error: WireError) -> RlweError {
    RlweError::Ledger(Box::new(error))
}

/// A lock beside a file, which itself is replaced; held until dropped.
fn lock(path: &Path) -> Result<File, WireError> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(name)?;
    file.lock()?;
    Ok(file)
}
