//! Bits that the BGV moduli q_0, q_i and q_(L+1) need.

use sunzi_ring::DigitBound;
use sunzi_rlwe::chains::{PrimeFinder, WORD_BITS, words, words_shared};

use super::{Asked, Chain};
use crate::budget::Operations;
use crate::noise::{NoiseSettings, fresh};
use crate::paper::PaperRequest;
use crate::refusal::Refusal;
use crate::request::NoiseModel;

/// Step between the sizes of moduli that are tried, in bits.
const STEP: f64 = 0.25;
/// Number of digits of key switching assumed before digits are chosen.
const ASSUMED_DIGITS: usize = 4;
/// Bits of a modulus q_(L+1) beside which nothing but a rounding is left of the noise of fresh ciphertexts.
const LEAVES_ROUNDING: f64 = 1e6;
/// Bits by which a lower bound on a size may be wrong, since doubles round.
const ROUNDED: f64 = 1e-6;

/// Sizes of q_0, q_i and q_(L+1) in bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    pub(super) first: f64,
    pub(super) level: f64,
    pub(super) last: f64,
}

impl Sizes {
    fn total(&self, depth: usize) -> f64 {
        self.first + self.level * depth as f64 + self.last
    }
}

/// The sizes of the smallest modulus Q that leave the margin and `extra` bits.
pub(super) fn smallest(asked: &Asked<'_>, extra: f64) -> Result<Sizes, Refusal> {
    let depth = asked.depth();
    let found = match asked.request.noise {
        NoiseModel::Paper => Some(of_paper(asked)),
        _ => Model::new(asked, extra).smallest(),
    };
    let sizes = found.ok_or(Refusal::TooNoisy { bits_short: f64::INFINITY })?;
    let (log2_modulus, limit) = (sizes.total(depth), asked.limit);
    if log2_modulus <= limit { Ok(sizes) } else { Err(Refusal::TooLarge { log2_modulus, limit }) }
}

/// The sizes of moduli by eqs. (13) and (14) of `[KPZ21]`.
fn of_paper(asked: &Asked<'_>) -> Sizes {
    let both = |operations: &Operations| [operations.additions as f64, operations.rotations as f64];
    let moduli = PaperRequest {
        degree: asked.ring.degree(),
        plain_modulus: asked.plain_modulus as f64,
        depth: asked.depth(),
        fresh: both(&asked.request.budget.fresh),
        per_level: both(&asked.request.budget.per_level),
        digits: asked.request.digits.unwrap_or(3),
    }
    .moduli();
    let least = least_bits(asked);
    Sizes {
        first: moduli.log2_first.max(least),
        level: moduli.log2_level.max(least),
        last: moduli.log2_last.max(least),
    }
}

/// The least bits of a modulus of a level, ≡ 1 (mod 2n) for m a power of two.
fn least_bits(asked: &Asked<'_>) -> f64 {
    (asked.level_order() as f64).log2() + 0.5
}

/// Noise model of chains whose sizes are real numbers.
struct Model<'a> {
    asked: &'a Asked<'a>,
    settings: NoiseSettings,
    extra: f64,
    least_bits: f64,
}

impl<'a> Model<'a> {
    fn new(asked: &'a Asked<'a>, extra: f64) -> Self {
        let ring = asked.ring.expansion();
        // P is as large as a digit: the errors of key switching are those of digits of 1/2.
        let digits = vec![DigitBound { log2_bound: -1.0, log2_mean: f64::NEG_INFINITY }; ASSUMED_DIGITS];
        let (secret, limbs) = (asked.secret(), asked.depth() + 2);
        let rounding = secret.mod_switch(2);
        let zero = secret.public_encryption(WORD_BITS);
        let switch = |power| vec![secret.key_switch(&digits, power).plus(rounding); limbs];
        let settings = NoiseSettings {
            ring,
            plain_modulus: asked.plain_modulus,
            log2_moduli: vec![0.0; limbs],
            fresh: fresh(&secret, WORD_BITS),
            relinearization: switch(2),
            rotation: switch(1),
            reencryption: vec![secret.public_key_switch(&digits).plus(rounding).plus(zero); limbs],
            rounding,
        };
        Self { asked, settings, extra, least_bits: least_bits(asked) }
    }

    /// The sizes of the smallest modulus Q that fit, found by trying sizes of the level moduli.
    fn smallest(&self) -> Option<Sizes> {
        let (depth, t) = (self.asked.depth(), self.asked.plain_modulus as f64);
        let log2_degree = (self.asked.ring.degree() as f64).log2();
        let mut level = self.least_bits;
        let most = if depth == 0 { level } else { level + 2.0 * log2_degree + t.log2() + 80.0 };
        let mut best: Option<Sizes> = None;
        while level <= most {
            let settings = self.with_levels_of(level);
            let least = self.least_first(&settings);
            let smaller = |sizes: &Sizes| best.is_none_or(|best| sizes.total(depth) < best.total(depth));
            // No q_0 is smaller than the least, so that most sizes of levels need no search.
            if best.is_none_or(|best| least + level * depth as f64 <= best.total(depth)) {
                best = self.beside_levels(settings, level, least).filter(smaller).or(best);
            }
            // q_0 has the least bits or more, so that no larger level is better.
            if best.is_some_and(|best| best.total(depth) <= self.least_bits + level * depth as f64) {
                break;
            }
            level += STEP;
        }
        best
    }

    /// The noise settings with level moduli of `level` bits and without q_0.
    fn with_levels_of(&self, level: f64) -> NoiseSettings {
        let mut settings = self.settings.clone();
        settings.log2_moduli.fill(level);
        if let Some(first) = settings.log2_moduli.first_mut() {
            *first = 0.0;
        }
        settings
    }

    /// A lower bound on the size of q_0 beside any q_(L+1): noise shrinks as q_(L+1) grows.
    fn least_first(&self, settings: &NoiseSettings) -> f64 {
        let mut settings = settings.clone();
        if let Some(last) = settings.log2_moduli.last_mut() {
            *last = LEAVES_ROUNDING;
        }
        self.first(&settings) - ROUNDED
    }

    /// The best sizes of q_0, at least `least`, and q_(L+1) beside level moduli of `level` bits.
    fn beside_levels(&self, mut settings: NoiseSettings, level: f64, least: f64) -> Option<Sizes> {
        let mut best: Option<Sizes> = None;
        let most = self.least_bits + 64.0 + self.asked.request.budget.fresh.plain_products as f64 * 80.0;
        // Chains without q_(L+1) come first: an encryption modulo Qp may be small enough.
        let mut last = 0.0;
        while last <= most {
            if let Some(size) = settings.log2_moduli.last_mut() {
                *size = last;
            }
            // No q_0 is smaller than the least, so that no larger q_(L+1) is better.
            if best.is_some_and(|best| best.first + best.last <= least + last) {
                break;
            }
            let sizes = Sizes { first: self.first(&settings), level, last };
            let better = best.is_none_or(|best| sizes.first + sizes.last < best.first + best.last);
            if sizes.first.is_finite() && better {
                best = Some(sizes);
            }
            last = if last == 0.0 { self.least_bits } else { last + 1.0 };
        }
        best
    }

    /// The size of q_0 with which every level leaves the margin, by settings without q_0.
    fn first(&self, settings: &NoiseSettings) -> f64 {
        let needed = self.asked.request.bits_needed(settings.ring.degree());
        (needed + self.extra - self.asked.bits_left(settings)).max(self.least_bits)
    }
}

/// Makes a chain of primes of at least the given sizes, those of q_0 first; if `shared`, several level moduli share a
/// word where they fit.
pub(super) fn materialize(asked: &Asked<'_>, sizes: &Sizes, shared: bool) -> Result<Chain, Refusal> {
    let depth = asked.depth();
    let mut finder = PrimeFinder::new(asked.level_order(), &[asked.plain_modulus]);
    let mut find = |bits: f64, repetitions: usize| {
        let parts = words(bits).max(1);
        let primes = finder.at_least(bits / parts as f64, parts * repetitions);
        Ok((parts, primes.ok_or_else(|| Refusal::no_moduli(asked.ring))?))
    };
    // The scarcest primes are taken first: small ones.
    let (_, last) = if sizes.last > 0.0 { find(sizes.last, 1)? } else { (0, Vec::new()) };
    let (limbs_first, first) = find(sizes.first, 1)?;
    let (limbs_level, level) = find(sizes.level, depth)?;
    let longest = level.iter().copied().max().map_or(WORD_BITS, |q| (q as f64).log2());
    let together = words_shared(longest, depth);
    if !shared || together < 2 || depth < 2 {
        let levels = (0..=depth).map(|l| limbs_first + l * limbs_level).collect();
        let (moduli, rungs, shares) = ([first, level, last].concat(), Vec::new(), Vec::new());
        return Ok(Chain { moduli, rungs, levels, shares });
    }
    let words: Vec<u64> = level.chunks(together).map(|primes| primes.iter().product()).collect();
    let mut chain = Chain {
        moduli: [first, words, last].concat(),
        rungs: Vec::new(),
        levels: vec![limbs_first],
        shares: vec![0],
    };
    for (i, primes) in level.chunks(together).enumerate() {
        let mut share = 1;
        for (j, prime) in primes.iter().enumerate() {
            share *= prime;
            chain.levels.push(limbs_first + i + 1);
            chain.shares.push(if j + 1 < primes.len() { share } else { 0 });
        }
    }
    Ok(chain)
}

#[cfg(test)]
mod tests {
    use sunzi_rlwe::RingShape;

    use super::*;
    use crate::budget::Budget;
    use crate::request::Request;

    /// The smallest sizes among all that are tried, none left out.
    fn exhaustive(model: &Model<'_>) -> Option<Sizes> {
        let (depth, t) = (model.asked.depth(), model.asked.plain_modulus as f64);
        let most = model.least_bits + 2.0 * (model.asked.ring.degree() as f64).log2() + t.log2() + 80.0;
        let levels = (0_u32..)
            .map(|step| model.least_bits + f64::from(step) * STEP)
            .take_while(|level| *level <= most);
        let widest = 64.0 + model.asked.request.budget.fresh.plain_products as f64 * 80.0;
        let lasts =
            || std::iter::once(0.0).chain((0..=widest as u32).map(|bits| model.least_bits + f64::from(bits)));
        let mut best: Option<Sizes> = None;
        for level in levels.take(if depth == 0 { 1 } else { usize::MAX }) {
            for last in lasts() {
                let mut settings = model.with_levels_of(level);
                *settings.log2_moduli.last_mut().unwrap() = last;
                let sizes = Sizes { first: model.first(&settings), level, last };
                if sizes.first.is_finite() && best.is_none_or(|best| sizes.total(depth) < best.total(depth)) {
                    best = Some(sizes);
                }
            }
        }
        best
    }

    #[test]
    fn sizes_are_the_smallest_of_all() {
        for (depth, plain_modulus, log2_degree) in
            [(0, 65537, 12), (1, 65537, 13), (3, 2, 13), (5, 257, 14), (2, 1 << 40, 14)]
        {
            for rotations in [0, 100] {
                for (plain_products, worst) in [(0, false), (1, false), (0, true)] {
                    let operations = Operations { rotations, plain_products, ..Operations::default() };
                    let budget = Budget { fresh: operations, per_level: operations, last: operations };
                    let noise = if worst { NoiseModel::WorstCase } else { NoiseModel::Tail };
                    let request = Request { depth, budget, noise, ..Request::default() };
                    let ring = RingShape::Log2Degree(log2_degree);
                    let asked = Asked { request: &request, ring, plain_modulus, limit: f64::INFINITY };
                    let model = Model::new(&asked, 0.0);
                    let (found, all) = (model.smallest().unwrap(), exhaustive(&model).unwrap());
                    let case = format!("{request:?} {plain_modulus} {found:?} {all:?}");
                    assert!((found.total(depth) - all.total(depth)).abs() < 1e-9, "{case}");
                }
            }
        }
    }
}
