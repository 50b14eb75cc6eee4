//! Sampling: the distributions of keys, errors and uniform halves.
//!
//! Secret samplers have no branch, index or loop bound that depends on what they draw, take any
//! [`CryptoRng`](rand_core::CryptoRng) and answer lists that erase themselves. Uniform residues are public.

mod centered_binomial;
mod fixed_weight;
mod seeded;
mod spherical;
mod ternary;
mod uniform;

pub use centered_binomial::{CENTERED_BINOMIAL_BOUND, CENTERED_BINOMIAL_VARIANCE, centered_binomial};
pub use fixed_weight::fixed_weight_ternary;
pub use seeded::SeededRng;
pub use spherical::spherical_error;
pub use ternary::ternary;
pub use uniform::uniform_residues;

use crate::RingError;

/// Checks that a list of so many samples is worth making.
fn check_count(n: usize) -> Result<(), RingError> {
    const LIMIT: usize = 1 << 24;
    if n <= LIMIT {
        Ok(())
    } else {
        Err(RingError::out_of_range("number of samples", format_args!("at most {LIMIT}"), n))
    }
}

#[cfg(test)]
mod statistics;
