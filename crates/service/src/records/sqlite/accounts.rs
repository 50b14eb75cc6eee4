//! Accounts in SQLite.

use rusqlite::{OptionalExtension, Row, Transaction, params};

use super::{count, now, usage};
use crate::name::Name;
use crate::records::{Account, AccountId};
use crate::refusal::Result;
use crate::token::{StoredToken, TokenId};

/// Adds an account; says whether there was none of this name.
pub(super) fn add(transaction: &Transaction<'_>, name: &Name, token: &StoredToken) -> Result<bool> {
    let added = transaction.execute(
        "INSERT INTO accounts (name, token_id, token_hash, created) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (name) DO NOTHING",
        params![name.as_str(), token.id.0, token.hash, now()],
    )?;
    Ok(added == 1)
}

/// Lists all accounts by name.
pub(super) fn all(transaction: &Transaction<'_>) -> Result<Vec<Account>> {
    let mut statement = transaction.prepare_cached("SELECT id FROM accounts ORDER BY name")?;
    let ids: Vec<i64> = statement.query_map([], |row| row.get(0))?.collect::<std::result::Result<_, _>>()?;
    let mut accounts = Vec::with_capacity(ids.len());
    for id in ids {
        accounts.extend(one(transaction, AccountId(id))?);
    }
    Ok(accounts)
}

/// Returns what an account has.
pub(super) fn one(transaction: &Transaction<'_>, account: AccountId) -> Result<Option<Account>> {
    let mut statement = transaction.prepare_cached(
        "SELECT name, created, (SELECT COUNT(*) FROM jobs WHERE account = ?1) FROM accounts WHERE id = ?1",
    )?;
    let of = |row: &Row<'_>| Ok((row.get::<_, String>(0)?, row.get(1)?, count(row.get(2)?)));
    let Some((name, created, jobs)) = statement.query_row([account.0], of).optional()? else {
        return Ok(None);
    };
    Ok(Some(Account { name: Name::new(&name)?, created, bytes: usage(transaction, account)?, jobs }))
}

/// Removes an account and all that it has; says whether there was one.
pub(super) fn remove(transaction: &Transaction<'_>, name: &Name) -> Result<bool> {
    Ok(transaction.execute("DELETE FROM accounts WHERE name = ?1", [name.as_str()])? == 1)
}

/// Gives an account another token; says whether there is such an account.
pub(super) fn rotate(transaction: &Transaction<'_>, name: &Name, token: &StoredToken) -> Result<bool> {
    let changed = transaction.execute(
        "UPDATE accounts SET token_id = ?2, token_hash = ?3 WHERE name = ?1",
        params![name.as_str(), token.id.0, token.hash],
    )?;
    Ok(changed == 1)
}

/// Finds the account of a token.
pub(super) fn token(transaction: &Transaction<'_>, id: TokenId) -> Result<Option<(AccountId, StoredToken)>> {
    let mut statement =
        transaction.prepare_cached("SELECT id, token_hash FROM accounts WHERE token_id = ?1")?;
    let of = |row: &Row<'_>| Ok((AccountId(row.get(0)?), StoredToken { id, hash: row.get(1)? }));
    Ok(statement.query_row([id.0], of).optional()?)
}
