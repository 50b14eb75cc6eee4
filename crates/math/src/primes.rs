//! Search for primes of a given size, congruent to 1 modulo the ring index.

use crate::{MathError, is_prime};

/// Bound of default RNS primes, ⌊2^52/18⌋ (47.8 bits): four butterfly levels then run without a reduction.
pub const DEFAULT_PRIME_BOUND: u64 = (1 << 52) / 18;

/// Bound of wide RNS primes, 2^49: the largest that the fast kernels of every instruction set take. With 52-bit words two
/// butterfly terms of 4q must fit; from there on words of 64 bits take over, at twice the time of a transform or more.
pub const WIDE_PRIME_BOUND: u64 = 1 << 49;

/// Returns the `count` largest primes p < `bound` with p ≡ 1 (mod `step`), in descending order.
///
/// For a negacyclic transform of degree n the argument is step = 2n.
///
/// ```
/// assert_eq!(sunzi_math::primes_below(100, 8, 3)?, [97, 89, 73]);
/// # Ok::<(), sunzi_math::MathError>(())
/// ```
///
/// # Errors
/// [`MathError::OutOfRange`] for step = 0; [`MathError::NotEnoughPrimes`], saying how many there are.
pub fn primes_below(bound: u64, step: u64, count: usize) -> Result<Vec<u64>, MathError> {
    descend(2, bound, step, count)
}

/// Returns the `count` smallest primes p ≡ 1 (mod `step`) with `least` ≤ p < `limit` that divide none of `taken`; `None` where there
/// are fewer.
///
/// ```
/// assert_eq!(sunzi_math::primes_from(10, 8, 2, 100, &[17]), Some(vec![41, 73]));
/// assert_eq!(sunzi_math::primes_from(10, 8, 9, 100, &[]), None);
/// ```
#[must_use]
pub fn primes_from(least: u64, step: u64, count: usize, limit: u64, taken: &[u64]) -> Option<Vec<u64>> {
    let first = least.saturating_sub(1).div_ceil(step.max(1)).checked_mul(step)?.checked_add(1)?;
    let free = |&p: &u64| is_prime(p) && taken.iter().all(|t| !t.is_multiple_of(p));
    let candidates = (first..limit).step_by(usize::try_from(step).ok().filter(|&step| step > 0)?);
    let primes: Vec<u64> = candidates.filter(free).take(count).collect();
    (primes.len() == count).then_some(primes)
}

/// Returns the `count` largest primes p with exactly `bits` bits and p ≡ 1 (mod `step`), in descending order.
///
/// # Errors
/// Every error of [`primes_below`]; [`MathError::OutOfRange`] unless 2 ≤ bits ≤ 62.
pub fn primes_with_bits(bits: u32, step: u64, count: usize) -> Result<Vec<u64>, MathError> {
    if !(2..=62).contains(&bits) {
        return Err(MathError::OutOfRange {
            what: "prime size in bits",
            expected: "2 to 62",
            got: u64::from(bits),
        });
    }
    descend(1 << (bits - 1), 1 << bits, step, count)
}

fn descend(low: u64, bound: u64, step: u64, count: usize) -> Result<Vec<u64>, MathError> {
    if step == 0 {
        return Err(MathError::OutOfRange { what: "step", expected: "at least 1", got: 0 });
    }
    let mut primes = Vec::new();
    // Start from the largest candidate: 1 + step·j below the bound.
    let mut candidate = bound.checked_sub(2).map(|room| room / step * step + 1);
    while let Some(p) = candidate {
        if p < low || primes.len() == count {
            break;
        }
        if is_prime(p) {
            primes.push(p);
        }
        candidate = p.checked_sub(step);
    }
    if primes.len() < count {
        return Err(MathError::NotEnoughPrimes { bound, step, requested: count, found: primes.len() });
    }
    Ok(primes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_bound_keeps_four_levels() {
        assert_eq!(DEFAULT_PRIME_BOUND, 250_199_979_298_360);
        const { assert!(18 * DEFAULT_PRIME_BOUND <= 1 << 52) };
    }

    #[test]
    fn finds_exactly_the_primes_there_are() {
        for step in [1, 2, 3, 8, 64] {
            for bound in [0, 1, 2, 3, 4, 8, 98, 1000] {
                let all: Vec<u64> =
                    (2..bound).rev().filter(|&p| is_prime(p) && (p - 1) % step == 0).collect();
                assert_eq!(primes_below(bound, step, all.len()).unwrap(), all, "{bound} {step}");
                assert_eq!(
                    primes_below(bound, step, all.len() + 1).unwrap_err(),
                    MathError::NotEnoughPrimes { bound, step, requested: all.len() + 1, found: all.len() }
                );
            }
        }
        assert!(primes_below(100, 0, 1).is_err());
    }

    #[test]
    fn sizes_are_exact_and_order_descending() {
        for bits in [18, 30, 48, 55, 60, 62] {
            let primes = primes_with_bits(bits, 1 << 12, 3).unwrap();
            assert!(primes.windows(2).all(|w| w[0] > w[1]));
            assert!(primes.iter().all(|p| 64 - p.leading_zeros() == bits && p % (1 << 12) == 1));
        }
        assert!(primes_with_bits(63, 2, 1).is_err() && primes_with_bits(1, 1, 1).is_err());
        assert_eq!(primes_with_bits(2, 1, 2).unwrap(), [3, 2]);
        assert!(primes_with_bits(17, 1 << 17, 1).is_err());
    }
}
