//! Sums of three uniform integers: nearly Gaussian, exact, and bounded.

use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::{check_count, uniform_residues};
use crate::RingError;

/// Largest number of values of each of three uniform integers that are summed.
pub const MOST_VALUES: u64 = 1 << 61;
/// Number of uniform integers of a sum.
const TERMS: u64 = 3;

/// Makes n independent draws of U_1 + U_2 + U_3 − ⌊3(W − 1)/2⌋ for independent uniform U_i from 0 to W − 1: of mean 0 or 1/2, deviation
/// below W/2, and at most 3W/2 in absolute value.
///
/// The number of random words that are rejected tells nothing of those that are kept.
///
/// # Errors
/// [`RingError::OutOfRange`] for n above 2^24, and for W that is 0 or above [`MOST_VALUES`].
///
/// ```
/// use sunzi_ring::sampling::{SeededRng, uniform_sums};
///
/// let drawn = uniform_sums(1000, 5, &mut SeededRng::derive(&[1; 32], "sums", 0))?;
/// assert!(drawn.iter().all(|x| (-6..=6).contains(x)));
/// # Ok::<(), sunzi_ring::RingError>(())
/// ```
pub fn uniform_sums<G: CryptoRng + ?Sized>(
    n: usize,
    values: u64,
    rng: &mut G,
) -> Result<Zeroizing<Vec<i64>>, RingError> {
    check_count(n)?;
    if !(1..=MOST_VALUES).contains(&values) {
        let expected = format_args!("1 to {MOST_VALUES}");
        return Err(RingError::out_of_range("number of values of a uniform integer", expected, values));
    }
    let mut terms = Zeroizing::new(vec![0; TERMS as usize * n]);
    uniform_residues(&mut terms, values, rng);
    let middle = (TERMS * (values - 1) / 2) as i64;
    let (triples, _) = terms.as_chunks::<{ TERMS as usize }>();
    let mut sums = Zeroizing::new(Vec::with_capacity(n));
    sums.extend(triples.iter().map(|triple| triple.iter().sum::<u64>() as i64 - middle));
    Ok(sums)
}
