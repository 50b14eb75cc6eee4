//! Reasons why no BFV parameters fit a request, and relaxed requests that would.

use std::fmt;

use serde::{Deserialize, Serialize};
use sunzi_encoding::PlainRefusal;
use sunzi_rlwe::{RingShape, Security};

/// Reason why a candidate of the BFV builder does not fit.
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
    /// Refusal: there are not enough primes for the ciphertext modulus.
    #[error("there are too few primes q = 1 mod {order} for the modulus: m = {works} has enough")]
    NoModuli {
        /// Order of roots of unity: ciphertext moduli must be 1 modulo it.
        order: u64,
        /// Index of a ring as large that needs no other roots of unity.
        works: u64,
    },
    /// Refusal: the algorithms asked for do not work with the moduli.
    #[error("the algorithms asked for do not fit: {reason}")]
    Algorithms {
        /// Reason why the algorithms do not work, with the name of the option.
        reason: String,
    },
    /// Refusal: even the largest secure modulus leaves fewer bits of noise than the margin.
    #[error("{bits_short:.1} bits short")]
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

/// A single change that makes a refused BFV request fit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Relaxation {
    /// Relaxation: ask for at most this depth.
    Depth(usize),
    /// Relaxation: ask for at most this many bits of plaintext modulus.
    PlainBits(u32),
    /// Relaxation: compute with integers below 2 to this power.
    RangeBits(u32),
    /// Relaxation: sum at most 2 to this power terms.
    Additions(u32),
    /// Relaxation: do at most this many rotate-and-add steps.
    Rotations(u32),
    /// Relaxation: do at most this many plaintext products.
    PlainProducts(usize),
    /// Relaxation: ask for at most this many slots.
    Slots(usize),
    /// Relaxation: allow any ring degree.
    AnyDegree,
    /// Relaxation: allow several plaintext moduli by `build_crt`.
    SeveralPlainModuli,
    /// Relaxation: encode numbers as coefficients instead of batching.
    NoBatching,
    /// Relaxation: do not share results.
    NotShared,
    /// Relaxation: ask for this lower security.
    Security(Security),
}

impl fmt::Display for Relaxation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Depth(depth) => write!(f, "depth {depth}"),
            Self::PlainBits(bits) => write!(f, "a plaintext modulus of {bits} bits"),
            Self::RangeBits(bits) => write!(f, "integers below 2^{bits}"),
            Self::Additions(log2) => write!(f, "sums of 2^{log2} terms at each level"),
            Self::Rotations(steps) => write!(f, "{steps} rotate-and-add steps at each level"),
            Self::PlainProducts(count) => write!(f, "{count} plaintext products at each level"),
            Self::Slots(slots) => write!(f, "{slots} slots"),
            Self::AnyDegree => f.write_str("a ring degree left to the builder"),
            Self::SeveralPlainModuli => f.write_str("several plaintext moduli (build_crt)"),
            Self::NoBatching => f.write_str("coefficient encoding instead of batching"),
            Self::NotShared => f.write_str("results that are not shared"),
            Self::Security(security) => write!(f, "{security} security"),
        }
    }
}

/// Error: no BFV parameter set meets a request.
#[derive(Clone, Debug, PartialEq, thiserror::Error, Serialize, Deserialize)]
#[error("no parameter set fits: {}; {}", reason(self), remedies(&self.relaxations))]
pub struct NothingFits {
    /// Bits by which the noise is too large at the candidate that comes closest, if noise is what fails.
    pub bits_short: Option<f64>,
    /// Ring of the candidate that comes closest, or the largest ring considered.
    #[serde(flatten)]
    pub ring: RingShape,
    /// Reason why the largest ring was refused, if noise is not what fails.
    pub refusal: Option<Refusal>,
    /// Changes of the request that help, each by itself.
    pub relaxations: Vec<Relaxation>,
}

fn reason(error: &NothingFits) -> String {
    match (error.bits_short, &error.refusal) {
        (Some(bits), _) => {
            format!("even at {} the noise is {bits:.1} bits too large", error.ring)
        }
        (None, Some(refusal)) => format!("at {} {refusal}", error.ring),
        (None, None) => "there is no candidate".to_owned(),
    }
}

fn remedies(relaxations: &[Relaxation]) -> String {
    if relaxations.is_empty() {
        return "no single change is enough: ask for less depth and smaller numbers together".to_owned();
    }
    let list: Vec<String> = relaxations.iter().map(ToString::to_string).collect();
    format!("what would fit: {}", list.join(", or "))
}
