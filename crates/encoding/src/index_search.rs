//! Search for ring indices with enough slots, the cheapest first.

use sunzi_math::{RingIndex, gcd, is_prime, multiplicative_order, primes_from};

use crate::{MAX_DEGREE, PLAIN_MODULUS_LIMIT};

/// Bound of the indices that are searched: φ(m) > m/6 for all m of this size.
const SEARCHED: u64 = 6 * MAX_DEGREE as u64;

/// A ring index, and the slots of its plaintexts modulo powers of a prime.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexChoice {
    /// Ring index m, with its degree n = φ(m) and its axes.
    pub index: RingIndex,
    /// Degree d of the slots: the number of coefficients of their elements.
    pub slot_degree: usize,
    /// Number of slots of a plaintext, n/d.
    pub slots: usize,
    /// Estimated butterflies a coefficient of a transform; log2(n)/2 for a power of two.
    pub transform_cost: f64,
}

impl IndexChoice {
    pub(crate) fn new(m: u64, p: u64) -> Option<Self> {
        let index = RingIndex::new(m).ok().filter(|_| gcd(m, p) == 1)?;
        let n = index.degree();
        let slot_degree = multiplicative_order(p, m).ok()? as usize;
        let transform_cost = index.axes().iter().map(|axis| axis_cost(axis.prime(), axis.exponent())).sum();
        Some(Self { index, slot_degree, slots: n / slot_degree, transform_cost })
    }

    /// Estimated cost of one transform of the ring, in butterflies.
    #[must_use]
    pub fn cost(&self) -> f64 {
        self.transform_cost * self.index.degree() as f64
    }
}

/// Computes φ of every number up to `end`.
fn degrees_up_to(end: u64) -> Vec<usize> {
    let mut phi: Vec<usize> = (0..=end as usize).collect();
    for q in 2..phi.len() {
        // Numbers that no smaller prime has changed are primes.
        if phi.get(q) == Some(&q) {
            phi.iter_mut().step_by(q).for_each(|phi| *phi -= *phi / q);
        }
    }
    phi
}

/// Yields all indices of a degree in this range with enough slots, ascending; p has at least order log_p m modulo m.
fn indices(
    p: u64,
    slots: usize,
    degrees: std::ops::RangeInclusive<usize>,
) -> impl Iterator<Item = IndexChoice> {
    let end = (*degrees.end() as u64).saturating_mul(6).min(SEARCHED);
    let listed = degrees_up_to(end).into_iter().enumerate().skip(3);
    let enough = move |m: usize, n: usize| {
        let order = (m as f64).ln() / (p.max(2) as f64).ln();
        degrees.contains(&n) && n as f64 >= slots as f64 * order.floor().max(1.0)
    };
    let worth = listed.filter(move |&(m, n)| enough(m, n));
    let choices = worth.filter_map(move |(m, _)| IndexChoice::new(m as u64, p));
    choices.filter(move |choice| choice.slots >= slots)
}

/// Estimates butterflies a coefficient along an axis: two transforms of length q − 1 and a product for a prime q, as Rader takes them; small factors of
/// q − 1 in full, and padded to a power of two where a factor is large.
fn axis_cost(prime: u64, exponent: u32) -> f64 {
    if prime == 2 {
        return f64::from(exponent.saturating_sub(1)) / 2.0;
    }
    let mut rest = prime - 1;
    let mut levels = 0.0;
    for (factor, cost) in [(2, 0.5), (3, 1.0), (5, 2.0), (7, 3.0)] {
        while rest.is_multiple_of(factor) {
            rest /= factor;
            levels += cost;
        }
    }
    if rest > 1 {
        let padded = (2 * prime - 3).next_power_of_two();
        levels = 0.5 * f64::from(padded.ilog2()) * padded as f64 / (prime - 1) as f64;
    }
    let higher = f64::from(exponent.saturating_sub(1)) * prime as f64 / 2.0;
    2.0 * levels + 1.5 + higher
}

/// Lists all ring indices of a degree in this range with at least the given number of slots for the prime p and slots of at most `most_degree`,
/// by increasing cost of a transform, then by increasing index.
#[must_use]
pub fn indices_by_cost(
    p: u64,
    slots: usize,
    degrees: std::ops::RangeInclusive<usize>,
    most_degree: usize,
) -> Vec<IndexChoice> {
    let mut found: Vec<IndexChoice> =
        indices(p, slots, degrees).filter(|choice| choice.slot_degree <= most_degree).collect();
    found.sort_by(|a, b| a.cost().total_cmp(&b.cost()));
    found
}

/// Returns the least index with at least the given number of slots.
pub(crate) fn index_with_slots(p: u64, slots: usize) -> Option<u64> {
    indices(p, slots, 1..=MAX_DEGREE).next().map(|choice| choice.index.value())
}

/// Returns the primes next below and next above p; 2 if there is none below.
pub(crate) fn neighbouring_primes(p: u64) -> [u64; 2] {
    let below = (2..p).rev().find(|&q| is_prime(q)).unwrap_or(2);
    let above = (p.max(below).saturating_add(1)..u64::MAX).find(|&q| is_prime(q)).unwrap_or(below);
    [below, above]
}

/// Returns the index nearest to m, or a divisor of m, that p does not divide.
pub(crate) fn without_prime(m: u64, p: u64) -> u64 {
    let mut divisor = m;
    while p > 1 && divisor.is_multiple_of(p) {
        divisor /= p;
    }
    let good = |m: u64| !m.is_multiple_of(p) && RingIndex::new(m).is_ok();
    if good(divisor) { divisor } else { (m..).find(|&m| good(m)).unwrap_or(divisor) }
}

/// Returns the least prime that is 1 modulo m, so that its slots have degree 1.
pub(crate) fn prime_of_order_one(m: u64) -> u64 {
    primes_from(2, m, 1, PLAIN_MODULUS_LIMIT, &[]).and_then(|primes| primes.first().copied()).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fast_axes_come_first() {
        let found = indices_by_cost(2, 1000, 1..=32768, 256);
        assert!(found.iter().all(|choice| choice.slots >= 1000 && choice.slot_degree <= 256));
        assert!(found.windows(2).all(|pair| pair[0].cost() <= pair[1].cost()));
        let of = |m: u64| found.iter().find(|choice| choice.index.value() == m).unwrap();
        assert_eq!((of(21845).slots, of(21845).slot_degree), (1024, 16));
        // Half of the levels of 2^14 coefficients are 7 butterflies; the direct transform takes 2.2 to 2.7 times as many.
        assert!((2.2..2.7).contains(&(of(21845).transform_cost / 7.0)), "{}", of(21845).transform_cost);
        // 262 has the factor 131, 256 only twos.
        assert!(axis_cost(263, 1) > 2.0 * axis_cost(257, 1));
    }

    #[test]
    fn degrees_are_those_of_the_definition() {
        for (m, &phi) in degrees_up_to(300).iter().enumerate() {
            assert_eq!(phi, (0..m).filter(|&k| gcd(k as u64, m as u64) == 1).count(), "{m}");
        }
        for p in [2, 3, 127] {
            let listed: Vec<u64> = indices(p, 3, 1..=40).map(|choice| choice.index.value()).collect();
            let expected = (3..241).filter_map(|m| IndexChoice::new(m, p));
            let expected = expected.filter(|choice| choice.index.degree() <= 40 && choice.slots >= 3);
            assert_eq!(listed, expected.map(|choice| choice.index.value()).collect::<Vec<_>>());
        }
    }

    #[test]
    fn hints_work() {
        let m = index_with_slots(2, 700).unwrap();
        assert!(IndexChoice::new(m, 2).unwrap().slots >= 700);
        assert!((3..m).filter_map(|m| IndexChoice::new(m, 2)).all(|choice| choice.slots < 700));
        assert_eq!(index_with_slots(2, usize::MAX), None);
        assert_eq!(neighbouring_primes(0), [2, 3]);
        assert_eq!(neighbouring_primes(9), [7, 11]);
        assert_eq!(without_prime(105, 3), 35);
        for (m, p) in [(9, 3), (8, 2), (12, 3), (21, 7), (36, 3), (1 << 14, 2)] {
            let works = without_prime(m, p);
            assert!(!works.is_multiple_of(p) && RingIndex::new(works).is_ok(), "{m} {p}: {works}");
        }
        assert_eq!(prime_of_order_one(16), 17);
    }
}
