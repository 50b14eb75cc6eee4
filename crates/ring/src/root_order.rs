//! Roots of unity that moduli must have.

use sunzi_math::ToRingIndex;

use crate::error::supported_index;
use crate::{Ring, RingError};

impl Ring {
    /// The number modulo which every modulus of a ring of index m must be 1: the least common multiple of m and the orders of the
    /// roots that convolutions along its odd axes take.
    ///
    /// # Errors
    /// [`RingError::UnsupportedIndex`]; [`RingError::Math`] for m = 2 mod 4.
    pub fn root_order(m: impl ToRingIndex) -> Result<u64, RingError> {
        Ok(supported_index(m)?.root_order())
    }

    /// Whether a modulus of a ring of index m may be a product of several primes ≡ 1 modulo the root order: the
    /// transforms of powers of two alone find the roots of unity modulo a product.
    #[must_use]
    pub fn takes_products_of_primes(m: impl ToRingIndex) -> bool {
        m.to_ring_index().is_ok_and(|index| index.is_power_of_two())
    }
}
