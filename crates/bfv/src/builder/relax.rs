//! When nothing fits: what to relax, and how far.

use std::fmt;

use num_bigint::BigUint;
use num_traits::One;
use serde::{Deserialize, Serialize};
use sunzi_encoding::PlainRequest;
use sunzi_rlwe::{RingShape, Security};

use super::Request;
use super::moduli::Chains;
use super::search::Search;
use crate::explain::{Explanation, Refusal, Verdict};

/// A single change to a request with which it fits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Relaxation {
    /// At most this depth.
    Depth(u32),
    /// At most this many bits of plaintext modulus.
    PlainBits(u32),
    /// Integers below 2 to this power.
    RangeBits(u32),
    /// At most this log2 of terms in a sum.
    Additions(u32),
    /// At most this many rotate-and-add steps.
    Rotations(u32),
    /// At most this many plaintext products.
    PlainProducts(u32),
    /// At most this many slots.
    Slots(usize),
    /// Any ring degree.
    AnyDegree,
    /// Several plaintext moduli: `build_crt`.
    SeveralPlainModuli,
    /// Coefficient encoding instead of batching.
    NoBatching,
    /// Results that are not shared.
    NotShared,
    /// This lower security.
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

/// No parameter set meets a request.
#[derive(Clone, Debug, PartialEq, thiserror::Error, Serialize, Deserialize)]
#[error("no parameter set fits: {}; {}", reason(self), remedies(&self.relaxations))]
pub struct NothingFits {
    /// Bits of noise too many at the candidate that comes closest, if noise is what fails.
    pub bits_short: Option<f64>,
    /// The ring of that candidate, or the largest one considered.
    #[serde(flatten)]
    pub ring: RingShape,
    /// Why the largest ring was refused, if noise is not what fails.
    pub refusal: Option<Refusal>,
    /// Changes that help, each by itself.
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

/// Says why `explanation` has no choice and which single changes would give it one.
pub(super) fn advise(explanation: &Explanation, single: bool) -> NothingFits {
    let mut refusals = explanation.candidates.iter().filter_map(|candidate| match &candidate.verdict {
        Verdict::Refused(refusal) => Some((refusal, candidate.ring)),
        _ => None,
    });
    let short = refusals.clone().filter_map(|(refusal, ring)| match refusal {
        Refusal::TooNoisy { bits_short } => Some((*bits_short, ring)),
        _ => None,
    });
    let closest = short.min_by(|(a, _), (b, _)| a.total_cmp(b));
    let refusal = refusals.next_back();
    let ring = closest.map(|(_, ring)| ring).or(refusal.map(|(_, ring)| ring));
    NothingFits {
        bits_short: closest.map(|(bits, _)| bits),
        ring: ring.unwrap_or(RingShape::Log2Degree(0)),
        refusal: refusal.map(|(refusal, _)| refusal.clone()).filter(|_| closest.is_none()),
        relaxations: Advisor { request: &explanation.request, single, chains: Chains::default() }
            .relaxations(),
    }
}

/// Tries requests that differ from the one made in one setting.
struct Advisor<'a> {
    request: &'a Request,
    single: bool,
    chains: Chains,
}

impl Advisor<'_> {
    fn relaxations(mut self) -> Vec<Relaxation> {
        let mut found = Vec::new();
        found.extend(self.counts());
        found.extend(self.plain());
        if self.single && self.fits_with(false, &self.request.clone()) {
            found.push(Relaxation::SeveralPlainModuli);
        }
        found.extend(self.flags());
        found
    }

    /// Smaller counts.
    fn counts(&mut self) -> Vec<Relaxation> {
        let base = self.request;
        let depth =
            self.largest(base.depth, |depth| Request { depth, ..base.clone() }).map(Relaxation::Depth);
        let additions = self
            .largest(base.additions, |additions| Request { additions, ..base.clone() })
            .map(Relaxation::Additions);
        let rotations = self
            .largest(base.rotations, |rotations| Request { rotations, ..base.clone() })
            .map(Relaxation::Rotations);
        let plain_products = self
            .largest(base.plain_products, |plain_products| Request { plain_products, ..base.clone() })
            .map(Relaxation::PlainProducts);
        let log2_slots = base.slots.max(1).checked_next_power_of_two().map_or(usize::BITS, usize::ilog2);
        let slots = self
            .largest(log2_slots, |log2| Request { slots: 1 << log2, ..base.clone() })
            .map(|log2| Relaxation::Slots(1 << log2));
        [depth, additions, rotations, plain_products, slots].into_iter().flatten().collect()
    }

    /// Smaller numbers.
    fn plain(&mut self) -> Option<Relaxation> {
        let base = self.request;
        match &base.plain {
            PlainRequest::Bits(bits) => self
                .largest(bits.saturating_sub(1), |less| Request {
                    plain: PlainRequest::Bits(less + 1),
                    ..base.clone()
                })
                .map(|less| Relaxation::PlainBits(less + 1)),
            PlainRequest::Range(magnitude) => {
                let below = |bits: u32| PlainRequest::Range((BigUint::one() << bits) - 1_u32);
                let bits = u32::try_from(magnitude.bits()).unwrap_or(u32::MAX);
                self.largest(bits.saturating_sub(1), |less| Request {
                    plain: below(less + 1),
                    ..base.clone()
                })
                .map(|less| Relaxation::RangeBits(less + 1))
            }
            PlainRequest::Modulus(_) => None,
        }
    }

    /// Settings given up.
    fn flags(&mut self) -> Vec<Relaxation> {
        let base = self.request;
        let mut found = Vec::new();
        let fixed = base.log2_degree.is_some() || base.ring_index.is_some();
        if fixed && self.fits(&Request { log2_degree: None, ring_index: None, ..base.clone() }) {
            found.push(Relaxation::AnyDegree);
        }
        if base.batching && self.fits(&Request { batching: false, ..base.clone() }) {
            found.push(Relaxation::NoBatching);
        }
        if base.sharing.is_some() && self.fits(&Request { sharing: None, ..base.clone() }) {
            found.push(Relaxation::NotShared);
        }
        // Never further down than 128 bits.
        let lower = [Security::Bits192, Security::Bits128].into_iter().filter(|&level| level < base.security);
        for security in lower.filter(|_| base.security != Security::InsecureForResearchOnly) {
            if self.fits(&Request { security, ..base.clone() }) {
                found.push(Relaxation::Security(security));
                break;
            }
        }
        found
    }

    /// The largest value below `current` with which the request fits, by bisection.
    fn largest(&mut self, current: u32, with: impl Fn(u32) -> Request) -> Option<u32> {
        if current == 0 || !self.fits(&with(0)) {
            return None;
        }
        let (mut fits, mut fails) = (0, current);
        while fails - fits > 1 {
            let middle = fits + (fails - fits) / 2;
            if self.fits(&with(middle)) { fits = middle } else { fails = middle }
        }
        Some(fits)
    }

    fn fits(&mut self, request: &Request) -> bool {
        self.fits_with(self.single, request)
    }

    fn fits_with(&mut self, single: bool, request: &Request) -> bool {
        Search::new(request, single).fits(&mut self.chains)
    }
}
