//! Two bounds on the noise of a ciphertext, kept without the secret key.
//!
//! * The **worst case** of the papers (expansion factor δ = n): holds always, since errors and
//!   secrets are bounded.
//! * A **deviation**: an upper bound on the standard deviation of every coefficient. The noise
//!   stays below [`tail_factor`] times it except with probability 2^-128 for all n coefficients
//!   together.
//!
//! Deviations add as variances only where the operands are known to be independent: fresh
//! ciphertexts that no operation has touched. Everywhere else (x·x, x + x, fan-out, anything
//! that went through the same key) they add linearly, which is right for any dependence
//! (Minkowski). Magnitudes are kept as logarithms, since noise reaches thousands of bits.

use std::ops::{Add, Mul};

/// B_err: the error is centred binomial on 21 + 21 bits, so never larger than 21.
pub const ERROR_BOUND: f64 = 21.0;
/// σ² of the error.
pub const ERROR_VARIANCE: f64 = 10.5;
/// B_key: secrets are ternary.
pub const KEY_BOUND: f64 = 1.0;
/// Variance of a uniform ternary coefficient.
pub const TERNARY_VARIANCE: f64 = 2.0 / 3.0;
/// −log2 of the probability that the deviation bound is exceeded anywhere in a polynomial.
pub const TAIL_BITS: f64 = 128.0;

/// A non-negative magnitude, held as its base-2 logarithm.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Log2(f64);

impl Log2 {
    /// Zero.
    pub const ZERO: Self = Self(f64::NEG_INFINITY);

    /// The magnitude `value`; anything not positive counts as zero.
    #[must_use]
    pub fn of(value: f64) -> Self {
        if value > 0.0 { Self(value.log2()) } else { Self::ZERO }
    }

    /// 2^`bits`.
    #[must_use]
    pub fn from_bits(bits: f64) -> Self {
        Self(bits)
    }

    /// The logarithm: −∞ for zero.
    #[must_use]
    pub fn bits(self) -> f64 {
        self.0
    }

    /// √(self² + other²): deviations of independent terms.
    #[must_use]
    pub fn hypot(self, other: Self) -> Self {
        Self((Self(2.0 * self.0) + Self(2.0 * other.0)).0 / 2.0)
    }

    /// The larger of the two.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self(self.0.max(other.0))
    }

    /// The smaller of the two.
    #[must_use]
    pub fn min(self, other: Self) -> Self {
        Self(self.0.min(other.0))
    }
}

impl Add for Log2 {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let (high, low) = if self.0 >= other.0 { (self.0, other.0) } else { (other.0, self.0) };
        if low == f64::NEG_INFINITY {
            Self(high)
        } else {
            Self(high + (low - high).exp2().ln_1p() / std::f64::consts::LN_2)
        }
    }
}

impl Mul for Log2 {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        if self == Self::ZERO || other == Self::ZERO { Self::ZERO } else { Self(self.0 + other.0) }
    }
}

impl Mul<f64> for Log2 {
    type Output = Self;
    fn mul(self, factor: f64) -> Self {
        self * Self::of(factor)
    }
}

/// T such that n coefficients of deviation σ all stay below T·σ except with probability 2^-128:
/// 2n·exp(−T²/2) = 2^-128.
#[must_use]
pub fn tail_factor(degree: usize) -> f64 {
    (2.0 * std::f64::consts::LN_2 * (TAIL_BITS + 1.0 + (degree as f64).log2())).sqrt()
}

/// Worst case and deviation of an encryption under the public key, −e·u + e_1 + e_2·s: the worst
/// case is B_err(1 + 2δB_key).
#[must_use]
pub fn public_encryption(degree: usize) -> (Log2, Log2) {
    let n = degree as f64;
    let worst = ERROR_BOUND * (1.0 + 2.0 * n * KEY_BOUND);
    let variance = ERROR_VARIANCE * (1.0 + 2.0 * n * TERNARY_VARIANCE);
    (Log2::of(worst), Log2::of(variance.sqrt()))
}

/// Worst case and deviation of an encryption under the secret key: one error.
#[must_use]
pub fn secret_encryption() -> (Log2, Log2) {
    (Log2::of(ERROR_BOUND), Log2::of(ERROR_VARIANCE.sqrt()))
}

/// Worst case and deviation that one key switch of so many digits of absolute value at most `digit` adds:
/// Σ_i D_i·e_i `[BEHZ16, Lemma 8]`; a uniform digit in [−B, B] has second moment B²/3.
#[must_use]
pub fn key_switch(degree: usize, digits: usize, digit: Log2) -> (Log2, Log2) {
    let terms = degree as f64 * digits as f64;
    (digit * (terms * ERROR_BOUND), digit * (terms * ERROR_VARIANCE / 3.0).sqrt())
}

/// Both bounds of one ciphertext, and what is needed to combine them soundly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoiseBound {
    /// ‖v‖∞ never exceeds this.
    pub worst: Log2,
    /// Standard deviation of each coefficient.
    pub deviation: Log2,
    /// Products the noise went through: the power of the secret it may carry. E|s(ζ)|^{2d} grows
    /// like d!, so each product is charged with it.
    pub secret_degree: u32,
    /// Random tag of a fresh encryption; `None` as soon as two ciphertexts or a key are mixed in.
    origin: Option<u64>,
}

impl NoiseBound {
    /// The bounds of a fresh encryption with its random tag.
    #[must_use]
    pub fn fresh(worst: Log2, deviation: Log2, origin: u64) -> Self {
        Self { worst, deviation, secret_degree: 0, origin: Some(origin) }
    }

    /// Bounds of something that may depend on anything.
    #[must_use]
    pub fn dependent(worst: Log2, deviation: Log2, secret_degree: u32) -> Self {
        Self { worst, deviation, secret_degree, origin: None }
    }

    /// No noise: a ciphertext of zero that was not encrypted.
    #[must_use]
    pub fn none() -> Self {
        Self { worst: Log2::ZERO, deviation: Log2::ZERO, secret_degree: 0, origin: None }
    }

    /// The bounds of a sum or difference.
    #[must_use]
    pub fn sum(&self, other: &Self) -> Self {
        let independent = matches!((self.origin, other.origin), (Some(a), Some(b)) if a != b);
        let deviation = if independent {
            self.deviation.hypot(other.deviation)
        } else {
            self.deviation + other.deviation
        };
        Self {
            worst: self.worst + other.worst,
            deviation,
            secret_degree: self.secret_degree.max(other.secret_degree),
            origin: None,
        }
    }

    /// The bounds after adding a noise term that may depend on this one.
    #[must_use]
    pub fn plus(&self, worst: Log2, deviation: Log2) -> Self {
        Self { worst: self.worst + worst, deviation: self.deviation + deviation, origin: None, ..*self }
    }

    /// The bounds after adding a term that depends on this ciphertext alone, as the rounding of its
    /// own message does: a fresh encryption stays independent of others.
    #[must_use]
    pub fn plus_own(&self, worst: Log2, deviation: Log2) -> Self {
        Self { origin: self.origin, ..self.plus(worst, deviation) }
    }

    /// The bounds after multiplication by a polynomial of 1-norm `norm`.
    #[must_use]
    pub fn times_norm(&self, norm: f64) -> Self {
        Self { worst: self.worst * norm, deviation: self.deviation * norm, ..*self }
    }

    /// The bound that holds except with probability 2^-128: the smaller of the worst case and
    /// the tail of the deviation.
    #[must_use]
    pub fn bound(&self, degree: usize) -> Log2 {
        self.worst.min(self.deviation * tail_factor(degree))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: Log2, b: f64) {
        assert!((a.bits() - b.log2()).abs() < 1e-12, "{} against {}", a.bits(), b.log2());
    }

    #[test]
    fn magnitudes_obey_arithmetic() {
        close(Log2::of(3.0) + Log2::of(5.0), 8.0);
        close(Log2::of(3.0) * Log2::of(5.0), 15.0);
        close(Log2::of(3.0).hypot(Log2::of(4.0)), 5.0);
        close(Log2::of(3.0) + Log2::ZERO, 3.0);
        assert_eq!(Log2::of(3.0) * 0.0, Log2::ZERO);
        assert_eq!((Log2::ZERO + Log2::ZERO).bits(), f64::NEG_INFINITY);
        let huge = Log2::from_bits(4000.0) + Log2::from_bits(4000.0);
        assert!((huge.bits() - 4001.0).abs() < 1e-9);
    }

    #[test]
    fn only_two_fresh_ciphertexts_add_as_variances() {
        let a = NoiseBound::fresh(Log2::of(3.0), Log2::of(3.0), 1);
        let b = NoiseBound::fresh(Log2::of(4.0), Log2::of(4.0), 2);
        close(a.sum(&b).deviation, 5.0);
        close(a.sum(&a).deviation, 6.0);
        close(a.sum(&b).sum(&a).deviation, 8.0);
        close(a.sum(&b).worst, 7.0);
    }

    #[test]
    fn the_tail_is_two_to_the_minus_128() {
        for log2_degree in 10..=17 {
            let t = tail_factor(1 << log2_degree);
            let log2_probability = 1.0 + f64::from(log2_degree) - t * t / 2.0 / std::f64::consts::LN_2;
            assert!((log2_probability + 128.0).abs() < 1e-9);
        }
    }
}
