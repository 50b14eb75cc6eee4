//! Distributions of the coefficients of secrets.

use std::fmt;

use rand_core::CryptoRng;
use serde::{Deserialize, Serialize};
use sunzi_ring::{RingError, sampling};
use zeroize::Zeroizing;

use crate::noise::{KEY_BOUND, TERNARY_VARIANCE};

/// The distribution of the coefficients of a secret: −1, 0 or 1 unless several parties share it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SecretDistribution {
    /// Coefficients of a secret are independent and uniform in {−1, 0, 1}.
    #[default]
    Ternary,
    /// Exactly the given number of coefficients is not 0, at uniform positions, with uniform signs: a sparse secret,
    /// whose roundings add less noise and whose moduli must be smaller.
    FixedWeight(usize),
    /// A joint secret, the sum of the uniform ternary secrets of so many parties, which nobody knows: see [`joint`](crate::joint).
    /// Its keys have errors of all parties, so that noise is larger; security is that of each party's own secret.
    Joint(u32),
}

impl SecretDistribution {
    /// Largest number of parties of a joint secret.
    pub const MOST_PARTIES: u32 = 1024;

    /// Returns the distribution of the secret that so many parties have together: a uniform ternary one for a single holder.
    #[must_use]
    pub fn of_parties(parties: u32) -> Self {
        if parties == 1 { Self::Ternary } else { Self::Joint(parties) }
    }

    /// Checks that secrets are uniform ternary or joint, for a scheme that has no sparse ones.
    ///
    /// # Errors
    /// [`RingError::OutOfRange`] for other secrets, and unless 2 to 1024 parties have a joint one.
    pub fn check_dense(self, degree: usize) -> Result<(), RingError> {
        if let Self::FixedWeight(_) = self {
            let expected = "uniform ternary or joint ones".to_owned();
            return Err(RingError::OutOfRange { what: "secrets", expected, got: self.to_string() });
        }
        self.check(degree)
    }

    /// Whether secrets are uniform ternary, as they are unless parameters say otherwise.
    #[must_use]
    pub fn is_ternary(&self) -> bool {
        *self == Self::Ternary
    }

    /// The number of parties whose secrets a secret is the sum of, each of whom adds errors to its keys.
    #[must_use]
    pub fn parties(self) -> u32 {
        if let Self::Joint(parties) = self { parties } else { 1 }
    }

    /// Checks that a secret of n coefficients can have the Hamming weight, which must not be 0, and that a joint one has 2 to 1024
    /// parties.
    pub(crate) fn check(self, degree: usize) -> Result<(), RingError> {
        match self {
            Self::FixedWeight(weight) if !(1..=degree).contains(&weight) => Err(RingError::OutOfRange {
                what: "Hamming weight",
                expected: format!("1 to {degree}"),
                got: weight.to_string(),
            }),
            Self::Joint(parties) if !(2..=Self::MOST_PARTIES).contains(&parties) => {
                Err(RingError::OutOfRange {
                    what: "number of parties",
                    expected: format!("2 to {}", Self::MOST_PARTIES),
                    got: parties.to_string(),
                })
            }
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
            Self::Joint(parties) => {
                let mut sum = Zeroizing::new(vec![0; degree]);
                for _ in 0..parties {
                    let own = sampling::ternary(degree, rng)?;
                    sum.iter_mut().zip(own.iter()).for_each(|(sum, own)| *sum += own);
                }
                Ok(sum)
            }
        }
    }

    /// The variance E s_i² of a coefficient of a secret.
    #[must_use]
    pub fn variance(self, degree: usize) -> f64 {
        match self {
            Self::Ternary => TERNARY_VARIANCE,
            Self::FixedWeight(weight) => weight as f64 / degree as f64,
            Self::Joint(parties) => f64::from(parties) * TERNARY_VARIANCE,
        }
    }

    /// The largest 1-norm Σ|s_i| of a secret: δ·B_key of the papers, or the Hamming weight.
    #[must_use]
    pub fn norm(self, degree: usize) -> f64 {
        match self {
            Self::Ternary => degree as f64 * KEY_BOUND,
            Self::FixedWeight(weight) => weight as f64 * KEY_BOUND,
            Self::Joint(parties) => degree as f64 * f64::from(parties) * KEY_BOUND,
        }
    }
}

/// Formats a distribution of secrets in words: "uniform ternary secrets", "secrets of Hamming weight 192", "joint secrets of 3 parties".
impl fmt::Display for SecretDistribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ternary => f.write_str("uniform ternary secrets"),
            Self::FixedWeight(weight) => write!(f, "secrets of Hamming weight {weight}"),
            Self::Joint(parties) => write!(f, "joint secrets of {parties} parties"),
        }
    }
}
