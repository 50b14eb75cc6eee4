//! Counts of what a call computes on its thread, with the feature `tally`. Nothing is counted outside such calls: all that
//! kernels then do is to read one flag.

use std::cell::Cell;
use std::ops::Sub;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Numbers of transforms of one limb, and of modular products of words outside transforms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Number of forward transforms of limbs.
    pub forward: u64,
    /// Number of inverse transforms of limbs.
    pub inverse: u64,
    /// Number of products of words with the constants of base conversions.
    pub conversion_products: u64,
    /// Number of products of two words, and of words by one scalar.
    pub products: u64,
}

thread_local! {
    static TALLY: Cell<Tally> = const { Cell::new(Tally { forward: 0, inverse: 0, conversion_products: 0, products: 0 }) };
}

/// Number of calls, of any thread, that are being counted.
static COUNTED: AtomicUsize = AtomicUsize::new(0);

/// A call that is being counted, until it is dropped.
struct Counted;

impl Counted {
    fn begin() -> Self {
        COUNTED.fetch_add(1, Ordering::Relaxed);
        Self
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        COUNTED.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Tally {
    /// Returns what a call returns, and the counts of what it computed on this thread.
    pub fn of<T>(call: impl FnOnce() -> T) -> (T, Self) {
        let _counted = Counted::begin();
        let before = TALLY.get();
        let result = call();
        (result, TALLY.get() - before)
    }

    /// Number of transforms of either direction.
    #[must_use]
    pub fn transforms(&self) -> u64 {
        self.forward + self.inverse
    }
}

impl Sub for Tally {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self {
            forward: self.forward - before.forward,
            inverse: self.inverse - before.inverse,
            conversion_products: self.conversion_products - before.conversion_products,
            products: self.products - before.products,
        }
    }
}

/// Whether calls are counted: always where their paths are recorded.
#[inline]
fn is_counting() -> bool {
    cfg!(feature = "paths") || COUNTED.load(Ordering::Relaxed) > 0
}

#[cold]
#[inline(never)]
fn add(counts: Tally) {
    let before = TALLY.get();
    TALLY.set(Tally {
        forward: before.forward + counts.forward,
        inverse: before.inverse + counts.inverse,
        conversion_products: before.conversion_products + counts.conversion_products,
        products: before.products + counts.products,
    });
    #[cfg(feature = "paths")]
    crate::paths::note();
}

#[inline]
pub(crate) fn forward() {
    if is_counting() {
        add(Tally { forward: 1, ..Tally::default() });
    }
}

#[inline]
pub(crate) fn inverse() {
    if is_counting() {
        add(Tally { inverse: 1, ..Tally::default() });
    }
}

/// Counts `terms` products of a conversion for each of `words` results.
#[inline]
pub(crate) fn conversion(terms: usize, words: usize) {
    if is_counting() {
        add(Tally { conversion_products: (terms * words) as u64, ..Tally::default() });
    }
}

/// Counts `terms` products for each of `words` results.
#[inline]
pub(crate) fn products(terms: usize, words: usize) {
    if is_counting() {
        add(Tally { products: (terms * words) as u64, ..Tally::default() });
    }
}
