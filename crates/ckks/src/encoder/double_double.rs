//! Double-double numbers, sums of two doubles with 106 bits, for tables that should be right to the last bit of a
//! double.

/// A double-double number hi + lo with |lo| at most half a unit in the last place of hi.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct DoubleDouble {
    hi: f64,
    lo: f64,
}

impl DoubleDouble {
    pub(super) const ONE: Self = Self { hi: 1.0, lo: 0.0 };
    pub(super) const ZERO: Self = Self { hi: 0.0, lo: 0.0 };

    /// The exact sum a + b of two doubles.
    fn exact_sum(a: f64, b: f64) -> Self {
        let hi = a + b;
        let from_b = hi - a;
        Self { hi, lo: (a - (hi - from_b)) + (b - from_b) }
    }

    /// The exact product a·b of two doubles.
    fn exact_product(a: f64, b: f64) -> Self {
        let hi = a * b;
        Self { hi, lo: a.mul_add(b, -hi) }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        let (high, low) = (Self::exact_sum(self.hi, other.hi), Self::exact_sum(self.lo, other.lo));
        let middle = Self::exact_sum(high.hi, high.lo + low.hi);
        Self::exact_sum(middle.hi, middle.lo + low.lo)
    }

    pub(super) fn minus(self, other: Self) -> Self {
        self.plus(Self { hi: -other.hi, lo: -other.lo })
    }

    pub(super) fn times(self, other: Self) -> Self {
        let product = Self::exact_product(self.hi, other.hi);
        let cross = self.lo.mul_add(other.hi, self.hi * other.lo);
        Self::exact_sum(product.hi, product.lo + cross)
    }

    /// The product of a double-double number with a power of two.
    pub(super) fn scaled(self, factor: f64) -> Self {
        Self { hi: self.hi * factor, lo: self.lo * factor }
    }

    /// The quotient of a double-double number by a divisor that is not zero.
    pub(super) fn over(self, divisor: Self) -> Self {
        let mut quotient = Self { hi: self.hi / divisor.hi, lo: 0.0 };
        // Newton's steps double the bits of the quotient each.
        for _ in 0..2 {
            let remainder = self.minus(quotient.times(divisor));
            quotient = quotient.plus(Self { hi: remainder.hi / divisor.hi, lo: 0.0 });
        }
        quotient
    }

    /// The square root of a positive double-double number.
    pub(super) fn sqrt(self) -> Self {
        let mut root = Self { hi: self.hi.sqrt(), lo: 0.0 };
        for _ in 0..2 {
            let remainder = self.minus(root.times(root));
            root = root.plus(Self { hi: remainder.hi / (2.0 * root.hi), lo: 0.0 });
        }
        root
    }

    /// The double nearest to a double-double number.
    pub(super) fn nearest(self) -> f64 {
        self.hi
    }
}

#[cfg(test)]
impl DoubleDouble {
    pub(super) fn from_f64(value: f64) -> Self {
        Self { hi: value, lo: 0.0 }
    }

    /// Rounds a double-double number to an integer times 2^-`bits`.
    pub(super) fn fixed_point(self, bits: u64) -> num_bigint::BigInt {
        let part = |x: f64| {
            let exponent = 60 - if x == 0.0 { 0 } else { x.abs().log2().floor() as i64 };
            let mantissa = num_bigint::BigInt::from((x * 2_f64.powi(exponent as i32)) as i128);
            let shift = bits as i64 - exponent;
            if shift >= 0 { mantissa << shift } else { mantissa >> -shift }
        };
        part(self.hi) + part(self.lo)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigInt;

    fn close(a: &BigInt, b: &BigInt, bits: u64) {
        let difference = a - b;
        assert!(difference.magnitude().bits() <= bits, "{a} and {b}");
    }

    #[test]
    fn operations_keep_a_hundred_bits() {
        let numbers = [1.0, 3.0, 0.1, 1e-9, 0.999_999_999_999_999_9, 123_456.789];
        for &a in &numbers {
            for &b in &numbers {
                // Numbers with two halves.
                let (a, b) = (DoubleDouble::from_f64(a), DoubleDouble::from_f64(b));
                let (x, y) = (a.over(b), b.over(a));
                let (fx, fy) = (x.fixed_point(200), y.fixed_point(200));
                let size = fx.bits().max(fy.bits());
                close(&x.plus(y).fixed_point(200), &(&fx + &fy), size - 100);
                close(&x.minus(y).fixed_point(200), &(&fx - &fy), size - 100);
                close(&x.times(y).fixed_point(200), &((&fx * &fy) >> 200), 100);
                let root = x.sqrt().fixed_point(200);
                close(&((&root * &root) >> 200), &fx, fx.bits() - 98);
            }
        }
    }
}
