//! Jobs in SQLite.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ValueRef};
use rusqlite::{OptionalExtension, Row, Transaction, params};

use super::{count, now, stored, usage};
use crate::name::{BlobId, JobId, Name};
use crate::records::{AccountId, Allowance, Claimed, Counts, End, Job, JobState, Place, Request, Submitted};
use crate::refusal::Result;

/// Columns of a job in the order in which [`job`] reads them.
const COLUMNS: &str = "id, state, program, keys, tables, created, finished, error, result, bytes";
/// Largest number of jobs in a list.
const LISTED: i64 = 1000;

impl FromSql for JobState {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value.as_str()? {
            "queued" => Ok(Self::Queued),
            "running" => Ok(Self::Running),
            "done" => Ok(Self::Done),
            "failed" => Ok(Self::Failed),
            _ => Err(FromSqlError::InvalidType),
        }
    }
}

impl FromSql for JobId {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Self::parse(value.as_str()?).ok_or(FromSqlError::InvalidType)
    }
}

impl FromSql for BlobId {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Self::parse(value.as_str()?).ok_or(FromSqlError::InvalidType)
    }
}

/// Reads a job from the columns of [`COLUMNS`].
fn job(row: &Row<'_>) -> rusqlite::Result<Job> {
    let tables: String = row.get(4)?;
    Ok(Job {
        id: row.get(0)?,
        state: row.get(1)?,
        program: row.get(2)?,
        keys: row.get(3)?,
        tables: tables.split(',').map(str::to_owned).collect(),
        created: row.get(5)?,
        finished: row.get(6)?,
        error: row.get(7)?,
        sha256: row.get(8)?,
        bytes: row.get::<_, Option<i64>>(9)?.map(count),
    })
}

/// Path of a table in the folder of a job.
fn table_path(name: &str) -> String {
    format!("{}/{name}", Place::Tables.as_str())
}

/// Returns the limit of its account that another job would exceed, if there is one.
fn full(transaction: &Transaction<'_>, account: AccountId, allowed: &Allowance) -> Result<Option<Submitted>> {
    let tally = |condition: &str| -> Result<u64> {
        let text = format!("SELECT COUNT(*) FROM jobs WHERE account = ?1 {condition}");
        Ok(count(transaction.prepare_cached(&text)?.query_row([account.0], |row| row.get(0))?))
    };
    if tally("AND state IN ('queued', 'running')")? >= allowed.unfinished {
        return Ok(Some(Submitted::QueueFull));
    }
    if tally("")? >= allowed.jobs {
        return Ok(Some(Submitted::TooMany));
    }
    Ok((usage(transaction, account)? > allowed.bytes).then_some(Submitted::QuotaFull))
}

/// Queues a job over the objects as they are now.
pub(super) fn submit(
    transaction: &Transaction<'_>,
    account: AccountId,
    id: &JobId,
    request: &Request,
    allowed: &Allowance,
) -> Result<Submitted> {
    if let Some(job) = asked_before(transaction, account, request)? {
        return Ok(Submitted::Queued(job));
    }
    if let Some(full) = full(transaction, account, allowed)? {
        return Ok(full);
    }
    // Names have no comma.
    let tables = request.tables.iter().map(Name::as_str).collect::<Vec<_>>().join(",");
    transaction.execute(
        "INSERT INTO jobs (id, account, state, program, keys, tables, precision, request, created)
            VALUES (?1, ?2, 'queued', ?3, ?4, ?5, ?6, ?7, ?8)",
        params![
            id.as_str(),
            account.0,
            request.program.as_str(),
            request.keys.as_str(),
            tables,
            request.precision,
            request.request.as_ref().map(Name::as_str),
            now()
        ],
    )?;
    let wanted = [(Place::Programs, &request.program), (Place::Keys, &request.keys)];
    let tables = request.tables.iter().map(|table| (Place::Tables, table));
    for (place, name) in wanted.into_iter().chain(tables) {
        if !add_inputs(transaction, (account, id), place, name)? {
            transaction.execute("DELETE FROM jobs WHERE id = ?1", [id.as_str()])?;
            return Ok(Submitted::Absent(place));
        }
    }
    let job = one(transaction, account, id)?;
    Ok(job.map_or(Submitted::Absent(Place::Programs), Submitted::Queued))
}

/// Finds the job of a request that was asked before.
fn asked_before(transaction: &Transaction<'_>, account: AccountId, request: &Request) -> Result<Option<Job>> {
    let Some(name) = &request.request else { return Ok(None) };
    let text = format!("SELECT {COLUMNS} FROM jobs WHERE account = ?1 AND request = ?2");
    let mut statement = transaction.prepare_cached(&text)?;
    Ok(statement.query_row(params![account.0, name.as_str()], job).optional()?)
}

/// Adds the files of an object to the inputs of a job; says whether the account has the object.
fn add_inputs(
    transaction: &Transaction<'_>,
    (account, id): (AccountId, &JobId),
    place: Place,
    name: &Name,
) -> Result<bool> {
    let path = match place {
        Place::Programs => "'program'",
        Place::Keys => "'keys/' || file",
        Place::Tables => "'tables/' || name",
    };
    let text = format!(
        "INSERT INTO inputs (job, account, path, blob, bytes)
            SELECT ?1, account, {path}, blob, bytes FROM objects WHERE account = ?2 AND place = ?3 AND name = ?4"
    );
    let mut statement = transaction.prepare_cached(&text)?;
    let added = statement.execute(params![id.as_str(), account.0, place.as_str(), name.as_str()])?;
    Ok(added > 0)
}

/// Finds a job.
pub(super) fn one(transaction: &Transaction<'_>, account: AccountId, id: &JobId) -> Result<Option<Job>> {
    let text = format!("SELECT {COLUMNS} FROM jobs WHERE account = ?1 AND id = ?2");
    let mut statement = transaction.prepare_cached(&text)?;
    Ok(statement.query_row(params![account.0, id.as_str()], job).optional()?)
}

/// Lists the newest jobs.
pub(super) fn newest(transaction: &Transaction<'_>, account: AccountId) -> Result<Vec<Job>> {
    let text = format!("SELECT {COLUMNS} FROM jobs WHERE account = ?1 ORDER BY place DESC LIMIT {LISTED}");
    let mut statement = transaction.prepare_cached(&text)?;
    let found = statement.query_map([account.0], job)?;
    Ok(found.collect::<std::result::Result<_, _>>()?)
}

/// Returns the files of a job: their paths and their bytes.
fn inputs(transaction: &Transaction<'_>, id: &JobId) -> Result<Vec<(String, BlobId)>> {
    let mut statement = transaction.prepare_cached("SELECT path, blob FROM inputs WHERE job = ?1")?;
    let found = statement.query_map([id.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(found.collect::<std::result::Result<_, _>>()?)
}

/// Removes a job; returns the blobs that belonged to it.
pub(super) fn remove(
    transaction: &Transaction<'_>,
    account: AccountId,
    id: &JobId,
) -> Result<Option<Vec<BlobId>>> {
    let Some(job) = one(transaction, account, id)? else { return Ok(None) };
    let blobs = inputs(transaction, id)?.into_iter().map(|(_, blob)| blob).chain(job.sha256).collect();
    transaction
        .execute("DELETE FROM jobs WHERE account = ?1 AND id = ?2", params![account.0, id.as_str()])?;
    Ok(Some(blobs))
}

/// Takes the next job from the queue.
pub(super) fn claim(transaction: &Transaction<'_>) -> Result<Option<Claimed>> {
    let next = transaction
        .prepare_cached(
            "UPDATE jobs SET state = 'running' WHERE place = (
                SELECT place FROM jobs AS own WHERE state = 'queued' ORDER BY
                    (SELECT COUNT(*) FROM jobs AS other WHERE other.account = own.account AND other.state = 'running'),
                    place
                LIMIT 1)
            RETURNING id, account, tables, precision, created",
        )?
        .query_row([], |row| {
            let (tables, created) = (row.get::<_, String>(2)?, row.get::<_, i64>(4)?);
            Ok((row.get::<_, JobId>(0)?, AccountId(row.get(1)?), tables, row.get(3)?, created))
        })
        .optional()?;
    let Some((id, account, tables, precision, created)) = next else { return Ok(None) };
    let inputs = inputs(transaction, &id)?;
    let tables = tables.split(',').map(table_path).collect();
    let waited = u64::try_from(now() - created).unwrap_or_default();
    Ok(Some(Claimed { id, account, inputs, tables, precision, waited }))
}

/// Ends a running job and lets go of its inputs, which it returns; `None` if it was there no longer.
pub(super) fn finish(transaction: &Transaction<'_>, id: &JobId, end: &End) -> Result<Option<Vec<BlobId>>> {
    let (state, error, result, bytes) = match end {
        End::Done(blob, bytes) => ("done", None, Some(blob.as_str()), Some(stored(*bytes))),
        End::Failed(message) => ("failed", Some(message), None, None),
    };
    let ended = transaction.execute(
        "UPDATE jobs SET state = ?2, error = ?3, result = ?4, bytes = ?5, finished = ?6
            WHERE id = ?1 AND state = 'running'",
        params![id.as_str(), state, error, result, bytes, now()],
    )?;
    if ended != 1 {
        return Ok(None);
    }
    let freed = inputs(transaction, id)?.into_iter().map(|(_, blob)| blob).collect();
    transaction.execute("DELETE FROM inputs WHERE job = ?1", [id.as_str()])?;
    Ok(Some(freed))
}

/// Puts a running job, or all of them, back into the queue; returns their number.
pub(super) fn requeue(transaction: &Transaction<'_>, id: Option<&JobId>) -> Result<u64> {
    let changed = transaction.execute(
        "UPDATE jobs SET state = 'queued' WHERE state = 'running' AND (?1 IS NULL OR id = ?1)",
        [id.map(JobId::as_str)],
    )?;
    Ok(changed as u64)
}

/// Counts jobs of all accounts.
pub(super) fn counts(transaction: &Transaction<'_>) -> Result<Counts> {
    let mut statement = transaction.prepare_cached(
        "SELECT COUNT(*) FILTER (WHERE state = 'queued'), COUNT(*) FILTER (WHERE state = 'running')
            FROM jobs WHERE state IN ('queued', 'running')",
    )?;
    Ok(statement
        .query_row([], |row| Ok(Counts { queued: count(row.get(0)?), running: count(row.get(1)?) }))?)
}
