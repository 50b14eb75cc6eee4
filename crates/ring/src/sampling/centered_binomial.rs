//! Errors: the centred binomial distribution.

use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::check_count;
use crate::RingError;

/// Greatest absolute value of [`centered_binomial`].
pub const CENTERED_BINOMIAL_BOUND: u32 = 21;
/// Variance of [`centered_binomial`]: σ = 3.24.
pub const CENTERED_BINOMIAL_VARIANCE: f64 = 10.5;

/// n independent coefficients, each the difference of two sums of 21 random bits.
///
/// Constant time: one word and two bit counts a coefficient.
///
/// # Errors
/// [`RingError::OutOfRange`] for n above 2^24.
pub fn centered_binomial<G: CryptoRng + ?Sized>(
    n: usize,
    rng: &mut G,
) -> Result<Zeroizing<Vec<i64>>, RingError> {
    const MASK: u64 = (1 << CENTERED_BINOMIAL_BOUND) - 1;
    check_count(n)?;
    let draw = || {
        let word = rng.next_u64();
        let plus = (word & MASK).count_ones();
        let minus = (word >> CENTERED_BINOMIAL_BOUND & MASK).count_ones();
        i64::from(plus) - i64::from(minus)
    };
    let mut out = Zeroizing::new(Vec::with_capacity(n));
    out.extend(std::iter::repeat_with(draw).take(n));
    Ok(out)
}
