//! Numbers of the key holder's computations: exact fractions, or doubles where a number is not exact.

use num_bigint::{BigInt, BigUint};
use num_rational::Ratio;
use num_traits::{Signed, ToPrimitive, Zero};

use crate::Decimal;

/// Largest number of bits of both operands together for which fractions stay exact: each step costs their square, and
/// formulas may come from files.
const MOST_BITS: u64 = 1 << 10;

/// Number of a result: exact, or a double.
#[derive(Clone, Debug, PartialEq)]
pub enum Number {
    /// Exact fraction of integers.
    Exact(Ratio<BigInt>),
    /// Double-precision number, which may have an error.
    Real(f64),
}

impl Number {
    /// Makes the exact number mantissa / 10^decimals.
    #[must_use]
    pub fn scaled(mut mantissa: BigInt, decimals: u32) -> Self {
        if mantissa.is_zero() {
            return Self::Exact(Ratio::zero());
        }
        // Only 2 and 5 divide the denominator: what they share is found without a division of long numbers.
        let shared = mantissa.trailing_zeros().unwrap_or(0).min(decimals.into()) as u32;
        mantissa >>= shared;
        let (mut fives, five) = (decimals, BigInt::from(5));
        while fives > 0 && (&mantissa % &five).is_zero() {
            (mantissa, fives) = (mantissa / &five, fives - 1);
        }
        Self::Exact(Ratio::new_raw(mantissa, five.pow(fives) << (decimals - shared)))
    }

    /// Returns the double-precision number nearest to the number.
    #[must_use]
    pub fn to_f64(&self) -> f64 {
        match self {
            Self::Exact(ratio) => nearest(ratio.numer(), ratio.denom()).unwrap_or(f64::NAN),
            Self::Real(value) => *value,
        }
    }

    /// Applies f to two numbers, exactly if both are exact and not too long for that.
    fn join(
        &self,
        other: &Self,
        exact: impl Fn(&Ratio<BigInt>, &Ratio<BigInt>) -> Ratio<BigInt>,
        real: impl Fn(f64, f64) -> f64,
    ) -> Self {
        match (self, other) {
            (Self::Exact(a), Self::Exact(b)) if bits(a) + bits(b) <= MOST_BITS => Self::Exact(exact(a, b)),
            _ => Self::Real(real(self.to_f64(), other.to_f64())),
        }
    }

    pub(crate) fn add(&self, other: &Self) -> Self {
        self.join(other, |a, b| a + b, |a, b| a + b)
    }

    pub(crate) fn sub(&self, other: &Self) -> Self {
        self.join(other, |a, b| a - b, |a, b| a - b)
    }

    pub(crate) fn multiply(&self, other: &Self) -> Self {
        self.join(other, |a, b| a * b, |a, b| a * b)
    }

    /// Returns the quotient a/b of two numbers; `None` where b is zero.
    pub(crate) fn divide(&self, other: &Self) -> Option<Self> {
        let zero = match other {
            Self::Exact(ratio) => ratio.is_zero(),
            Self::Real(value) => *value == 0.0,
        };
        (!zero).then(|| self.join(other, |a, b| a / b, |a, b| a / b))
    }

    /// Returns the square root √a to double precision; `None` for a < 0.
    pub(crate) fn square_root(&self) -> Option<Self> {
        let value = self.to_f64();
        (value >= 0.0).then(|| Self::Real(value.sqrt()))
    }
}

fn bits(ratio: &Ratio<BigInt>) -> u64 {
    ratio.numer().bits() + ratio.denom().bits()
}

impl From<Decimal> for Number {
    fn from(value: Decimal) -> Self {
        Self::scaled(value.mantissa().into(), value.decimals())
    }
}

/// Returns the double-precision number nearest to numerator/denominator; `None` for a denominator that is not positive.
#[must_use]
pub fn nearest(numerator: &BigInt, denominator: &BigInt) -> Option<f64> {
    if !denominator.is_positive() {
        return None;
    }
    if numerator.is_zero() {
        return Some(0.0);
    }
    // A quotient of 64 or 65 bits whose last bit also stands for everything below it rounds to 53
    // bits as the exact one does.
    let (top, bottom) = (numerator.magnitude(), denominator.magnitude());
    let shift = 64 - (top.bits() as i64 - bottom.bits() as i64);
    let quotient = if shift >= 0 {
        divide_sticky(&(top << shift), bottom)
    } else {
        divide_sticky(top, &(bottom << -shift))
    };
    let magnitude = quotient as f64 * 2_f64.powi(-shift as i32);
    Some(if numerator.is_negative() { -magnitude } else { magnitude })
}

/// Returns the quotient ⌊a/b⌋, with its last bit set if the division leaves a remainder.
fn divide_sticky(a: &BigUint, b: &BigUint) -> u128 {
    let quotient = a / b;
    let has_remainder = !(a - &quotient * b).is_zero();
    quotient.to_u128().unwrap_or(u128::MAX) | u128::from(has_remainder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_rounded_to_the_nearest() {
        let r = |a: i128, b: i128| nearest(&a.into(), &b.into());
        for (a, b) in [
            (1_i64, 3_i64),
            (-2, 3),
            (1, 1),
            (10, 4),
            (22, 7),
            (-1, 1 << 40),
            ((1 << 53) - 1, 1),
            (1 << 52, 3),
        ] {
            assert_eq!(r(a.into(), b.into()), Some(a as f64 / b as f64), "{a}/{b}");
        }
        assert_eq!(r(0, 5), Some(0.0));
        assert_eq!(r(1, 0), None);
        assert_eq!(r(1, -1), None);
        // A number halfway between two doubles goes to the even one, a slightly larger one goes up.
        assert_eq!(r((1 << 53) + 1, 1), Some(9_007_199_254_740_992.0));
        assert_eq!(r(((1 << 53) + 1) * 1_000_000_007 + 1, 1_000_000_007), Some(9_007_199_254_740_994.0));
        assert_eq!(r(i128::MAX, 1), Some(i128::MAX as f64));
    }
}
