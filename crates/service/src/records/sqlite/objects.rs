//! Names of stored objects in SQLite.

use rusqlite::{Row, Transaction, params};

use super::{count, now, stored};
use crate::name::BlobId;
use crate::records::{AccountId, Object, ObjectName, Place};
use crate::refusal::Result;

/// Stores the name of an object, in place of an earlier one; returns the bytes that the earlier one had.
pub(super) fn put(
    transaction: &Transaction<'_>,
    account: AccountId,
    name: &ObjectName,
    blob: &BlobId,
    bytes: u64,
) -> Result<Vec<BlobId>> {
    let before = remove(transaction, account, name)?;
    transaction.execute(
        "INSERT INTO objects (account, place, name, file, blob, bytes, created) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        params![
            account.0,
            name.place.as_str(),
            name.name.as_str(),
            name.file.as_ref().map_or("", |file| file.as_str()),
            blob.as_str(),
            stored(bytes),
            now()
        ],
    )?;
    Ok(before)
}

/// Lists objects of one kind by name.
pub(super) fn all(transaction: &Transaction<'_>, account: AccountId, place: Place) -> Result<Vec<Object>> {
    let mut statement = transaction.prepare_cached(
        "SELECT name, file, bytes, blob, created FROM objects WHERE account = ?1 AND place = ?2 ORDER BY name, file",
    )?;
    let of = |row: &Row<'_>| {
        Ok(Object {
            name: row.get(0)?,
            file: row.get(1)?,
            bytes: count(row.get(2)?),
            sha256: row.get(3)?,
            created: row.get(4)?,
        })
    };
    let found = statement.query_map(params![account.0, place.as_str()], of)?;
    Ok(found.collect::<std::result::Result<_, _>>()?)
}

/// Removes an object, all files of it unless one is named; returns what it was made of.
pub(super) fn remove(
    transaction: &Transaction<'_>,
    account: AccountId,
    name: &ObjectName,
) -> Result<Vec<BlobId>> {
    let mut statement = transaction.prepare_cached(
        "DELETE FROM objects WHERE account = ?1 AND place = ?2 AND name = ?3 AND (?4 IS NULL OR file = ?4)
            RETURNING blob",
    )?;
    let file = name.file.as_ref().map(|file| file.as_str());
    let removed = statement
        .query_map(params![account.0, name.place.as_str(), name.name.as_str(), file], |row| row.get(0))?;
    Ok(removed.collect::<std::result::Result<_, _>>()?)
}
