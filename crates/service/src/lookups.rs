//! A server of private lookups: clients without accounts, keys by their hash, and queries that wait answered together.
//!
//! The server passes on bytes; what is in them is known to whoever implements [`Lookups`].

mod kept;
mod meter;
mod routes;

use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::{Semaphore, mpsc, oneshot};

use self::kept::Kept;
use self::meter::Meter;
use crate::config::Limits;
use crate::listen::listen;
use crate::refusal::{Refusal, Result};
use crate::server::{Stop, Tls};

/// Uploads of keys that are received at a time.
const UPLOADS: usize = 16;

/// Database that answers lookups, and knows the bytes that the server passes on.
pub trait Lookups: Send + Sync + 'static {
    /// Keys of a client, ready to use.
    type Keys: Send + Sync + 'static;

    /// The description of the database, as a file.
    fn description(&self) -> &[u8];
    /// The number of bytes of the keys of a client.
    fn key_bytes(&self) -> u64;
    /// Largest number of bytes of a query.
    fn query_bytes(&self) -> u64;
    /// Reads the keys of a client.
    ///
    /// # Errors
    /// A refusal that the client is told.
    fn keys(&self, bytes: &[u8]) -> std::result::Result<Self::Keys, Refusal>;
    /// Answers queries together, each under the keys of its client: as many answers as there are queries.
    fn answer(&self, asked: &[(&Self::Keys, &[u8])]) -> Vec<std::result::Result<Vec<u8>, Refusal>>;
    /// Largest number of bytes of blinded items that are evaluated at a time; 0 where none are.
    fn evaluation_bytes(&self) -> u64 {
        0
    }
    /// Reads blinded items: returns their number, which counts for whoever asks, and what evaluates them.
    ///
    /// # Errors
    /// A refusal that the client is told.
    fn evaluation(&self, _bytes: &[u8]) -> std::result::Result<Evaluation<'_>, Refusal> {
        Err(Refusal::absent())
    }
}

/// Blinded items that were read.
pub struct Evaluation<'a> {
    /// Number of items.
    pub items: u64,
    /// Function that evaluates the items, and returns their bytes.
    pub evaluate: Box<dyn FnOnce() -> std::result::Result<Vec<u8>, Refusal> + Send + 'a>,
}

/// Limits of a server of lookups.
#[derive(Clone, Debug)]
pub struct LookupLimits {
    /// Limits of connections.
    pub connections: Limits,
    /// Clients whose keys are kept; those of whoever asked longest ago make room for others.
    pub clients: usize,
    /// Queries that may wait.
    pub waiting: usize,
    /// Queries that are answered together.
    pub together: usize,
    /// Blinded items that are evaluated for an address in an hour.
    pub items: u64,
}

impl Default for LookupLimits {
    fn default() -> Self {
        Self { connections: Limits::default(), clients: 64, waiting: 64, together: 8, items: 1 << 16 }
    }
}

/// A query that waits for its answer.
struct Waiting<L: Lookups> {
    keys: Arc<L::Keys>,
    query: Vec<u8>,
    reply: oneshot::Sender<std::result::Result<Vec<u8>, Refusal>>,
}

/// State that handlers of requests share.
struct Shared<L: Lookups> {
    lookups: Arc<L>,
    kept: Mutex<Kept<L::Keys>>,
    queue: mpsc::Sender<Waiting<L>>,
    uploads: Semaphore,
    meter: Meter,
}

/// Answers lookups over connections until the server is asked to stop.
///
/// # Errors
/// [`ServiceError::Io`](crate::ServiceError::Io) if the system gives no threads or no socket.
pub fn serve_lookups<L: Lookups>(
    lookups: L,
    limits: &LookupLimits,
    listener: TcpListener,
    tls: Option<Tls>,
    stop: &Stop,
) -> Result<()> {
    let lookups = Arc::new(lookups);
    let (queue, waiting) = mpsc::channel(limits.waiting.max(1));
    let (answering, together) = (Arc::clone(&lookups), limits.together.max(1));
    std::thread::Builder::new()
        .name("lookups".to_owned())
        .spawn(move || work(&*answering, waiting, together))?;
    let kept = Mutex::new(Kept::new(limits.clients.max(1)));
    let (uploads, meter) = (Semaphore::new(UPLOADS), Meter::new(limits.items));
    let shared = Arc::new(Shared { lookups, kept, queue, uploads, meter });
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let stopped = runtime.block_on(async {
        listener.set_nonblocking(true)?;
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let router = routes::router(&shared);
        listen(&limits.connections, |_| (), listener, tls.map(Tls::acceptor), router, stop.asked()).await;
        Ok(())
    });
    runtime.shutdown_timeout(Duration::from_secs(1));
    stopped
}

/// Answers queries, those together that wait.
fn work<L: Lookups>(lookups: &L, mut queue: mpsc::Receiver<Waiting<L>>, together: usize) {
    while let Some(first) = queue.blocking_recv() {
        let mut waiting = vec![first];
        while waiting.len() < together {
            let Ok(next) = queue.try_recv() else { break };
            waiting.push(next);
        }
        let asked: Vec<_> = waiting.iter().map(|one| (&*one.keys, one.query.as_slice())).collect();
        let answers = lookups.answer(&asked);
        for (one, answer) in waiting.into_iter().zip(answers) {
            // A client that is gone needs no answer.
            drop(one.reply.send(answer));
        }
    }
}
