//! Deterministic test of words for primality.

use crate::{mod_pow, mul_mod};

/// Bases of Miller–Rabin: the first twelve primes, which decide every n < 3.3·10^24
/// (Sorenson and Webster, 2017), hence every word.
const BASES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];

/// Whether n is prime, without error.
///
/// ```
/// assert!(sunzi_math::is_prime(u64::MAX - 58));
/// assert!(!sunzi_math::is_prime(3_215_031_751)); // fools the bases 2, 3, 5 and 7
/// ```
#[must_use]
pub fn is_prime(n: u64) -> bool {
    if n < 2 {
        return false;
    }
    for p in BASES {
        if n.is_multiple_of(p) {
            return n == p;
        }
    }
    let twos = (n - 1).trailing_zeros();
    let odd = (n - 1) >> twos;
    BASES.iter().all(|&base| passes(n, base, odd, twos))
}

/// Runs one round of the Miller–Rabin test of n to a base, n − 1 = odd·2^twos.
fn passes(n: u64, base: u64, odd: u64, twos: u32) -> bool {
    let mut x = mod_pow(base, odd, n);
    if x == 1 || x == n - 1 {
        return true;
    }
    for _ in 1..twos {
        x = mul_mod(x, x, n);
        if x == n - 1 {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_sieve() {
        let limit = 200_000;
        let mut composite = vec![false; limit];
        for p in 2..limit {
            if !composite[p] {
                for multiple in (p * p..limit).step_by(p) {
                    composite[multiple] = true;
                }
            }
        }
        for (n, &composite) in composite.iter().enumerate() {
            assert_eq!(is_prime(n as u64), n >= 2 && !composite, "{n}");
        }
    }

    #[test]
    fn strong_pseudoprimes_and_large_values() {
        // Least strong pseudoprimes to the first 4, 5, 6, 8 and 11 prime bases, and Carmichael numbers.
        for n in [
            3_215_031_751,
            2_152_302_898_747,
            3_474_749_660_383,
            341_550_071_728_321,
            3_825_123_056_546_413_051,
            561,
            1729,
            825_265,
            (1 << 32) + 1,
            u64::MAX,
        ] {
            assert!(!is_prime(n), "{n}");
        }
        for n in [65_537, (1 << 31) - 1, (1 << 61) - 1, 18_446_744_073_709_551_557, 4_294_967_291] {
            assert!(is_prime(n), "{n}");
        }
    }
}
