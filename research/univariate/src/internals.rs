//! Parts that the tests of this crate try by themselves, because nothing of the interface shows them.
//!
//! Nothing but these tests may use them: they change without notice.

pub use crate::cyclic::{CyclicPlan, CyclicScale, SHORTEST as SHORTEST_CYCLE};

use crate::UnivariateRing;

/// A ring without the tables of its last modulus.
#[must_use]
pub fn without_last_reducer(ring: &UnivariateRing) -> UnivariateRing {
    ring.without_last_reducer()
}
