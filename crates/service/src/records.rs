//! State of the server: accounts, names of stored objects, and jobs.

#[cfg(feature = "shared")]
pub mod postgres;
mod sql;
pub mod sqlite;

use std::time::Duration;

use serde::Serialize;

use crate::name::{BlobId, JobId, Name};
use crate::refusal::Result;
use crate::token::{StoredToken, TokenId};

/// Number of an account, which no other account ever has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AccountId(pub i64);

/// Account of a tenant, as its owner and the operator see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Account {
    /// Name of the account.
    pub name: Name,
    /// Seconds since 1970 at which the account was made.
    pub created: i64,
    /// Bytes that count towards the quota of the account.
    pub bytes: u64,
    /// Number of jobs of the account, finished ones too.
    pub jobs: u64,
}

/// Kind of stored objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// Evaluation keys: several files under one name.
    Keys,
    /// Programs.
    Programs,
    /// Encrypted tables.
    Tables,
}

impl Place {
    /// Name of the kind of objects in addresses.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Keys => "keys",
            Self::Programs => "programs",
            Self::Tables => "tables",
        }
    }
}

/// Name of a stored object within an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectName {
    /// Kind of the object.
    pub place: Place,
    /// Name of the object.
    pub name: Name,
    /// File of keys; none for objects of other kinds.
    pub file: Option<Name>,
}

/// Stored object, as its owner sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Object {
    /// Name of the object.
    pub name: String,
    /// File of keys.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub file: String,
    /// Number of bytes.
    pub bytes: u64,
    /// SHA-256 of the bytes.
    pub sha256: String,
    /// Seconds since 1970 at which the object was stored.
    pub created: i64,
}

/// State of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum JobState {
    /// Waiting for its turn.
    Queued,
    /// Being computed.
    Running,
    /// Finished, with a result.
    Done,
    /// Finished, without a result.
    Failed,
}

/// Job that a client asks for: names of stored objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Name of the program.
    pub program: Name,
    /// Name of the evaluation keys.
    pub keys: Name,
    /// Names of the table, or of the parts that several parties encrypted.
    pub tables: Vec<Name>,
    /// Bits of precision of CKKS, if they are given.
    pub precision: Option<u32>,
    /// Name that the client gave this request: asked again, it returns the job of before.
    pub request: Option<Name>,
}

/// Job, as its owner sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Job {
    /// Name of the job.
    pub id: JobId,
    /// State of the job.
    pub state: JobState,
    /// Name of the program.
    pub program: String,
    /// Name of the evaluation keys.
    pub keys: String,
    /// Names of the tables.
    pub tables: Vec<String>,
    /// Seconds since 1970 at which the job was accepted.
    pub created: i64,
    /// Seconds since 1970 at which the job ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished: Option<i64>,
    /// Why the job failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// SHA-256 of the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<BlobId>,
    /// Number of bytes of the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

/// Outcome of a request for a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Submitted {
    /// Accepted job, also one that was accepted before by a request of the same name.
    Queued(Job),
    /// Kind of an object of the request that the account does not have.
    Absent(Place),
    /// The account has as many unfinished jobs as it may have.
    QueueFull,
    /// The account has as many jobs as it may keep.
    TooMany,
    /// The account stores as much as it may store.
    QuotaFull,
}

/// Limits of one account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// Largest number of bytes that count.
    pub bytes: u64,
    /// Largest number of jobs that are queued or running.
    pub unfinished: u64,
    /// Largest number of jobs, finished ones too.
    pub jobs: u64,
}

/// Job that is to be computed now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claimed {
    /// Name of the job.
    pub id: JobId,
    /// Account that the job belongs to.
    pub account: AccountId,
    /// Files that the job reads: their paths in its folder, and their bytes.
    pub inputs: Vec<(String, BlobId)>,
    /// Paths of the tables in its folder.
    pub tables: Vec<String>,
    /// Bits of precision of CKKS, if they are given.
    pub precision: Option<u32>,
    /// Seconds since the job was accepted.
    pub waited: u64,
}

/// Bytes that a process holds: to name them, or to remove them. Nobody else does the other meanwhile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// Number of the hold, which no other one ever has.
    pub(crate) number: i64,
    /// Name of the bytes.
    pub(crate) blob: BlobId,
}

/// What a process that serves learns when it renews its lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beat {
    /// Number of jobs that were put back into the queue, since the process that ran them has no lease any longer.
    pub again: u64,
    /// Jobs that this process runs, as far as the state knows.
    pub running: Vec<JobId>,
}

/// End of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// Stored result, held to be named, and the number of its bytes.
    Done(Hold, u64),
    /// Message that says why there is none.
    Failed(String),
}

/// Number of jobs by state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Jobs that wait.
    pub queued: u64,
    /// Jobs that are computed.
    pub running: u64,
}

/// Storage of the server's state. Each method is one transaction: it is there after a crash, or was never begun.
///
/// Whatever belongs to a tenant is found by its account and its name together: no method finds it by the name alone.
///
/// Several processes may serve one state. Each has a lease, which it renews by [`beat`](Self::beat): jobs of one that does not are computed by others.
pub trait Records: Send + Sync + std::fmt::Debug {
    /// Adds an account; says whether there was none of this name.
    ///
    /// # Errors
    /// An error of the storage.
    fn add_account(&self, name: &Name, token: &StoredToken) -> Result<bool>;
    /// Lists all accounts by name.
    ///
    /// # Errors
    /// An error of the storage.
    fn accounts(&self) -> Result<Vec<Account>>;
    /// Removes an account and all that it has; says whether there was one.
    ///
    /// # Errors
    /// An error of the storage.
    fn remove_account(&self, name: &Name) -> Result<bool>;
    /// Gives an account another token, the only one from now on; says whether there is such an account.
    ///
    /// # Errors
    /// An error of the storage.
    fn rotate(&self, name: &Name, token: &StoredToken) -> Result<bool>;
    /// Finds the account of a token by the token's public number.
    ///
    /// # Errors
    /// An error of the storage.
    fn token(&self, id: TokenId) -> Result<Option<(AccountId, StoredToken)>>;
    /// Returns what an account has; `None` where it was removed.
    ///
    /// # Errors
    /// An error of the storage.
    fn account(&self, account: AccountId) -> Result<Option<Account>>;

    /// Names held bytes as an object and returns those of an earlier one that it replaces; `None` where the account's quota does not allow it. Bytes that got
    /// their name are held no longer.
    ///
    /// # Errors
    /// An error of the storage, also where the hold is gone.
    fn put(
        &self,
        account: AccountId,
        name: &ObjectName,
        hold: &Hold,
        bytes: u64,
        allowed: &Allowance,
    ) -> Result<Option<Vec<BlobId>>>;
    /// Lists objects of one kind by name.
    ///
    /// # Errors
    /// An error of the storage.
    fn objects(&self, account: AccountId, place: Place) -> Result<Vec<Object>>;
    /// Removes an object, all files of it unless one is named; returns what it was made of.
    ///
    /// # Errors
    /// An error of the storage.
    fn remove(&self, account: AccountId, name: &ObjectName) -> Result<Vec<BlobId>>;

    /// Queues a job over the objects as they are now.
    ///
    /// # Errors
    /// An error of the storage.
    fn submit(
        &self,
        account: AccountId,
        id: &JobId,
        request: &Request,
        allowed: &Allowance,
    ) -> Result<Submitted>;
    /// Finds a job.
    ///
    /// # Errors
    /// An error of the storage.
    fn job(&self, account: AccountId, id: &JobId) -> Result<Option<Job>>;
    /// Lists the newest jobs, at most a thousand, the newest first.
    ///
    /// # Errors
    /// An error of the storage.
    fn jobs(&self, account: AccountId) -> Result<Vec<Job>>;
    /// Removes a job; returns the blobs that belonged to it, `None` if there is no such job.
    ///
    /// # Errors
    /// An error of the storage.
    fn remove_job(&self, account: AccountId, id: &JobId) -> Result<Option<Vec<BlobId>>>;

    /// Takes the next job from the queue for this process: the oldest one of the account that has the fewest jobs running.
    ///
    /// # Errors
    /// An error of the storage.
    fn claim(&self) -> Result<Option<Claimed>>;
    /// Ends a job that this process runs and returns the inputs that it lets go of; `None` if it runs it no longer. A result that got its name is held no longer.
    ///
    /// # Errors
    /// An error of the storage, also where the hold of the result is gone.
    fn finish(&self, id: &JobId, end: &End) -> Result<Option<Vec<BlobId>>>;
    /// Puts a job that this process runs back into the queue.
    ///
    /// # Errors
    /// An error of the storage.
    fn requeue(&self, id: &JobId) -> Result<()>;
    /// Counts jobs of all accounts.
    ///
    /// # Errors
    /// An error of the storage.
    fn counts(&self) -> Result<Counts>;

    /// Gives this process a lease of whole seconds, or renews it; puts jobs of processes without one back into the queue.
    ///
    /// # Errors
    /// An error of the storage.
    fn beat(&self, lease: Duration) -> Result<Beat>;
    /// Gives up the lease of this process; its jobs are put back into the queue.
    ///
    /// # Errors
    /// An error of the storage.
    fn leave(&self) -> Result<()>;

    /// Holds bytes that are about to get a name, so that nobody removes them; `None` while they are being removed.
    ///
    /// # Errors
    /// An error of the storage.
    fn hold(&self, blob: &BlobId) -> Result<Option<Hold>>;
    /// Holds bytes to remove them, so that nobody names them; `None` if any object, job or result has them, or somebody is about to name them.
    ///
    /// # Errors
    /// An error of the storage.
    fn begin_removal(&self, blob: &BlobId) -> Result<Option<Hold>>;
    /// Lets go of bytes.
    ///
    /// # Errors
    /// An error of the storage.
    fn release(&self, hold: &Hold) -> Result<()>;
}
