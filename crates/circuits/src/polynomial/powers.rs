//! Products that compute a set of powers of x.

use std::collections::{BTreeMap, BTreeSet};

/// A schedule for powers of x: for each exponent above 1 the two exponents whose powers multiply to it.
///
/// x^e is reached at depth ⌈log2 e⌉, the least possible. Parts that are needed anyway are preferred: all powers up
/// to x^d take d − 1 products, and a lone x^(2^k) takes k squares.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Powers {
    parts: BTreeMap<usize, (usize, usize)>,
}

/// Returns the depth ⌈log2 e⌉ of a power x^e, and 0 for e ≤ 1.
pub(crate) fn depth(exponent: usize) -> usize {
    exponent.checked_sub(1).and_then(usize::checked_ilog2).map_or(0, |log| log as usize + 1)
}

impl Powers {
    /// Makes the schedule for the given powers, exponents of 0 and 1 being free.
    pub(crate) fn of(exponents: impl IntoIterator<Item = usize>) -> Self {
        let mut wanted: BTreeSet<usize> = exponents.into_iter().filter(|&e| e > 1).collect();
        let mut parts = BTreeMap::new();
        // The largest exponent first: its parts are smaller, and join the remaining ones.
        while let Some(exponent) = wanted.pop_last() {
            let chosen = split(exponent, &wanted);
            wanted.extend([chosen.0, chosen.1].into_iter().filter(|&e| e > 1));
            parts.insert(exponent, chosen);
        }
        Self { parts }
    }

    /// Yields the exponents of a schedule with their parts, in an order in which parts come first.
    pub(crate) fn steps(&self) -> impl Iterator<Item = (usize, (usize, usize))> + '_ {
        self.parts.iter().map(|(&exponent, &parts)| (exponent, parts))
    }

    /// Number of products in the schedule.
    pub(crate) fn products(&self) -> usize {
        self.parts.len()
    }
}

/// Returns the split e = a + b, a ≥ b ≥ 1, both at a depth below that of e, that asks for the fewest powers not wanted
/// yet; among equals a square, then one with a power of two, which other exponents may share.
fn split(exponent: usize, wanted: &BTreeSet<usize>) -> (usize, usize) {
    let half = exponent.div_ceil(2);
    // x^a must be shallower than x^e: a ≤ 2^(⌈log2 e⌉ − 1).
    let deepest = exponent.next_power_of_two() / 2;
    let missing = |a: usize| -> usize {
        let (b, needs) = (exponent - a, |e: usize| usize::from(e > 1 && !wanted.contains(&e)));
        needs(a) + if a == b { 0 } else { needs(b) }
    };
    // A square, or else the only power of two, is best where both parts are wanted already: dense sets need no search.
    let at_once = [half, deepest]
        .into_iter()
        .find(|&a| (2 * a == exponent || a == deepest) && a < exponent && missing(a) == 0);
    let search = || {
        let candidates = wanted.range(half..=deepest).copied().chain([half, deepest, exponent - 1]);
        let shallow = candidates.filter(|&a| (half..=deepest).contains(&a) && a < exponent);
        shallow.min_by_key(|&a| (missing(a), 2 * a != exponent, !a.is_power_of_two(), a)).unwrap_or(half)
    };
    let best = at_once.unwrap_or_else(search);
    (best, exponent - best)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(exponents: &[usize]) -> Powers {
        let powers = Powers::of(exponents.iter().copied());
        let mut depths = BTreeMap::from([(1, 0)]);
        for (exponent, (a, b)) in powers.steps() {
            assert_eq!(a + b, exponent);
            let level = 1 + depths[&a].max(depths[&b]);
            assert_eq!(level, depth(exponent), "x^{exponent} = x^{a} x^{b}");
            depths.insert(exponent, level);
        }
        for exponent in exponents {
            assert!(*exponent <= 1 || depths.contains_key(exponent));
        }
        powers
    }

    #[test]
    fn dense_sets_of_many_thousand_exponents_take_no_search() {
        // A search of all wanted exponents for each took four seconds here.
        let start = std::time::Instant::now();
        assert_eq!(Powers::of(0..=20_000).products(), 19_999);
        assert_eq!(Powers::of((0..=10_000).map(|i| 2 * i + 1)).products(), 10_000 + 14);
        assert!(start.elapsed().as_secs() < 3, "{:?}", start.elapsed());
    }

    #[test]
    fn every_set_is_reached_at_the_least_depth() {
        assert_eq!([0, 1, 2, 3, 4, 5, 8, 9].map(depth), [0, 0, 1, 2, 2, 3, 3, 4]);
        for d in 0..300 {
            let all: Vec<usize> = (0..=d).collect();
            assert_eq!(check(&all).products(), d.saturating_sub(1));
            // One power alone: no more than the binary method takes.
            let binary = if d == 0 { 0 } else { d.ilog2() + d.count_ones() - 1 };
            assert!(check(&[d]).products() <= binary as usize, "x^{d}: {:?}", check(&[d]));
        }
        for mask in 0..4096_usize {
            let exponents: Vec<usize> = (0..12).filter(|i| mask >> i & 1 == 1).map(|i| 3 * i + 2).collect();
            check(&exponents);
        }
        check(&[1 << 40, (1 << 40) + 1, 77, usize::MAX >> 1]);
    }
}
