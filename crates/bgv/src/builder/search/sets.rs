//! Chains of BGV levels that are sets of moduli, by [`sunzi_rlwe::chains`]: as few words as their bits take.

use sunzi_math::WIDE_PRIME_BOUND;
use sunzi_rlwe::chains::{LevelSets, PrimeFinder, level_sets};

use super::sizes::Sizes;
use super::{Asked, Chain};
use crate::refusal::Refusal;

/// Number of pools of terminals that are tried before the search gives up.
const TRIED_POOLS: usize = 64;

/// Makes a chain whose levels are sets of moduli of at least the given sizes; levels of terminals alone up to a tenth
/// of a bit less.
pub(super) fn materialize(asked: &Asked<'_>, sizes: &Sizes) -> Result<Chain, Refusal> {
    let mut bits = vec![sizes.level; asked.depth()];
    if sizes.last > 0.0 {
        bits.push(sizes.last);
    }
    let found = level_sets(asked.ring.root_order(), &[asked.plain_modulus], sizes.first, &bits);
    let chain = |sets: LevelSets| {
        let moduli = moduli(&sets, sizes.first, &bits, &mut asked.primes(sets.terminals()))?;
        let (mut levels, rungs) = sets.rungs(&moduli);
        levels.truncate(asked.depth() + 1);
        Some(Chain { moduli, rungs, levels, shares: Vec::new() })
    };
    found.into_iter().take(TRIED_POOLS).find_map(chain).ok_or_else(|| Refusal::no_moduli(asked.ring))
}

/// The moduli of levels that are sets of moduli: the terminals, then the long primes, those of the lowest level first.
fn moduli(sets: &LevelSets, first: f64, bits: &[f64], finder: &mut PrimeFinder) -> Option<Vec<u64>> {
    let mut moduli = sets.terminals().to_vec();
    let (mut below, mut count) = (0.0, 0);
    for (&(set, long), bits) in sets.levels().iter().zip([first].iter().chain(bits)) {
        let own = sets.log2(set);
        if long > count {
            let count = long - count;
            let primes = finder.at_least((bits + below - own) / count as f64, count)?;
            if primes.iter().any(|&prime| prime >= WIDE_PRIME_BOUND) {
                return None;
            }
            moduli.extend(primes);
        }
        (below, count) = (own, long);
    }
    Some(moduli)
}
