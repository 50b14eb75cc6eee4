//! Noise of the errors of a key switch.

use std::f64::consts::PI;

use sunzi_ring::{DigitBound, Expansion};

use super::{ERROR_BOUND, Log2, NoiseTerm, Tail, error_variance};

/// Returns the noise of the errors of one key switch, Σ_i D_i·e_i for digits D_i within the given bounds
/// `[BEHZ16, Lemma 8, B.1 and B.2]`.
///
/// The worst case of the errors of a key switch is δ·B_err·Σ_i B_i. A uniform digit in [−B, B] of mean µ has a second
/// moment of at most B²/3 + µ². A mean gathers at the roots of unity next to 1, where Σ_j ζ^j reaches 2n/π: it adds
/// (2/n)·(2n/π)·µ·e(ζ) to the peak. Along an odd axis it gathers less.
#[must_use]
pub fn key_switch(ring: impl Into<Expansion>, digits: &[DigitBound]) -> NoiseTerm {
    let ring = ring.into();
    key_switch_with(
        ring,
        digits,
        KeyError { worst: ERROR_BOUND, deviation: error_variance(ring).sqrt(), factors: 1 },
    )
}

/// The error polynomial of a key: its largest coefficient, their deviation, and the number of independent small polynomials whose product
/// it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KeyError {
    /// Bound on every coefficient of the error.
    pub worst: f64,
    /// Standard deviation of every coefficient of the error.
    pub deviation: f64,
    /// Number of factors of the error, 1 or 2.
    pub factors: u32,
}

/// Returns the noise of one key switch by a key whose errors are as given: see [`key_switch`].
#[must_use]
pub fn key_switch_with(ring: impl Into<Expansion>, digits: &[DigitBound], error: KeyError) -> NoiseTerm {
    let ring = ring.into();
    let n = ring.weight() as f64;
    let tail = Tail::new(ring);
    let (mut worst, mut deviation, mut mean) = (Log2::ZERO, Log2::ZERO, Log2::ZERO);
    for digit in digits {
        let (bound, own_mean) = (Log2::from_bits(digit.log2_bound), Log2::from_bits(digit.log2_mean));
        worst = worst + bound;
        deviation = deviation.hypot(bound * 3_f64.sqrt().recip()).hypot(own_mean);
        mean = mean.hypot(own_mean);
    }
    let deviation = deviation * (n.sqrt() * error.deviation);
    let (own_peak, peak) = match error.factors {
        1 => (tail.sum_peak(), tail.product_peak()),
        _ => (tail.product_peak(), tail.triple_peak()),
    };
    let at_one = mean * (2.0 * n / PI * error.deviation * own_peak);
    NoiseTerm { worst: worst * (n * error.worst), deviation, peak: deviation * peak + at_one }
}
