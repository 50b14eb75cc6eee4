//! Threads of a run's own.

use crate::LabError;

/// Runs `work` on a pool of its own with so many threads.
pub(crate) fn on_threads<T: Send>(
    threads: usize,
    work: impl FnOnce() -> Result<T, LabError> + Send,
) -> Result<T, LabError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|error| LabError::Threads { threads, reason: error.to_string() })?.install(work)
}
