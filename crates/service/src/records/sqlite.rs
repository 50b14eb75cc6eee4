//! State of the server in one file of SQLite.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rusqlite::types::ValueRef;
use rusqlite::{CachedStatement, Connection, Transaction, TransactionBehavior};

use super::sql::{Cell, Database, Dialect, Row, Session, Value, other_version, server};
use crate::refusal::Result;

/// Tables and indices.
const SCHEMA: &str = include_str!("sqlite.sql");
/// Tables in memory. One process serves: what it holds is gone when it ends, as it should be.
const OWN: &str = "
CREATE TEMP TABLE servers (id TEXT PRIMARY KEY, until INTEGER NOT NULL) STRICT;
CREATE TEMP TABLE holds (
    number INTEGER PRIMARY KEY AUTOINCREMENT, blob TEXT NOT NULL, server TEXT NOT NULL, until INTEGER
) STRICT;
CREATE INDEX holds_by_blob ON holds (blob);";
/// Change of the tables of version 1.
const FROM_ONE: &str = "ALTER TABLE jobs ADD COLUMN owner TEXT";
/// Version of the tables, kept in the file.
const VERSION: i64 = 2;
/// How long a transaction waits for that of another process, such as `sunzi account`.
const PATIENCE: Duration = Duration::from_secs(10);
/// Fragments of statements: a transaction that writes locks the whole file.
const DIALECT: Dialect = Dialect { now: "unixepoch()", lock: "", next: "", deciding: None };

/// State of the server in one file of SQLite, which several processes may open: one serves, others add accounts.
#[derive(Debug)]
pub struct Sqlite {
    server: String,
    connection: Mutex<Connection>,
    /// Connection that reads alone: it waits for no other one that writes to the disk.
    reader: Mutex<Connection>,
}

impl Sqlite {
    /// Opens the file, or makes it. A transaction is on the disk when it ends.
    ///
    /// # Errors
    /// [`ServiceError::Records`](crate::ServiceError::Records); [`ServiceError::Configuration`](crate::ServiceError::Configuration) for a file of another version.
    pub fn open(path: &Path) -> Result<Self> {
        let mut connection = Connection::open(path)?;
        connection.busy_timeout(PATIENCE)?;
        connection.pragma_update(None, "journal_mode", "wal")?;
        connection.pragma_update(None, "synchronous", "full")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        connection.pragma_update(None, "temp_store", "memory")?;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let version: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
        match version {
            0 => transaction.execute_batch(SCHEMA)?,
            1 => transaction.execute_batch(FROM_ONE)?,
            VERSION => {}
            other => return Err(other_version(other, VERSION)),
        }
        if version != VERSION {
            transaction.pragma_update(None, "user_version", VERSION)?;
        }
        transaction.commit()?;
        connection.execute_batch(OWN)?;
        let reader = Connection::open(path)?;
        reader.busy_timeout(PATIENCE)?;
        reader.pragma_update(None, "query_only", true)?;
        Ok(Self { server: server()?, connection: Mutex::new(connection), reader: Mutex::new(reader) })
    }
}

impl Database for Sqlite {
    fn server(&self) -> &str {
        &self.server
    }

    fn write<T>(&self, run: impl FnOnce(&mut dyn Session) -> Result<T>) -> Result<T> {
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut session = Open { transaction, is_undone: false };
        let value = run(&mut session)?;
        // A transaction that is dropped is undone.
        if !session.is_undone {
            session.transaction.commit()?;
        }
        Ok(value)
    }

    fn read<T>(&self, run: impl FnOnce(&mut dyn Session) -> Result<T>) -> Result<T> {
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        run(&mut Open { transaction: reader.transaction()?, is_undone: false })
    }
}

/// Transaction that is open.
struct Open<'a> {
    transaction: Transaction<'a>,
    is_undone: bool,
}

impl Open<'_> {
    /// Prepares a statement with the values of its parameters.
    fn bound(&self, text: &str, values: &[Value<'_>]) -> rusqlite::Result<CachedStatement<'_>> {
        let mut statement = self.transaction.prepare_cached(text)?;
        for (value, number) in values.iter().zip(1..) {
            let Some(at) = statement.parameter_index(&format!("${number}"))? else { continue };
            match value {
                Value::Integer(value) => statement.raw_bind_parameter(at, value)?,
                Value::Text(text) => statement.raw_bind_parameter(at, text)?,
                Value::Bytes(bytes) => statement.raw_bind_parameter(at, bytes)?,
            }
        }
        Ok(statement)
    }
}

impl Session for Open<'_> {
    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    fn execute(&mut self, text: &str, values: &[Value<'_>]) -> Result<u64> {
        Ok(self.bound(text, values)?.raw_execute()? as u64)
    }

    fn rows(&mut self, text: &str, values: &[Value<'_>]) -> Result<Vec<Row>> {
        let mut statement = self.bound(text, values)?;
        let width = statement.column_count();
        let (mut found, mut rows) = (statement.raw_query(), Vec::new());
        while let Some(row) = found.next()? {
            let cell = |at| Ok(cell(row.get_ref(at)?));
            rows.push(Row((0..width).map(cell).collect::<rusqlite::Result<_>>()?));
        }
        Ok(rows)
    }

    fn undo(&mut self) {
        self.is_undone = true;
    }
}

/// Returns the value of a column. The tables have no broken numbers.
fn cell(value: ValueRef<'_>) -> Cell {
    match value {
        ValueRef::Null | ValueRef::Real(_) => Cell::Null,
        ValueRef::Integer(value) => Cell::Integer(value),
        ValueRef::Text(text) => Cell::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Cell::Bytes(bytes.to_vec()),
    }
}
