//! The search for the smallest BGV moduli and the fastest key switching.

mod sets;
mod sizes;
mod switching;

use sunzi_math::{gcd, log2_product};
use sunzi_ring::GadgetOptions;
use sunzi_rlwe::RingShape;
use sunzi_rlwe::chains::{PrimeFinder, limbs_of_level};
use sunzi_rlwe::explain::largest_below;
use sunzi_rlwe::security::limit_of;

use crate::Budget;
use crate::explain::{Candidate, Explanation};
use crate::noise::{self, NoiseSettings};
use crate::parameters::Parameters;
use crate::refusal::{NothingFits, Refusal, Verdict};
use crate::request::{NoiseModel, Request};
use sizes::Sizes;

/// Bits by which chains are made larger than the predicted sizes, one after the other until key switching fits.
const EXTRA_BITS: [f64; 7] = [0.0, 0.1, 0.3, 1.0, 2.0, 4.0, 8.0];

/// Largest ratio of key-switching costs at which levels that are sets of moduli are worth their tables.
const WORTH_SETS: f64 = 0.95;

/// A chain of BGV moduli, with the number of moduli of Q_0, …, Q_L.
pub(super) struct Chain {
    pub(super) moduli: Vec<u64>,
    /// Moduli of every level of the ring; none where level l has the first l.
    pub(super) rungs: Vec<Vec<usize>>,
    pub(super) levels: Vec<usize>,
    /// Factors of the last modulus of each level that belong to it, where levels share moduli.
    pub(super) shares: Vec<u64>,
}

impl Chain {
    /// log2 of q_0, q_1, …, q_L, q_(L+1), and the indices of the moduli of Q_0, Q_1, ….
    fn places(&self) -> Vec<(f64, Vec<usize>)> {
        let ends = self.levels.iter().copied().zip(self.shares.iter().copied().chain(std::iter::repeat(0)));
        let top = if self.rungs.is_empty() { self.moduli.len() } else { self.rungs.len() };
        let mut below = 0.0;
        let size = |(level, share): (usize, u64)| {
            let limbs = limbs_of_level(&self.rungs, self.moduli.len(), level);
            let values: Vec<u64> = limbs.iter().filter_map(|&limb| self.moduli.get(limb).copied()).collect();
            let (whole, word) = (log2_product(&values), values.last().copied().unwrap_or(1));
            let bits = if share == 0 { whole } else { whole - (word as f64).log2() + (share as f64).log2() };
            let own = bits - below;
            below = bits;
            (own, limbs)
        };
        ends.chain([(top, 0)]).map(size).collect()
    }

    /// log2 of the moduli q_0, q_1, …, q_L, q_(L+1) of the chain.
    fn sizes(&self) -> Vec<f64> {
        self.places().into_iter().map(|(bits, _)| bits).collect()
    }
}

/// Lists the candidates up to the first ring that fits: a smaller ring is faster.
pub(super) fn explain(request: &Request) -> Explanation {
    Explanation::first_fit(request, request.rings(), in_ring)
}

fn in_ring(request: &Request, ring: RingShape) -> (Candidate, Option<Parameters>) {
    let limit = limit_of(request.secrets, ring.log2_degree(), request.security);
    let mut candidate = Candidate::empty(ring, (limit > 0.0 && limit < f64::INFINITY).then_some(limit));
    let (verdict, chosen) = Verdict::of(choose(request, limit, &mut candidate));
    (Candidate { verdict, ..candidate }, chosen)
}

fn choose(request: &Request, limit: f64, candidate: &mut Candidate) -> Result<Parameters, Refusal> {
    let ring = candidate.ring;
    let slots = request.plain.slots(ring.index(), ring.degree(), request.batching);
    if slots < request.slots {
        return Err(Refusal::TooFewSlots { slots, wanted: request.slots });
    }
    if limit == 0.0 {
        return Err(Refusal::NotSecure);
    }
    let plain_modulus = request.plain.modulus_for(ring.index(), request.batching).map_err(Refusal::Plain)?;
    candidate.plain_modulus = plain_modulus;
    let asked = Asked { request, ring, plain_modulus, limit };
    let mut prefixes = |shared| {
        asked.fitting(&mut candidate.log2_moduli, |asked, sizes| sizes::materialize(asked, sizes, shared))
    };
    let prefixes = match prefixes(asked.shares_words()) {
        // A digit is a word at least: where that is too long a special modulus for security, levels get words of their own.
        Err(_) if asked.shares_words() => prefixes(false),
        found => found,
    };
    let shared = prefixes.as_ref().is_ok_and(|found| !found.chain.shares.is_empty());
    let sets = (request.noise != NoiseModel::Paper && !request.dynamic && !shared)
        .then(|| asked.fitting(&mut Vec::new(), sets::materialize).ok())
        .flatten();
    let found = match (prefixes, sets) {
        (Ok(prefixes), Some(sets)) if sets.cost < WORTH_SETS * prefixes.cost => sets,
        (Err(_), Some(sets)) => sets,
        (prefixes, _) => prefixes?,
    };
    candidate.log2_moduli = found.chain.sizes();
    let Found { chain: Chain { moduli, rungs, levels, shares }, key_switching, .. } = found;
    let parameters = Parameters::new(ring, moduli, plain_modulus, request.security)
        .with_rungs(rungs)
        .with_shared_moduli(levels, shares)
        .with_key_switching(key_switching)
        .with_secrets(request.secrets)
        .with_budget(if request.dynamic { Budget::DYNAMIC } else { request.budget });
    candidate.log2_key_modulus = parameters.log2_key_modulus();
    Ok(parameters)
}

/// A chain of BGV moduli that fits, with the options of key switching and the cost of key switches at all levels.
struct Found {
    chain: Chain,
    key_switching: GadgetOptions,
    cost: f64,
}

/// A request for moduli in one ring, with the plaintext modulus and the security limit.
struct Asked<'a> {
    request: &'a Request,
    ring: RingShape,
    plain_modulus: u64,
    /// Largest log2 QP that is secure.
    limit: f64,
}

impl Asked<'_> {
    /// The first chain that fits, of chains made for larger and larger sizes: real primes and digits differ a little
    /// from the predicted sizes, and a further attempt leaves them some room. `tried` gets log2 of the moduli of the
    /// last chain, even if none fits.
    fn fitting(
        &self,
        tried: &mut Vec<f64>,
        materialize: impl Fn(&Asked<'_>, &Sizes) -> Result<Chain, Refusal>,
    ) -> Result<Found, Refusal> {
        let mut refusal = Refusal::no_moduli(self.ring);
        for extra in EXTRA_BITS {
            let sizes = match sizes::smallest(self, extra) {
                Ok(sizes) => sizes,
                Err(error) => return Err(if extra > 0.0 { refusal } else { error }),
            };
            let chain = materialize(self, &sizes)?;
            *tried = chain.sizes();
            match switching::fastest(self, &chain) {
                Ok((cost, key_switching)) => return Ok(Found { chain, key_switching, cost }),
                Err(error) => refusal = error,
            }
        }
        Err(refusal)
    }

    fn depth(&self) -> usize {
        self.request.depth
    }

    /// The noise model of the requested secrets.
    fn secret(&self) -> sunzi_rlwe::NoiseModel {
        sunzi_rlwe::NoiseModel::new(self.ring.expansion(), self.request.secrets)
    }

    /// Whether levels may share words.
    fn shares_words(&self) -> bool {
        self.request.shared_moduli && !self.request.dynamic && self.ring.takes_products_of_primes()
    }

    /// A finder of primes for the requested ring that differ from t and from the primes `taken`.
    fn primes(&self, taken: &[u64]) -> PrimeFinder {
        PrimeFinder::new(self.ring.root_order(), &[taken, &[self.plain_modulus]].concat())
    }

    /// The order of the roots that moduli of levels must have: that of the ring, and with dynamic switching t besides,
    /// which makes them 1 modulo t.
    fn level_order(&self) -> u64 {
        let (order, t) = (self.ring.root_order(), self.plain_modulus);
        if self.request.dynamic { order.saturating_mul(t / gcd(order, t)) } else { order }
    }

    /// The bits of noise left at the level that leaves the fewest.
    fn bits_left(&self, settings: &NoiseSettings) -> f64 {
        let mut levels = settings.levels(&self.request.budget);
        if let Some(hops) = &self.request.reencryptions {
            levels = settings.handed_on(levels, hops);
        }
        settings.bits_left(&levels, self.request.noise == NoiseModel::WorstCase)
    }

    /// The noise settings of a chain under options of key switching; none for digits that the chain does not allow.
    fn noise(&self, chain: &Chain, options: &GadgetOptions) -> Option<NoiseSettings> {
        let (ring, secret) = (self.ring.expansion(), self.secret());
        let (mut log2_moduli, mut relinearization, mut rotation) = (Vec::new(), Vec::new(), Vec::new());
        let mut reencryption = Vec::new();
        for (bits, limbs) in chain.places() {
            log2_moduli.push(bits);
            let noise = |power| noise::key_switch(&secret, power, &chain.moduli, options, &limbs);
            relinearization.push(noise(2).ok()?);
            rotation.push(noise(1).ok()?);
            reencryption.push(noise::reencryption(&secret, &chain.moduli, options, &limbs).ok()?);
        }
        let log2_p = log2_product(options.special_moduli.get(..1).unwrap_or_default());
        let (plain_modulus, fresh) = (self.plain_modulus, noise::fresh(&secret, log2_p));
        Some(NoiseSettings {
            ring,
            plain_modulus,
            log2_moduli,
            fresh,
            relinearization,
            rotation,
            reencryption,
            rounding: secret.mod_switch(2),
        })
    }
}

/// Says why nothing fits and which depth would.
pub(super) fn advise(Explanation { request, candidates, .. }: &Explanation) -> NothingFits {
    let fits = |depth| explain(&Request { depth, ..request.clone() }).chosen.is_some();
    let last = candidates.last().map(|last| (last.ring, &last.verdict));
    NothingFits::new(last, largest_below(request.depth, fits))
}
