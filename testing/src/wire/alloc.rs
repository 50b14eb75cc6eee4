//! Limits on the memory and time of reading files.

use std::fs::read_to_string;
use std::sync::LazyLock;
use std::time::Instant;

/// Returns the largest allocation in bytes while a file of `len` bytes is read: twice the bytes where
/// residues have 32 bits or more, times two for uniform halves that the file has as seeds, and the constant:
/// a polynomial, blocks, tables of a small context.
#[must_use]
pub fn ceiling(len: usize) -> usize {
    4 * len + (1 << 20)
}

/// Returns the largest allocation in bytes for texts of JSON, which describe tables and results: the objects
/// are larger than their words.
#[must_use]
pub fn crafted_ceiling(len: usize) -> usize {
    24 * len + (1 << 20)
}

/// Returns the seconds that reading a file of `len` bytes may take, with all operations on the object.
#[must_use]
pub fn seconds(len: usize) -> f64 {
    1.0 + len as f64 / 1e6
}

/// Returns the time that this thread has run for, in seconds, without waiting for other work where the system tells.
#[must_use]
pub fn clock() -> f64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let text = read_to_string("/proc/thread-self/schedstat").ok();
    let ran: Option<u64> = text.and_then(|text| text.split(' ').next()?.parse().ok());
    ran.map_or_else(|| START.elapsed().as_secs_f64(), |nanoseconds| nanoseconds as f64 / 1e9)
}
