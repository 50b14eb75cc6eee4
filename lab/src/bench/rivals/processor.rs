//! Binding of a comparison's threads and processes to one processor.

/// Binds this thread, and every thread and process that it starts from now on, to the last processor it
/// may use: all contenders then meet the same clock and the same caches. Returns which one.
#[cfg(all(feature = "peers", target_os = "linux"))]
pub fn bind() -> Option<usize> {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    let allowed = sched_getaffinity(None).ok()?;
    let last = (0..CpuSet::MAX_CPU).rfind(|processor| allowed.is_set(*processor))?;
    let mut only = CpuSet::new();
    only.set(last);
    sched_setaffinity(None, &only).ok()?;
    Some(last)
}

/// Binds nothing in builds without the feature `peers` or for systems other than Linux: the operating system
/// chooses the processor.
#[cfg(not(all(feature = "peers", target_os = "linux")))]
pub fn bind() -> Option<usize> {
    None
}
