//! How much memory and time reading may take.

use std::fs::read_to_string;
use std::sync::LazyLock;
use std::time::Instant;

/// The most that reading `len` bytes may have allocated at once: twice what came where residues have 32 bits or more, times two for uniform halves
/// that the file has as seeds, and the constant: a polynomial, blocks, tables of a small context.
#[must_use]
pub fn ceiling(len: usize) -> usize {
    4 * len + (1 << 20)
}

/// The most for texts of JSON, by which tables and results describe themselves: what they describe is larger than its words.
#[must_use]
pub fn crafted_ceiling(len: usize) -> usize {
    24 * len + (1 << 20)
}

/// The seconds that reading `len` bytes may take, with all that can be done to what they hold.
#[must_use]
pub fn seconds(len: usize) -> f64 {
    1.0 + len as f64 / 1e6
}

/// Time that this thread has run for, in seconds: on a machine with other work waiting does not count, where the system tells.
#[must_use]
pub fn clock() -> f64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let text = read_to_string("/proc/thread-self/schedstat").ok();
    let ran: Option<u64> = text.and_then(|text| text.split(' ').next()?.parse().ok());
    ran.map_or_else(|| START.elapsed().as_secs_f64(), |nanoseconds| nanoseconds as f64 / 1e9)
}
