//! Chains of CKKS levels as sets of moduli for given scales, by [`sunzi_rlwe::chains`]: long primes so near to what
//! scales ask for that the canonical scales stay near their target.

use sunzi_math::{DEFAULT_PRIME_BOUND, WIDE_PRIME_BOUND};
use sunzi_rlwe::chains::{LevelSets, PrimeFinder, WIDE_WORD_BITS, WORD_BITS, level_sets};

use super::{Chain, LevelRange, check_ranges};
use crate::CkksError;

/// Largest distance of a canonical scale from its target, in bits.
const MOST_OFF: f64 = 0.25;
/// Number of pools of terminals that are tried before the search gives up.
const TRIED_POOLS: usize = 64;

impl Chain {
    /// Makes a chain whose levels are sets of moduli, for the ranges of [`Chain::new`]: the highest level has all of
    /// the moduli.
    pub(crate) fn rational(step: u64, first_bits: u32, ranges: &[LevelRange]) -> Result<Self, CkksError> {
        check_ranges(first_bits, ranges)?;
        let mut bits = Vec::new();
        for range in ranges {
            bits.extend(std::iter::repeat_n(f64::from(range.scale_bits), range.levels));
        }
        let paths = level_sets(step, &[], f64::from(first_bits), &bits);
        let missing = CkksError::NoPrimes { bits: WIDE_WORD_BITS, step };
        paths
            .into_iter()
            .take(TRIED_POOLS)
            .find_map(|sets| chain(&sets, step, first_bits, ranges))
            .ok_or(missing)
    }
}

/// The chain of a path of sets: every level has primes that make up for the error of the scale above it.
fn chain(sets: &LevelSets, step: u64, first_bits: u32, ranges: &[LevelRange]) -> Option<Chain> {
    let mut finder = PrimeFinder::new(step, sets.terminals());
    let targets: Vec<f64> =
        ranges.iter().flat_map(|range| [range.scale_bits].repeat(range.levels)).map(f64::from).collect();
    let tops: Vec<usize> = ranges
        .iter()
        .scan(0, |top, range| {
            *top += range.levels;
            Some(*top)
        })
        .collect();
    let size = |set: usize| -> f64 {
        let own = sets.terminals().iter().enumerate().filter(|(i, _)| set >> i & 1 == 1);
        own.map(|(_, &p)| p as f64).product()
    };
    let mut groups = Vec::new();
    let mut off = 0.0;
    for level in (1..sets.levels().len()).rev() {
        let (&(set, count), &(lower, below)) = (sets.levels().get(level)?, sets.levels().get(level - 1)?);
        let target = *targets.get(level - 1)?;
        if tops.contains(&level) {
            off = 0.0;
        }
        // log2 q_l = target + 2·off − next, where the level below is to be off by `next`.
        let next = wanted_below(sets, level - 1, &targets, &tops)?;
        let fixed = size(set) / size(lower);
        let primes = match count - below {
            0 => Vec::new(),
            parts => finder.product((target + 2.0 * off - next).exp2() / fixed, parts)?,
        };
        let log2_dropped = fixed.log2() + primes.iter().map(|&p| (p as f64).log2()).sum::<f64>();
        off = 2.0 * off + target - log2_dropped;
        // Primes are wide only where the path has wide words.
        let wide = target - fixed.log2() > WORD_BITS * primes.len() as f64;
        let bound = if wide { WIDE_PRIME_BOUND } else { DEFAULT_PRIME_BOUND };
        if off.abs() > MOST_OFF || primes.iter().any(|&p| p >= bound) {
            return None;
        }
        groups.push(primes);
    }
    let (_, lowest) = *sets.levels().first()?;
    groups.push(finder.product(f64::from(first_bits).exp2(), lowest)?);
    let moduli: Vec<u64> =
        sets.terminals().iter().copied().chain(groups.into_iter().rev().flatten()).collect();
    let (levels, rungs) = sets.rungs(&moduli);
    Some(Chain { moduli, levels, rungs })
}

/// The error that the scale of a level should have, in bits: so much that terminals alone bring the scale below near
/// its target.
fn wanted_below(sets: &LevelSets, level: usize, targets: &[f64], tops: &[usize]) -> Option<f64> {
    let Some(below) = level.checked_sub(1).filter(|_| !tops.contains(&level)) else { return Some(0.0) };
    let (&(set, count), &(lower, others)) = (sets.levels().get(level)?, sets.levels().get(below)?);
    if count > others {
        return Some(0.0);
    }
    let excess = sets.log2(set) - sets.log2(lower) - targets.get(below)?;
    Some(excess / 2.0)
}

#[cfg(test)]
mod tests {
    use sunzi_rlwe::Security;

    use super::*;
    use crate::Parameters;

    fn made(log2_degree: u32, first_bits: u32, ranges: &[LevelRange]) -> Parameters {
        let insecure = Security::InsecureForResearchOnly;
        Parameters::from_ranges_rational(log2_degree, first_bits, ranges, insecure).unwrap()
    }

    /// Tests scales of every size, also where levels of their own primes find none: words as the bits need, and scales
    /// near their targets.
    #[test]
    fn levels_take_the_words_of_their_bits() {
        for (log2_degree, bits, depth) in [
            (12, 25, 10),
            (13, 30, 12),
            (14, 35, 10),
            (16, 40, 30),
            (16, 47, 30),
            (16, 48, 26),
            (14, 50, 8),
            (16, 55, 25),
            (16, 58, 8),
            (16, 60, 20),
            (17, 25, 20),
            (17, 26, 20),
            (17, 48, 40),
            (17, 50, 40),
            (17, 51, 40),
            (17, 53, 40),
            (17, 60, 40),
        ] {
            let parameters = made(log2_degree, bits + 8, &[LevelRange { levels: depth, scale_bits: bits }]);
            parameters.validate().unwrap();
            let off = |worst: f64, scale: &f64| worst.max((scale.log2() - f64::from(bits)).abs());
            let worst = parameters.scales().iter().fold(0.0, off);
            assert!(worst <= MOST_OFF, "scale 2^{bits} at 2^{log2_degree} is off by {worst} bits");
            let whole = sunzi_math::log2(&parameters.modulus(depth));
            let (words, least) = (parameters.limbs(depth).len(), (whole / WIDE_WORD_BITS).ceil() as usize);
            assert!(
                words <= least + 2 + depth / 6,
                "{bits} bits at 2^{log2_degree}: {words} words, least {least}"
            );
            for level in 0..=depth {
                assert_eq!(parameters.limbs(level), parameters.rungs()[parameters.levels()[level] - 1]);
            }
        }
    }

    #[test]
    fn one_choice_for_one_request() {
        let ranges = [LevelRange { levels: 13, scale_bits: 40 }, LevelRange { levels: 9, scale_bits: 60 }];
        assert_eq!(made(16, 47, &ranges), made(16, 47, &ranges));
        assert_eq!(made(16, 47, &[]).depth(), 0);
    }

    #[test]
    fn what_has_no_primes_is_refused() {
        for (first_bits, levels, scale_bits) in [(60, 1, 121), (60, 1, 9), (0, 1, 40), (60, usize::MAX, 40)] {
            let ranges = [LevelRange { levels, scale_bits }];
            assert!(Chain::rational(1 << 17, first_bits, &ranges).is_err());
        }
    }

    #[test]
    fn rungs_of_others_are_refused() {
        let good = made(10, 66, &[LevelRange { levels: 3, scale_bits: 58 }]);
        good.validate().unwrap();
        let changes: [fn(&mut Vec<Vec<usize>>); 6] = [
            |rungs| rungs.truncate(2),
            |rungs| rungs[0] = vec![],
            |rungs| rungs[0] = vec![usize::MAX],
            |rungs| rungs[1].reverse(),
            |rungs| rungs.swap(0, 1),
            |rungs| rungs.insert(0, vec![0, 1]),
        ];
        for change in changes {
            let mut rungs = good.rungs().to_vec();
            change(&mut rungs);
            if rungs != good.rungs() {
                assert!(good.clone().with_rungs(rungs).validate().is_err());
            }
        }
    }
}
