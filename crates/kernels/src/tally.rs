//! Counts of what this thread has computed, with the feature `tally`. Without it nothing is counted,
//! and there is no cost.

use std::cell::Cell;
use std::ops::Sub;

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

impl Tally {
    /// Returns the counts of this thread since it began; the difference of two is what it computed between them.
    #[must_use]
    pub fn now() -> Self {
        TALLY.get()
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

fn change(change: impl FnOnce(&mut Tally)) {
    let mut tally = TALLY.get();
    change(&mut tally);
    TALLY.set(tally);
    #[cfg(feature = "paths")]
    crate::paths::note();
}

pub(crate) fn forward() {
    change(|tally| tally.forward += 1);
}

pub(crate) fn inverse() {
    change(|tally| tally.inverse += 1);
}

/// Counts `terms` products of a conversion for each of `words` results.
pub(crate) fn conversion(terms: usize, words: usize) {
    change(|tally| tally.conversion_products += (terms * words) as u64);
}

/// Counts `terms` products for each of `words` results.
pub(crate) fn products(terms: usize, words: usize) {
    change(|tally| tally.products += (terms * words) as u64);
}
