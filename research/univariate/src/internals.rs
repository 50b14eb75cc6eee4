//! Private items of `sunzi-univariate` for its tests, which the interface does not show.
//!
//! No code but the tests of `sunzi-univariate` may use this module: its contents change without notice.

pub use crate::cyclic::{CyclicPlan, CyclicScale, SHORTEST as SHORTEST_CYCLE};

use crate::UnivariateRing;

/// Returns a ring without the tables of its last modulus.
#[must_use]
pub fn without_last_reducer(ring: &UnivariateRing) -> UnivariateRing {
    ring.without_last_reducer()
}
