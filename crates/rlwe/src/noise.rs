//! Bounds on the noise of a ciphertext, worst case and tail, computed without the secret key.
//!
//! * The **worst case** noise bound of the papers (expansion factor δ): holds always, since errors and
//!   secrets are bounded.
//! * A **tail bound**, exceeded anywhere in the n coefficients with probability 2^-128 over keys and
//!   ciphertexts: a bound on the standard deviation of every coefficient times a factor T, plus a peak for
//!   roots of unity at which several factors are large at once (see [`Tail`]). It assumes ciphertexts that were
//!   made by encryption and by these operations.
//!
//! Deviations of noise add as variances only where the operands are known to be independent: fresh
//! ciphertexts that no operation has mixed with others. Everywhere else (x·x, x + x, fan-out, anything
//! that went through the same key) they add linearly, which is right for any dependence
//! (Minkowski). Magnitudes are kept as logarithms, since noise reaches thousands of bits.
//!
//! A real ring is a part of a ring of twice the degree, and its noise has the sizes of elements there: n is the weight of its basis below. Values at
//! roots of unity are real Gaussians there, whose squares have heavier tails and larger moments ([`Tail`]).
//!
//! Noise is measured by three sizes that do not depend on a basis ([`Expansion`]): the redundant norm, the deviation
//! and the largest value. Products and automorphisms treat them alike in every ring; what the coefficients of a basis
//! gain over them is added where a bound is asked for. With m a power of two it is nothing. The rounding of a message,
//! whatever its coefficients are, counts as in Z\[X\]/(X^n + 1): T stands far above what it may lack elsewhere.

mod combination;
mod key_switching;
mod measured;
mod model;
mod stored;
mod tail;

use std::ops::{Add, Mul};

use sunzi_ring::Expansion;

pub use combination::{CommonNoise, Norms};
pub use key_switching::{KeyError, key_switch, key_switch_with};
pub use measured::measured;
pub use model::NoiseModel;
pub(crate) use model::SECOND_ROUND_ERRORS;
pub(crate) use stored::STORED_LEN;
pub use tail::{TAIL_BITS, Tail};

/// Bound B_err on coefficients of errors, which are centred binomial on 21 + 21 bits: at most 21.
pub const ERROR_BOUND: f64 = 21.0;
/// Variance σ² of a coefficient of an error.
pub const ERROR_VARIANCE: f64 = 10.5;
/// Bound B_key on coefficients of secrets, which are −1, 0 or 1.
pub const KEY_BOUND: f64 = 1.0;
/// Variance of a uniform ternary coefficient, 2/3.
pub const TERNARY_VARIANCE: f64 = 2.0 / 3.0;
/// Largest distance of a rounded quotient from the quotient: half, and 2^-40 for quotients in doubles.
const ROUNDING: f64 = 0.5 + 1.0 / (1_u64 << 40) as f64;

/// A non-negative magnitude, stored as its base-2 logarithm.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Log2(f64);

impl Log2 {
    /// The magnitude zero.
    pub const ZERO: Self = Self(f64::NEG_INFINITY);

    /// The magnitude |`value`|; NaN counts as infinite, so that no bound becomes too small.
    #[must_use]
    pub fn of(value: f64) -> Self {
        Self(if value.is_nan() { f64::INFINITY } else { value.abs().log2() })
    }

    /// The magnitude 2^`bits`.
    #[must_use]
    pub fn from_bits(bits: f64) -> Self {
        Self(bits)
    }

    /// The logarithm log2 of the magnitude: −∞ for zero.
    #[must_use]
    pub fn bits(self) -> f64 {
        self.0
    }

    /// Returns √(self² + other²), the deviation of a sum of two independent terms.
    #[must_use]
    pub fn hypot(self, other: Self) -> Self {
        Self((Self(2.0 * self.0) + Self(2.0 * other.0)).0 / 2.0)
    }

    /// Returns the larger of the two magnitudes.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self(self.0.max(other.0))
    }

    /// Returns the smaller of the two magnitudes.
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

/// A noise term: the noise that one source adds to a ciphertext.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoiseTerm {
    /// Bound that the redundant norm of the noise never exceeds: ‖v‖∞ in a power-of-two ring.
    pub worst: Log2,
    /// Standard deviation of the noise, of each coefficient in a power-of-two ring.
    pub deviation: Log2,
    /// Peak of the noise: (2/n)·|v(ζ)| at the largest root of unity, except with probability 2^-128: what it adds to a
    /// coefficient in a power-of-two ring.
    pub peak: Log2,
}

impl NoiseTerm {
    /// The noise term of no noise.
    #[must_use]
    pub fn none() -> Self {
        Self { worst: Log2::ZERO, deviation: Log2::ZERO, peak: Log2::ZERO }
    }

    /// The noise term of a rounding error of at most 1/2, whatever is rounded.
    #[must_use]
    pub fn rounding() -> Self {
        Self { worst: Log2::of(0.5), deviation: Log2::of(0.5), peak: Log2::of(1.0) }
    }

    /// The noise term of unbounded noise, of a source that may be anything.
    #[must_use]
    pub fn unbounded() -> Self {
        let infinite = Log2::of(f64::INFINITY);
        Self { worst: infinite, deviation: infinite, peak: infinite }
    }

    /// Returns the noise term times a number.
    #[must_use]
    pub fn scaled(&self, factor: Log2) -> Self {
        Self { worst: self.worst * factor, deviation: self.deviation * factor, peak: self.peak * factor }
    }

    /// Returns the sum of two noise terms that may depend on each other.
    #[must_use]
    pub fn plus(&self, other: Self) -> Self {
        Self {
            worst: self.worst + other.worst,
            deviation: self.deviation + other.deviation,
            peak: self.peak + other.peak,
        }
    }
}

/// Returns the variance σ² of the error polynomial in a ring.
fn error_variance(ring: Expansion) -> f64 {
    ring.spherical_variance(ERROR_VARIANCE)
}

/// Returns the noise of an encryption under the secret key: one error.
#[must_use]
pub fn secret_encryption(ring: impl Into<Expansion>) -> NoiseTerm {
    let ring = ring.into();
    let deviation = Log2::of(error_variance(ring).sqrt());
    let peak = deviation * Tail::new(ring).sum_peak();
    NoiseTerm { worst: Log2::of(ring.spherical_norm(ERROR_BOUND)), deviation, peak }
}

/// The noise bounds of one ciphertext, and the data needed to combine them with others soundly.
///
/// ```
/// use sunzi_rlwe::{NoiseBound, NoiseTerm};
///
/// let one = NoiseBound::fresh(NoiseTerm::rounding(), 1);
/// let sum = one.sum(&NoiseBound::fresh(NoiseTerm::rounding(), 2));
/// // The worst cases add up; independent deviations grow by √2 only.
/// assert!((sum.worst.bits() - one.worst.bits() - 1.0).abs() < 1e-9);
/// assert!((sum.deviation.bits() - one.deviation.bits() - 0.5).abs() < 1e-9);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoiseBound {
    /// Bound that the redundant norm of the noise never exceeds: ‖v‖∞ in a power-of-two ring.
    pub worst: Log2,
    /// Standard deviation of the noise, of each coefficient in a power-of-two ring.
    pub deviation: Log2,
    /// Peak of the noise: (2/n)·|v(ζ)| at the largest root of unity, except with probability 2^-128: what it adds to a
    /// coefficient in a power-of-two ring.
    pub peak: Log2,
    /// Number of products that the noise went through: the power d of one ciphertext and one secret that it may carry.
    /// E|s(ζ)|^{2d} grows like d!, so each product is charged with it.
    pub secret_degree: u32,
    /// Random tag of a fresh encryption; `None` as soon as two ciphertexts or a key are mixed in.
    origin: Option<u64>,
    /// Deviation and peak of the part of the noise that went through a product of ciphertexts: only that part can have
    /// fourth moments far above those of a product of two Gaussians.
    heavy: (Log2, Log2),
}

impl NoiseBound {
    /// The noise bounds of a fresh encryption with its random tag.
    #[must_use]
    pub fn fresh(noise: NoiseTerm, origin: u64) -> Self {
        Self { origin: Some(origin), heavy: (Log2::ZERO, Log2::ZERO), ..Self::dependent(noise, 0) }
    }

    /// The noise bounds of a noise term that may depend on anything.
    #[must_use]
    pub fn dependent(noise: NoiseTerm, secret_degree: u32) -> Self {
        let NoiseTerm { worst, deviation, peak } = noise;
        Self { worst, deviation, peak, secret_degree, origin: None, heavy: (deviation, peak) }
    }

    /// The noise bounds of no noise, as of a ciphertext of zero that was not encrypted.
    #[must_use]
    pub fn none() -> Self {
        Self::dependent(NoiseTerm::none(), 0)
    }

    /// The noise bounds of a sum or difference of two ciphertexts.
    #[must_use]
    pub fn sum(&self, other: &Self) -> Self {
        let independent = matches!((self.origin, other.origin), (Some(a), Some(b)) if a != b);
        let join = |a: Log2, b: Log2| if independent { a.hypot(b) } else { a + b };
        Self {
            worst: self.worst + other.worst,
            deviation: join(self.deviation, other.deviation),
            peak: join(self.peak, other.peak),
            secret_degree: self.secret_degree.max(other.secret_degree),
            origin: None,
            heavy: (self.heavy.0 + other.heavy.0, self.heavy.1 + other.heavy.1),
        }
    }

    /// Returns noise bounds that hold for each of two ciphertexts.
    #[must_use]
    pub fn max(&self, other: &Self) -> Self {
        Self {
            worst: self.worst.max(other.worst),
            deviation: self.deviation.max(other.deviation),
            peak: self.peak.max(other.peak),
            secret_degree: self.secret_degree.max(other.secret_degree),
            origin: None,
            heavy: (self.heavy.0.max(other.heavy.0), self.heavy.1.max(other.heavy.1)),
        }
    }

    /// The noise bounds after adding a noise term that may depend on the ciphertext's noise.
    #[must_use]
    pub fn plus(&self, term: NoiseTerm) -> Self {
        Self {
            worst: self.worst + term.worst,
            deviation: self.deviation + term.deviation,
            peak: self.peak + term.peak,
            secret_degree: self.secret_degree,
            origin: None,
            heavy: self.heavy,
        }
    }

    /// The noise bounds after adding a noise term that depends on this ciphertext alone, as the rounding of its
    /// own message does: a fresh encryption stays independent of others.
    #[must_use]
    pub fn plus_own(&self, term: NoiseTerm) -> Self {
        Self { origin: self.origin, ..self.plus(term) }
    }

    /// The noise bounds after multiplication by a polynomial of 1-norm `norm`.
    #[must_use]
    pub fn times_norm(&self, norm: f64) -> Self {
        self.scaled(Log2::of(norm))
    }

    /// The noise bounds after multiplication by a polynomial of values at most `norm` at the roots of unity: deviation
    /// and peak grow by that, a single coefficient by no more than its 1-norm, √w·`norm` for the weight w of the basis.
    #[must_use]
    pub fn times_values(&self, norm: f64, ring: impl Into<Expansion>) -> Self {
        let scaled = self.scaled(Log2::of(norm));
        Self { worst: scaled.worst * (ring.into().weight() as f64).sqrt(), ..scaled }
    }

    /// The noise bounds after multiplication by a number, as modulus switching multiplies by Q_l/Q.
    #[must_use]
    pub fn scaled(&self, factor: Log2) -> Self {
        Self {
            worst: self.worst * factor,
            deviation: self.deviation * factor,
            peak: self.peak * factor,
            heavy: (self.heavy.0 * factor, self.heavy.1 * factor),
            ..*self
        }
    }

    /// The noise bounds of `factor` times the product of two noises that may depend on each other: all of the
    /// noise that a BGV product has, with the plaintext modulus as factor.
    ///
    /// The worst case of a product of noises is m̂·‖v‖·‖w‖ for redundant norms, m̂ = n for m a power of two; peaks
    /// multiply, root by root. For the deviation: the second moment of a product, averaged over the roots of unity, is
    /// at most the product of both fourth moments (Cauchy–Schwarz).
    #[must_use]
    pub fn product(&self, other: &Self, factor: f64, ring: impl Into<Expansion>) -> Self {
        let ring = ring.into();
        let n = ring.weight() as f64;
        let term = NoiseTerm {
            worst: self.worst * other.worst * (ring.redundant_degree() as f64 * factor),
            deviation: self.fourth(ring) * other.fourth(ring) * (n.sqrt() * factor),
            peak: self.peak * other.peak * (n / 2.0 * factor),
        };
        Self::dependent(term, self.secret_degree.saturating_add(other.secret_degree).saturating_add(1))
    }

    /// Returns the fourth-moment size (1/n)^(1/2)·(E|v(ζ)|^4)^(1/4) of the noise, averaged over roots of unity. A part
    /// that did not go through a product of ciphertexts is a polynomial of degree 2 in Gaussians, whose fourth moment
    /// is at most 2^4 times the square of the second (hypercontractivity), or 3^4 for real values; of anything it is at most the largest square
    /// times the second moment.
    fn fourth(&self, ring: Expansion) -> Log2 {
        let n = ring.weight() as f64;
        let any = |deviation: Log2, peak: Log2| {
            let square = deviation * peak * (n.sqrt() / 2.0);
            Log2::from_bits(square.bits() / 2.0)
        };
        let parts = self.deviation * ring.fourth_moment() + any(self.heavy.0, self.heavy.1);
        parts.min(any(self.deviation, self.peak))
    }

    /// Returns the worst-case noise bound, which no coefficient ever exceeds.
    #[must_use]
    pub fn worst_case(&self, ring: impl Into<Expansion>) -> Log2 {
        self.worst * ring.into().norm_gain()
    }

    /// Returns the noise bound that no coefficient exceeds except with probability 2^-128: the smaller of the worst
    /// case and the tail bound of deviation and peak.
    #[must_use]
    pub fn bound(&self, ring: impl Into<Expansion>) -> Log2 {
        self.bound_by(&Tail::new(ring))
    }

    /// Returns the noise [`bound`](Self::bound) by the tail tables of a ring.
    #[must_use]
    pub fn bound_by(&self, tail: &Tail) -> Log2 {
        self.worst_case(tail.ring()).min(tail.bound(self.deviation, self.peak))
    }
}

impl AsRef<Self> for NoiseBound {
    fn as_ref(&self) -> &Self {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SecretDistribution;

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
        assert_eq!(Log2::of(0.0), Log2::ZERO);
        assert_eq!(Log2::of(-0.0), Log2::ZERO);
        close(Log2::of(3.0) * -5.0, 15.0);
        assert_eq!((Log2::of(3.0) * f64::NAN).bits(), f64::INFINITY);
        assert_eq!((Log2::ZERO + Log2::ZERO).bits(), f64::NEG_INFINITY);
        let huge = Log2::from_bits(4000.0) + Log2::from_bits(4000.0);
        assert!((huge.bits() - 4001.0).abs() < 1e-9);
    }

    fn term(value: f64) -> NoiseTerm {
        NoiseTerm { worst: Log2::of(value), deviation: Log2::of(value), peak: Log2::of(value) }
    }

    #[test]
    fn only_two_fresh_ciphertexts_add_as_variances() {
        let a = NoiseBound::fresh(term(3.0), 1);
        let b = NoiseBound::fresh(term(4.0), 2);
        for (sum, deviation) in [(a.sum(&b), 5.0), (a.sum(&a), 6.0), (a.sum(&b).sum(&a), 8.0)] {
            close(sum.deviation, deviation);
            close(sum.peak, deviation);
        }
        close(a.sum(&b).worst, 7.0);
    }

    /// Noise bounds retain the random tag of a ciphertext only where the result depends on it alone; everything else
    /// loses it.
    #[test]
    fn multiples_of_one_ciphertext_keep_its_name() {
        let a = NoiseBound::fresh(term(3.0), 1);
        let b = NoiseBound::fresh(term(4.0), 2);
        close(a.times_norm(2.0).sum(&a).deviation, 9.0);
        close(a.times_norm(2.0).sum(&b).deviation, 52_f64.sqrt());
        close(a.plus_own(term(1.0)).sum(&a).deviation, 7.0);
        close(a.plus_own(term(1.0)).sum(&b).deviation, 32_f64.sqrt());
        close(a.plus(term(1.0)).sum(&b).deviation, 8.0);
        close(NoiseBound::none().sum(&b).deviation, 4.0);
        close(NoiseBound::none().sum(&b).sum(&a).deviation, 7.0);
    }

    /// Noise bounds distinguish fresh parts from parts that went through products: otherwise squares of squares would
    /// be charged with the peak of their roots again and again.
    #[test]
    fn products_multiply_every_bound() {
        let (n, t) = (4096, 5.0);
        let switch = NoiseModel::new(n, SecretDistribution::Ternary).mod_switch(2);
        let a = NoiseBound::fresh(switch, 1);
        let square = a.product(&a, t, n);
        let deviation = a.deviation.bits().exp2();
        close(square.worst, 4096.0 * 5.0 * (2.0 * a.worst.bits()).exp2());
        close(square.deviation, 64.0 * 5.0 * (2.0 * deviation).powi(2));
        close(square.peak, 2048.0 * 5.0 * (2.0 * a.peak.bits()).exp2());
        // A square that is switched down adds a hundredth to a fresh rounding, also in the next square.
        let small = square.scaled(Log2::from_bits(-30.0));
        let next = small.plus(switch);
        let again = next.product(&next, t, n);
        let grown = again.deviation.bits() - square.deviation.bits();
        assert!((0.0..0.1).contains(&grown), "{grown}");
        assert!(
            square.product(&a, t, n).deviation.bits() < square.peak.bits() + a.peak.bits() + 11.0 + t.log2()
        );
        assert_eq!(a.product(&NoiseBound::none(), t, n).bound(n), Log2::ZERO);
    }

    #[test]
    fn the_bound_is_the_smaller_one() {
        let fresh = |worst| NoiseBound::fresh(NoiseTerm { worst: Log2::of(worst), ..term(2.0) }, 0);
        let tail = 2.0 * Tail::new(1024).factor();
        close(fresh(5.0).bound(1024), 5.0);
        close(fresh(500.0).bound(1024), tail);
    }
}
