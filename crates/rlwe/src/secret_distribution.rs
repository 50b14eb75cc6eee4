//! Distributions of the coefficients of secrets.

use std::fmt;

use rand_core::CryptoRng;
use serde::{Deserialize, Serialize};
use sunzi_ring::{RingError, sampling};
use zeroize::Zeroizing;

use crate::noise::{KEY_BOUND, TERNARY_VARIANCE};

/// The distribution of the coefficients of a secret, each −1, 0 or 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SecretDistribution {
    /// Coefficients of a secret are independent and uniform in {−1, 0, 1}.
    #[default]
    Ternary,
    /// Exactly the given number of coefficients is not 0, at uniform positions, with uniform signs: a sparse secret,
    /// whose roundings add less noise and whose moduli must be smaller.
    FixedWeight(usize),
}

impl SecretDistribution {
    /// Checks that a secret of n coefficients can have the Hamming weight, which must not be 0.
    pub(crate) fn check(self, degree: usize) -> Result<(), RingError> {
        match self {
            Self::FixedWeight(weight) if !(1..=degree).contains(&weight) => Err(RingError::OutOfRange {
                what: "Hamming weight",
                expected: format!("1 to {degree}"),
                got: weight.to_string(),
            }),
            _ => Ok(()),
        }
    }

    /// Draws the n coefficients of a secret.
    pub(crate) fn sample(
        self,
        degree: usize,
        rng: &mut dyn CryptoRng,
    ) -> Result<Zeroizing<Vec<i64>>, RingError> {
        match self {
            Self::Ternary => sampling::ternary(degree, rng),
            Self::FixedWeight(weight) => sampling::fixed_weight_ternary(degree, weight, rng),
        }
    }

    /// The variance E s_i² of a coefficient of a secret.
    #[must_use]
    pub fn variance(self, degree: usize) -> f64 {
        match self {
            Self::Ternary => TERNARY_VARIANCE,
            Self::FixedWeight(weight) => weight as f64 / degree as f64,
        }
    }

    /// The largest 1-norm Σ|s_i| of a secret: δ·B_key of the papers, or the Hamming weight.
    #[must_use]
    pub fn norm(self, degree: usize) -> f64 {
        match self {
            Self::Ternary => degree as f64 * KEY_BOUND,
            Self::FixedWeight(weight) => weight as f64 * KEY_BOUND,
        }
    }
}

/// Formats a distribution of secrets in words: "uniform ternary secrets", "secrets of Hamming weight 192".
impl fmt::Display for SecretDistribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ternary => f.write_str("uniform ternary secrets"),
            Self::FixedWeight(weight) => write!(f, "secrets of Hamming weight {weight}"),
        }
    }
}
