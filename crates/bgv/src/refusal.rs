//! Why no BGV parameters fit a request.

use serde::{Deserialize, Serialize};
use sunzi_encoding::PlainRefusal;
use sunzi_rlwe::RingShape;
use sunzi_rlwe::explain::Refuse;

/// Why a candidate does not fit.
#[derive(Clone, Debug, PartialEq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Refusal {
    /// The ring has too few slots.
    #[error("there are {slots} slots where {wanted} are wanted")]
    TooFewSlots {
        /// Slots that the ring has.
        slots: usize,
        /// Slots that the request asks for.
        wanted: usize,
    },
    /// The security table has no entry for this ring degree.
    #[error("no modulus is secure enough")]
    NotSecure,
    /// There are not enough primes for the moduli.
    #[error("there are too few primes q = 1 mod {order} for the moduli: m = {works} has enough")]
    NoModuli {
        /// Primes must be 1 modulo this order.
        order: u64,
        /// The index of a ring as large that needs no other roots of unity.
        works: u64,
    },
    /// The chain is larger than security allows.
    #[error("the moduli take {log2_modulus:.0} bits of {limit:.0}")]
    TooLarge {
        /// log2 of the smallest product of the chain.
        log2_modulus: f64,
        /// The largest log2 that is secure.
        limit: f64,
    },
    /// No digits of key switching that fit leave the margin.
    #[error("key switching with what room there is leaves {bits_short:.1} bits too little")]
    TooNoisy {
        /// Bits that are missing from the margin.
        bits_short: f64,
    },
    /// No plaintext modulus meets the request in this ring.
    #[serde(untagged)]
    #[error(transparent)]
    Plain(PlainRefusal),
}

impl Refusal {
    /// The refusal of a ring for which there are too few primes: a ring of a power of two has more.
    pub(crate) fn no_moduli(ring: RingShape) -> Self {
        Self::NoModuli { order: ring.root_order(), works: ring.power_of_two_index() }
    }
}

impl Refuse for Refusal {
    const INSTEAD: &'static str = "fewer operations, smaller numbers or another ring";
}

/// What became of a candidate.
pub type Verdict = sunzi_rlwe::explain::Verdict<Refusal>;

/// No parameter set meets a request.
pub type NothingFits = sunzi_rlwe::explain::NothingFits<Refusal>;
