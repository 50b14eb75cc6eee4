//! Levels as sets of moduli: few long primes that stay, and a few short ones, *terminals*, that come and go `[SS24]`.
//!
//! A prefix of long primes and some terminals can hold any number of bits, so that a level takes as many words as its bits need, whatever
//! the scale; with a prefix of all primes a scale of 60 bits takes two words a level. Which terminals a level has is a shortest path:
//! its bits less those of its terminals are what the long primes below it must hold. The sizes of long primes are free, which keeps
//! scales near their target; the terminals, few and reused, are given.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::{Chain, Finder, LevelRange, WORD_BITS, check_ranges};
use crate::CkksError;

/// Sizes that terminals are looked for at, in half bits.
const TERMINALS: std::ops::RangeInclusive<u32> = 40..=94;
/// The most terminals of a pool.
const MOST_TERMINALS: usize = 4;
/// Pools from which better ones are looked for nearby.
const STARTS: usize = 4;
/// The shortest long prime, in bits.
const SHORTEST: f64 = 24.0;
/// By how much terminals alone may miss a scale, in bits.
const TOLERANCE: f64 = 0.1;
/// The most bits a canonical scale may be off.
const MOST_OFF: f64 = 0.25;
/// What a rescaling to moduli that are not among those it comes from counts, in words of one level: operands of both levels cost one more.
const NOT_NESTED: f64 = 0.3;
/// What a modulus of all counts: keys have it whatever their level.
const MODULUS: f64 = 2.0;
/// Pools of terminals that are tried before the search gives up.
const TRIED_POOLS: usize = 64;

/// Terminals, and which of them each level has.
struct Path {
    cost: f64,
    /// Primes, ascending.
    pool: Vec<u64>,
    /// Sets of them as bits, the lowest level first, and how many long primes stand below.
    levels: Vec<(usize, usize)>,
}

impl Chain {
    /// As [`Chain::new`], with sets of moduli for levels: the highest level has all of them.
    pub(crate) fn rational(step: u64, first_bits: u32, ranges: &[LevelRange]) -> Result<Self, CkksError> {
        check_ranges(first_bits, ranges)?;
        let mut bits = Vec::new();
        for range in ranges {
            bits.extend(std::iter::repeat_n(f64::from(range.scale_bits), range.levels));
        }
        let paths = paths(step, f64::from(first_bits), &bits);
        let missing = CkksError::NoPrimes { bits: WORD_BITS, step };
        paths
            .into_iter()
            .take(TRIED_POOLS)
            .find_map(|path| path.chain(step, first_bits, ranges))
            .ok_or(missing)
    }
}

/// The best path for every pool of at most two terminals, and for larger pools near the best of them, the cheapest first.
fn paths(step: u64, first: f64, bits: &[f64]) -> Vec<Path> {
    let terminals = terminals(step);
    let mut pools = vec![Vec::new()];
    for (i, &a) in terminals.iter().enumerate() {
        pools.push(vec![a]);
        pools.extend(terminals.iter().skip(i + 1).map(|&b| vec![a, b]));
    }
    let mut tried: BTreeSet<Vec<u64>> = pools.iter().cloned().collect();
    let path = |pool| Path::new(first, bits, pool);
    let mut paths: Vec<Path> = pools.into_iter().filter_map(path).collect();
    paths.sort_by(cheaper);
    let starts: Vec<_> = paths.iter().take(STARTS).map(|path| (path.cost, path.pool.clone())).collect();
    for (mut least, mut pool) in starts {
        loop {
            let near = neighbours(&pool, &terminals).into_iter().filter(|pool| tried.insert(pool.clone()));
            let near: Vec<Path> = near.collect::<Vec<_>>().into_iter().filter_map(path).collect();
            let best = near.iter().min_by(|a, b| cheaper(a, b)).map(|path| (path.cost, path.pool.clone()));
            paths.extend(near);
            match best {
                Some((cost, better)) if cost < least => (least, pool) = (cost, better),
                _ => break,
            }
        }
    }
    paths.sort_by(cheaper);
    paths
}

fn cheaper(a: &Path, b: &Path) -> Ordering {
    a.cost.total_cmp(&b.cost).then_with(|| a.pool.cmp(&b.pool))
}

/// One prime next to each size.
fn terminals(step: u64) -> Vec<u64> {
    let finder = Finder { step, taken: Vec::new() };
    let mut terminals: Vec<u64> = Vec::new();
    for half_bits in TERMINALS {
        let wanted = (f64::from(half_bits) / 2.0).exp2();
        let near = |&p: &u64| (p as f64 / wanted).log2().abs() < 0.25 && (p as f64).log2() <= WORD_BITS;
        let nearest = finder.nearest(wanted).next().filter(near);
        terminals.extend(nearest.filter(|p| !terminals.contains(p)));
    }
    terminals
}

/// The pools with one terminal more, and with another one in place of each.
fn neighbours(pool: &[u64], terminals: &[u64]) -> Vec<Vec<u64>> {
    let others = || terminals.iter().copied().filter(|p| !pool.contains(p));
    let mut near = Vec::new();
    if pool.len() < MOST_TERMINALS {
        near.extend(others().map(|p| [pool, &[p]].concat()));
    }
    for &old in pool {
        near.extend(others().map(|new| pool.iter().map(|&p| if p == old { new } else { p }).collect()));
    }
    near.iter_mut().for_each(|pool: &mut Vec<u64>| pool.sort_unstable());
    near
}

/// Words that hold so many bits.
fn words(bits: f64) -> usize {
    (bits / WORD_BITS - 1e-9).ceil().max(0.0) as usize
}

impl Path {
    /// The shortest path with these terminals: every level costs its words.
    fn new(first: f64, bits: &[f64], pool: Vec<u64>) -> Option<Self> {
        let sets = 1_usize << pool.len();
        let size = |set: usize| -> f64 {
            let own = pool.iter().enumerate().filter(|(i, _)| set >> i & 1 == 1);
            own.map(|(_, &p)| (p as f64).log2()).sum()
        };
        let sizes: Vec<f64> = (0..sets).map(size).collect();
        let lowest = words(first).max(1);
        let start = (lowest * (bits.len() + 1)) as f64 + MODULUS * (lowest + pool.len()) as f64;
        let mut costs = vec![f64::INFINITY; sets];
        *costs.first_mut()? = start;
        // For every level and every set of it the set below on the best way there, and the long primes between.
        let mut steps: Vec<Vec<(usize, usize)>> = Vec::with_capacity(bits.len());
        for (level, own) in (1..).zip(bits) {
            let (above, top) = (bits.len() - level + 1, level == bits.len());
            let (mut next, mut ways) = (vec![f64::INFINITY; sets], vec![(0, 0); sets]);
            for ((to, least), way) in next.iter_mut().enumerate().zip(&mut ways) {
                for (from, cost) in costs.iter().enumerate().filter(|_| !top || to + 1 == sets) {
                    let rest = own - sizes.get(to)? + sizes.get(from)?;
                    let added = if rest.abs() <= TOLERANCE { 0 } else { words(rest) };
                    if rest < -TOLERANCE || added > 0 && rest / (added as f64) < SHORTEST {
                        continue;
                    }
                    let nested = if from & !to == 0 { 0.0 } else { NOT_NESTED };
                    let words = (added * above) as f64 + f64::from(to.count_ones());
                    let cost = cost + words + MODULUS * added as f64 + nested;
                    if cost < *least {
                        (*least, *way) = (cost, (from, added));
                    }
                }
            }
            costs = next;
            steps.push(ways);
        }
        let cost = costs.pop().filter(|cost| cost.is_finite())?;
        let (mut set, mut downwards) = (sets - 1, Vec::with_capacity(steps.len() + 1));
        for ways in steps.iter().rev() {
            let &(below, added) = ways.get(set)?;
            downwards.push((set, added));
            set = below;
        }
        let mut count = lowest;
        let mut levels = vec![(set, count)];
        for (set, added) in downwards.into_iter().rev() {
            count += added;
            levels.push((set, count));
        }
        Some(Self { cost, pool, levels })
    }

    /// The primes of a path: of every level those that make up for the scale above it.
    fn chain(&self, step: u64, first_bits: u32, ranges: &[LevelRange]) -> Option<Chain> {
        let mut finder = Finder { step, taken: self.pool.clone() };
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
            let own = self.pool.iter().enumerate().filter(|(i, _)| set >> i & 1 == 1);
            own.map(|(_, &p)| p as f64).product()
        };
        let mut groups = Vec::new();
        let mut off = 0.0;
        for level in (1..self.levels.len()).rev() {
            let (&(set, count), &(lower, below)) = (self.levels.get(level)?, self.levels.get(level - 1)?);
            let target = *targets.get(level - 1)?;
            if tops.contains(&level) {
                off = 0.0;
            }
            // log2 q_l = target + 2·off − next, where the level below is to be off by `next`.
            let next = self.wanted_below(level - 1, &targets, &tops)?;
            let fixed = size(set) / size(lower);
            let primes = match count - below {
                0 => Vec::new(),
                parts => finder.product((target + 2.0 * off - next).exp2() / fixed, parts).ok()?,
            };
            let log2_dropped = fixed.log2() + primes.iter().map(|&p| (p as f64).log2()).sum::<f64>();
            off = 2.0 * off + target - log2_dropped;
            if off.abs() > MOST_OFF || primes.iter().any(|&p| (p as f64).log2() > WORD_BITS + 0.02) {
                return None;
            }
            groups.push(primes);
        }
        let (_, lowest) = *self.levels.first()?;
        groups.push(finder.product(f64::from(first_bits).exp2(), lowest).ok()?);
        let moduli: Vec<u64> = self.pool.iter().copied().chain(groups.into_iter().rev().flatten()).collect();
        Some(self.rungs(moduli))
    }

    /// By how much the scale of a level should be off: so much that terminals alone bring the one below near its target.
    fn wanted_below(&self, level: usize, targets: &[f64], tops: &[usize]) -> Option<f64> {
        let Some(below) = level.checked_sub(1).filter(|_| !tops.contains(&level)) else { return Some(0.0) };
        let (&(set, count), &(lower, others)) = (self.levels.get(level)?, self.levels.get(below)?);
        if count > others {
            return Some(0.0);
        }
        let log2 = |set: usize| -> f64 {
            let own = self.pool.iter().enumerate().filter(|(i, _)| set >> i & 1 == 1);
            own.map(|(_, &p)| (p as f64).log2()).sum()
        };
        let excess = log2(set) - log2(lower) - targets.get(below)?;
        Some(excess / 2.0)
    }

    /// The sets of moduli: those of the levels, and for keys all that a level and those below it have.
    fn rungs(&self, moduli: Vec<u64>) -> Chain {
        let terminals = self.pool.len();
        let limbs = |set: usize, count: usize| -> Vec<usize> {
            (0..terminals).filter(|i| set >> i & 1 == 1).chain(terminals..terminals + count).collect()
        };
        let mut used = 0;
        let mut sets: Vec<Vec<usize>> = Vec::new();
        for &(set, count) in &self.levels {
            used |= set;
            sets.extend([limbs(set, count), limbs(used, count)]);
        }
        let product = |limbs: &[usize]| -> f64 {
            limbs.iter().filter_map(|&limb| moduli.get(limb)).map(|&q| (q as f64).log2()).sum()
        };
        sets.sort_by(|a, b| product(a).total_cmp(&product(b)));
        sets.dedup();
        let place = |&(set, count): &(usize, usize)| {
            1 + sets.iter().position(|own| *own == limbs(set, count)).unwrap_or(0)
        };
        let levels = self.levels.iter().map(place).collect();
        Chain { moduli, levels, rungs: sets }
    }
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

    /// Scales of every size, also where levels of their own primes find none: words as the bits need, and scales near their targets.
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
            let (words, least) = (parameters.limbs(depth).len(), (whole / WORD_BITS).ceil() as usize);
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
