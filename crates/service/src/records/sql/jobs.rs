//! Jobs.

use super::{Row, Session, Value, stored, usage};
use crate::name::{BlobId, JobId, Name};
use crate::records::{AccountId, Allowance, Claimed, Counts, End, Job, JobState, Place, Request, Submitted};
use crate::refusal::Result;

/// Columns of a job in the order in which [`job`] reads them.
const COLUMNS: &str = "id, state, program, keys, tables, created, finished, error, result, bytes";
/// Largest number of jobs in a list.
const LISTED: i64 = 1000;

/// Reads the state of a job.
fn state(text: &str) -> Option<JobState> {
    match text {
        "queued" => Some(JobState::Queued),
        "running" => Some(JobState::Running),
        "done" => Some(JobState::Done),
        "failed" => Some(JobState::Failed),
        _ => None,
    }
}

/// Reads a job from the columns of [`COLUMNS`].
fn job(row: &Row) -> Result<Job> {
    let result = row.optional_text(8)?;
    Ok(Job {
        id: row.parsed(0, JobId::parse)?,
        state: row.parsed(1, state)?,
        program: row.text(2)?,
        keys: row.text(3)?,
        tables: row.text(4)?.split(',').map(str::to_owned).collect(),
        created: row.integer(5)?,
        finished: row.optional_integer(6)?,
        error: row.optional_text(7)?,
        sha256: result.map(|_| row.parsed(8, BlobId::parse)).transpose()?,
        bytes: row.optional_count(9)?,
    })
}

/// Path of a table in the folder of a job.
fn table_path(name: &str) -> String {
    format!("{}/{name}", Place::Tables.as_str())
}

/// Returns the limit of its account that another job would exceed, if there is one.
fn full(session: &mut dyn Session, account: AccountId, allowed: &Allowance) -> Result<Option<Submitted>> {
    let mut tally = |condition: &str| -> Result<u64> {
        let text = format!("SELECT COUNT(*) FROM jobs WHERE account = $1 {condition}");
        session.row(&text, &[account.into()])?.map_or(Ok(0), |row| row.count(0))
    };
    if tally("AND state IN ('queued', 'running')")? >= allowed.unfinished {
        return Ok(Some(Submitted::QueueFull));
    }
    if tally("")? >= allowed.jobs {
        return Ok(Some(Submitted::TooMany));
    }
    Ok((usage(session, account)? > allowed.bytes).then_some(Submitted::QuotaFull))
}

/// Queues a job over the objects as they are now.
pub(super) fn submit(
    session: &mut dyn Session,
    account: AccountId,
    id: &JobId,
    request: &Request,
    allowed: &Allowance,
) -> Result<Submitted> {
    if let Some(job) = asked_before(session, account, request)? {
        return Ok(Submitted::Queued(job));
    }
    if let Some(full) = full(session, account, allowed)? {
        return Ok(full);
    }
    // Names have no comma.
    let tables = request.tables.iter().map(Name::as_str).collect::<Vec<_>>().join(",");
    let text = format!(
        "INSERT INTO jobs (id, account, state, program, keys, tables, precision, request, created)
            VALUES ($1, $2, 'queued', $3, $4, $5, $6, $7, {})",
        session.dialect().now
    );
    let values = [
        id.as_str().into(),
        account.into(),
        request.program.as_str().into(),
        request.keys.as_str().into(),
        tables.as_str().into(),
        Value::Integer(request.precision.map(i64::from)),
        request.request.as_ref().map(Name::as_str).into(),
    ];
    session.execute(&text, &values)?;
    let wanted = [(Place::Programs, &request.program), (Place::Keys, &request.keys)];
    let tables = request.tables.iter().map(|table| (Place::Tables, table));
    for (place, name) in wanted.into_iter().chain(tables) {
        if !add_inputs(session, (account, id), place, name)? {
            session.undo();
            return Ok(Submitted::Absent(place));
        }
    }
    let job = one(session, account, id)?;
    Ok(job.map_or(Submitted::Absent(Place::Programs), Submitted::Queued))
}

/// Finds the job of a request that was asked before.
fn asked_before(session: &mut dyn Session, account: AccountId, request: &Request) -> Result<Option<Job>> {
    let Some(name) = &request.request else { return Ok(None) };
    let text = format!("SELECT {COLUMNS} FROM jobs WHERE account = $1 AND request = $2");
    session.row(&text, &[account.into(), name.as_str().into()])?.as_ref().map(job).transpose()
}

/// Adds the files of an object to the inputs of a job; says whether the account has the object.
fn add_inputs(
    session: &mut dyn Session,
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
            SELECT $1, account, {path}, blob, bytes FROM objects WHERE account = $2 AND place = $3 AND name = $4"
    );
    let values = [id.as_str().into(), account.into(), place.as_str().into(), name.as_str().into()];
    Ok(session.execute(&text, &values)? > 0)
}

/// Finds a job.
pub(super) fn one(session: &mut dyn Session, account: AccountId, id: &JobId) -> Result<Option<Job>> {
    let text = format!("SELECT {COLUMNS} FROM jobs WHERE account = $1 AND id = $2");
    session.row(&text, &[account.into(), id.as_str().into()])?.as_ref().map(job).transpose()
}

/// Lists the newest jobs.
pub(super) fn newest(session: &mut dyn Session, account: AccountId) -> Result<Vec<Job>> {
    let text = format!("SELECT {COLUMNS} FROM jobs WHERE account = $1 ORDER BY place DESC LIMIT {LISTED}");
    session.rows(&text, &[account.into()])?.iter().map(job).collect()
}

/// Removes a job; returns the blobs that belonged to it.
pub(super) fn remove(
    session: &mut dyn Session,
    account: AccountId,
    id: &JobId,
) -> Result<Option<Vec<BlobId>>> {
    // Whoever ends the job meanwhile has done so before its row is locked.
    let text = format!("SELECT result FROM jobs WHERE account = $1 AND id = $2 {}", session.dialect().lock);
    let Some(row) = session.row(&text, &[account.into(), id.as_str().into()])? else { return Ok(None) };
    let result = row.optional_text(0)?.map(|_| row.parsed(0, BlobId::parse)).transpose()?;
    let blobs = let_go(session, id)?.into_iter().chain(result).collect();
    session.execute("DELETE FROM jobs WHERE id = $1", &[id.as_str().into()])?;
    Ok(Some(blobs))
}

/// Removes the inputs of a job and returns them.
fn let_go(session: &mut dyn Session, id: &JobId) -> Result<Vec<BlobId>> {
    let rows = session.rows("DELETE FROM inputs WHERE job = $1 RETURNING blob", &[id.as_str().into()])?;
    rows.into_iter().map(|row| row.parsed(0, BlobId::parse)).collect()
}

/// Takes the next job from the queue for a process.
pub(super) fn claim(session: &mut dyn Session, server: &str) -> Result<Option<Claimed>> {
    let dialect = session.dialect();
    let text = format!(
        "UPDATE jobs SET state = 'running', owner = $1 WHERE place = (
            SELECT place FROM jobs AS own WHERE state = 'queued' ORDER BY
                (SELECT COUNT(*) FROM jobs AS other WHERE other.account = own.account AND other.state = 'running'),
                place
            LIMIT 1 {})
        RETURNING id, account, tables, precision, {} - created",
        dialect.next, dialect.now
    );
    let Some(row) = session.row(&text, &[server.into()])? else { return Ok(None) };
    let id = row.parsed(0, JobId::parse)?;
    let inputs = session.rows("SELECT path, blob FROM inputs WHERE job = $1", &[id.as_str().into()])?;
    Ok(Some(Claimed {
        id,
        account: AccountId(row.integer(1)?),
        inputs: inputs
            .into_iter()
            .map(|row| Ok((row.text(0)?, row.parsed(1, BlobId::parse)?)))
            .collect::<Result<_>>()?,
        tables: row.text(2)?.split(',').map(table_path).collect(),
        precision: row.optional_count(3)?.and_then(|bits| u32::try_from(bits).ok()),
        waited: u64::try_from(row.integer(4)?).unwrap_or_default(),
    }))
}

/// Ends a job that a process runs, and lets go of its inputs, which it returns; `None` if the process does not run it.
pub(super) fn finish(
    session: &mut dyn Session,
    server: &str,
    id: &JobId,
    end: &End,
) -> Result<Option<Vec<BlobId>>> {
    let (state, error, result, bytes) = match end {
        End::Done(hold, bytes) => ("done", None, Some(hold.blob.as_str()), Some(stored(*bytes))),
        End::Failed(message) => ("failed", Some(message.as_str()), None, None),
    };
    let text = format!(
        "UPDATE jobs SET state = $3, error = $4, result = $5, bytes = $6, finished = {}, owner = NULL
            WHERE id = $1 AND state = 'running' AND owner = $2",
        session.dialect().now
    );
    let values =
        [id.as_str().into(), server.into(), state.into(), error.into(), result.into(), Value::Integer(bytes)];
    if session.execute(&text, &values)? == 1 { let_go(session, id).map(Some) } else { Ok(None) }
}

/// Puts a job that a process runs back into the queue.
pub(super) fn requeue(session: &mut dyn Session, server: &str, id: &JobId) -> Result<()> {
    let text =
        "UPDATE jobs SET state = 'queued', owner = NULL WHERE id = $1 AND state = 'running' AND owner = $2";
    session.execute(text, &[id.as_str().into(), server.into()]).map(drop)
}

/// Puts running jobs back into the queue whose process has no lease any longer; returns their number.
pub(super) fn requeue_abandoned(session: &mut dyn Session) -> Result<u64> {
    let text = "UPDATE jobs SET state = 'queued', owner = NULL
        WHERE state = 'running' AND (owner IS NULL OR owner NOT IN (SELECT id FROM servers))";
    session.execute(text, &[])
}

/// Returns the jobs that a process runs.
pub(super) fn running(session: &mut dyn Session, server: &str) -> Result<Vec<JobId>> {
    let text = "SELECT id FROM jobs WHERE state = 'running' AND owner = $1";
    session.rows(text, &[server.into()])?.into_iter().map(|row| row.parsed(0, JobId::parse)).collect()
}

/// Counts jobs of all accounts.
pub(super) fn counts(session: &mut dyn Session) -> Result<Counts> {
    let row = session.row(
        "SELECT COUNT(*) FILTER (WHERE state = 'queued'), COUNT(*) FILTER (WHERE state = 'running')
            FROM jobs WHERE state IN ('queued', 'running')",
        &[],
    )?;
    row.map_or(Ok(Counts::default()), |row| Ok(Counts { queued: row.count(0)?, running: row.count(1)? }))
}
