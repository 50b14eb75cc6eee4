//! Threads on which connections to other machines run, for callers that wait.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

/// Number of the threads: they pass bytes on and compute nothing.
const THREADS: usize = 2;

/// Threads on which connections to other machines run. Whoever waits is on a thread that may wait.
#[derive(Debug)]
pub(crate) struct Bridge(Option<Runtime>);

impl Bridge {
    /// Starts the threads.
    pub(crate) fn start() -> io::Result<Arc<Self>> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name("elsewhere")
            .enable_all()
            .build()?;
        Ok(Arc::new(Self(Some(runtime))))
    }

    /// Waits for an outcome, so long at most; `None` where it does not come in time.
    pub(crate) fn wait<T>(&self, most: Duration, outcome: impl Future<Output = T>) -> Option<T> {
        let runtime = self.0.as_ref()?;
        runtime.block_on(async { timeout(most, outcome).await.ok() })
    }
}

/// Ends the threads without waiting for them, since this may be dropped where nobody may wait.
impl Drop for Bridge {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
