//! All tests of `sunzi-fermat` in one executable: the laws of every ring, over q = 2^g − 1, and those of its
//! scaler and gadget.

#[cfg(test)]
#[expect(dead_code, reason = "shared with the tests of other rings")]
#[path = "../../../../crates/ring/tests/ring/common.rs"]
mod shared;

/// Shared helpers of tests, with the rings over 2^g − 1 for those of the laws.
#[cfg(test)]
mod common {
    pub(crate) use crate::shared::*;
    use sunzi_fermat::{FermatModulus, FermatRing, Products, Shortcuts};
    use sunzi_ring::{Ring, Storage};

    /// Returns test rings over 2^g − 1 of one component to five, and one whose smallest component is longer than a word.
    pub(crate) fn residue_rings(n: usize) -> Vec<Ring> {
        let ring = |bits| stored(Ring::of(FermatRing::new(2 * n as u64, bits).unwrap()), Storage::Fermat);
        let longer = FermatModulus::with_smallest(1024, 256).unwrap();
        let longer = Ring::of(FermatRing::with_modulus(2 * n as u64, longer).unwrap());
        [64, 128, 256, 1024].map(ring).into_iter().chain([longer]).collect()
    }

    /// Returns no test rings of general index: only powers of two have rings over 2^g − 1.
    pub(crate) fn general_rings() -> Vec<Ring> {
        Vec::new()
    }

    /// Returns the ring over 2^g − 1 that computes equal results by other products and without shortcuts.
    pub(crate) fn multi_precision(ring: &Ring) -> Ring {
        let without = Shortcuts { multiplication: false, reduction: false };
        let storage = ring.storage::<FermatRing>().unwrap();
        Ring::of(storage.with_products(Products::Kronecker).with_shortcuts(without))
    }
}

#[cfg(test)]
#[path = "../../../../crates/ring/tests/ring/laws.rs"]
mod laws;

#[cfg(test)]
mod components;
#[cfg(test)]
mod gadget;
#[cfg(test)]
mod levels;
#[cfg(test)]
mod products;
#[cfg(test)]
mod scaler;
