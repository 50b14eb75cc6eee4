//! Work that an evaluator has done, by which times are predicted.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts of the operations that take most of the time; evaluators on several threads may count together.
///
/// ```
/// use sunzi_circuits::integers::IntegerWork;
///
/// let work = IntegerWork::default();
/// assert_eq!((work.look_ups(), work.tables(), work.key_switches()), (0, 0, 0));
/// ```
#[derive(Debug, Default)]
pub struct IntegerWork {
    look_ups: AtomicU64,
    tables: AtomicU64,
    key_switches: AtomicU64,
    plain_products: AtomicU64,
}

impl IntegerWork {
    /// Number of look-ups.
    #[must_use]
    pub fn look_ups(&self) -> u64 {
        self.look_ups.load(Ordering::Relaxed)
    }

    /// Number of tables of all look-ups: one or more for each.
    #[must_use]
    pub fn tables(&self) -> u64 {
        self.tables.load(Ordering::Relaxed)
    }

    /// Number of key switches outside of look-ups: rotations, conjugations, and relinearised sums of products.
    #[must_use]
    pub fn key_switches(&self) -> u64 {
        self.key_switches.load(Ordering::Relaxed)
    }

    /// Number of products of digits with those of [clear integers](super::ClearIntegers).
    #[must_use]
    pub fn plain_products(&self) -> u64 {
        self.plain_products.load(Ordering::Relaxed)
    }

    pub(super) fn look_up(&self, tables: usize) {
        self.look_ups.fetch_add(1, Ordering::Relaxed);
        self.tables.fetch_add(tables as u64, Ordering::Relaxed);
    }

    pub(super) fn plain_product(&self) {
        self.plain_products.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn key_switch(&self) {
        self.key_switches.fetch_add(1, Ordering::Relaxed);
    }
}
