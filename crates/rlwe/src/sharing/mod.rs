//! Shared decryptions, whose results others may see.
//!
//! A decryption result carries its noise v, in CKKS for everybody to see and in exact schemes by the rare failures,
//! and v depends on the secret key: whoever made or chose the ciphertext and learns the result can compute the key
//! `[LM21]`. A shared decryption therefore adds a Gaussian E of its own to the phase, so wide that v + E tells
//! nothing of v.
//!
//! **How wide the noise is.** Let every coefficient of v be at most B, E have deviation σ in each of n coefficients, and τ results be shared under one key. A shift by v
//! changes a Gaussian by Kullback–Leibler divergence ‖v‖²/(2σ²) ≤ nB²/(2σ²); divergences of τ results, each chosen after those before it, add up; and by
//! Pinsker's inequality the statistical distance of all that is shared from what does not depend on v is at most √(τnB²/(4σ²)). It is at most 2^-s for
//!
//! > deviation of flooding noise σ = B·√(nτ)·2^(s−1).
//!
//! Flooding noise is E = g·X + U with X a discrete Gaussian of σ/g = 2^k and U uniform in [0, g): a shift by v moves X
//! by at most B/g + 1 for any value of U, so that B + g stands for B above, and no low bit of v remains. s bits of
//! statistical distance keep 2s bits of security of the kind that `[LMSS22]` define.
//!
//! **Whose bound it is.** B comes from the key holder: from the program that was declared, run by the key holder on ciphertexts of their own, or from what the
//! parameters can hold at most ([`DeclaredNoise`]). The bound that travels with a ciphertext is what its maker says, and never counts.
//!
//! **How often results are shared.** τ and s are fixed for a key when its [`SharingLedger`] is begun; the ledger is a file beside the key, made with it, and counts before it
//! gives. Where it is missing nothing is shared: nobody knows what was.

mod flooding;
mod ledger;

pub use flooding::{DeclaredNoise, Flooding};
pub(crate) use ledger::StoredLedger;
pub use ledger::{LedgerFile, SharingLedger};

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::RlweError;

/// A sharing policy: the limits of the shared decryptions under one key together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Asked")]
pub struct SharingPolicy {
    statistical_bits: u32,
    queries: u64,
}

/// A sharing policy as `serde` reads it, before it is checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    statistical_bits: u32,
    queries: u64,
}

impl TryFrom<Asked> for SharingPolicy {
    type Error = RlweError;

    fn try_from(asked: Asked) -> Result<Self, RlweError> {
        Self::new(asked.statistical_bits, asked.queries)
    }
}

impl fmt::Display for SharingPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} shared results at 2^-{}", self.queries, self.statistical_bits)
    }
}

impl SharingPolicy {
    /// Largest number of results that can be shared under one key.
    pub const MOST_QUERIES: u64 = 1 << 32;
    /// Largest number of bits of statistical distance of shared decryptions.
    pub const MOST_STATISTICAL_BITS: u32 = 80;

    /// Makes the sharing policy of at most `queries` results, together at statistical distance at most
    /// 2^-`statistical_bits` from what does not depend on the noise. Every bit, and every two bits of `queries`, is a
    /// bit of precision or of noise budget.
    ///
    /// # Errors
    /// [`RlweError::Sharing`] unless there are 1 to 2^32 results and 1 to 80 bits.
    pub fn new(statistical_bits: u32, queries: u64) -> Result<Self, RlweError> {
        let refuse = |what, most, got| {
            let expected = format!("1 to {most}");
            Err(RlweError::Sharing { what, expected, got })
        };
        if !(1..=Self::MOST_QUERIES).contains(&queries) {
            return refuse("the number of shared decryptions", Self::MOST_QUERIES, queries.to_string());
        }
        if !(1..=Self::MOST_STATISTICAL_BITS).contains(&statistical_bits) {
            let most = u64::from(Self::MOST_STATISTICAL_BITS);
            return refuse("bits of statistical distance", most, statistical_bits.to_string());
        }
        Ok(Self { statistical_bits, queries })
    }

    /// Returns the bits by which the noise of an exact scheme must stay below the largest noise that decrypts, in n
    /// coefficients, so that flooding noise fits beside it.
    #[must_use]
    pub fn room(&self, degree: usize) -> f64 {
        Flooding::log2_largest_noise(*self, 0.0, degree).map_or(f64::INFINITY, |noise| -noise)
    }

    /// The bits s of statistical distance 2^-s of a sharing policy.
    #[must_use]
    pub fn statistical_bits(&self) -> u32 {
        self.statistical_bits
    }

    /// The number τ of results that a sharing policy lets be shared.
    #[must_use]
    pub fn queries(&self) -> u64 {
        self.queries
    }
}
