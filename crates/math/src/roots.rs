//! Roots of unity modulo a prime.

use crate::{MathError, mod_pow};

/// Returns the distinct prime factors of n, ascending, by trial division: for the smooth or short orders
/// of ring indices, not for a general 64-bit n.
#[must_use]
pub fn prime_factors(mut n: u64) -> Vec<u64> {
    let mut factors = Vec::new();
    let mut p = 2;
    while p <= n / p.max(1) {
        if n.is_multiple_of(p) {
            factors.push(p);
            while n.is_multiple_of(p) {
                n /= p;
            }
        }
        p += if p == 2 { 1 } else { 2 };
    }
    if n > 1 {
        factors.push(n);
    }
    factors
}

/// Returns an element of exact multiplicative order `order` modulo the prime p.
///
/// The element is x^((p−1)/order) for the first base x = 2, 3, … for which this power has that order.
///
/// # Errors
/// [`MathError::NoRootOfUnity`] when the order does not divide p − 1, or p is not prime and no element was found.
pub fn primitive_root_of_unity(order: u64, p: u64) -> Result<u64, MathError> {
    let missing = MathError::NoRootOfUnity { order, modulus: p };
    if p < 2 || order == 0 || !(p - 1).is_multiple_of(order) {
        return Err(missing);
    }
    let factors = prime_factors(order);
    // At least one base in ~ ln ln p works; 1000 failures mean that p is composite.
    (1..p.min(1000))
        .map(|x| mod_pow(x, (p - 1) / order, p))
        .find(|&g| mod_pow(g, order, p) == 1 && factors.iter().all(|f| mod_pow(g, order / f, p) != 1))
        .ok_or(missing)
}

/// Permutes a slice of a length that is a power of two: exchanges index i with its bits in reverse.
pub fn bit_reverse<T>(values: &mut [T]) {
    let Some(bits) = values.len().checked_ilog2().filter(|&bits| bits > 0) else { return };
    for i in 0..values.len() {
        let j = i.reverse_bits() >> (usize::BITS - bits);
        if i < j {
            values.swap(i, j);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{mul_mod, primes_below};

    #[test]
    fn factors_are_prime_and_complete() {
        assert_eq!(prime_factors(0), []);
        assert_eq!(prime_factors(1), []);
        assert_eq!(prime_factors(2), [2]);
        assert_eq!(prime_factors(21845), [5, 17, 257]);
        assert_eq!(prime_factors(1 << 20), [2]);
        assert_eq!(prime_factors(2 * 3 * 3 * 65537), [2, 3, 65537]);
    }

    #[test]
    fn orders_are_exact() {
        for p in [2, 3, 5, 7, 97, 257, 65537] {
            for order in (1..p).filter(|d| (p - 1) % d == 0) {
                let g = primitive_root_of_unity(order, p).unwrap();
                let mut x = g;
                let mut steps = 1;
                while x != 1 {
                    x = mul_mod(x, g, p);
                    steps += 1;
                }
                assert_eq!(steps, order, "mod {p}");
            }
            assert!(primitive_root_of_unity(p + 1, p).is_err() && primitive_root_of_unity(0, p).is_err());
        }
        for p in primes_below(1 << 50, 1 << 17, 3).unwrap() {
            let psi = primitive_root_of_unity(1 << 17, p).unwrap();
            assert_eq!(mod_pow(psi, 1 << 16, p), p - 1);
        }
        assert!(primitive_root_of_unity(4, 21).is_err());
    }
}
