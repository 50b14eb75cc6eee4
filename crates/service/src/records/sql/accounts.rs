//! Accounts.

use super::{Session, usage};
use crate::name::Name;
use crate::records::{Account, AccountId};
use crate::refusal::Result;
use crate::token::{StoredToken, TokenId};

/// Adds an account; says whether there was none of this name.
pub(super) fn add(session: &mut dyn Session, name: &Name, token: &StoredToken) -> Result<bool> {
    let text = format!(
        "INSERT INTO accounts (name, token_id, token_hash, created) VALUES ($1, $2, $3, {})
            ON CONFLICT (name) DO NOTHING",
        session.dialect().now
    );
    let values = [name.as_str().into(), token.id.0.as_slice().into(), token.hash.as_slice().into()];
    Ok(session.execute(&text, &values)? == 1)
}

/// Lists all accounts by name.
pub(super) fn all(session: &mut dyn Session) -> Result<Vec<Account>> {
    let ids = session.rows("SELECT id FROM accounts ORDER BY name", &[])?;
    let mut accounts = Vec::with_capacity(ids.len());
    for id in ids {
        accounts.extend(one(session, AccountId(id.integer(0)?))?);
    }
    Ok(accounts)
}

/// Returns what an account has.
pub(super) fn one(session: &mut dyn Session, account: AccountId) -> Result<Option<Account>> {
    let row = session.row(
        "SELECT name, created, (SELECT COUNT(*) FROM jobs WHERE account = $1) FROM accounts WHERE id = $1",
        &[account.into()],
    )?;
    let Some(row) = row else { return Ok(None) };
    let bytes = usage(session, account)?;
    Ok(Some(Account {
        name: Name::new(&row.text(0)?)?,
        created: row.integer(1)?,
        bytes,
        jobs: row.count(2)?,
    }))
}

/// Removes an account and all that it has; says whether there was one.
pub(super) fn remove(session: &mut dyn Session, name: &Name) -> Result<bool> {
    Ok(session.execute("DELETE FROM accounts WHERE name = $1", &[name.as_str().into()])? == 1)
}

/// Gives an account another token; says whether there is such an account.
pub(super) fn rotate(session: &mut dyn Session, name: &Name, token: &StoredToken) -> Result<bool> {
    let changed = session.execute(
        "UPDATE accounts SET token_id = $2, token_hash = $3 WHERE name = $1",
        &[name.as_str().into(), token.id.0.as_slice().into(), token.hash.as_slice().into()],
    )?;
    Ok(changed == 1)
}

/// Finds the account of a token.
pub(super) fn token(session: &mut dyn Session, id: TokenId) -> Result<Option<(AccountId, StoredToken)>> {
    let row =
        session.row("SELECT id, token_hash FROM accounts WHERE token_id = $1", &[id.0.as_slice().into()])?;
    row.map(|row| Ok((AccountId(row.integer(0)?), StoredToken { id, hash: row.bytes(1)? }))).transpose()
}
