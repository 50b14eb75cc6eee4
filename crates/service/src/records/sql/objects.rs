//! Names of stored objects.

use super::{Row, Session, stored};
use crate::name::BlobId;
use crate::records::{AccountId, Object, ObjectName, Place};
use crate::refusal::Result;

/// Stores the name of an object, in place of an earlier one; returns the bytes that the earlier one had.
pub(super) fn put(
    session: &mut dyn Session,
    account: AccountId,
    name: &ObjectName,
    blob: &BlobId,
    bytes: u64,
) -> Result<Vec<BlobId>> {
    let before = remove(session, account, name)?;
    let text = format!(
        "INSERT INTO objects (account, place, name, file, blob, bytes, created) VALUES ($1, $2, $3, $4, $5, $6, {})",
        session.dialect().now
    );
    let file = name.file.as_ref().map_or("", |file| file.as_str());
    session.execute(
        &text,
        &[
            account.into(),
            name.place.as_str().into(),
            name.name.as_str().into(),
            file.into(),
            blob.as_str().into(),
            stored(bytes).into(),
        ],
    )?;
    Ok(before)
}

/// Lists objects of one kind by name.
pub(super) fn all(session: &mut dyn Session, account: AccountId, place: Place) -> Result<Vec<Object>> {
    let of = |row: Row| {
        Ok(Object {
            name: row.text(0)?,
            file: row.text(1)?,
            bytes: row.count(2)?,
            sha256: row.text(3)?,
            created: row.integer(4)?,
        })
    };
    let rows = session.rows(
        "SELECT name, file, bytes, blob, created FROM objects WHERE account = $1 AND place = $2 ORDER BY name, file",
        &[account.into(), place.as_str().into()],
    )?;
    rows.into_iter().map(of).collect()
}

/// Removes an object, all files of it unless one is named; returns what it was made of.
pub(super) fn remove(
    session: &mut dyn Session,
    account: AccountId,
    name: &ObjectName,
) -> Result<Vec<BlobId>> {
    let file = name.file.as_ref().map(|file| file.as_str());
    let removed = session.rows(
        "DELETE FROM objects WHERE account = $1 AND place = $2 AND name = $3
            AND (CAST($4 AS TEXT) IS NULL OR file = $4) RETURNING blob",
        &[account.into(), name.place.as_str().into(), name.name.as_str().into(), file.into()],
    )?;
    removed.into_iter().map(|row| row.parsed(0, BlobId::parse)).collect()
}
