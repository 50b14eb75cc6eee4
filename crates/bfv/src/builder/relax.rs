//! Finds which settings of a request to relax, and how far, where no BFV parameters meet it.

use std::ops::{Add, Div, Sub};

use num_bigint::BigUint;
use num_traits::One;
use sunzi_encoding::PlainRequest;
use sunzi_rlwe::explain::largest_below;
use sunzi_rlwe::{RingShape, Security};

use super::moduli::Chains;
use super::search::Search;
use crate::explain::{Explanation, Verdict};
use crate::refusal::{NothingFits, Refusal, Relaxation};
use crate::request::Request;

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

/// Search for requests that differ from a refused one in one setting and fit.
struct Advisor<'a> {
    request: &'a Request,
    single: bool,
    chains: Chains,
}

impl Advisor<'_> {
    fn relaxations(mut self) -> Vec<Relaxation> {
        let mut found = self.counts();
        found.extend(self.plain());
        if self.single && Search::new(self.request, false, &mut self.chains).fits() {
            found.push(Relaxation::SeveralPlainModuli);
        }
        found.extend(self.flags());
        found
    }

    /// Relaxations that lower one of the counts of operations.
    fn counts(&mut self) -> Vec<Relaxation> {
        let &Request { depth, additions, rotations, plain_products, slots, .. } = self.request;
        let log2_slots = slots.max(1).checked_next_power_of_two().map_or(usize::BITS, usize::ilog2);
        let found = [
            self.largest(depth, |less, asked| asked.depth = less).map(Relaxation::Depth),
            self.largest(additions, |less, asked| asked.additions = less).map(Relaxation::Additions),
            self.largest(rotations, |less, asked| asked.rotations = less).map(Relaxation::Rotations),
            self.largest(plain_products, |less, asked| asked.plain_products = less)
                .map(Relaxation::PlainProducts),
            self.largest(log2_slots, |log2, asked| asked.slots = 1 << log2)
                .map(|log2| Relaxation::Slots(1 << log2)),
        ];
        found.into_iter().flatten().collect()
    }

    /// The relaxation of a BFV request to smaller numbers, if one helps.
    fn plain(&mut self) -> Option<Relaxation> {
        match &self.request.plain {
            PlainRequest::Bits(bits) => self
                .largest(bits.saturating_sub(1), |less, asked| asked.plain = PlainRequest::Bits(less + 1))
                .map(|less| Relaxation::PlainBits(less + 1)),
            PlainRequest::Range(magnitude) => {
                let bits = u32::try_from(magnitude.bits()).unwrap_or(u32::MAX);
                let below = |bits: u32| PlainRequest::Range((BigUint::one() << bits) - 1_u32);
                self.largest(bits.saturating_sub(1), |less, asked| asked.plain = below(less + 1))
                    .map(|less| Relaxation::RangeBits(less + 1))
            }
            PlainRequest::Modulus(_) => None,
        }
    }

    /// Relaxations that give up a setting: ring degree, batching, sharing, security.
    fn flags(&mut self) -> Vec<Relaxation> {
        let base = self.request;
        let mut found = Vec::new();
        let fixed = base.log2_degree.is_some() || base.ring_index.is_some();
        if fixed && self.fits(|asked| (asked.log2_degree, asked.ring_index) = (None, None)) {
            found.push(Relaxation::AnyDegree);
        }
        if base.batching && self.fits(|asked| asked.batching = false) {
            found.push(Relaxation::NoBatching);
        }
        if base.sharing.is_some() && self.fits(|asked| asked.sharing = None) {
            found.push(Relaxation::NotShared);
        }
        // Security is never relaxed below 128 bits.
        let lower = [Security::Bits192, Security::Bits128].into_iter().filter(|&level| level < base.security);
        let mut lower = lower.filter(|_| base.security != Security::InsecureForResearchOnly);
        found
            .extend(lower.find(|&level| self.fits(|asked| asked.security = level)).map(Relaxation::Security));
        found
    }

    /// The largest value of a setting below `current` with which a BFV request fits.
    fn largest<N>(&mut self, current: N, set: impl Fn(N, &mut Request)) -> Option<N>
    where
        N: Copy + Ord + From<u8> + Add<Output = N> + Sub<Output = N> + Div<Output = N>,
    {
        largest_below(current, |value| self.fits(|asked| set(value, asked)))
    }

    /// Whether a BFV request fits after one change.
    fn fits(&mut self, change: impl FnOnce(&mut Request)) -> bool {
        let mut asked = self.request.clone();
        change(&mut asked);
        Search::new(&asked, self.single, &mut self.chains).fits()
    }
}
