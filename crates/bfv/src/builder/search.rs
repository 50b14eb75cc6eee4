//! The search for BFV parameters: every ring, every splitting of the plaintext space, one ciphertext modulus or more.

use sunzi_math::log2_product;
use sunzi_ring::{GadgetOptions, RnsDigits};
use sunzi_rlwe::RingShape;
use sunzi_rlwe::security::limit_of;

use super::moduli::{Chains, bounds, max_limbs};
use super::switching::DigitChoice;
use super::{cost, predict};
use crate::algorithms::Algorithms;
use crate::explain::{Candidate, Choice, Explanation, Sizes, Verdict};
use crate::parameters::CrtParameters;
use crate::refusal::Refusal;
use crate::request::Request;

/// Number of ciphertext moduli tried beyond the fewest that fit: digits without special moduli make more noise and can
/// still be faster.
const MORE_LIMBS: usize = 2;

/// A search for the BFV parameters that meet one request.
pub(super) struct Search<'a> {
    request: &'a Request,
    single: bool,
    chains: &'a mut Chains,
}

/// A candidate with its ciphertext moduli and its options of key switching.
#[derive(Clone)]
struct Trial {
    candidate: Candidate,
    moduli: Vec<u64>,
    key_switching: GadgetOptions,
}

impl Trial {
    fn new(candidate: Candidate) -> Self {
        Self { candidate, moduli: Vec::new(), key_switching: GadgetOptions::default() }
    }

    fn fits(&self) -> bool {
        self.candidate.verdict == Verdict::Fits
    }

    /// The least number of ciphertext moduli that a candidate lacks, as far as noise tells: one more gains 49 bits,
    /// and at most 15 from smaller digits.
    fn limbs_short(&self) -> usize {
        match self.candidate.verdict {
            Verdict::Refused(Refusal::TooNoisy { bits_short }) => (bits_short / 64.0) as usize,
            _ => 0,
        }
    }

    /// Whether one candidate is a better choice than `other`: it fits at a lower cost, or comes closer to fitting.
    fn beats(&self, other: &Self) -> bool {
        let left = |tried: &Self| tried.candidate.bits_left.last().copied().unwrap_or(f64::NEG_INFINITY);
        match (self.fits(), other.fits()) {
            (true, true) => self.candidate.cost < other.candidate.cost,
            (false, false) => left(self) > left(other),
            (fits, _) => fits,
        }
    }
}

impl<'a> Search<'a> {
    /// Makes a search for `request`, with one plaintext modulus only if `single`.
    pub(super) fn new(request: &'a Request, single: bool, chains: &'a mut Chains) -> Self {
        Self { request, single, chains }
    }

    /// Whether any candidate fits the request.
    pub(super) fn fits(&mut self) -> bool {
        self.candidates().iter().any(Trial::fits)
    }

    /// Lists every candidate, and the cheapest that fits.
    pub(super) fn explain(mut self) -> Explanation {
        let mut tried = self.candidates();
        let fitting = tried.iter().enumerate().filter(|(_, tried)| tried.fits());
        let best =
            fitting.min_by(|(_, a), (_, b)| a.candidate.cost.total_cmp(&b.candidate.cost)).map(|(i, _)| i);
        let chosen = best.and_then(|best| tried.get(best)).map(|tried| self.choice(tried));
        for (i, tried) in tried.iter_mut().enumerate().filter(|(_, tried)| tried.fits()) {
            tried.candidate.verdict = match &chosen {
                Some(choice) if Some(i) != best => {
                    Verdict::Beaten { cost_ratio: tried.candidate.cost / choice.cost }
                }
                _ => Verdict::Chosen,
            };
        }
        let candidates = tried.into_iter().map(|tried| tried.candidate).collect();
        Explanation { request: self.request.clone(), candidates, chosen }
    }

    fn candidates(&mut self) -> Vec<Trial> {
        self.request.rings().into_iter().flat_map(|ring| self.in_ring(ring)).collect()
    }

    fn in_ring(&mut self, ring: RingShape) -> Vec<Trial> {
        let limit = limit_of(self.request.secrets, ring.log2_degree(), self.request.security);
        let refused = |refusal| {
            let verdict = Verdict::Refused(refusal);
            vec![Trial::new(Candidate { verdict, ..Candidate::empty(ring, limit) })]
        };
        let Request { plain, batching, .. } = self.request;
        let slots = plain.slots(ring.index(), ring.degree(), *batching);
        if slots < self.request.slots {
            return refused(Refusal::TooFewSlots { slots, wanted: self.request.slots });
        }
        if limit == 0.0 {
            return refused(Refusal::NotSecure);
        }
        let options = if self.single {
            plain.modulus_for(ring.index(), *batching).map(|t| vec![vec![t]])
        } else {
            plain.moduli_for(ring.index(), *batching)
        };
        match options {
            Ok(options) => options.into_iter().map(|plain| self.with_plain(ring, limit, plain)).collect(),
            Err(refusal) => refused(Refusal::Plain(refusal)),
        }
    }

    /// The cheapest candidate with these plaintext moduli and the fewest ciphertext moduli that leave the margin; if
    /// none do, the one that comes closest.
    fn with_plain(&mut self, ring: RingShape, limit: f64, plain_moduli: Vec<u64>) -> Trial {
        let nothing = Candidate { plain_moduli, ..Candidate::empty(ring, limit) };
        let mut best = Trial::new(nothing.clone());
        let (mut limbs, mut last) = (1, max_limbs(limit));
        while limbs <= last {
            for digits in DigitChoice::all(self.request, limbs) {
                for bound in bounds(limit, limbs + digits.special) {
                    let Some(tried) = self.trial(nothing.clone(), limbs, digits, bound) else { continue };
                    // As many wider moduli cost more.
                    let last = tried.fits();
                    if best.moduli.is_empty() || tried.beats(&best) {
                        best = tried;
                    }
                    if last {
                        break;
                    }
                }
            }
            if best.fits() {
                last = last.min(best.candidate.limbs + MORE_LIMBS);
            }
            limbs = (limbs + best.limbs_short()).min(last.saturating_sub(MORE_LIMBS)).max(limbs + 1);
        }
        best
    }

    /// The candidate with `limbs` ciphertext moduli below a bound and this choice of digits; none where too few primes
    /// exist for it, or security does not allow it.
    fn trial(
        &mut self,
        mut candidate: Candidate,
        limbs: usize,
        digits: DigitChoice,
        bound: u64,
    ) -> Option<Trial> {
        let Request { algorithms, .. } = self.request;
        let (ring, plain) = (candidate.ring, candidate.plain_moduli.clone());
        let avoided = [&*plain, &algorithms.key_switching.special_moduli].concat();
        let counts = [limbs, digits.special];
        let [moduli, special] = self.chains.split(ring.root_order(), counts, bound, &avoided)?;
        let key_switching = digits.options(self.request, &special);
        candidate.limbs = limbs;
        candidate.log2_modulus = log2_product(&moduli);
        candidate.special_limbs = key_switching.special_moduli.len();
        candidate.log2_special = log2_product(&key_switching.special_moduli);
        let log2_key = candidate.log2_modulus + candidate.log2_special;
        if candidate.limit.is_some_and(|limit| log2_key > f64::from(limit)) {
            return None;
        }
        let largest = plain.iter().copied().max().unwrap_or(2);
        match predict::bits_left(ring.expansion(), &moduli, &key_switching, largest, self.request) {
            Ok(bits_left) => candidate.bits_left = bits_left,
            Err(error) => {
                candidate.verdict = Verdict::Refused(Refusal::Algorithms { reason: error.to_string() });
                return Some(Trial::new(candidate));
            }
        }
        let left = candidate.bits_left.last().copied().unwrap_or(f64::NEG_INFINITY);
        let bits_short = self.request.bits_needed(ring.degree()) - left;
        candidate.verdict = if bits_short <= 0.0 {
            Verdict::Fits
        } else {
            Verdict::Refused(Refusal::TooNoisy { bits_short })
        };
        candidate.digits = RnsDigits::new(&key_switching, &moduli).map_or(0, |digits| digits.count());
        candidate.cost = cost::butterflies(ring.degree(), &moduli, &key_switching, plain.len(), self.request);
        Some(Trial { candidate, moduli, key_switching })
    }

    fn choice(&self, Trial { candidate, moduli, key_switching }: &Trial) -> Choice {
        let Candidate { ring, plain_moduli, .. } = candidate;
        let algorithms =
            Algorithms { key_switching: key_switching.clone(), ..self.request.algorithms.clone() };
        let parameters =
            CrtParameters::new(*ring, moduli.clone(), plain_moduli.clone(), self.request.security)
                .with_algorithms(algorithms)
                .with_secrets(self.request.secrets);
        Choice {
            slots: self.request.plain.slots(ring.index(), ring.degree(), self.request.batching),
            sizes: Sizes::of(ring.degree(), moduli, key_switching),
            log2_modulus: candidate.log2_modulus,
            limit: candidate.limit,
            bits_left: candidate.bits_left.clone(),
            cost: candidate.cost,
            digits: candidate.digits,
            parameters,
        }
    }
}
