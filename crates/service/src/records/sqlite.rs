//! State of the server in one file of SQLite.

mod accounts;
mod jobs;
mod objects;

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use super::{
    Account, AccountId, Allowance, Claimed, Counts, End, Job, Object, ObjectName, Place, Records, Request,
    Submitted,
};
use crate::name::{BlobId, JobId, Name};
use crate::refusal::{Result, ServiceError};
use crate::token::{StoredToken, TokenId};

/// Tables and indices.
const SCHEMA: &str = include_str!("schema.sql");
/// Version of the tables, kept in the file.
const VERSION: i64 = 1;
/// How long a transaction waits for that of another process, such as `sunzi account`.
const PATIENCE: Duration = Duration::from_secs(10);
/// Bytes that an object or input counts at least: a name takes room, too.
const LEAST_BYTES: u64 = 4096;

/// State of the server in one file of SQLite, which several processes may open: one serves, others add accounts.
#[derive(Debug)]
pub struct Sqlite {
    connection: Mutex<Connection>,
    /// Connection that reads alone: it waits for no other one that writes to the disk.
    reader: Mutex<Connection>,
}

impl Sqlite {
    /// Opens the file, or makes it. A transaction is on the disk when it ends.
    ///
    /// # Errors
    /// [`ServiceError::Records`]; [`ServiceError::Configuration`] for a file of another version.
    pub fn open(path: &Path) -> Result<Self> {
        let mut connection = Connection::open(path)?;
        connection.busy_timeout(PATIENCE)?;
        connection.pragma_update(None, "journal_mode", "wal")?;
        connection.pragma_update(None, "synchronous", "full")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let version: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
        if version == 0 {
            transaction.execute_batch(SCHEMA)?;
            transaction.pragma_update(None, "user_version", VERSION)?;
        } else if version != VERSION {
            return Err(ServiceError::Configuration(format!(
                "the state in this folder has version {version}, expected {VERSION}: serve it with the release that wrote it"
            )));
        }
        transaction.commit()?;
        let reader = Connection::open(path)?;
        reader.busy_timeout(PATIENCE)?;
        reader.pragma_update(None, "query_only", true)?;
        Ok(Self { connection: Mutex::new(connection), reader: Mutex::new(reader) })
    }

    /// Runs one transaction that may write.
    fn write<T>(&self, run: impl FnOnce(&Transaction<'_>) -> Result<T>) -> Result<T> {
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let value = run(&transaction)?;
        transaction.commit()?;
        Ok(value)
    }

    /// Runs one transaction that reads.
    fn read<T>(&self, run: impl FnOnce(&Transaction<'_>) -> Result<T>) -> Result<T> {
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        let transaction = reader.transaction()?;
        run(&transaction)
    }
}

/// Returns seconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

/// Returns a count as SQLite stores it.
fn stored(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Returns a count that SQLite stored.
fn count(stored: i64) -> u64 {
    u64::try_from(stored).unwrap_or(0)
}

/// Returns the bytes that count towards the quota of an account: those of all objects, inputs of jobs and results, equal ones once.
fn usage(transaction: &Transaction<'_>, account: AccountId) -> Result<u64> {
    let mut statement = transaction.prepare_cached(
        "SELECT COALESCE(SUM(MAX(bytes, ?2)), 0) FROM (
            SELECT blob, bytes FROM objects WHERE account = ?1
            UNION SELECT blob, bytes FROM inputs WHERE account = ?1
            UNION SELECT result, bytes FROM jobs WHERE account = ?1 AND result IS NOT NULL)",
    )?;
    Ok(count(statement.query_row(params![account.0, stored(LEAST_BYTES)], |row| row.get(0))?))
}

impl Records for Sqlite {
    fn add_account(&self, name: &Name, token: &StoredToken) -> Result<bool> {
        self.write(|transaction| accounts::add(transaction, name, token))
    }

    fn accounts(&self) -> Result<Vec<Account>> {
        self.read(accounts::all)
    }

    fn remove_account(&self, name: &Name) -> Result<bool> {
        self.write(|transaction| accounts::remove(transaction, name))
    }

    fn rotate(&self, name: &Name, token: &StoredToken) -> Result<bool> {
        self.write(|transaction| accounts::rotate(transaction, name, token))
    }

    fn token(&self, id: TokenId) -> Result<Option<(AccountId, StoredToken)>> {
        self.read(|transaction| accounts::token(transaction, id))
    }

    fn account(&self, account: AccountId) -> Result<Option<Account>> {
        self.read(|transaction| accounts::one(transaction, account))
    }

    fn put(
        &self,
        account: AccountId,
        name: &ObjectName,
        blob: &BlobId,
        bytes: u64,
        allowed: &Allowance,
    ) -> Result<Option<Vec<BlobId>>> {
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let replaced = objects::put(&transaction, account, name, blob, bytes)?;
        if usage(&transaction, account)? > allowed.bytes {
            // A transaction that is dropped is undone.
            return Ok(None);
        }
        transaction.commit()?;
        Ok(Some(replaced))
    }

    fn objects(&self, account: AccountId, place: Place) -> Result<Vec<Object>> {
        self.read(|transaction| objects::all(transaction, account, place))
    }

    fn remove(&self, account: AccountId, name: &ObjectName) -> Result<Vec<BlobId>> {
        self.write(|transaction| objects::remove(transaction, account, name))
    }

    fn submit(
        &self,
        account: AccountId,
        id: &JobId,
        request: &Request,
        allowed: &Allowance,
    ) -> Result<Submitted> {
        self.write(|transaction| jobs::submit(transaction, account, id, request, allowed))
    }

    fn job(&self, account: AccountId, id: &JobId) -> Result<Option<Job>> {
        self.read(|transaction| jobs::one(transaction, account, id))
    }

    fn jobs(&self, account: AccountId) -> Result<Vec<Job>> {
        self.read(|transaction| jobs::newest(transaction, account))
    }

    fn remove_job(&self, account: AccountId, id: &JobId) -> Result<Option<Vec<BlobId>>> {
        self.write(|transaction| jobs::remove(transaction, account, id))
    }

    fn claim(&self) -> Result<Option<Claimed>> {
        self.write(jobs::claim)
    }

    fn finish(&self, id: &JobId, end: &End) -> Result<Option<Vec<BlobId>>> {
        self.write(|transaction| jobs::finish(transaction, id, end))
    }

    fn requeue(&self, id: &JobId) -> Result<()> {
        self.write(|transaction| jobs::requeue(transaction, Some(id)).map(drop))
    }

    fn requeue_all(&self) -> Result<u64> {
        self.write(|transaction| jobs::requeue(transaction, None))
    }

    fn counts(&self) -> Result<Counts> {
        self.read(jobs::counts)
    }

    fn is_used(&self, blob: &BlobId) -> Result<bool> {
        self.read(|transaction| {
            let mut statement = transaction.prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM objects WHERE blob = ?1)
                    OR EXISTS (SELECT 1 FROM inputs WHERE blob = ?1)
                    OR EXISTS (SELECT 1 FROM jobs WHERE result = ?1)",
            )?;
            Ok(statement.query_row([blob.as_str()], |row| row.get(0))?)
        })
    }
}
