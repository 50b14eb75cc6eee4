//! Time limits of tests of inputs that were made to take long.

use std::fs::read_to_string;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// Returns the processor time of a thread where the system tells it, else the time since `start`.
fn busy(start: Instant) -> Duration {
    let text = read_to_string("/proc/thread-self/schedstat").ok();
    let ran = text.and_then(|text| text.split(' ').next()?.parse().ok());
    ran.map_or_else(|| start.elapsed(), Duration::from_nanos)
}

/// Runs a function on an input of so many bytes, within a second and a second more for each MB.
pub(crate) fn within<T: Send + 'static>(
    what: &str,
    bytes: usize,
    run: impl FnOnce() -> T + Send + 'static,
) -> T {
    within_seconds(what, 1.0 + bytes as f64 / 1e6, run)
}

/// Runs a function within so many seconds.
pub(crate) fn within_seconds<T: Send + 'static>(
    what: &str,
    seconds: f64,
    run: impl FnOnce() -> T + Send + 'static,
) -> T {
    let (done, ended) = channel();
    // A thread of its own: one that hangs must not hang the test.
    std::thread::spawn(move || {
        let start = Instant::now();
        let result = run();
        done.send((result, busy(start))).unwrap();
    });
    let most = Duration::from_secs_f64(seconds);
    let (result, took) = ended.recv_timeout(10 * most).expect("it ends");
    assert!(took <= most, "{what}: {took:?}, at most {most:?} expected");
    result
}
