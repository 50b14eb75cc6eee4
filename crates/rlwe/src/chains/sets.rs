//! Levels as sets of moduli: a prefix of the long primes, and some of a few short primes, the *terminals* `[SS24]`.
//!
//! A prefix of long primes and some terminals can hold any number of bits, so that a level takes as many words as its bits need, whatever
//! they are; with a prefix of all primes a level of 60 bits takes two words. Which terminals a level has is a shortest path:
//! its bits less those of its terminals are what the long primes below it must hold. The sizes of long primes are free, which keeps
//! levels near their target; the terminals, few and reused, are given.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::{PrimeFinder, WORD_BITS, choices, words};

/// Sizes of primes among which terminals are searched, in half bits.
const TERMINALS: std::ops::RangeInclusive<u32> = 40..=94;
/// Largest number of terminal primes of a pool.
const MOST_TERMINALS: usize = 4;
/// Number of the best pools of terminals whose neighbours are searched for better pools.
const STARTS: usize = 4;
/// Length of the longest prime of a level, in bits: room is left for canonical scales off their target.
const LONGEST: f64 = 48.7;
/// Length of the shortest long prime of a level, in bits.
const SHORTEST: f64 = 24.0;
/// Largest distance of terminals alone from a scale, in bits.
const TOLERANCE: f64 = 0.1;
/// Cost of a rescaling to moduli that the higher level does not have, in words of one level: operands of both
/// levels cost one more.
const NOT_NESTED: f64 = 0.3;
/// Cost of one modulus more among all levels, in words: keys have every modulus.
const MODULUS: f64 = 2.0;

/// Pool of terminal primes, with the set of terminals of each level.
#[derive(Clone, Debug)]
pub struct LevelSets {
    cost: f64,
    /// Terminal primes of the pool, ascending.
    pool: Vec<u64>,
    /// Pairs of a set of terminals, as bits, and a number of long primes: one for each level, the
    /// lowest first. Short, since there are thousands of pools.
    levels: Box<[(u16, u16)]>,
}

/// Returns level sets for Q_0 of `first` bits and scales q_1, q_2, … of the given `bits`, of primes ≡ 1 (mod `step`)
/// but those that are `taken`: the best for every pool of at most two terminals, and for larger pools near the best of
/// them, the cheapest first. The highest level has all moduli.
#[must_use]
pub fn level_sets(step: u64, taken: &[u64], first: f64, bits: &[f64]) -> Vec<LevelSets> {
    let terminals = terminals(step, taken);
    let mut pools = vec![Vec::new()];
    for (i, &a) in terminals.iter().enumerate() {
        pools.push(vec![a]);
        pools.extend(terminals.iter().skip(i + 1).map(|&b| vec![a, b]));
    }
    let mut tried: BTreeSet<Vec<u64>> = pools.iter().cloned().collect();
    let path = |pool| LevelSets::new(first, bits, pool);
    let mut paths: Vec<LevelSets> = pools.into_iter().filter_map(path).collect();
    paths.sort_by(cheaper);
    let starts: Vec<_> = paths.iter().take(STARTS).map(|path| (path.cost, path.pool.clone())).collect();
    for (mut least, mut pool) in starts {
        loop {
            let near = neighbours(&pool, &terminals).into_iter().filter(|pool| tried.insert(pool.clone()));
            let near: Vec<LevelSets> = near.collect::<Vec<_>>().into_iter().filter_map(path).collect();
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

fn cheaper(a: &LevelSets, b: &LevelSets) -> Ordering {
    a.cost.total_cmp(&b.cost).then_with(|| a.pool.cmp(&b.pool))
}

/// Finds one prime next to each size of terminals.
fn terminals(step: u64, taken: &[u64]) -> Vec<u64> {
    let finder = PrimeFinder::new(step, taken);
    let mut terminals: Vec<u64> = Vec::new();
    for half_bits in TERMINALS {
        let wanted = (f64::from(half_bits) / 2.0).exp2();
        let near = |&p: &u64| (p as f64 / wanted).log2().abs() < 0.25 && (p as f64).log2() <= WORD_BITS;
        let nearest = finder.nearest(wanted).next().filter(near);
        terminals.extend(nearest.filter(|p| !terminals.contains(p)));
    }
    terminals
}

/// Returns the pools with one terminal more, and the pools with one terminal exchanged.
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

impl LevelSets {
    /// Finds the cheapest levels with the given terminals, as a shortest path: every level costs its words.
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
        // Steps hold, for every level and every set of it, the set below on the best way there, and the long primes
        // between.
        let mut steps: Vec<Vec<(usize, usize)>> = Vec::with_capacity(bits.len());
        for (level, own) in (1..).zip(bits) {
            let (above, top) = (bits.len() - level + 1, level == bits.len());
            let (mut next, mut ways) = (vec![f64::INFINITY; sets], vec![(0, 0); sets]);
            for ((to, least), way) in next.iter_mut().enumerate().zip(&mut ways) {
                for (from, cost) in costs.iter().enumerate().filter(|_| !top || to + 1 == sets) {
                    let rest = own - sizes.get(to)? + sizes.get(from)?;
                    if rest < -TOLERANCE {
                        continue;
                    }
                    let nested = if from & !to == 0 { 0.0 } else { NOT_NESTED };
                    let cost = cost + f64::from(to.count_ones()) + nested;
                    for (added, each) in choices(if rest <= TOLERANCE { 0.0 } else { rest }, LONGEST) {
                        let cost = cost + (above as f64 + MODULUS) * added as f64 * each;
                        if cost < *least && (added == 0 || rest / (added as f64) >= SHORTEST) {
                            (*least, *way) = (cost, (from, added));
                        }
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
        let mut levels = Vec::with_capacity(downwards.len() + 1);
        levels.push((set, count));
        for (set, added) in downwards.into_iter().rev() {
            count += added;
            levels.push((set, count));
        }
        let short = |(set, count)| Some((u16::try_from(set).ok()?, u16::try_from(count).ok()?));
        let levels = levels.into_iter().map(short).collect::<Option<_>>()?;
        Some(Self { cost, pool, levels })
    }

    /// The terminals of the pool, ascending.
    #[must_use]
    pub fn terminals(&self) -> &[u64] {
        &self.pool
    }

    /// The pairs of all levels, the lowest first: the terminals of a level, one bit for each, and its number of long
    /// primes.
    #[must_use]
    pub fn levels(&self) -> Vec<(usize, usize)> {
        self.levels.iter().map(|&(set, count)| (set.into(), count.into())).collect()
    }

    /// Returns log2 of the product of a set of terminals, given as bits.
    #[must_use]
    pub fn log2(&self, set: usize) -> f64 {
        let own = self.pool.iter().enumerate().filter(|(i, _)| set >> i & 1 == 1);
        own.map(|(_, &p)| (p as f64).log2()).sum()
    }

    /// Returns the index of every level among the sets of moduli, counted from one, and these sets, for the terminals
    /// and the long primes in their order: those of the levels, and for keys all that a level and those below it
    /// have.
    #[must_use]
    pub fn rungs(&self, moduli: &[u64]) -> (Vec<usize>, Vec<Vec<usize>>) {
        let terminals = self.pool.len();
        let limbs = |set: usize, count: usize| -> Vec<usize> {
            (0..terminals).filter(|i| set >> i & 1 == 1).chain(terminals..terminals + count).collect()
        };
        let mut used = 0;
        let mut sets: Vec<Vec<usize>> = Vec::new();
        let levels = self.levels();
        for &(set, count) in &levels {
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
        (levels.iter().map(place).collect(), sets)
    }
}
