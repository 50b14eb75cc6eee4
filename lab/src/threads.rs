//! Thread pools for the work of one run.

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::{LabError, Result};

/// A pool of `threads` threads.
pub(crate) fn pool(threads: usize) -> Result<ThreadPool> {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|error| LabError::threads(threads, &error))
}

/// Runs `work` on a pool of its own with `threads` threads.
pub(crate) fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    pool(threads)?.install(work)
}
