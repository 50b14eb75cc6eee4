//! State of servers in PostgreSQL, which several machines share.

mod address;
mod pool;
mod tls;

use std::sync::Arc;

use tokio_postgres::types::{ToSql, Type};

pub use self::address::DatabaseAddress;
use self::pool::{Connection, Pool};
use super::sql::{Cell, Database, Dialect, Row, Session, Value, other_version, server};
use crate::refusal::Result;
use crate::shared::Bridge;

/// Tables and indices.
const SCHEMA: &str = include_str!("postgres.sql");
/// Version of the tables, kept in one of them.
const VERSION: i64 = 1;
/// Number of the lock under which tables are made.
const MAKING: i64 = 0x0073_756e_7a69;
/// Fragments of statements. Transactions see what others committed before each of their statements.
const DIALECT: Dialect = Dialect {
    now: "CAST(EXTRACT(EPOCH FROM clock_timestamp()) AS BIGINT)",
    lock: "FOR UPDATE",
    next: "FOR UPDATE OF own SKIP LOCKED",
    deciding: Some("SELECT 1 FROM pg_advisory_xact_lock(hashtextextended($1, 8732))"),
};

/// State of servers in PostgreSQL, which several machines share.
#[derive(Debug)]
pub struct Postgres {
    server: String,
    pool: Pool,
}

impl Postgres {
    /// Connects with a database, and makes the tables if they are not there.
    ///
    /// # Errors
    /// [`ServiceError::Unavailable`](crate::ServiceError::Unavailable); [`ServiceError::Configuration`](crate::ServiceError::Configuration) for tables of another
    /// version.
    pub(crate) fn open(bridge: &Arc<Bridge>, address: &DatabaseAddress) -> Result<Self> {
        let records = Self { server: server()?, pool: Pool::new(bridge, address) };
        records.write(make)?;
        Ok(records)
    }
}

/// Makes the tables, if they are not there.
fn make(session: &mut dyn Session) -> Result<()> {
    session.rows("SELECT 1 FROM pg_advisory_xact_lock($1)", &[MAKING.into()])?;
    if session.row("SELECT 1 WHERE to_regclass('sunzi.version') IS NULL", &[])?.is_some() {
        for statement in SCHEMA.split(';').filter(|statement| !statement.trim().is_empty()) {
            session.execute(statement, &[])?;
        }
        session.execute("INSERT INTO sunzi.version (version) VALUES ($1)", &[VERSION.into()])?;
    }
    let version =
        session.row("SELECT version FROM sunzi.version", &[])?.map(|row| row.integer(0)).transpose()?;
    match version {
        Some(VERSION) => Ok(()),
        other => Err(other_version(other.unwrap_or_default(), VERSION)),
    }
}

impl Database for Postgres {
    fn server(&self) -> &str {
        &self.server
    }

    fn write<T>(&self, run: impl FnOnce(&mut dyn Session) -> Result<T>) -> Result<T> {
        let mut session = Open { connection: self.pool.take()?, is_undone: false };
        session.connection.run("BEGIN")?;
        let outcome = run(&mut session);
        let Open { connection, is_undone } = session;
        if outcome.is_ok() && !is_undone {
            connection.run("COMMIT")?;
            connection.give_back();
        } else if connection.run("ROLLBACK").is_ok() {
            connection.give_back();
        }
        outcome
    }

    fn read<T>(&self, run: impl FnOnce(&mut dyn Session) -> Result<T>) -> Result<T> {
        // Each statement sees what was committed before it, in a transaction or without one.
        let mut session = Open { connection: self.pool.take()?, is_undone: false };
        let value = run(&mut session)?;
        session.connection.give_back();
        Ok(value)
    }
}

/// Transaction that is open.
struct Open {
    connection: Connection,
    is_undone: bool,
}

impl Session for Open {
    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    fn execute(&mut self, text: &str, values: &[Value<'_>]) -> Result<u64> {
        let typed = typed(values);
        self.connection.wait(|client| client.execute_typed(text, &typed))
    }

    fn rows(&mut self, text: &str, values: &[Value<'_>]) -> Result<Vec<Row>> {
        let typed = typed(values);
        let rows = self.connection.wait(|client| client.query_typed(text, &typed))?;
        rows.iter().map(|row| self.connection.judge(self::row(row))).collect()
    }

    fn undo(&mut self) {
        self.is_undone = true;
    }
}

/// Returns parameters with their types, so that a statement takes one turn with the database.
fn typed<'a>(values: &'a [Value<'_>]) -> Vec<(&'a (dyn ToSql + Sync), Type)> {
    let of = |value: &'a Value<'_>| -> (&'a (dyn ToSql + Sync), Type) {
        match value {
            Value::Integer(value) => (value, Type::INT8),
            Value::Text(text) => (text, Type::TEXT),
            Value::Bytes(bytes) => (bytes, Type::BYTEA),
        }
    };
    values.iter().map(of).collect()
}

/// Reads a row. Columns of other types are those that nobody reads.
fn row(row: &tokio_postgres::Row) -> std::result::Result<Row, tokio_postgres::Error> {
    let cell = |at: usize, kind: &Type| {
        Ok(match *kind {
            Type::INT8 => row.try_get::<_, Option<i64>>(at)?.map_or(Cell::Null, Cell::Integer),
            Type::TEXT => row.try_get::<_, Option<String>>(at)?.map_or(Cell::Null, Cell::Text),
            Type::BYTEA => row.try_get::<_, Option<Vec<u8>>>(at)?.map_or(Cell::Null, Cell::Bytes),
            _ => Cell::Null,
        })
    };
    let cells = row.columns().iter().enumerate().map(|(at, column)| cell(at, column.type_()));
    Ok(Row(cells.collect::<std::result::Result<_, tokio_postgres::Error>>()?))
}
