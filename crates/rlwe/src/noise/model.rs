//! Noise models: noise terms that depend on the distribution of secrets.

use sunzi_ring::{DigitBound, Expansion};

use super::{
    ERROR_BOUND, KEY_BOUND, KeyError, Log2, NoiseTerm, ROUNDING, TERNARY_VARIANCE, Tail, error_variance,
    key_switch_with,
};
use crate::SecretDistribution;

/// Number of errors in a party's share of the second round of a relinearisation key: as many as in what it is the sum of.
pub(crate) const SECOND_ROUND_ERRORS: u32 = 3;

/// A noise model: the noise that operations add in a ring under secrets of a distribution.
#[derive(Clone, Copy, Debug)]
pub struct NoiseModel {
    ring: Expansion,
    secret: SecretDistribution,
    /// Factor by which the noise of roundings grows in the ring; 1 for none.
    growth: f64,
}

impl NoiseModel {
    /// Makes the noise model of a ring and a distribution of secrets.
    #[must_use]
    pub fn new(ring: impl Into<Expansion>, secret: SecretDistribution) -> Self {
        Self { ring: ring.into(), secret, growth: 1.0 }
    }

    /// Returns the noise model for roundings that grow by
    /// [`Backend::rounding_growth`](sunzi_ring::Backend::rounding_growth).
    #[must_use]
    pub fn with_growth(self, growth: f64) -> Self {
        Self { growth, ..self }
    }

    /// Returns the largest 1-norm Σ|s_i| of a secret: no size of a noise grows by more in a product with it.
    #[must_use]
    pub fn secret_norm(&self) -> f64 {
        self.key().0
    }

    /// Returns the largest 1-norm Σ|s_i| of a secret, and the variance E s_i² of its coefficients.
    fn key(&self) -> (f64, f64) {
        let degree = self.ring.degree();
        // A coefficient of a real ring counts twice.
        let weight = self.ring.weight() as f64 / degree as f64;
        (self.secret.norm(degree) * weight, self.secret.variance(degree))
    }

    /// Returns the noise of an encryption under the public key, −e·u + e_1 + e_2·s with u uniform ternary: the worst
    /// case is B_err(1 + 2δB_key). Made modulo Qp and scaled down, with `log2_p` above 0, that over p and a rounding
    /// of (1 + δB_key)/2 `[KPZ21, 3.1]`.
    #[must_use]
    pub fn public_encryption(&self, log2_p: f64) -> NoiseTerm {
        let (norms, squares) = self.public_factors();
        let deviation = (error_variance(self.ring) * (1.0 + squares)).sqrt();
        let peak = deviation * Tail::new(self.ring).product_peak();
        // Where a coefficient of errors is larger, e_1 has it, and it meets one of s in e_2·s.
        let larger = self.ring.spherical_norm(ERROR_BOUND) - ERROR_BOUND;
        let worst = Log2::of(ERROR_BOUND * (1.0 + norms) + 2.0 * larger);
        let errors = NoiseTerm { worst, deviation: Log2::of(deviation), peak: Log2::of(peak) };
        if log2_p > 0.0 { errors.scaled(Log2::from_bits(-log2_p)).plus(self.mod_switch(2)) } else { errors }
    }

    /// Returns the 1-norm, and the sum of the variances of the coefficients, of what multiplies errors in an encryption under the public key: u for the
    /// errors of the key, one for each party, and s for an error of the encryption.
    fn public_factors(&self) -> (f64, f64) {
        let n = self.ring.weight() as f64;
        let (norm, key_variance) = self.key();
        let parties = f64::from(self.secret.parties());
        (parties * n * KEY_BOUND + norm, parties * n * TERNARY_VARIANCE + n * key_variance)
    }

    /// Returns the noise of the errors of one key switch by a key made under a public key, for digits within the given bounds: each error of
    /// such a key is that of an encryption, −e·u + e_1 + e_2·s, where a key of the secret's holder has one e
    /// ([`reencryption`](crate::reencryption)).
    #[must_use]
    pub fn public_key_switch(&self, digits: &[DigitBound]) -> NoiseTerm {
        let (norms, squares) = self.public_factors();
        let deviation = error_variance(self.ring).sqrt();
        let products =
            KeyError { worst: ERROR_BOUND * norms, deviation: deviation * squares.sqrt(), factors: 2 };
        let one = KeyError { worst: ERROR_BOUND, deviation, factors: 1 };
        self.key_switch_by(digits, [products, one])
    }

    /// Returns the variance E s_i² of a coefficient of a secret.
    #[must_use]
    pub fn secret_variance(&self) -> f64 {
        self.key().1
    }

    /// Returns the noise of the errors of one key switch, for digits within the given bounds and a key from a product of `power` secrets:
    /// 1 for rotations, 2 for relinearisation, which differ under joint secrets.
    #[must_use]
    pub fn key_switch(&self, digits: &[DigitBound], power: u32) -> NoiseTerm {
        self.key_switch_by(digits, self.key_errors(power))
    }

    /// Returns the noise of one key switch by a key whose digits have errors that are sums of the given ones.
    fn key_switch_by(&self, digits: &[DigitBound], errors: impl IntoIterator<Item = KeyError>) -> NoiseTerm {
        let terms = errors.into_iter().map(|error| key_switch_with(self.ring, digits, error));
        terms.fold(NoiseTerm::none(), |sum, term| sum.plus(term))
    }

    /// Returns the errors of a digit of a switching key from a source that is a product of `power` secrets.
    ///
    /// Keys of a joint secret of k parties have the sum of k errors, and relinearisation keys, power 2, have s·e_0 + u·e_1 + e, e of three errors each, with the
    /// joint ephemeral secret u of their two rounds ([`joint`](crate::joint)).
    pub(crate) fn key_errors(&self, power: u32) -> Vec<KeyError> {
        let parties = f64::from(self.secret.parties());
        let one = KeyError {
            worst: parties * ERROR_BOUND,
            deviation: (parties * error_variance(self.ring)).sqrt(),
            factors: 1,
        };
        if power < 2 || self.secret.parties() == 1 {
            return vec![one];
        }
        let (norm, variance) = self.key();
        let product = KeyError {
            worst: one.worst * norm,
            deviation: one.deviation * (self.ring.weight() as f64 * variance).sqrt(),
            factors: 2,
        };
        let last = KeyError {
            worst: one.worst * f64::from(SECOND_ROUND_ERRORS),
            deviation: one.deviation * f64::from(SECOND_ROUND_ERRORS).sqrt(),
            factors: 1,
        };
        vec![product, product, last]
    }

    /// Returns the noise of digits that represent c only up to an error `truncation`: this error times a product of
    /// `power` secrets, 1 or 2 `[BEHZ16, eq. (22)]`.
    #[must_use]
    pub fn truncation(&self, truncation: Log2, power: u32) -> NoiseTerm {
        let (norm, variance) = self.key();
        let n = self.ring.weight() as f64;
        let (worst, deviation) = if power == 1 {
            (norm, (n * variance).sqrt())
        } else {
            // Each coefficient of s² has a deviation of √2·n·variance, or √3·n·variance for real values.
            (norm.powi(2), n * variance * 1.5 * (self.ring.fourth_moment() / 2.0).sqrt())
        };
        NoiseTerm {
            worst: truncation * worst,
            deviation: truncation * deviation,
            peak: truncation * Tail::new(self.ring).rounding_peak(variance),
        }
    }

    /// Returns the noise of rounding 2 or 3 parts to another modulus: e_0 + e_1·s + e_2·s² with |e_i| ≤ 1/2.
    ///
    /// Rounding errors of the uniform parts of a ciphertext are uniform, of variance 1/12 and mean 0. The worst
    /// case is (1 + δB_key + …)/2.
    #[must_use]
    pub fn mod_switch(&self, parts: usize) -> NoiseTerm {
        let (n, tail) = (self.ring.weight() as f64, Tail::new(self.ring));
        let (norm, key_variance) = self.key();
        let rounding = 12_f64.sqrt().recip();
        let linear = rounding * (n * key_variance).sqrt();
        // Each coefficient of s² is a sum of n/2 terms ±2·s_i·s_j: E|s(ζ)|^4 is twice the square of E|s(ζ)|², or three times for real values.
        let square = rounding * n * key_variance * self.ring.fourth_moment().sqrt();
        let (worst, variance, peak) = if parts > 2 {
            let variance = rounding.powi(2) + linear.powi(2) + square.powi(2);
            (1.0 + norm + norm * norm, variance, rounding * tail.square_peak(key_variance))
        } else {
            (1.0 + norm, rounding.powi(2) + linear.powi(2), 0.0)
        };
        let peak = peak + rounding * tail.sum_peak() + linear * tail.product_peak();
        NoiseTerm {
            worst: Log2::of(ROUNDING * worst),
            deviation: Log2::of(variance.sqrt() * 2.0 * ROUNDING),
            peak: Log2::of(peak * 2.0 * ROUNDING),
        }
        .scaled(Log2::of(self.growth))
    }
}
