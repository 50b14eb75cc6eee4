//! Sharing ledgers, which count the decryptions shared under a key.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};

use super::SharingPolicy;
use crate::error::LedgerError;
use crate::wire::{self, Fingerprint, NoContext, WireError};
use crate::{KeyId, RlweError};

/// A sharing ledger: the count of shared decryptions under one secret key, and its policy, which never changes.
///
/// A sharing ledger belongs to its key: whoever uses a key with two ledgers, or puts an old copy of a ledger back,
/// shares more than the policy says. [`LedgerFile`] keeps a ledger on a disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharingLedger {
    pub(crate) parameters: Fingerprint,
    pub(crate) key: KeyId,
    pub(crate) policy: SharingPolicy,
    pub(crate) used: u64,
}

impl SharingLedger {
    /// Makes the first sharing ledger of a key, with no results counted.
    #[must_use]
    pub fn new(parameters: Fingerprint, key: KeyId, policy: SharingPolicy) -> Self {
        Self { parameters, key, policy, used: 0 }
    }

    /// Returns the ledger of somebody who takes a share of a joint secret over, with the number of results that others counted before.
    ///
    /// # Errors
    /// [`RlweError::SharingSpent`] for more results than the policy allows.
    pub fn taken_over(self, used: u64) -> Result<Self, RlweError> {
        let queries = self.policy.queries();
        if used > queries { Err(RlweError::SharingSpent { queries }) } else { Ok(Self { used, ..self }) }
    }

    /// The name of the secret key of a sharing ledger.
    #[must_use]
    pub fn key(&self) -> KeyId {
        self.key
    }

    /// The sharing policy of the key.
    #[must_use]
    pub fn policy(&self) -> SharingPolicy {
        self.policy
    }

    /// The number of results that a sharing ledger has counted.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.used
    }

    /// Counts one more shared result.
    ///
    /// # Errors
    /// [`RlweError::SharingSpent`] when all results of the policy were shared.
    fn count(&mut self) -> Result<(), RlweError> {
        if self.used >= self.policy.queries() {
            return Err(RlweError::SharingSpent { queries: self.policy.queries() });
        }
        self.used += 1;
        Ok(())
    }
}

/// Content of the file of a sharing ledger: without a policy as long as nothing was shared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StoredLedger {
    Blank { parameters: Fingerprint, key: KeyId },
    Begun(SharingLedger),
}

impl StoredLedger {
    fn key(&self) -> KeyId {
        match self {
            Self::Blank { key, .. } => *key,
            Self::Begun(ledger) => ledger.key,
        }
    }
}

/// A sharing ledger in memory, or in a file that counts a result before it is given and that several processes may use.
#[derive(Debug)]
pub struct LedgerFile {
    ledger: SharingLedger,
    path: Option<PathBuf>,
}

impl LedgerFile {
    /// Makes a sharing ledger in memory, which the caller stores.
    #[must_use]
    pub fn in_memory(ledger: SharingLedger) -> Self {
        Self { ledger, path: None }
    }

    /// Writes a new sharing ledger to a file that only its owner can read.
    ///
    /// # Errors
    /// [`WireError::Io`] where writing fails, or where the file exists.
    pub fn create(path: impl AsRef<Path>, ledger: SharingLedger) -> Result<Self, WireError> {
        let path = path.as_ref().to_owned();
        let _lock = lock(&path)?;
        create(&path, &StoredLedger::Begun(ledger.clone()))?;
        Ok(Self { ledger, path: Some(path) })
    }

    /// Writes the file of the sharing ledger of a new key, for its owner alone. It has no policy until
    /// [`begin`](Self::begin): made together with the key, it tells a key that has shared nothing from one whose
    /// ledger was lost.
    ///
    /// # Errors
    /// Every error of [`create`](Self::create).
    pub fn prepare(path: impl AsRef<Path>, parameters: Fingerprint, key: KeyId) -> Result<(), WireError> {
        // The file is made without a lock, which would leave a file: nobody waits for a key that is being made.
        create(path.as_ref(), &StoredLedger::Blank { parameters, key })
    }

    /// Opens the sharing ledger of a key, which gets the given policy if it has none yet; a policy that it has stays:
    /// compare [`ledger`](Self::ledger).
    ///
    /// # Errors
    /// Any [`WireError`]: [`WireError::Io`] where there is no file, since nobody knows then what was shared;
    /// [`WireError::Key`] for the ledger of another key.
    ///
    /// ```
    /// use sunzi_rlwe::wire::{Fingerprint, WireError};
    /// use sunzi_rlwe::{KeyId, LedgerFile, SharingPolicy};
    ///
    /// let folder = tempfile::tempdir().map_err(WireError::Io)?;
    /// let (path, key) = (folder.path().join("sharing.sz"), KeyId::from_bytes([7; 16]));
    /// let policy = SharingPolicy::new(40, 100)?;
    /// assert!(LedgerFile::begin(&path, key, policy).is_err(), "there is none");
    /// LedgerFile::prepare(&path, Fingerprint::default(), key)?;
    /// LedgerFile::begin(&path, key, policy)?.spend(key)?;
    /// assert_eq!(LedgerFile::begin(&path, key, policy)?.ledger().used(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn begin(path: impl AsRef<Path>, key: KeyId, policy: SharingPolicy) -> Result<Self, WireError> {
        let path = path.as_ref().to_owned();
        // The file is checked before the lock, which would make a file beside it.
        path.metadata()?;
        let _lock = lock(&path)?;
        let stored: StoredLedger = wire::load(&NoContext, &path)?;
        if stored.key() != key {
            return Err(WireError::Key { expected: Some(key), got: Some(stored.key()) });
        }
        let ledger = match stored {
            StoredLedger::Begun(ledger) => ledger,
            StoredLedger::Blank { parameters, key } => {
                let ledger = SharingLedger::new(parameters, key, policy);
                wire::store(&NoContext, &ledger, &path)?;
                ledger
            }
        };
        Ok(Self { ledger, path: Some(path) })
    }

    /// Opens the sharing ledger that a file has.
    ///
    /// # Errors
    /// Any [`WireError`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, WireError> {
        let path = path.as_ref().to_owned();
        Ok(Self { ledger: wire::load(&NoContext, &path)?, path: Some(path) })
    }

    /// Reads the sharing ledger that a file has, to look at it; `None` where nothing was shared yet, and no policy is set.
    ///
    /// # Errors
    /// Any [`WireError`].
    pub fn peek(path: impl AsRef<Path>) -> Result<Option<SharingLedger>, WireError> {
        let stored: StoredLedger = wire::load(&NoContext, path)?;
        match stored {
            StoredLedger::Begun(ledger) => Ok(Some(ledger)),
            StoredLedger::Blank { .. } => Ok(None),
        }
    }

    /// The sharing ledger as it was last read from its file.
    #[must_use]
    pub fn ledger(&self) -> &SharingLedger {
        &self.ledger
    }

    /// Counts one shared result, in the file too, before the result is given away.
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

/// Writes the file of a sharing ledger, which must not exist yet.
fn create(path: &Path, ledger: &StoredLedger) -> Result<(), WireError> {
    if path.try_exists()? {
        let refused = std::io::Error::from(std::io::ErrorKind::AlreadyExists);
        return Err(WireError::Io(refused));
    }
    wire::store(&NoContext, ledger, path)
}

fn ledger_error(error: WireError) -> RlweError {
    RlweError::Ledger(LedgerError::new(error.fault(), error))
}

/// Locks a file beside the file of a ledger, which itself is replaced; held until dropped.
fn lock(path: &Path) -> Result<File, WireError> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(name)?;
    file.lock()?;
    Ok(file)
}
