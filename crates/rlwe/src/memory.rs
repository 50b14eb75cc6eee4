//! What the machine has, so that what it cannot hold is refused before any work. An allocation that fails ends a program.

use std::fs;

use crate::RlweError;

/// Bytes that a process may still take: free memory and swap, and less where its control group has a limit. None where the system does not
/// say, as anywhere but on Linux.
#[must_use]
pub fn available() -> Option<u64> {
    let machine = machine(&fs::read_to_string("/proc/meminfo").ok()?)?;
    Some(group().map_or(machine, |group| group.min(machine)))
}

/// Fails if there is less than `needed` bytes of memory left. Where nobody knows what there is nothing is refused.
///
/// # Errors
/// [`RlweError::Memory`].
///
/// ```
/// use sunzi_rlwe::memory;
///
/// assert!(memory::require(1 << 10).is_ok());
/// assert!(memory::available().is_none() || memory::require(1 << 60).is_err());
/// ```
pub fn require(needed: u64) -> Result<(), RlweError> {
    match available() {
        Some(available) if needed > available => Err(RlweError::Memory { needed, available }),
        _ => Ok(()),
    }
}

/// About what the tables of a ring and its keys take: transforms, conversions between moduli, rescaling; measured at up to 256 moduli.
#[must_use]
pub fn table_bytes(degree: usize, moduli: usize) -> u64 {
    const ROWS: u64 = 10;
    (degree as u64).saturating_mul(moduli as u64).saturating_mul(8 * ROWS)
}

fn machine(meminfo: &str) -> Option<u64> {
    let kibibytes = |name: &str| {
        let line = meminfo.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()
    };
    let free = kibibytes("MemAvailable:")?.saturating_add(kibibytes("SwapFree:").unwrap_or(0));
    Some(free.saturating_mul(1024))
}

/// What the control group of this process leaves; its files in memory can be dropped and do not count.
fn group() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let own = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let read = |folder: &str, file: &str| fs::read_to_string(format!("/sys/fs/cgroup/{folder}/{file}")).ok();
    // Within a container the group of the process is the root that it sees.
    let folder = [own, ""].into_iter().find(|folder| read(folder, "memory.max").is_some())?;
    left(&read(folder, "memory.max")?, &read(folder, "memory.stat")?)
}

fn left(limit: &str, stat: &str) -> Option<u64> {
    let limit: u64 = limit.trim().parse().ok()?;
    let taken: u64 = stat.lines().find_map(|line| line.strip_prefix("anon "))?.trim().parse().ok()?;
    Some(limit.saturating_sub(taken))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_system_are_read_or_nothing_is_known() {
        let text = "MemTotal:  100 kB\nMemFree: 1 kB\nMemAvailable:   50 kB\nSwapFree:   3 kB\n";
        assert_eq!(machine(text), Some(53 * 1024));
        assert_eq!(machine("MemAvailable: 7 kB"), Some(7 * 1024));
        assert_eq!((machine(""), machine("MemAvailable: many")), (None, None));
        assert_eq!(left("4096\n", "file 9\nanon 96\n"), Some(4000));
        assert_eq!((left("max\n", "anon 96\n"), left("4096", "")), (None, None));
        assert_eq!(left("96", "anon 4096"), Some(0));
    }

    #[test]
    fn what_no_machine_has_is_refused_with_both_numbers() {
        if let Some(before) = available() {
            let error = require(u64::MAX).unwrap_err();
            let RlweError::Memory { needed, available } = error else { panic!("{error}") };
            assert!(needed == u64::MAX && available < 2 * before);
        }
        assert_eq!(table_bytes(usize::MAX, usize::MAX), u64::MAX);
    }
}
