//! The search: every ring degree, every splitting of the plaintext space, limbs from one up.

use super::moduli::{Chains, Limit};
use super::{Request, cost, plain, predict};
use crate::CrtParameters;
use crate::explain::{Candidate, Choice, Explanation, Refusal, Sizes, Verdict};
use crate::parameters::log2_product;

/// Ring degrees tried unless one is given: log2 n.
const LOG2_DEGREES: std::ops::RangeInclusive<u32> = 11..=16;

/// One search.
pub(super) struct Search<'a> {
    request: &'a Request,
    single: bool,
}

/// A candidate and its ciphertext moduli.
struct Tried {
    candidate: Candidate,
    moduli: Vec<u64>,
}

impl<'a> Search<'a> {
    /// A search for `request`, with one plaintext modulus only if `single`.
    pub(super) fn new(request: &'a Request, single: bool) -> Self {
        Self { request, single }
    }

    /// Whether anything fits.
    pub(super) fn fits(&self, chains: &mut Chains) -> bool {
        self.candidates(chains).iter().any(|tried| tried.candidate.verdict == Verdict::Fits)
    }

    /// Every candidate, and the cheapest that fits.
    pub(super) fn explain(&self) -> Explanation {
        let mut tried = self.candidates(&mut Chains::default());
        let fitting = tried.iter().enumerate().filter(|(_, tried)| tried.candidate.verdict == Verdict::Fits);
        let best =
            fitting.min_by(|(_, a), (_, b)| a.candidate.cost.total_cmp(&b.candidate.cost)).map(|(i, _)| i);
        let chosen = best.and_then(|best| tried.get(best)).map(|tried| self.choice(tried));
        if let Some(choice) = &chosen {
            for (i, Tried { candidate, .. }) in tried.iter_mut().enumerate() {
                match candidate.verdict {
                    Verdict::Fits if Some(i) == best => candidate.verdict = Verdict::Chosen,
                    Verdict::Fits => {
                        candidate.verdict = Verdict::Beaten { cost_ratio: candidate.cost / choice.cost }
                    }
                    _ => {}
                }
            }
        }
        let candidates = tried.into_iter().map(|tried| tried.candidate).collect();
        Explanation { request: self.request.clone(), candidates, chosen }
    }

    fn candidates(&self, chains: &mut Chains) -> Vec<Tried> {
        let degrees = match self.request.log2_degree {
            Some(log2_degree) => log2_degree..=log2_degree,
            None => LOG2_DEGREES,
        };
        degrees.flat_map(|log2_degree| self.at_degree(log2_degree, chains)).collect()
    }

    fn at_degree(&self, log2_degree: u32, chains: &mut Chains) -> Vec<Tried> {
        let limit = Limit::of(log2_degree, self.request.security);
        let bits = limit.and_then(Limit::bits);
        let refused = |refusal| {
            let verdict = Verdict::Refused(refusal);
            let candidate = Candidate { verdict, ..Candidate::empty(log2_degree, bits) };
            vec![Tried { candidate, moduli: Vec::new() }]
        };
        let slots = 1_usize << log2_degree;
        if slots < self.request.slots {
            return refused(Refusal::TooFewSlots { slots, wanted: self.request.slots });
        }
        let Some(limit) = limit else { return refused(Refusal::NotSecure) };
        match plain::options(log2_degree, self.request, self.single) {
            Ok(options) => {
                options.into_iter().map(|plain| self.with_plain(log2_degree, limit, plain, chains)).collect()
            }
            Err(refusal) => refused(refusal),
        }
    }

    /// The fewest limbs that leave the margin; if none do, the ones that come closest.
    fn with_plain(
        &self,
        log2_degree: u32,
        limit: Limit,
        plain_moduli: Vec<u64>,
        chains: &mut Chains,
    ) -> Tried {
        let largest = plain_moduli.iter().copied().max().unwrap_or(2);
        let mut best = Tried {
            candidate: Candidate { plain_moduli, ..Candidate::empty(log2_degree, limit.bits()) },
            moduli: Vec::new(),
        };
        let mut closest = f64::NEG_INFINITY;
        for limbs in 1..=limit.max_limbs() {
            let Some(moduli) = chains.get(log2_degree, limbs, limit, &best.candidate.plain_moduli) else {
                continue;
            };
            let bits_left = match predict::bits_left(log2_degree, &moduli, largest, self.request) {
                Ok(bits_left) => bits_left,
                Err(error) => {
                    if best.moduli.is_empty() {
                        let refusal = Refusal::Algorithms { reason: error.to_string() };
                        best.candidate.verdict = Verdict::Refused(refusal);
                    }
                    continue;
                }
            };
            let last = bits_left.last().copied().unwrap_or(f64::NEG_INFINITY);
            if last <= closest {
                continue;
            }
            closest = last;
            let bits_short = f64::from(self.request.margin) - last;
            best.candidate.limbs = limbs;
            best.candidate.log2_modulus = log2_product(&moduli);
            best.candidate.bits_left = bits_left;
            best.candidate.cost =
                cost::butterflies(log2_degree, &moduli, best.candidate.plain_moduli.len(), self.request);
            best.moduli = moduli;
            if bits_short <= 0.0 {
                best.candidate.verdict = Verdict::Fits;
                break;
            }
            best.candidate.verdict = Verdict::Refused(Refusal::TooNoisy { bits_short });
        }
        best
    }

    fn choice(&self, Tried { candidate, moduli }: &Tried) -> Choice {
        let Candidate { log2_degree, plain_moduli, .. } = candidate;
        let parameters =
            CrtParameters::new(*log2_degree, moduli.clone(), plain_moduli.clone(), self.request.security)
                .with_algorithms(self.request.algorithms.clone());
        Choice {
            slots: parameters.degree(),
            sizes: Sizes::of(*log2_degree, moduli, &self.request.algorithms.key_switching),
            log2_modulus: candidate.log2_modulus,
            limit: candidate.limit,
            bits_left: candidate.bits_left.clone(),
            cost: candidate.cost,
            parameters,
        }
    }
}
