//! Memory that the machine has left, so that larger objects are refused before any work. An allocation that fails ends
//! a program.

use std::fs;

use sunzi_kernels::{Isa, active_isa};
use sunzi_math::{Axis, ToRingIndex};
use sunzi_ring::{GadgetOptions, RnsDigits};

use crate::{RingShape, RlweError};

/// Bytes of the tables of a negacyclic transform, for each coefficient.
const NEGACYCLIC: u64 = 33;
/// Bytes of the Fourier tables of an axis of a ring that is no power of two, for each place, and of matrices of an axis
/// p^e, for each entry. The portable table keeps a word more of each constant.
const AXIS: u64 = 250;
const MATRIX: u64 = 36;
const PORTABLE_AXIS: u64 = 300;
const PORTABLE_MATRIX: u64 = 48;
/// Bytes of a ring's tables for each pair of moduli, words and tags of products of all moduli but one; then for each
/// lower level.
const QUOTIENT: u64 = 9;
const LOWER: u64 = 1280;
/// Bytes of the tables that lift a digit: for a digit; for each of its moduli and each of the key ring or its targets;
/// for two moduli of a ring of keys.
const DIGIT: u64 = 600;
const SOURCE: u64 = 22;
const TARGET: u64 = 12;
const PLACE: u64 = 6;

/// Bytes that addresses of WebAssembly reach, less those that programs and stacks take.
const REACHED: u64 = (1 << 32) - (1 << 28);

/// Returns the bytes that a process may still take: free memory and swap, and less where its control group or its
/// address space (`ulimit -v`) has a limit. In WebAssembly the bytes that addresses reach, whatever is taken already. `None` where the system does not say, as
/// anywhere else but on Linux.
#[must_use]
pub fn available() -> Option<u64> {
    if cfg!(target_family = "wasm") {
        return Some(REACHED);
    }
    let machine = machine(&fs::read_to_string("/proc/meminfo").ok()?)?;
    Some([group(), address_space()].into_iter().flatten().fold(machine, u64::min))
}

/// Checks that `needed` bytes of memory are left. Where the system does not say, the check passes.
///
/// # Errors
/// [`RlweError::Memory`] where fewer bytes are left.
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

/// Returns the approximate bytes that the tables of transforms modulo `moduli` primes take.
#[must_use]
pub fn transform_bytes(ring: RingShape, moduli: usize) -> u64 {
    let each = match ring.to_ring_index() {
        Ok(index) if !index.is_power_of_two() => {
            index.axes().iter().map(axis_bytes).fold(0, u64::saturating_add)
        }
        _ => (ring.degree() as u64).saturating_mul(NEGACYCLIC),
    };
    each.saturating_mul(moduli as u64)
}

/// Returns the bytes of transform tables, forward and inverse, along an axis of p^e places: a convolution of p − 1, and
/// e − 1 times as many matrices of p by p as there are places of the level before.
fn axis_bytes(axis: &Axis) -> u64 {
    let (place, entry) = match active_isa() {
        Ok(Isa::Portable) => (PORTABLE_AXIS, PORTABLE_MATRIX),
        _ => (AXIS, MATRIX),
    };
    let (length, rows) = axis.convolution();
    if axis.prime() == 2 {
        return (axis.degree() as u64).saturating_mul(place);
    }
    let levels = (1..axis.exponent()).map(|level| axis.prime().saturating_pow(level + 1));
    let entries = levels.fold(0, u64::saturating_add).saturating_mul(axis.prime() - 1);
    (length as u64 * rows as u64).saturating_mul(place).saturating_add(entries.saturating_mul(entry))
}

/// Returns the approximate bytes that a ring of `moduli` primes takes beside its transforms: the products of all
/// moduli but one, and places of tables that lead to each lower level.
#[must_use]
pub fn level_bytes(moduli: usize) -> u64 {
    let moduli = moduli as u64;
    moduli * moduli * QUOTIENT + moduli * LOWER
}

/// Returns the approximate bytes that key switching takes beside transforms at a level of `moduli` primes, whose
/// digits have so many of them each: tables that lift each digit to the other moduli, and with special moduli the
/// ring of keys.
#[must_use]
pub fn switch_bytes(moduli: usize, digits: &[usize], special: usize) -> u64 {
    let all = (moduli + special) as u64;
    let lift = |&own: &usize| {
        let targets = all.saturating_sub(own as u64);
        let entries = if own > 1 { (own as u64 + 1) * (all * SOURCE + targets * TARGET) } else { 0 };
        DIGIT + entries
    };
    let ring = if special == 0 { 0 } else { level_bytes(moduli + special) + all * all * PLACE };
    digits.iter().map(lift).sum::<u64>() + ring
}

/// Returns the approximate bytes that the tables of parameters take: transforms of all moduli, the rings of levels
/// that have the moduli with these indices, and key switching at such levels.
#[must_use]
pub fn table_bytes(
    ring: RingShape,
    moduli: &[u64],
    options: &GadgetOptions,
    levels: &[Vec<usize>],
    switching: &[Vec<usize>],
) -> u64 {
    let special = options.special_moduli.len();
    let digits = RnsDigits::new(options, moduli);
    let switch = |limbs: &Vec<usize>| {
        let digits = digits.as_ref().map(|digits| digits.limbs_of(limbs)).unwrap_or_default();
        switch_bytes(limbs.len(), &digits, special)
    };
    let rings = levels.iter().map(|limbs| level_bytes(limbs.len()));
    let transforms = transform_bytes(ring, moduli.len().saturating_add(special));
    rings.chain(switching.iter().map(switch)).fold(transforms, u64::saturating_add)
}

fn machine(meminfo: &str) -> Option<u64> {
    let kibibytes = |name: &str| {
        let line = meminfo.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()
    };
    let free = kibibytes("MemAvailable:")?.saturating_add(kibibytes("SwapFree:").unwrap_or(0));
    Some(free.saturating_mul(1024))
}

/// Returns the bytes that the control group of this process leaves; its files in memory can be dropped and do not
/// count.
fn group() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let own = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let read = |folder: &str, file: &str| fs::read_to_string(format!("/sys/fs/cgroup/{folder}/{file}")).ok();
    // A process within a container sees its own group as the root.
    let folder = [own, ""].into_iter().find(|folder| read(folder, "memory.max").is_some())?;
    left(&read(folder, "memory.max")?, &read(folder, "memory.stat")?)
}

fn left(limit: &str, stat: &str) -> Option<u64> {
    let limit: u64 = limit.trim().parse().ok()?;
    let taken: u64 = stat.lines().find_map(|line| line.strip_prefix("anon "))?.trim().parse().ok()?;
    Some(limit.saturating_sub(taken))
}

/// Returns the bytes that the limit on the address space of the process leaves.
fn address_space() -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let status = fs::read_to_string("/proc/self/status").ok()?;
    unmapped(&limits, &status)
}

fn unmapped(limits: &str, status: &str) -> Option<u64> {
    let limit = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let limit: u64 = limit.split_whitespace().next()?.parse().ok()?;
    let taken = status.lines().find_map(|line| line.strip_prefix("VmSize:"))?;
    let taken: u64 = taken.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(limit.saturating_sub(taken.saturating_mul(1024)))
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
        let limits = "Limit  Soft Limit  Hard Limit  Units\nMax address space  8192  unlimited  bytes\n";
        assert_eq!(unmapped(limits, "VmPeak: 9 kB\nVmSize:\t       3 kB\n"), Some(5 * 1024));
        assert_eq!(unmapped(&limits.replace("8192", "unlimited"), "VmSize: 3 kB"), None);
    }

    #[test]
    fn what_no_machine_has_is_refused_with_both_numbers() {
        if let Some(before) = available() {
            let error = require(u64::MAX).unwrap_err();
            let RlweError::Memory { needed, available } = error else { panic!("{error}") };
            assert!(needed == u64::MAX && available < 2 * before);
        }
    }
}
