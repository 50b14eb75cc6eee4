//! Connections: accepted, encrypted, limited, and ended.

mod steady;
mod visitors;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use self::steady::Steady;
use self::visitors::Visitors;

pub(crate) use self::visitors::network;
use crate::config::Limits;

/// Longest head of a request, in bytes.
const HEAD: usize = 1 << 14;
/// Largest number of lines of the head of a request.
const LINES: usize = 64;
/// Pause after a connection could not be accepted, as when the process has too many files open.
const PAUSE: Duration = Duration::from_millis(100);

/// Address of the client of a connection, which handlers may ask for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Client(pub(crate) IpAddr);

/// Accepts connections until the server is asked to stop, then waits for those that are open as long as the limits say; calls `counted` for each of them, whether or not it was taken.
pub(crate) async fn listen(
    limits: &Limits,
    counted: impl Fn(bool),
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    router: Router,
    mut stop: watch::Receiver<bool>,
) {
    let places = Arc::new(Semaphore::new(limits.connections));
    let visitors = Visitors::new(limits.connections_each);
    let graceful = GracefulShutdown::new();
    loop {
        let accepted = tokio::select! {
            accepted = accept(&listener, &places) => accepted,
            _ = stop.wait_for(|stopped| *stopped) => break,
        };
        let Some((stream, address, place)) = accepted else {
            sleep(PAUSE).await;
            continue;
        };
        // Whoever has too many is not answered: a refusal would take the time of a connection.
        let visit = visitors.enter(address.ip());
        counted(visit.is_some());
        let Some(visit) = visit else { continue };
        let place = (place, visit);
        let router = router.clone().layer(Extension(Client(address.ip())));
        let (tls, limits) = (tls.clone(), limits.clone());
        let watcher = graceful.watcher();
        tokio::spawn(async move {
            let Some(tls) = tls else {
                serve(Steady::new(stream, limits.idle), router, &limits, watcher).await;
                return drop(place);
            };
            if let Ok(Ok(stream)) = timeout(limits.head, tls.accept(stream)).await {
                serve(Steady::new(stream, limits.idle), router, &limits, watcher).await;
            }
            drop(place);
        });
    }
    drop(listener);
    if timeout(limits.grace, graceful.shutdown()).await.is_err() {
        tracing::warn!("connections that were still open are cut");
    }
}

/// Accepts one connection, once there is a place for it.
async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> Option<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
    let place = Arc::clone(places).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, address)) => {
            // Without it small answers wait; a connection works without, too.
            drop(stream.set_nodelay(true));
            Some((stream, address, place))
        }
        Err(error) => {
            tracing::warn!("a connection could not be accepted: {}", error.kind());
            None
        }
    }
}

/// Answers the requests of one connection.
async fn serve(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    router: Router,
    limits: &Limits,
    watcher: Watcher,
) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits.head).max_header_size(HEAD).max_headers(LINES);
    let connection = http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    // What a client does to its connection is no event: its requests are logged.
    drop(watcher.watch(connection).await);
}

/// Says whether an address is that of this machine alone.
#[must_use]
pub fn is_loopback(address: &SocketAddr) -> bool {
    address.ip().to_canonical().is_loopback()
}
