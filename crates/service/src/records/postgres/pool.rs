//! Connections with a database, of which a few are kept open.

use std::cell::Cell;
use std::error::Error;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_postgres::{Client, NoTls};

use super::address::DatabaseAddress;
use super::tls::Tls;
use crate::refusal::{Result, ServiceError};
use crate::shared::Bridge;

/// Largest number of connections of this process.
const CONNECTIONS: usize = 16;
/// How long a statement, a new connection or a free one is waited for.
const PATIENCE: Duration = Duration::from_secs(10);
/// What a connection begins with. A server that goes away in the middle of a transaction keeps nobody waiting for long.
const BEGINNING: &str = "SET search_path TO sunzi; SET lock_timeout TO '5s'; SET statement_timeout TO '9s';
    SET idle_in_transaction_session_timeout TO '15s'";

/// Connections with a database.
#[derive(Debug)]
pub(super) struct Pool {
    bridge: Arc<Bridge>,
    address: DatabaseAddress,
    idle: Arc<Mutex<Vec<Client>>>,
    places: Arc<Semaphore>,
}

/// Connection that one transaction has. It is closed unless it is given back.
pub(super) struct Connection {
    bridge: Arc<Bridge>,
    address: String,
    client: Client,
    idle: Arc<Mutex<Vec<Client>>>,
    /// Whether a statement had no answer in time: then no other one has, either.
    is_stuck: Cell<bool>,
    _place: OwnedSemaphorePermit,
}

impl Pool {
    pub(super) fn new(bridge: &Arc<Bridge>, address: &DatabaseAddress) -> Self {
        Self {
            bridge: Arc::clone(bridge),
            address: address.clone(),
            idle: Arc::default(),
            places: Arc::new(Semaphore::new(CONNECTIONS)),
        }
    }

    /// Takes a connection that is open, or makes one.
    pub(super) fn take(&self) -> Result<Connection> {
        let place = self.bridge.wait(PATIENCE, Arc::clone(&self.places).acquire_owned());
        let busy = || unavailable(&self.address.to_string(), "all connections are in use");
        let place = place.and_then(std::result::Result::ok).ok_or_else(busy)?;
        let kept = || self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let client = loop {
            match kept() {
                Some(client) if client.is_closed() => {}
                Some(client) => break client,
                None => break self.connect()?,
            }
        };
        Ok(Connection {
            bridge: Arc::clone(&self.bridge),
            address: self.address.to_string(),
            client,
            idle: Arc::clone(&self.idle),
            is_stuck: Cell::new(false),
            _place: place,
        })
    }

    /// Connects with the database.
    fn connect(&self) -> Result<Client> {
        let config = self.address.config();
        let client = self.bridge.wait(PATIENCE, async {
            let client = if let Some(trust) = self.address.trust() {
                let (client, connection) = config.connect(Tls(trust)).await?;
                // An error of the connection is that of its next statement.
                tokio::spawn(async { drop(connection.await) });
                client
            } else {
                let (client, connection) = config.connect(NoTls).await?;
                tokio::spawn(async { drop(connection.await) });
                client
            };
            client.batch_execute(BEGINNING).await?;
            Ok(client)
        });
        judge(&self.address.to_string(), client)
    }
}

impl Connection {
    /// Waits for what a client does.
    pub(super) fn wait<'a, T, F>(&'a self, act: impl FnOnce(&'a Client) -> F) -> Result<T>
    where
        F: Future<Output = std::result::Result<T, tokio_postgres::Error>>,
    {
        let came = if self.is_stuck.get() { None } else { self.bridge.wait(PATIENCE, act(&self.client)) };
        self.is_stuck.set(came.is_none());
        judge(&self.address, came)
    }

    /// Runs a statement without parameters.
    pub(super) fn run(&self, text: &str) -> Result<()> {
        self.wait(|client| client.batch_execute(text))
    }

    /// Returns what came, or the error of the database.
    pub(super) fn judge<T>(&self, came: std::result::Result<T, tokio_postgres::Error>) -> Result<T> {
        judge(&self.address, Some(came))
    }

    /// Keeps the connection for another transaction.
    pub(super) fn give_back(self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(self.client);
    }
}

/// Returns what came of a database, or its error.
fn judge<T>(address: &str, came: Option<std::result::Result<T, tokio_postgres::Error>>) -> Result<T> {
    match came {
        Some(Ok(value)) => Ok(value),
        Some(Err(error)) => Err(unavailable(address, &words(&error))),
        None => Err(unavailable(address, "no answer in time")),
    }
}

/// Returns the words of an error without values of any row.
fn words(error: &tokio_postgres::Error) -> String {
    if let Some(told) = error.as_db_error() {
        return format!("{} ({})", told.message(), told.code().code());
    }
    let mut innermost: &dyn Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

fn unavailable(address: &str, why: &str) -> ServiceError {
    ServiceError::Unavailable(format!("the database {address} cannot be used now: {why}"))
}
