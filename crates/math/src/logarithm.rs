//! Binary logarithms of big integers.

use num_bigint::BigUint;
use num_traits::ToPrimitive;

/// Returns log2 of an integer to about 50 bits; −∞ for zero.
///
/// ```
/// assert_eq!(sunzi_math::log2(&(num_bigint::BigUint::from(1_u32) << 5000_u32)), 5000.0);
/// ```
#[must_use]
pub fn log2(value: &BigUint) -> f64 {
    // The leading 64 bits suffice.
    let shift = value.bits().saturating_sub(64);
    (value >> shift).to_f64().unwrap_or(f64::INFINITY).log2() + shift as f64
}

/// Returns log2 of the product of words; 0 for an empty list.
#[must_use]
pub fn log2_product(factors: &[u64]) -> f64 {
    factors.iter().map(|&factor| (factor as f64).log2()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_large_values() {
        assert_eq!(log2(&BigUint::ZERO), f64::NEG_INFINITY);
        assert_eq!(log2(&BigUint::from(1_u32)), 0.0);
        let three = BigUint::from(3_u32);
        for shift in [0_u32, 62, 63, 64, 1000, 100_000] {
            let difference = log2(&(&three << shift)) - f64::from(shift) - 3_f64.log2();
            assert!(difference.abs() < 1e-10, "{shift}: {difference}");
        }
    }
}
