//! Processes that serve, and what they hold: bytes that are about to get a name, and bytes that are being removed.
//!
//! Bytes that are held to be named are not removed, and bytes that are being removed are not named. What a process holds to name is gone with its lease; a removal
//! that is not known to have ended is over after a while.

use std::time::Duration;

use super::Session;
use crate::name::BlobId;
use crate::records::Hold;
use crate::refusal::{Result, ServiceError};

/// Seconds for which bytes cannot be named whose removal was begun and is not known to have ended.
const REMOVAL: i64 = 60;

/// Condition that an object, an input of a job or a result has the bytes `$1`.
const NAMED: &str = "EXISTS (SELECT 1 FROM objects WHERE blob = $1)
    OR EXISTS (SELECT 1 FROM inputs WHERE blob = $1)
    OR EXISTS (SELECT 1 FROM jobs WHERE result = $1)";

/// Gives a process its lease, and ends those of processes that did not renew theirs.
pub(super) fn renew(session: &mut dyn Session, server: &str, lease: Duration) -> Result<()> {
    let (now, seconds) = (session.dialect().now, i64::try_from(lease.as_secs()).unwrap_or(i64::MAX >> 1));
    session.execute(
        &format!(
            "INSERT INTO servers (id, until) VALUES ($1, {now} + $2)
                ON CONFLICT (id) DO UPDATE SET until = excluded.until"
        ),
        &[server.into(), seconds.into()],
    )?;
    session.execute(&format!("DELETE FROM servers WHERE until < {now}"), &[])?;
    let ended = format!(
        "DELETE FROM holds WHERE until < {now} OR (until IS NULL AND server NOT IN (SELECT id FROM servers))"
    );
    session.execute(&ended, &[]).map(drop)
}

/// Gives up the lease of a process and all that it holds.
pub(super) fn leave(session: &mut dyn Session, server: &str) -> Result<()> {
    session.execute("DELETE FROM holds WHERE server = $1 AND until IS NULL", &[server.into()])?;
    session.execute("DELETE FROM servers WHERE id = $1", &[server.into()]).map(drop)
}

/// Waits until no other transaction decides on the same bytes.
fn decide(session: &mut dyn Session, blob: &BlobId) -> Result<()> {
    match session.dialect().deciding {
        Some(text) => session.rows(text, &[blob.as_str().into()]).map(drop),
        None => Ok(()),
    }
}

/// Says whether an object, an input of a job or a result has these bytes.
pub(super) fn is_named(session: &mut dyn Session, blob: &BlobId) -> Result<bool> {
    Ok(session.row(&format!("SELECT 1 WHERE {NAMED}"), &[blob.as_str().into()])?.is_some())
}

/// Holds bytes that are about to get a name; nothing if they are being removed.
pub(super) fn hold(session: &mut dyn Session, server: &str, blob: &BlobId) -> Result<Option<Hold>> {
    decide(session, blob)?;
    let row = session.row(
        "INSERT INTO holds (blob, server) SELECT $1, $2
            WHERE NOT EXISTS (SELECT 1 FROM holds WHERE blob = $1 AND until IS NOT NULL) RETURNING number",
        &[blob.as_str().into(), server.into()],
    )?;
    row.map(|row| Ok(Hold { number: row.integer(0)?, blob: blob.clone() })).transpose()
}

/// Begins the removal of bytes; nothing if something names or holds them.
pub(super) fn begin_removal(session: &mut dyn Session, server: &str, blob: &BlobId) -> Result<Option<Hold>> {
    decide(session, blob)?;
    let text = format!(
        "INSERT INTO holds (blob, server, until) SELECT $1, $2, {} + {REMOVAL}
            WHERE NOT ({NAMED} OR EXISTS (SELECT 1 FROM holds WHERE blob = $1)) RETURNING number",
        session.dialect().now
    );
    let row = session.row(&text, &[blob.as_str().into(), server.into()])?;
    row.map(|row| Ok(Hold { number: row.integer(0)?, blob: blob.clone() })).transpose()
}

/// Lets go of bytes; says whether they were still held.
pub(super) fn release(session: &mut dyn Session, server: &str, hold: &Hold) -> Result<bool> {
    let text = "DELETE FROM holds WHERE number = $1 AND server = $2";
    Ok(session.execute(text, &[hold.number.into(), server.into()])? == 1)
}

/// Lets go of bytes that get their name in this transaction, which fails if they were held no longer: they may be gone.
pub(super) fn consume(session: &mut dyn Session, server: &str, hold: &Hold) -> Result<()> {
    if release(session, server, hold)? {
        return Ok(());
    }
    Err(ServiceError::Unavailable("this server had lost its lease, and what it held with it".to_owned()))
}
