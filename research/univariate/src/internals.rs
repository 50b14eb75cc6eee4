//! Private items for the tests of this crate, which the interface does not show.
//!
//! Nothing else may use this module: its contents change without notice.

pub use crate::cyclic::{CyclicPlan, CyclicScale, SHORTEST as SHORTEST_CYCLE};

use crate::UnivariateRing;

/// Returns a ring without the tables of its last modulus.
#[must_use]
pub fn without_last_reducer(ring: &UnivariateRing) -> UnivariateRing {
    ring.without_last_reducer()
}
