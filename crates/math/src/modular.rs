//! Arithmetic modulo a word, through 128-bit products.

use crate::MathError;

/// Returns a + b mod q for any a, b and q ≥ 1.
#[must_use]
pub const fn add_mod(a: u64, b: u64, q: u64) -> u64 {
    if q == 0 {
        return 0;
    }
    ((a as u128 + b as u128) % q as u128) as u64
}

/// Returns a·b mod q for any a, b and q ≥ 1 (0 for q = 0, which no caller passes).
#[must_use]
pub const fn mul_mod(a: u64, b: u64, q: u64) -> u64 {
    if q == 0 {
        return 0;
    }
    ((a as u128 * b as u128) % q as u128) as u64
}

/// A fixed factor modulo q, which multiplies many words without a division for each (Shoup).
#[derive(Clone, Copy, Debug)]
pub struct FixedFactor {
    factor: u64,
    /// Shoup's quotient ⌊2^64·factor/q⌋ of the factor.
    quotient: u64,
    q: u64,
}

impl FixedFactor {
    /// Makes the fixed factor w modulo q, for 1 ≤ q < 2^63.
    ///
    /// # Errors
    /// [`MathError::OutOfRange`] for another q.
    pub fn new(w: u64, q: u64) -> Result<Self, MathError> {
        if !(1..1 << 63).contains(&q) {
            return Err(MathError::OutOfRange { what: "modulus", expected: "1 to 2^63 - 1", got: q });
        }
        let factor = w % q;
        Ok(Self { factor, quotient: ((u128::from(factor) << 64) / u128::from(q)) as u64, q })
    }

    /// Returns w·x mod q for any x; its time does not depend on x.
    ///
    /// ```
    /// let three = sunzi_math::FixedFactor::new(3, 7)?;
    /// assert_eq!(three.times(5), 1);
    /// # Ok::<(), sunzi_math::MathError>(())
    /// ```
    #[must_use]
    #[inline]
    pub const fn times(&self, x: u64) -> u64 {
        let quotient = ((self.quotient as u128 * x as u128) >> 64) as u64;
        // The remainder is below 2q.
        let rest = self.factor.wrapping_mul(x).wrapping_sub(quotient.wrapping_mul(self.q));
        let mask = ((rest >= self.q) as u64).wrapping_neg();
        rest.wrapping_sub(self.q & mask)
    }
}

/// Returns a^e mod q by squaring; 0^0 = 1 mod q.
#[must_use]
pub const fn mod_pow(a: u64, mut e: u64, q: u64) -> u64 {
    let mut base = mul_mod(a, 1, q);
    let mut result = mul_mod(1, 1, q);
    while e > 0 {
        if e & 1 == 1 {
            result = mul_mod(result, base, q);
        }
        base = mul_mod(base, base, q);
        e >>= 1;
    }
    result
}

/// Returns the greatest common divisor of a and b; gcd(0, b) = b.
#[must_use]
pub const fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Returns the inverse of a modulo q in [0, q) by the extended Euclidean algorithm; q need not be prime.
///
/// # Errors
/// [`MathError::OutOfRange`] for q < 2; [`MathError::NotInvertible`] when gcd(a, q) ≠ 1.
pub fn mod_inv(a: u64, q: u64) -> Result<u64, MathError> {
    if q < 2 {
        return Err(MathError::OutOfRange { what: "modulus", expected: "at least 2", got: q });
    }
    let (mut r0, mut r1) = (i128::from(q), i128::from(a % q));
    let (mut s0, mut s1) = (0_i128, 1_i128);
    while r1 != 0 {
        let quotient = r0 / r1;
        (r0, r1) = (r1, r0 - quotient * r1);
        (s0, s1) = (s1, s0 - quotient * s1);
    }
    if r0 != 1 {
        return Err(MathError::NotInvertible { value: a, modulus: q });
    }
    u64::try_from(s0.rem_euclid(i128::from(q))).map_err(|_| MathError::NotInvertible { value: a, modulus: q })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_and_powers_match_big_integers() {
        use num_bigint::BigUint;
        let values = [0, 1, 2, 3, 1 << 31, (1 << 32) - 1, u64::MAX - 58, u64::MAX - 1, u64::MAX];
        for q in [1, 2, 3, 65536, 65537, (1 << 61) - 1, u64::MAX] {
            for a in values {
                for b in values {
                    let product = BigUint::from(a) * b % q;
                    assert_eq!(BigUint::from(mul_mod(a, b, q)), product);
                    assert_eq!(BigUint::from(add_mod(a, b, q)), (BigUint::from(a) + b) % q);
                    let power = BigUint::from(a).modpow(&BigUint::from(b), &BigUint::from(q));
                    assert_eq!(BigUint::from(mod_pow(a, b, q)), power, "{a}^{b} mod {q}");
                }
            }
        }
    }

    #[test]
    fn fixed_factors_multiply_every_word() {
        let words = [0, 1, 2, 3, 1 << 31, (1 << 63) - 1, 1 << 63, u64::MAX - 1, u64::MAX];
        for q in [1, 2, 3, 65_537, 1 << 32, (1 << 61) - 1, (1 << 63) - 1] {
            for w in words.into_iter().chain([q - 1, q / 2]) {
                let factor = FixedFactor::new(w, q).unwrap();
                for x in words.into_iter().chain([q - 1, q, q / 2]) {
                    assert_eq!(factor.times(x), mul_mod(w, x, q), "{w}·{x} mod {q}");
                }
            }
        }
        assert!(FixedFactor::new(1, 0).is_err() && FixedFactor::new(1, 1 << 63).is_err());
    }

    #[test]
    fn inverses_exist_exactly_for_units() {
        for q in 2..200 {
            for a in 0..q + 3 {
                match mod_inv(a, q) {
                    Ok(inverse) => {
                        assert!(inverse < q);
                        assert_eq!(mul_mod(a, inverse, q), 1);
                    }
                    Err(error) => {
                        assert_ne!(gcd(a, q), 1);
                        assert_eq!(error, MathError::NotInvertible { value: a, modulus: q });
                    }
                }
            }
        }
        for a in [1, 3, u64::MAX - 2, u64::MAX / 2] {
            let inverse = mod_inv(a, u64::MAX - 58).unwrap();
            assert_eq!(mul_mod(a, inverse, u64::MAX - 58), 1);
        }
        assert!(mod_inv(1, 1).is_err() && mod_inv(1, 0).is_err());
    }
}
