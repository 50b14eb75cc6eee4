//! Why no CKKS parameters fit a request.

use std::fmt;

use serde::{Deserialize, Serialize};
use sunzi_rlwe::explain::Refuse;

/// Why a candidate does not fit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Refusal {
    /// The ring has too few slots.
    TooFewSlots {
        /// Number of slots that the ring has.
        slots: usize,
        /// Number of slots that the request asks for.
        wanted: usize,
    },
    /// The security table has no entry for this ring degree.
    NotSecure,
    /// No scale leaves the precision that the request asks for.
    TooPrecise {
        /// log2 of the largest scale that was tried.
        most: u32,
    },
    /// No scale leaves the precision asked for beside the noise that hides the noise of results.
    NotShareable {
        /// log2 of the largest scale that was tried.
        most: u32,
    },
    /// There are not enough primes for the moduli.
    NoPrimes {
        /// log2 of the scale.
        scale_bits: u32,
    },
    /// The moduli are larger than security allows.
    TooLarge {
        /// log2 of the smallest modulus of keys.
        log2_modulus: f64,
        /// The largest log2 that is secure.
        limit: f64,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFewSlots { slots, wanted } => {
                write!(f, "there are {slots} slots where {wanted} are wanted")
            }
            Self::NotSecure => f.write_str("no modulus is secure enough"),
            Self::TooPrecise { most } => write!(f, "no scale up to 2^{most} leaves the precision"),
            Self::NotShareable { most } => write!(
                f,
                "no scale up to 2^{most} leaves the precision to results that are shared: ask for fewer statistical bits, fewer shared \
                 results or less precision"
            ),
            Self::NoPrimes { scale_bits } => {
                write!(f, "there are too few primes for the scale 2^{scale_bits}")
            }
            Self::TooLarge { log2_modulus, limit } => {
                write!(f, "the moduli of keys take {log2_modulus:.0} bits of {limit:.0}")
            }
        }
    }
}

impl Refuse for Refusal {
    const INSTEAD: &'static str = "less precision, smaller numbers or another ring";
    const BESIDE_DEPTH: &'static str = ", and bootstrapping in between";
}

/// What became of a candidate.
pub type Verdict = sunzi_rlwe::explain::Verdict<Refusal>;

/// No parameter set meets a request.
pub type NothingFits = sunzi_rlwe::explain::NothingFits<Refusal>;
