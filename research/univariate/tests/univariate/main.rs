//! All tests of `sunzi-univariate`: reductions against long division, the laws of rings over them, and faults.

#[cfg(test)]
#[expect(dead_code, reason = "shared with the tests of other rings")]
#[path = "../../../../crates/ring/tests/ring/common.rs"]
mod shared;

/// Helpers for tests of all rings, and one for rings with reductions modulo Φ_m.
#[cfg(test)]
mod common {
    pub(crate) use crate::shared::*;
    use sunzi_ring::Ring;
    use sunzi_univariate::UnivariateRing;

    /// Returns the storage of a ring with reductions modulo Φ_m.
    pub(crate) fn univariate(ring: &Ring) -> &UnivariateRing {
        ring.storage().unwrap()
    }
}

#[cfg(test)]
#[cfg(test)]
mod faults;
#[cfg(test)]
mod reduction;
#[cfg(test)]
mod seam;
#[cfg(test)]
mod univariate;
