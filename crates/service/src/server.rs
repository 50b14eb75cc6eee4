//! A server from its start to its end.

use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::version::TLS13;
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

use crate::config::Config;
use crate::http::{Shared, router};
use crate::listen::listen;
use crate::page::Page;
use crate::refusal::{Result, ServiceError};

/// Time between two searches for bytes that nothing names any longer.
const SWEEP: Duration = Duration::from_secs(3600);

/// Server whose folder is open and whose jobs are being computed.
#[derive(Debug)]
pub struct Server {
    shared: Arc<Shared>,
    page: Option<Page>,
}

/// Handle that asks a server to stop.
#[derive(Clone, Debug)]
pub struct Stop(watch::Sender<bool>);

impl Stop {
    /// Makes a handle.
    #[must_use]
    pub fn new() -> Self {
        Self(watch::Sender::new(false))
    }

    /// Asks the server to stop; says whether it was asked before.
    pub fn ask(&self) -> bool {
        self.0.send_replace(true)
    }

    /// Returns what turns true once the server was asked to stop.
    pub(crate) fn asked(&self) -> watch::Receiver<bool> {
        self.0.subscribe()
    }
}

impl Default for Stop {
    fn default() -> Self {
        Self::new()
    }
}

/// Certificate of a server, and its key.
#[derive(Clone)]
pub struct Tls(TlsAcceptor);

/// Formats no part of the key.
impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tls")
    }
}

impl Tls {
    /// Returns what agrees on TLS with clients.
    pub(crate) fn acceptor(self) -> TlsAcceptor {
        self.0
    }

    /// Reads a certificate, with those that it follows from, and its key; both in PEM. Connections are of TLS 1.3.
    ///
    /// # Errors
    /// [`ServiceError::Configuration`] with the file that cannot be used.
    pub fn load(certificate: &Path, key: &Path) -> Result<Self> {
        let wrong = |path: &Path, error: &dyn std::fmt::Display| {
            ServiceError::Configuration(format!("{}: {error}: give a file in PEM", path.display()))
        };
        let chain = CertificateDer::pem_file_iter(certificate)
            .and_then(Iterator::collect::<std::result::Result<Vec<_>, _>>)
            .map_err(|error| wrong(certificate, &error))?;
        let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| wrong(key, &error))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&TLS13])
            .map_err(|error| wrong(certificate, &error))?
            .with_no_client_auth()
            .with_single_cert(chain, secret)
            .map_err(|error| wrong(certificate, &error))?;
        Ok(Self(TlsAcceptor::from(Arc::new(config))))
    }
}

impl Server {
    /// Opens the folder of a server, and begins to compute jobs that wait there.
    ///
    /// # Errors
    /// [`ServiceError::Configuration`] if another process serves the folder; [`ServiceError::Io`], [`ServiceError::Records`].
    pub fn open(config: Config) -> Result<Self> {
        Ok(Self { shared: Shared::open(config)?, page: None })
    }

    /// Returns the server with a page for browsers, which anybody may read.
    #[must_use]
    pub fn with_page(self, page: Option<Page>) -> Self {
        Self { page, ..self }
    }

    /// Answers requests until the server is asked to stop. Then open requests and running jobs have the time of grace to end; jobs that do not are queued again.
    ///
    /// # Errors
    /// [`ServiceError::Io`] if the system gives no threads or no socket.
    pub fn run(self, listener: TcpListener, tls: Option<Tls>, stop: &Stop) -> Result<()> {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let shared = self.shared;
        let stopped = runtime.block_on(async {
            listener.set_nonblocking(true)?;
            let listener = tokio::net::TcpListener::from_std(listener)?;
            let sweeping = tokio::spawn(sweep(Arc::clone(&shared)));
            let marked = tokio::spawn(mark(Arc::clone(&shared), stop.0.subscribe()));
            let router = router(&shared, self.page);
            let counted = |taken| shared.metrics.connected(taken);
            listen(&shared.config.limits, counted, listener, tls.map(Tls::acceptor), router, stop.asked())
                .await;
            sweeping.abort();
            marked.abort();
            Ok(())
        });
        shared.pool.stop();
        // Requests that were cut may still wait for the disk.
        runtime.shutdown_timeout(Duration::from_secs(1));
        stopped
    }
}

/// Notes that the server was asked to stop, for requests that come over connections that are still open.
async fn mark(shared: Arc<Shared>, mut stop: watch::Receiver<bool>) {
    if stop.wait_for(|stopped| *stopped).await.is_ok() {
        shared.stopping.store(true, Ordering::Relaxed);
        shared.pool.ask_to_stop();
    }
}

/// Removes bytes that nothing names any longer, now and then. The listing of a storage that is shared takes long: it is not waited for at the start.
async fn sweep(shared: Arc<Shared>) {
    let mut pause = if shared.config.is_shared() { Duration::ZERO } else { SWEEP };
    loop {
        tokio::time::sleep(std::mem::replace(&mut pause, SWEEP)).await;
        if let Err(error) = shared.blocking(|shared| shared.store.sweep()).await {
            tracing::warn!("stored bytes could not be swept: {error}");
        }
    }
}
