//! Digits and special moduli of BGV key switching: the fastest that security and noise allow.

use sunzi_math::log2_product;
use sunzi_ring::GadgetOptions;
use sunzi_rlwe::chains::{WIDE_WORD_BITS, WORD_BITS, longest_digit, words};
use sunzi_rlwe::switch_cost::SwitchCost;

use super::{Asked, Chain};
use crate::refusal::Refusal;
use crate::request::NoiseModel;

/// Bits by which the smallest primes of a size may exceed that size.
const SLACK: f64 = 0.1;

/// The options of key switching of least cost that security and noise allow.
pub(super) fn fastest(asked: &Asked<'_>, chain: &Chain) -> Result<(f64, GadgetOptions), Refusal> {
    let Asked { request, ring, limit, .. } = *asked;
    let k = chain.moduli.len();
    let log2_modulus = log2_product(&chain.moduli);
    if log2_modulus > limit {
        return Err(Refusal::TooLarge { log2_modulus, limit });
    }
    let mut best: Option<(f64, GadgetOptions)> = None;
    let mut closest = f64::NEG_INFINITY;
    let counts = request.digits.map_or(1..=k, |digits| digits.min(k)..=digits.min(k));
    let needed = request.bits_needed(ring.degree());
    let hybrid = counts.flat_map(|digits| special(asked, chain, digits));
    let plain = request.digits.is_none().then(GadgetOptions::default);
    for options in hybrid.chain(plain) {
        // The paper's moduli are taken as they are; ciphertexts refuse what their bounds do not support.
        let left = asked.noise(chain, &options).map_or(f64::NEG_INFINITY, |noise| asked.bits_left(&noise));
        closest = closest.max(left);
        if left < needed && request.noise != NoiseModel::Paper {
            continue;
        }
        // What relinearisations and rotations take, one at each modulus that ciphertexts have.
        let limbs = chain.places().into_iter().map(|(_, limbs)| limbs);
        let Some(cost) = SwitchCost::sum(&options, &chain.moduli, limbs, ring.degree()) else { continue };
        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
            best = Some((cost, options));
        }
    }
    best.ok_or(Refusal::TooNoisy { bits_short: needed - closest })
}

/// Special moduli for `digits` digits of key switching: as many as the largest digit needs to add no noise of its own,
/// and fewer or smaller ones, whose noise a large t does not notice.
fn special(asked: &Asked<'_>, chain: &Chain, digits: usize) -> Vec<GadgetOptions> {
    let k = chain.moduli.len();
    let room = asked.limit - log2_product(&chain.moduli);
    // Finds so many primes of at least so many bits, if there is room for them.
    let beside = |bits: f64, count: usize| {
        let primes = asked.primes(&chain.moduli).at_least(bits, count)?;
        (log2_product(&primes) <= room).then_some(primes)
    };
    if !chain.rungs.is_empty() {
        // Of moduli of different lengths digits are as long as P, and few words of it hold the longest of so many digits.
        let longest = longest_digit(&chain.moduli, digits);
        let count = words(longest).max(1);
        let options = |special_moduli| GadgetOptions { special_moduli, ..GadgetOptions::default() };
        return beside(longest / count as f64, count).map(options).into_iter().collect();
    }
    let limbs = k.div_ceil(digits);
    // Digits of so many limbs are fewer than asked: the smaller number of digits gives the same.
    if k.div_ceil(limbs) != digits {
        return Vec::new();
    }
    let largest = chain.moduli.chunks(limbs).map(log2_product).fold(0.0, f64::max);
    let most = (largest / WORD_BITS).ceil().max(1.0);
    let of = |(count, word): (usize, f64)| {
        let bits = (largest / count as f64).min(word).min(room / count as f64 - SLACK);
        let special_moduli = beside(bits, count)?;
        Some(GadgetOptions { digits: Some(digits), special_moduli, ..GadgetOptions::default() })
    };
    // Wide words only where a digit is longer than others.
    let wide = |count: &usize| largest > WORD_BITS * *count as f64 && room > WORD_BITS * *count as f64;
    let counts = || 1..=most as usize;
    let narrow = counts().map(|count| (count, WORD_BITS));
    narrow.chain(counts().filter(wide).map(|count| (count, WIDE_WORD_BITS))).filter_map(of).collect()
}
