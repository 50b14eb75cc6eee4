//! Shared decryptions, whose results others may see.
//!
//! A decryption result carries its noise v, in CKKS for everybody to see and in exact schemes by the rare failures,
//! and v depends on the secret key: whoever made or chose the ciphertext and learns the result can compute the key
//! `[LM21]`. A shared decryption therefore adds noise E of its own to the phase, so wide that v + E tells
//! nothing of v.
//!
//! **How wide the noise is.** Let every coefficient of v be at most B, and τ results be shared under one key. Flooding noise E is in each of n coefficients a sum of three uniform integers of W values. Its
//! squared Hellinger distance from itself moved by 1 is at most 1.1406/(2W²) ([`Flooding`]). Distances of moves add up, so that moved by v it is at most 1.1406·B²/(2W²);
//! squared distances of τ results, each chosen after those before it, add up at most; and the statistical distance of all that is shared from what does not depend on v is at
//! most √2 times their root. It is at most 2^-s for
//!
//! > W = B·√(1.1406·nτ)·2^s, a deviation W/2 of flooding noise.
//!
//! A Gaussian would need 0.94 of this deviation by the same argument, but has no largest value: this noise never exceeds 3W/2, where the bound of a Gaussian that holds with probability
//! 1 − 2^-128 is 14 deviations. It takes no time that depends on what is drawn. s bits of distance keep 2s bits of security, as closeness in Hellinger distance does `[Yas21]`.
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
        self.room_of(degree, 1)
    }

    /// Returns the [`room`](Self::room) for the flooding noise of several parties, each of which hides what the others could know.
    #[must_use]
    pub fn room_of(&self, degree: usize, parties: u32) -> f64 {
        Flooding::log2_largest_noise(*self, 0.0, degree, parties).map_or(f64::INFINITY, |noise| -noise)
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
