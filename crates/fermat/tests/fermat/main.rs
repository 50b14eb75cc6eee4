//! The laws of every ring, run over q = 2^g − 1, and those of its scaler and gadget.

#[cfg(test)]
#[expect(dead_code, reason = "shared with the tests of other rings")]
#[path = "../../../ring/tests/ring/common.rs"]
mod shared;

/// The shared helpers, with rings of this crate for those of the laws.
#[cfg(test)]
mod common {
    pub(crate) use crate::shared::*;
    use sunzi_fermat::{FermatRing, Products, Shortcuts};

    /// One component to five.
    pub(crate) fn residue_rings(n: usize) -> Vec<FermatRing> {
        [64, 128, 256, 1024].map(|bits| FermatRing::new(2 * n as u64, bits).unwrap()).to_vec()
    }

    /// Only powers of two have rings here.
    pub(crate) fn general_rings() -> Vec<FermatRing> {
        Vec::new()
    }

    /// Another way to the same results.
    pub(crate) fn multi_precision(ring: &FermatRing) -> FermatRing {
        let without = Shortcuts { multiplication: false, reduction: false };
        ring.with_products(Products::Kronecker).unwrap().with_shortcuts(without).unwrap()
    }
}

#[cfg(test)]
mod components;
#[cfg(test)]
mod gadget;
#[cfg(test)]
#[path = "../../../ring/tests/ring/laws.rs"]
mod laws;
#[cfg(test)]
mod levels;
#[cfg(test)]
mod products;
#[cfg(test)]
mod scaler;
