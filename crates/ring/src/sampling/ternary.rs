//! Sampling of uniform ternary secrets, with coefficients −1, 0 and 1.

use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::{check_count, map_words};
use crate::RingError;

/// Draws n independent coefficients of {−1, 0, 1}, each with probability 1/3 up to 2^-64.
///
/// A coefficient is the high word of 3·w for a uniform 64-bit w, less 1: constant time, no rejection.
///
/// # Errors
/// [`RingError::OutOfRange`] for n above 2^24.
pub fn ternary<G: CryptoRng + ?Sized>(n: usize, rng: &mut G) -> Result<Zeroizing<Vec<i64>>, RingError> {
    check_count(n)?;
    Ok(map_words(n, rng, |word| ((u128::from(word) * 3) >> 64) as i64 - 1))
}
