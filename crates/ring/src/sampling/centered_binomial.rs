//! Sampling of errors from the centred binomial distribution.

use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::{check_count, map_words};
use crate::RingError;

/// Greatest absolute value of a draw of [`centered_binomial`].
pub const CENTERED_BINOMIAL_BOUND: u32 = 21;
/// Variance of a draw of [`centered_binomial`]: σ = 3.24.
pub const CENTERED_BINOMIAL_VARIANCE: f64 = 10.5;

/// Draws n independent coefficients, each the difference of two sums of 21 random bits.
///
/// The time of a draw is constant: one word and one bit count a coefficient.
///
/// # Errors
/// [`RingError::OutOfRange`] for n above 2^24.
pub fn centered_binomial<G: CryptoRng + ?Sized>(
    n: usize,
    rng: &mut G,
) -> Result<Zeroizing<Vec<i64>>, RingError> {
    const BOUND: u32 = CENTERED_BINOMIAL_BOUND;
    const ALL: u64 = (1 << (2 * BOUND)) - 1;
    // One count gives the difference of both sums: of 21 bits whose sum is b, 21 − b are zero.
    const UPPER: u64 = ALL - ((1 << BOUND) - 1);
    check_count(n)?;
    Ok(map_words(n, rng, |word| i64::from(((word & ALL) ^ UPPER).count_ones()) - i64::from(BOUND)))
}
