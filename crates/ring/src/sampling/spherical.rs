//! Sampling of errors of a cyclotomic ring.

use rand_core::CryptoRng;
use sunzi_math::{Integers, RingIndex};
use zeroize::Zeroizing;

use super::centered_binomial;
use crate::RingError;

/// Draws an error of the ring of index m, n coefficients in the powerful basis, spherical in the canonical embedding
/// as hardness results ask `[LPR13]`.
///
/// Coefficients of ∏ x_i^{j_i} are drawn from [`centered_binomial`] for *all* powers of x_i below p_i^{e_i}, for odd p_i, and
/// then reduced modulo Φ_{m_i}(x_i). Powers of a root of unity are orthogonal, so independent coefficients in
/// Z\[x\]/(x^{m_i} − 1) are spherical, and so is their projection. Each odd prime doubles the terms that a
/// coefficient sums. For a power of two the error is [`centered_binomial`] itself.
///
/// In a real ring 1 and X^j + X^-j are orthogonal, and all but 1 have twice its squared length: the first coefficient is the sum of two.
///
/// The time of a draw is constant.
///
/// # Errors
/// [`RingError::OutOfRange`] for m above 2^24.
pub fn spherical_error<G: CryptoRng + ?Sized>(
    index: &RingIndex,
    rng: &mut G,
) -> Result<Zeroizing<Vec<i64>>, RingError> {
    let mut entries = centered_binomial(index.redundant_len() + usize::from(index.is_real()), rng)?;
    if index.is_real()
        && let (last, Some(first)) = (entries.pop(), entries.first_mut())
    {
        *first += last.unwrap_or(0);
    }
    index.fold(&Integers::new(), &mut entries)?;
    Ok(entries)
}
