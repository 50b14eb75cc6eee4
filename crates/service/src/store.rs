//! State and stored bytes together: what one operation of a client does to both.

use std::collections::HashMap;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tempfile::TempPath;

use crate::blobs::{Blobs, Folder, identify};
use crate::config::Config;
use crate::name::{BlobId, JobId, Name};
use crate::records::sqlite::Sqlite;
use crate::records::{AccountId, Allowance, End, Hold, ObjectName, Records};
use crate::refusal::{Refusal, Result, ServiceError};
use crate::token::{Token, random};

/// Name of the file with the state.
const STATE: &str = "state.sqlite";
/// Name of the file that a serving process locks.
const LOCK: &str = "lock";
/// How long a server waits for the lock of its folder: the server before may be about to end, and a process that is being started has its open files until it
/// runs its own program.
const LOCK_WAIT: Duration = Duration::from_secs(2);
/// How long bytes wait to be held that are being removed.
const REMOVAL_WAIT: Duration = Duration::from_secs(5);
/// Seconds after which a client may ask again where a quota is full.
const QUOTA_RETRY: u32 = 60;

/// State and stored bytes of a server.
#[derive(Debug)]
pub struct Store {
    records: Arc<dyn Records>,
    blobs: Arc<dyn Blobs>,
    /// Bytes that are being received, by account.
    arriving: Mutex<HashMap<AccountId, u64>>,
    /// Lock of the folder, as long as the process serves.
    _lock: File,
}

/// Opens the state in a folder, which is made if it is not there: to add, list and remove accounts, also while a server runs.
///
/// # Errors
/// [`ServiceError::Io`], [`ServiceError::Records`], [`ServiceError::Configuration`].
pub fn open_records(data: &Path) -> Result<Arc<dyn Records>> {
    make_folder(data)?;
    Ok(Arc::new(Sqlite::open(&data.join(STATE))?))
}

/// Opens the state and the stored bytes of a server.
fn open_all(config: &Config) -> Result<(Arc<dyn Records>, Arc<dyn Blobs>)> {
    #[cfg(feature = "shared")]
    if let Some(shared) = &config.shared {
        return shared.open(&config.data, config.limits.cache);
    }
    Ok((open_records(&config.data)?, Arc::new(Folder::open(&config.data)?)))
}

/// Makes a folder for its owner alone, if it is not there, and refuses one that others can reach.
#[cfg(unix)]
fn make_folder(data: &Path) -> Result<()> {
    use std::os::unix::fs::{DirBuilderExt, PermissionsExt};

    fs::DirBuilder::new().recursive(true).mode(0o700).create(data)?;
    let mode = fs::metadata(data)?.permissions().mode() & 0o777;
    if mode & 0o077 == 0 {
        return Ok(());
    }
    let name = data.display();
    Err(ServiceError::Configuration(format!(
        "others on this machine can reach \"{name}\" (mode {mode:04o}): run chmod 700 \"{name}\""
    )))
}

/// Makes a folder, if it is not there.
#[cfg(not(unix))]
fn make_folder(data: &Path) -> Result<()> {
    Ok(fs::create_dir_all(data)?)
}

/// Adds an account and returns its token; `None` if there is an account of this name already.
///
/// # Errors
/// [`ServiceError::Records`]; [`ServiceError::Configuration`] if the system gives no randomness.
pub fn add_account(records: &dyn Records, name: &Name) -> Result<Option<Token>> {
    let token = Token::generate()?;
    Ok(records.add_account(name, &token.stored())?.then_some(token))
}

/// Gives an account another token and returns it; `None` if there is no account of this name.
///
/// # Errors
/// [`ServiceError::Records`]; [`ServiceError::Configuration`] if the system gives no randomness.
pub fn rotate_token(records: &dyn Records, name: &Name) -> Result<Option<Token>> {
    let token = Token::generate()?;
    Ok(records.rotate(name, &token.stored())?.then_some(token))
}

/// Locks the file that one serving process at a time locks.
fn lock(path: &Path) -> Result<File> {
    let file = File::options().create(true).truncate(false).write(true).open(path)?;
    let end = Instant::now() + LOCK_WAIT;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(error.into()),
            Err(TryLockError::WouldBlock) if Instant::now() < end => {
                std::thread::sleep(Duration::from_millis(20));
            }
            Err(TryLockError::WouldBlock) => {
                return Err(ServiceError::Configuration(
                    "another process serves this folder: stop it first, or give another folder".to_owned(),
                ));
            }
        }
    }
}

impl Store {
    /// Opens state and stored bytes of a server, and puts jobs back into the queue whose server is gone. One process at a time may serve a folder.
    ///
    /// # Errors
    /// [`ServiceError::Configuration`] if another process serves the folder; [`ServiceError::Io`], [`ServiceError::Records`], [`ServiceError::Unavailable`].
    pub fn open(config: &Config) -> Result<Self> {
        make_folder(&config.data)?;
        let lock = lock(&config.data.join(LOCK))?;
        let (records, blobs) = open_all(config)?;
        let again = records.beat(config.limits.lease)?.again;
        if again > 0 {
            tracing::info!(jobs = again, "jobs are computed again");
        }
        let store = Self { records, blobs, arriving: Mutex::default(), _lock: lock };
        if !config.is_shared() {
            store.sweep()?;
        }
        Ok(store)
    }

    /// Returns the state.
    #[must_use]
    pub fn records(&self) -> &dyn Records {
        &*self.records
    }

    /// Returns the stored bytes.
    #[must_use]
    pub fn blobs(&self) -> &dyn Blobs {
        &*self.blobs
    }

    /// Removes all stored bytes that nothing names, as they are left by removed accounts and by processes that were killed.
    ///
    /// # Errors
    /// [`ServiceError::Io`], [`ServiceError::Records`], [`ServiceError::Unavailable`].
    pub fn sweep(&self) -> Result<()> {
        self.blobs.list()?.iter().try_for_each(|blob| self.free_one(blob))
    }

    /// Removes these bytes, if nothing names them any longer.
    fn free_one(&self, blob: &BlobId) -> Result<()> {
        let Some(hold) = self.records.begin_removal(blob)? else { return Ok(()) };
        // Where the storage does not answer, the removal may still come: the hold stays for a while.
        self.blobs.remove(blob)?;
        self.records.release(&hold)
    }

    /// Removes those of these bytes that nothing names any longer. What fails is done by a later sweep: it is no matter of the client's.
    fn free(&self, blobs: &[BlobId]) {
        for blob in blobs {
            if let Err(error) = self.free_one(blob) {
                tracing::warn!("bytes that nothing names stay until they are swept: {error}");
            }
        }
    }

    /// Holds bytes until they have a name.
    fn hold(&self, blob: &BlobId) -> Result<Held<'_>> {
        let end = Instant::now() + REMOVAL_WAIT;
        loop {
            if let Some(hold) = self.records.hold(blob)? {
                return Ok(Held { store: self, hold, is_named: false });
            }
            if end <= Instant::now() {
                let refusal = Refusal::new(503, "the same bytes are being removed right now");
                return Err(Refusal { retry_after: Some(QUOTA_RETRY), ..refusal }.into());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Stores a received file as an object, in place of an earlier one.
    ///
    /// # Errors
    /// A refusal if the account's quota is full; [`ServiceError::Io`], [`ServiceError::Records`], [`ServiceError::Unavailable`].
    pub fn put(
        &self,
        account: AccountId,
        name: &ObjectName,
        (file, blob, bytes): (&TempPath, &BlobId, u64),
        allowed: &Allowance,
    ) -> Result<()> {
        let held = self.hold(blob)?;
        self.blobs.keep(file, blob)?;
        let replaced = self.records.put(account, name, &held.hold, bytes, allowed)?;
        let Some(replaced) = replaced else {
            drop(held);
            self.free(std::slice::from_ref(blob));
            return Err(quota_full(allowed).into());
        };
        held.named();
        self.free(&replaced);
        Ok(())
    }

    /// Removes an object; says whether there was one.
    ///
    /// # Errors
    /// [`ServiceError::Records`], [`ServiceError::Unavailable`].
    pub fn remove(&self, account: AccountId, name: &ObjectName) -> Result<bool> {
        let freed = self.records.remove(account, name)?;
        self.free(&freed);
        Ok(!freed.is_empty())
    }

    /// Removes a job; says whether there was one.
    ///
    /// # Errors
    /// [`ServiceError::Records`], [`ServiceError::Unavailable`].
    pub fn remove_job(&self, account: AccountId, id: &JobId) -> Result<bool> {
        let Some(freed) = self.records.remove_job(account, id)? else { return Ok(false) };
        self.free(&freed);
        Ok(true)
    }

    /// Ends a running job with a result in a file, or with a message. Doing so again does no harm.
    ///
    /// # Errors
    /// [`ServiceError::Io`], [`ServiceError::Records`], [`ServiceError::Unavailable`].
    pub fn finish(&self, id: &JobId, end: &std::result::Result<PathBuf, String>) -> Result<()> {
        let result = match end {
            Ok(result) => result,
            Err(message) => {
                let freed = self.records.finish(id, &End::Failed(message.clone()))?;
                self.free(&freed.unwrap_or_default());
                return Ok(());
            }
        };
        let (blob, bytes) = identify(File::open(result)?)?;
        let held = self.hold(&blob)?;
        self.blobs.keep(result, &blob)?;
        match self.records.finish(id, &End::Done(held.hold.clone(), bytes))? {
            Some(freed) => {
                held.named();
                self.free(&freed);
            }
            // The job was removed, or taken by another server, in the meantime: then nothing names this result.
            None => {
                drop(held);
                self.free(&[blob]);
            }
        }
        Ok(())
    }

    /// Draws the name of a job.
    ///
    /// # Errors
    /// [`ServiceError::Configuration`] if the system gives no randomness.
    pub fn job_id(&self) -> Result<JobId> {
        Ok(JobId::from_bytes(random()?))
    }

    /// Begins to receive bytes of an account.
    pub(crate) fn arrive(self: &Arc<Self>, account: AccountId, allowed: &Allowance) -> Result<Arriving> {
        let used = self.records.account(account)?.map_or(0, |account| account.bytes);
        let allowed = *allowed;
        Ok(Arriving {
            store: Arc::clone(self),
            account,
            left: allowed.bytes.saturating_sub(used),
            allowed,
            bytes: 0,
        })
    }
}

/// Bytes that this server holds, until this is dropped or they have their name.
struct Held<'a> {
    store: &'a Store,
    hold: Hold,
    is_named: bool,
}

impl Held<'_> {
    /// Notes that the bytes have their name: they are held no longer.
    fn named(mut self) {
        self.is_named = true;
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        if self.is_named {
            return;
        }
        if let Err(error) = self.store.records.release(&self.hold) {
            tracing::warn!("bytes are held until this server stops: {error}");
        }
    }
}

/// Bytes that are being received for an account: counted until they are stored or dropped, so that uploads at the same time cannot exceed the quota together.
#[derive(Debug)]
pub(crate) struct Arriving {
    store: Arc<Store>,
    account: AccountId,
    allowed: Allowance,
    /// Bytes that the account had left when these began to come.
    left: u64,
    bytes: u64,
}

impl Arriving {
    /// Counts further bytes, and refuses them where the quota of the account is full.
    pub(crate) fn add(&mut self, bytes: u64) -> std::result::Result<(), Refusal> {
        let mut arriving = self.store.arriving.lock().unwrap_or_else(PoisonError::into_inner);
        let all = arriving.entry(self.account).or_default();
        if all.saturating_add(bytes) > self.left {
            return Err(quota_full(&self.allowed));
        }
        *all += bytes;
        self.bytes += bytes;
        Ok(())
    }
}

impl Drop for Arriving {
    fn drop(&mut self) {
        let mut arriving = self.store.arriving.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(all) = arriving.get_mut(&self.account) {
            *all = all.saturating_sub(self.bytes);
            if *all == 0 {
                arriving.remove(&self.account);
            }
        }
    }
}

/// Makes the refusal of bytes for which an account has no room.
pub(crate) fn quota_full(allowed: &Allowance) -> Refusal {
    Refusal::busy("the quota of this account is full", QUOTA_RETRY)
        .expected(format!("at most {} bytes in all", allowed.bytes))
        .remedy("delete objects and jobs that are needed no longer")
}
