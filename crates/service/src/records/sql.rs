//! Statements of SQL that are the same for every database, and what a database has to offer for them.
//!
//! A [`Session`] is one transaction. Statements have parameters `$1`, `$2`, …, take and return whole numbers of 64 bits, texts and bytes, and differ
//! between databases in the fragments of a [`Dialect`] alone.

mod accounts;
mod holds;
mod jobs;
mod objects;
mod row;

pub(super) use self::row::{Cell, Row};

use std::time::Duration;

use super::{
    Account, AccountId, Allowance, Beat, Claimed, Counts, End, Hold, Job, Object, ObjectName, Place, Records,
    Request, Submitted,
};
use crate::name::{BlobId, JobId, Name};
use crate::refusal::{Result, ServiceError};
use crate::token::{StoredToken, TokenId, random};

/// Bytes that an object or input counts at least: a name takes room, too.
const LEAST_BYTES: u64 = 4096;

/// Value of a parameter.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value<'a> {
    /// Whole number.
    Integer(Option<i64>),
    /// Text.
    Text(Option<&'a str>),
    /// Bytes.
    Bytes(&'a [u8]),
}

impl From<i64> for Value<'_> {
    fn from(value: i64) -> Self {
        Self::Integer(Some(value))
    }
}

impl From<AccountId> for Value<'_> {
    fn from(account: AccountId) -> Self {
        account.0.into()
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(Some(text))
    }
}

impl<'a> From<Option<&'a str>> for Value<'a> {
    fn from(text: Option<&'a str>) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a [u8]> for Value<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Bytes(bytes)
    }
}

/// Fragments of statements in which databases differ.
#[derive(Debug)]
pub(super) struct Dialect {
    /// Seconds since 1970 by the clock of the database.
    pub(super) now: &'static str,
    /// End of a query whose rows no other transaction changes until this one ends.
    pub(super) lock: &'static str,
    /// End of the query for the next job `own`: passes over those that another transaction takes.
    pub(super) next: &'static str,
    /// Statement that waits until no other transaction decides on the same bytes, whose name is `$1`; none where transactions that write wait for one another.
    pub(super) deciding: Option<&'static str>,
}

/// One transaction of a database.
pub(super) trait Session {
    /// Returns the fragments of the database.
    fn dialect(&self) -> &'static Dialect;
    /// Runs a statement and returns the number of rows that it changed.
    fn execute(&mut self, text: &str, values: &[Value<'_>]) -> Result<u64>;
    /// Runs a statement and returns the rows that it gives.
    fn rows(&mut self, text: &str, values: &[Value<'_>]) -> Result<Vec<Row>>;
    /// Undoes the transaction when it ends, though nothing failed.
    fn undo(&mut self);

    /// Runs a statement and returns the first row that it gives, if there is one.
    fn row(&mut self, text: &str, values: &[Value<'_>]) -> Result<Option<Row>> {
        Ok(self.rows(text, values)?.into_iter().next())
    }
}

/// Database with the tables of the server.
pub(super) trait Database: Send + Sync + std::fmt::Debug {
    /// Returns the name of this process among those that serve.
    fn server(&self) -> &str;
    /// Runs a transaction that may write. It is undone where an error comes back.
    fn write<T>(&self, run: impl FnOnce(&mut dyn Session) -> Result<T>) -> Result<T>;
    /// Runs statements that read.
    fn read<T>(&self, run: impl FnOnce(&mut dyn Session) -> Result<T>) -> Result<T>;
}

/// Draws the name of a process among those that serve.
pub(super) fn server() -> Result<String> {
    Ok(crate::name::hex(&random::<16>()?))
}

/// Makes the error of a state whose version this release does not know.
pub(super) fn other_version(found: i64, expected: i64) -> ServiceError {
    ServiceError::Configuration(format!(
        "the state of this server has version {found}, expected {expected}: serve it with the release that wrote it"
    ))
}

/// Returns a count as databases store it.
fn stored(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Returns the bytes that count towards the quota of an account: those of all objects, inputs of jobs and results, equal ones once.
fn usage(session: &mut dyn Session, account: AccountId) -> Result<u64> {
    let row = session.row(
        "SELECT CAST(COALESCE(SUM(CASE WHEN bytes < $2 THEN $2 ELSE bytes END), 0) AS BIGINT) FROM (
            SELECT blob, bytes FROM objects WHERE account = $1
            UNION SELECT blob, bytes FROM inputs WHERE account = $1
            UNION SELECT result, bytes FROM jobs WHERE account = $1 AND result IS NOT NULL) AS named",
        &[account.into(), stored(LEAST_BYTES).into()],
    )?;
    row.map_or(Ok(0), |row| row.count(0))
}

/// Makes transactions wait for one another that change what one account has: quotas hold, and no object goes while a job takes it.
fn lock(session: &mut dyn Session, account: AccountId) -> Result<()> {
    let text = format!("SELECT id FROM accounts WHERE id = $1 {}", session.dialect().lock);
    session.rows(&text, &[account.into()]).map(drop)
}

impl<D: Database> Records for D {
    fn add_account(&self, name: &Name, token: &StoredToken) -> Result<bool> {
        self.write(|session| accounts::add(session, name, token))
    }

    fn accounts(&self) -> Result<Vec<Account>> {
        self.read(accounts::all)
    }

    fn remove_account(&self, name: &Name) -> Result<bool> {
        self.write(|session| accounts::remove(session, name))
    }

    fn rotate(&self, name: &Name, token: &StoredToken) -> Result<bool> {
        self.write(|session| accounts::rotate(session, name, token))
    }

    fn token(&self, id: TokenId) -> Result<Option<(AccountId, StoredToken)>> {
        self.read(|session| accounts::token(session, id))
    }

    fn account(&self, account: AccountId) -> Result<Option<Account>> {
        self.read(|session| accounts::one(session, account))
    }

    fn put(
        &self,
        account: AccountId,
        name: &ObjectName,
        hold: &Hold,
        bytes: u64,
        allowed: &Allowance,
    ) -> Result<Option<Vec<BlobId>>> {
        self.write(|session| {
            lock(session, account)?;
            holds::consume(session, self.server(), hold)?;
            let replaced = objects::put(session, account, name, &hold.blob, bytes)?;
            if usage(session, account)? > allowed.bytes {
                session.undo();
                return Ok(None);
            }
            Ok(Some(replaced))
        })
    }

    fn objects(&self, account: AccountId, place: Place) -> Result<Vec<Object>> {
        self.read(|session| objects::all(session, account, place))
    }

    fn remove(&self, account: AccountId, name: &ObjectName) -> Result<Vec<BlobId>> {
        self.write(|session| {
            lock(session, account)?;
            objects::remove(session, account, name)
        })
    }

    fn submit(
        &self,
        account: AccountId,
        id: &JobId,
        request: &Request,
        allowed: &Allowance,
    ) -> Result<Submitted> {
        self.write(|session| {
            lock(session, account)?;
            jobs::submit(session, account, id, request, allowed)
        })
    }

    fn job(&self, account: AccountId, id: &JobId) -> Result<Option<Job>> {
        self.read(|session| jobs::one(session, account, id))
    }

    fn jobs(&self, account: AccountId) -> Result<Vec<Job>> {
        self.read(|session| jobs::newest(session, account))
    }

    fn remove_job(&self, account: AccountId, id: &JobId) -> Result<Option<Vec<BlobId>>> {
        self.write(|session| jobs::remove(session, account, id))
    }

    fn claim(&self) -> Result<Option<Claimed>> {
        self.write(|session| jobs::claim(session, self.server()))
    }

    fn finish(&self, id: &JobId, end: &End) -> Result<Option<Vec<BlobId>>> {
        self.write(|session| {
            let freed = jobs::finish(session, self.server(), id, end)?;
            if let (Some(_), End::Done(hold, _)) = (&freed, end) {
                holds::consume(session, self.server(), hold)?;
            }
            Ok(freed)
        })
    }

    fn requeue(&self, id: &JobId) -> Result<()> {
        self.write(|session| jobs::requeue(session, self.server(), id))
    }

    fn counts(&self) -> Result<Counts> {
        self.read(jobs::counts)
    }

    fn beat(&self, lease: Duration) -> Result<Beat> {
        self.write(|session| {
            holds::renew(session, self.server(), lease)?;
            let again = jobs::requeue_abandoned(session)?;
            Ok(Beat { again, running: jobs::running(session, self.server())? })
        })
    }

    fn leave(&self) -> Result<()> {
        self.write(|session| {
            holds::leave(session, self.server())?;
            jobs::requeue_abandoned(session).map(drop)
        })
    }

    fn hold(&self, blob: &BlobId) -> Result<Option<Hold>> {
        self.write(|session| holds::hold(session, self.server(), blob))
    }

    fn begin_removal(&self, blob: &BlobId) -> Result<Option<Hold>> {
        if self.read(|session| holds::is_named(session, blob))? {
            return Ok(None);
        }
        self.write(|session| holds::begin_removal(session, self.server(), blob))
    }

    fn release(&self, hold: &Hold) -> Result<()> {
        self.write(|session| holds::release(session, self.server(), hold).map(drop))
    }
}
