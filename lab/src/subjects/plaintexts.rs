//! Random messages of the exact schemes.

use rand_core::Rng;
use sunzi_encoding::{EncodingError, Plaintext};

/// A message with coefficients below `modulus` that look uniform; a prime modulus leaves them off by at most
/// its 2^64-th part.
pub(crate) fn random<G: Rng + ?Sized>(
    degree: usize,
    modulus: u64,
    rng: &mut G,
) -> Result<Plaintext, EncodingError> {
    Plaintext::new((0..degree).map(|_| rng.next_u64() % modulus).collect(), modulus)
}
