//! Interface of the server over HTTP.

mod about;
mod answer;
mod auth;
mod jobs;
mod lingering;
mod objects;
mod results;
mod routes;
mod upload;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::config::Config;
use crate::metrics::Metrics;
use crate::pool::Pool;
use crate::refusal::{Result, ServiceError};
use crate::store::Store;

pub(crate) use self::about::OPENAPI;
pub(crate) use self::answer::json;
pub use self::routes::{ROUTES, Route};
pub(crate) use self::routes::{logged, router};

/// State that handlers of requests share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) store: Arc<Store>,
    pub(crate) pool: Pool,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) config: Config,
    /// Uploads of each account that are coming now.
    pub(crate) uploads: upload::Uploads,
    /// Whether the server was asked to stop.
    pub(crate) stopping: AtomicBool,
}

impl Shared {
    /// Opens the folder of a server and starts its pool.
    pub(crate) fn open(config: Config) -> Result<Arc<Self>> {
        let store = Arc::new(Store::open(&config)?);
        let metrics = Arc::new(Metrics::default());
        let pool = Pool::start(&config, &store, &metrics)?;
        let (uploads, stopping) = (upload::Uploads::default(), AtomicBool::new(false));
        Ok(Arc::new(Self { store, pool, metrics, config, uploads, stopping }))
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// Runs what waits for the disk where it holds up no other request.
    pub(crate) async fn blocking<T: Send + 'static>(
        self: &Arc<Self>,
        run: impl FnOnce(&Self) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let shared = Arc::clone(self);
        let joined = tokio::task::spawn_blocking(move || run(&shared)).await;
        joined.map_err(|error| ServiceError::Io(std::io::Error::other(error)))?
    }
}
