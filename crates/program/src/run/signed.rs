//! Sums and products of clear real numbers that have the sign of the right result, so that comparisons of cells are right to the last bit.

use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive, Zero};

/// Returns a double near Σ c_i·v_i + c for finite doubles, with the sign of the right sum.
pub(crate) fn signed_sum(constant: f64, terms: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
    let (mut sum, mut size, mut count) = (constant, constant.abs(), 2.0);
    for (c, v) in terms.clone() {
        sum += c * v;
        size += (c * v).abs();
        count += 1.0;
    }
    // Every step rounds to the nearest; products of tiny numbers may be lost.
    let off = count * f64::EPSILON * size + count * f64::MIN_POSITIVE;
    if sum.abs() > off || !size.is_finite() { sum } else { exact_sum(constant, terms) }
}

/// Returns a·b; the least double with the right sign where the product is too small for a double.
pub(crate) fn signed_product(a: f64, b: f64) -> f64 {
    let product = a * b;
    if product == 0.0 && a != 0.0 && b != 0.0 { f64::from_bits(1).copysign(product) } else { product }
}

/// Returns the double nearest to the exact sum; the least double with the right sign where the sum is too small.
fn exact_sum(constant: f64, terms: impl Iterator<Item = (f64, f64)>) -> f64 {
    // In units of 2^-2148 all products of doubles are whole.
    const UNIT: i32 = 1074;
    let (one, shift) = (whole(constant, UNIT) << UNIT, 2 * UNIT);
    let sum: BigInt = terms.fold(one, |sum, (c, v)| sum + whole(c, UNIT) * whole(v, UNIT));
    if sum.is_zero() {
        return 0.0;
    }
    let bits = sum.bits() as i32 - 64;
    let top = if bits > 0 { &sum >> bits } else { sum.clone() };
    let near = top.to_f64().unwrap_or(0.0).abs();
    // Two steps, so that no power of two is too small for a double by itself.
    let exponent = bits.max(0) - shift;
    let near = near * f64::from(exponent / 2).exp2() * f64::from(exponent - exponent / 2).exp2();
    near.max(f64::from_bits(1)) * if sum.is_negative() { -1.0 } else { 1.0 }
}

/// Returns the integer v·2^unit.
fn whole(v: f64, unit: i32) -> BigInt {
    let bits = v.to_bits();
    let (exponent, fraction) = ((bits >> 52 & 0x7ff) as i32, bits & ((1 << 52) - 1));
    let mantissa = if exponent == 0 { fraction } else { fraction | 1 << 52 };
    let size = BigInt::from(mantissa) << (exponent.max(1) - 1 + unit - 1074);
    if v < 0.0 { -size } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_have_the_sign_of_the_right_sum() {
        let sum = |constant: f64, terms: &[(f64, f64)]| signed_sum(constant, terms.iter().copied());
        assert_eq!(sum(0.5, &[(1.0, 0.25), (-2.0, 0.125)]), 0.5);
        assert_eq!(sum(-0.3, &[(1.0, 0.3)]), 0.0);
        // In doubles alone each of these is 0.
        assert_eq!(sum(0.0, &[(1.0, 1e16), (1.0, 1.0), (-1.0, 1e16)]), 1.0);
        assert!(sum(0.0, &[(1.0, 1e300), (1.0, -1e-300), (-1.0, 1e300)]) < 0.0);
        assert!(sum(0.0, &[(0.1, 0.1), (-1.0, 0.1 * 0.1)]) < 0.0);
        // The least double, and less than that.
        let least = f64::from_bits(1);
        assert_eq!(sum(0.0, &[(1.0, least)]), least);
        assert_eq!(sum(0.0, &[(-0.25, least)]), -least);
        assert_eq!(sum(0.0, &[(least, 1.0), (-1.0, least)]), 0.0);
        assert_eq!(sum(f64::MAX, &[(-1.0, f64::MAX)]), 0.0);
    }

    #[test]
    fn products_have_the_sign_of_the_right_product() {
        assert_eq!(signed_product(3.0, -0.5), -1.5);
        assert!(signed_product(1e-300, 1e-300) > 0.0 && signed_product(-1e-300, 1e-300) < 0.0);
        assert_eq!(signed_product(0.0, -1e-300), 0.0);
    }

    #[test]
    fn whole_numbers_are_those_of_doubles() {
        for v in [0.0, 1.0, -1.5, f64::MAX, f64::MIN_POSITIVE, f64::from_bits(1), 0.1, -3e-310] {
            let back = exact_sum(v, std::iter::empty());
            assert_eq!(back, v);
        }
    }
}
