//! Clock of processors for examples that print times.

use std::time::Instant;

/// Returns what some work gives, and its seconds: those that all threads ran, or that passed where that is not known.
pub(crate) fn timed<T, E>(work: impl FnOnce() -> Result<T, E>) -> Result<(T, f64), E> {
    let (clock, start) = (Instant::now(), seconds(Instant::now()));
    let done = work()?;
    Ok((done, seconds(clock) - start))
}

/// Returns the seconds that all threads have run so far, or that have passed where that is not known.
fn seconds(start: Instant) -> f64 {
    let run = |task: std::fs::DirEntry| -> Option<f64> {
        let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse().ok()
    };
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let nanoseconds: f64 = tasks.filter_map(run).sum();
    if nanoseconds > 0.0 { nanoseconds * 1e-9 } else { start.elapsed().as_secs_f64() }
}
