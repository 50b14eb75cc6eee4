//! Sampling: the distributions of keys, errors and uniform halves.
//!
//! Secret samplers have no branch, index or loop bound that depends on what they draw, take any
//! [`CryptoRng`](rand_core::CryptoRng) and answer lists that erase themselves. Uniform residues are public.

mod centered_binomial;
mod fixed_weight;
mod seeded;
mod ternary;
mod uniform;

pub use centered_binomial::{CENTERED_BINOMIAL_BOUND, CENTERED_BINOMIAL_VARIANCE, centered_binomial};
pub use fixed_weight::fixed_weight_ternary;
pub use seeded::SeededRng;
pub use ternary::ternary;
pub use uniform::uniform_residues;

#[cfg(test)]
mod statistics;
