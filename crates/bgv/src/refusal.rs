//! Reasons why no BGV parameters fit a request.

use serde::{Deserialize, Serialize};
use sunzi_encoding::PlainRefusal;
use sunzi_rlwe::RingShape;
use sunzi_rlwe::explain::Refuse;

/// Reason why a candidate of the BGV builder does not fit.
#[derive(Clone, Debug, PartialEq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Refusal {
    /// Refusal: the ring has too few slots.
    #[error("there are {slots} slots where {wanted} are wanted")]
    TooFewSlots {
        /// Number of slots that the ring has.
        slots: usize,
        /// Number of slots that the request asks for.
        wanted: usize,
    },
    /// Refusal: the security table has no entry for this ring degree.
    #[error("no modulus is secure enough")]
    NotSecure,
    /// Refusal: there are not enough primes for the moduli.
    #[error("there are too few primes q = 1 mod {order} for the moduli: m = {works} has enough")]
    NoModuli {
        /// Order of roots of unity: ciphertext moduli must be 1 modulo it.
        order: u64,
        /// Index of a ring as large that needs no other roots of unity.
        works: u64,
    },
    /// Refusal: the chain of moduli is larger than security allows.
    #[error("the moduli take {log2_modulus:.0} bits of {limit:.0}")]
    TooLarge {
        /// Size log2 of the smallest product of the chain.
        log2_modulus: f64,
        /// Largest log2 of the modulus that is secure.
        limit: f64,
    },
    /// Refusal: no digits of key switching that fit leave the margin.
    #[error("key switching with what room there is leaves {bits_short:.1} bits too little")]
    TooNoisy {
        /// Bits that are missing from the margin.
        bits_short: f64,
    },
    /// Refusal: no plaintext modulus meets the request in this ring.
    #[serde(untagged)]
    #[error(transparent)]
    Plain(PlainRefusal),
}

impl Refusal {
    /// Makes the refusal of a ring for which there are too few primes: a ring of a power of two has more.
    pub(crate) fn no_moduli(ring: RingShape) -> Self {
        Self::NoModuli { order: ring.root_order(), works: ring.power_of_two_index() }
    }
}

impl Refuse for Refusal {
    const INSTEAD: &'static str = "fewer operations, smaller numbers or another ring";
}

/// Verdict on a candidate of the BGV builder.
pub type Verdict = sunzi_rlwe::explain::Verdict<Refusal>;

/// Error: no BGV parameter set meets a request.
pub type NothingFits = sunzi_rlwe::explain::NothingFits<Refusal>;
