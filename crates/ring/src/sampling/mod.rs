//! Sampling: the distributions of keys, errors and uniform halves.
//!
//! Samplers of keys and errors have no branch, index or loop bound that depends on what they draw, take any
//! [`CryptoRng`] and answer lists that erase themselves. Of uniform residues, public ones for the most part, rejected draws show.

mod centered_binomial;
pub(crate) mod fixed_weight;
mod seeded;
mod spherical;
mod ternary;
mod uniform;
mod uniform_sum;

pub use centered_binomial::{CENTERED_BINOMIAL_BOUND, CENTERED_BINOMIAL_VARIANCE, centered_binomial};
pub use fixed_weight::fixed_weight_ternary;
pub use seeded::SeededRng;
pub use spherical::spherical_error;
pub use ternary::ternary;
pub use uniform::uniform_residues;
pub use uniform_sum::{MOST_VALUES, uniform_sums};

use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::RingError;

/// Number of random words that are drawn together.
pub const DRAWN: usize = 512;

/// Applies `f` to each of n random words, one after the other: the words that `next_u64` would draw.
pub fn map_words<G: CryptoRng + ?Sized>(
    n: usize,
    rng: &mut G,
    f: impl Fn(u64) -> i64,
) -> Zeroizing<Vec<i64>> {
    let mut bytes = Zeroizing::new([0; 8 * DRAWN]);
    let mut out = Zeroizing::new(Vec::with_capacity(n));
    while out.len() < n {
        let count = DRAWN.min(n - out.len());
        let (words, _) = bytes.as_chunks_mut::<8>();
        let words = words.get_mut(..count).unwrap_or_default();
        rng.fill_bytes(words.as_flattened_mut());
        out.extend(words.iter().map(|word| f(u64::from_le_bytes(*word))));
    }
    out
}

/// Checks that n is a number of samples small enough to allocate.
fn check_count(n: usize) -> Result<(), RingError> {
    const LIMIT: usize = 1 << 24;
    if n <= LIMIT {
        Ok(())
    } else {
        Err(RingError::out_of_range("number of samples", format_args!("at most {LIMIT}"), n))
    }
}
