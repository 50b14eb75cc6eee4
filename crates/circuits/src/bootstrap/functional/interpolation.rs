//! Trigonometric Hermite interpolation of tables `[AKP24]`.
//!
//! A table f on the points k/p of the unit circle becomes a trigonometric polynomial R of period 1 that has the values
//! of the table there and derivatives that vanish: R(k/p + e) = f(k) + O(e^(r+1)) for order r, so that noise e of the input
//! is nearly gone from the output. R(x) = Σ c_n·E^n for E = exp(2πi·x), with c_n = w(n)·f̂(n)/p: the Fourier coefficients of the
//! table, each repeated with the period p and weighted by a window w. The conditions on R at one frequency modulo p are those of a Lagrange
//! extrapolation from its repetitions n, n − p, … to 0, which is what w is.
//!
//! All kernels are nonnegative, and constants come back exactly, so that |R(k/p + e) − f(k)| ≤ 2·(1 − K(e))·max|f| for the
//! kernel K: a bound for every table and every e, which no noise can exceed.

use std::f64::consts::PI;

use num_complex::Complex64;

use crate::bootstrap::BootstrapError;
use crate::series::Series;

/// InterpolationOrder of a trigonometric Hermite interpolation: derivatives up to this one vanish at the points of the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum InterpolationOrder {
    /// First order: degree p − 1 for p points, errors proportional to the square of the noise.
    #[default]
    First,
    /// Third order: degree 2p − 1, a level more, errors proportional to the fourth power of the noise.
    Third,
}

impl InterpolationOrder {
    /// Number of repetitions of each frequency of a table.
    fn repetitions(self) -> usize {
        match self {
            Self::First => 2,
            Self::Third => 4,
        }
    }

    /// Degree in E of the interpolation of `points` points.
    #[must_use]
    pub fn degree(self, points: usize) -> usize {
        (self.repetitions() / 2 * points).saturating_sub(1)
    }

    /// Number of levels that the interpolation of `points` points takes.
    #[must_use]
    pub fn depth(self, points: usize) -> usize {
        (self.degree(points) + 1).next_power_of_two().trailing_zeros() as usize
    }

    /// Returns a bound on |R(k/p + e) − f(k)| over |e| ≤ `noise`, for tables of `points` points with |f| ≤ 1: it rises with the noise up
    /// to half the distance of points, and is 2 from there on.
    ///
    /// ```
    /// use sunzi_circuits::bootstrap::functional::InterpolationOrder;
    ///
    /// // Noise of a hundredth of the distance of 256 points.
    /// let noise = 0.01 / 256.0;
    /// assert!(InterpolationOrder::First.error(256, noise) < 7e-4);
    /// assert!(InterpolationOrder::Third.error(256, noise) < 5e-7);
    /// ```
    #[must_use]
    pub fn error(self, points: usize, noise: f64) -> f64 {
        let p = points as f64;
        if noise.is_nan() || noise >= 0.5 / p {
            return 2.0;
        }
        let a = PI * p * noise;
        let gap = match self {
            Self::First => gap_of_square(p, noise),
            // ln K = −(11/45)·a⁴ + … with terms that only make it larger, for K = D⁴·(1 + b).
            Self::Third if a < 1e-2 => 11.0 / 45.0 * a.powi(4),
            Self::Third => {
                let b = 2.0 / 3.0 * (p * p - 1.0) * (PI * noise).sin().powi(2);
                let g = gap_of_square(p, noise);
                g * (2.0 - g) * (1.0 + b) - b
            }
        };
        // Roundings of doubles are below this.
        (2.0 * gap + 64.0 * f64::EPSILON).clamp(0.0, 2.0)
    }
}

/// Returns g = 1 − D² for D = sin(πpe)/(p·sin(πe)), the first kernel's distance from 1; a bound just above it where it is small.
fn gap_of_square(p: f64, e: f64) -> f64 {
    let (a, b) = (PI * p * e, PI * e);
    if a < 1e-2 {
        // ln D² = −(a² − b²)/3 − (a⁴ − b⁴)/90 − …
        return (a * a - b * b) / 3.0 + a.powi(4) / 80.0;
    }
    let ratio = a.sin() / (p * b.sin());
    1.0 - ratio * ratio
}

/// Returns the polynomial S with R = S(E) + conj(S(E)) for the interpolation R of the values of a table: c_0/2 + Σ c_n·E^n.
///
/// ```
/// use num_complex::Complex64;
/// use sunzi_circuits::bootstrap::functional::{InterpolationOrder, interpolation};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let squares: Vec<f64> = (0..16).map(|k| f64::from(k * k % 16)).collect();
/// let series = interpolation(&squares, InterpolationOrder::First)?;
/// // A hundredth of a step beside the point 5.
/// let point = Complex64::cis(std::f64::consts::TAU * 5.01 / 16.0);
/// assert!((2.0 * series.at_complex(point).re - 9.0).abs() < 0.1);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`BootstrapError::Table`] for fewer than 2 or more than 2^14 values, or values that are not finite.
pub fn interpolation(values: &[f64], order: InterpolationOrder) -> Result<Series<Complex64>, BootstrapError> {
    check(values)?;
    let points = values.len();
    let transform = fourier(values);
    let half = order.repetitions() / 2;
    let mut coefficients = vec![Complex64::ZERO; order.degree(points) + 1];
    for (n, coefficient) in coefficients.iter_mut().enumerate() {
        let own = transform.get(n % points).copied().unwrap_or_default();
        *coefficient = own * (window(n, points, half) / points as f64);
    }
    if let Some(constant) = coefficients.first_mut() {
        *constant /= 2.0;
    }
    Ok(Series::power(coefficients)?)
}

/// Most points of a table: 14 bits.
pub const MOST_POINTS: usize = 1 << 14;

/// Checks the number of values of a table, and that they are finite.
pub(super) fn check(values: &[f64]) -> Result<(), BootstrapError> {
    if !(2..=MOST_POINTS).contains(&values.len()) {
        let got = values.len().to_string();
        return Err(BootstrapError::Table { what: "the number of values", got, expected: "2 to 16384" });
    }
    match values.iter().position(|value| !value.is_finite()) {
        Some(at) => {
            let got = format!("none at {at}");
            Err(BootstrapError::Table { what: "a finite value", got, expected: "one for every message" })
        }
        None => Ok(()),
    }
}

/// Returns the window w(n) for n ≥ 0: the value at 0 of the Lagrange polynomial that is 1 at n and 0 at the other repetitions n + lp of
/// its frequency, −`half`·p ≤ n + lp < `half`·p.
fn window(n: usize, points: usize, half: usize) -> f64 {
    let (n, p) = (n as f64, points as f64);
    let lowest = (n / p).floor() + half as f64;
    (0..2 * half)
        .map(|l| n - (lowest - l as f64) * p)
        .filter(|&other| other != n)
        .map(|other| other / (other - n))
        .product()
}

/// Returns the Fourier coefficients f̂(j) = Σ f(k)·exp(−2πi·jk/p) of p values: by halves where p is even, directly where it is odd.
fn fourier(values: &[f64]) -> Vec<Complex64> {
    let complex: Vec<Complex64> = values.iter().map(|&v| v.into()).collect();
    transformed(&complex)
}

/// Returns Σ v_k·exp(−2πi·jk/p) for every j.
pub(super) fn transformed(values: &[Complex64]) -> Vec<Complex64> {
    let points = values.len();
    let root = |j: usize| Complex64::cis(-2.0 * PI * (j % points.max(1)) as f64 / points as f64);
    if points < 2 || !points.is_multiple_of(2) {
        let term = |j: usize| values.iter().enumerate().map(|(k, v)| v * root(j * k)).sum();
        return (0..points).map(term).collect();
    }
    let part = |odd: usize| transformed(&values.iter().skip(odd).step_by(2).copied().collect::<Vec<_>>());
    let (even, odd) = (part(0), part(1));
    let pairs = || even.iter().zip(&odd).enumerate();
    let low = pairs().map(|(j, (a, b))| a + b * root(j));
    low.chain(pairs().map(|(j, (a, b))| a - b * root(j))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(points: usize, seed: usize) -> Vec<f64> {
        (0..points).map(|k| ((k * k * 7 + k * seed + 3) % 23) as f64 / 11.0 - 1.0).collect()
    }

    fn at(series: &Series<Complex64>, x: f64) -> f64 {
        2.0 * series.at_complex(Complex64::cis(2.0 * PI * x)).re
    }

    /// Tests every number of points to 20 and some beyond: values at the points, derivatives that vanish there, and the degree.
    #[test]
    fn values_are_met_and_derivatives_vanish() {
        for points in (2..=20).chain([32, 49, 64, 100, 256]) {
            for order in [InterpolationOrder::First, InterpolationOrder::Third] {
                let values = table(points, 5);
                let series = interpolation(&values, order).unwrap();
                assert!(series.degree() <= order.degree(points));
                for (k, value) in values.iter().enumerate() {
                    let x = k as f64 / points as f64;
                    let h = 1e-3 / points as f64;
                    assert!((at(&series, x) - value).abs() < 1e-11, "{points} {order:?} at {k}");
                    let off = [h, -h].map(|h| (at(&series, x + h) - value).abs());
                    let most = order.error(points, h) * 1.001 + 1e-12;
                    assert!(off.iter().all(|&off| off <= most), "{points} {order:?} at {k}: {off:?} {most}");
                }
            }
        }
    }

    /// Tests that no table and no noise exceeds the bound, and that some table all but reaches it: 1 at a point and −1 elsewhere.
    #[test]
    fn the_bound_holds_and_is_reached() {
        for points in [2, 3, 16, 37, 256] {
            for order in [InterpolationOrder::First, InterpolationOrder::Third] {
                let spike: Vec<f64> = (0..points).map(|k| if k == 1 { 1.0 } else { -1.0 }).collect();
                for (values, tight) in [(table(points, 9), false), (spike, true)] {
                    let series = interpolation(&values, order).unwrap();
                    for share in [1e-6, 1e-4, 2e-4, 4e-4, 0.01, 0.1, 0.3, 0.49] {
                        let noise = share / points as f64;
                        let bound = order.error(points, noise);
                        let off = |k: usize, noise: f64| {
                            (at(&series, k as f64 / points as f64 + noise) - values[k]).abs()
                        };
                        let worst = (0..points).flat_map(|k| [off(k, noise), off(k, -noise)]);
                        let worst = worst.fold(0.0, f64::max);
                        assert!(worst <= bound + 1e-11, "{points} {order:?} {share}: {worst:e} {bound:e}");
                        if tight {
                            assert!(
                                worst >= bound * 0.999 - 1e-11,
                                "{points} {order:?} {share}: {worst:e} {bound:e}"
                            );
                        }
                    }
                }
            }
        }
        assert_eq!(InterpolationOrder::First.error(16, 0.5 / 16.0), 2.0);
        assert_eq!(InterpolationOrder::First.error(16, f64::NAN), 2.0);
    }

    #[test]
    fn bounds_rise_with_the_noise() {
        for order in [InterpolationOrder::First, InterpolationOrder::Third] {
            for points in [2, 256, 1 << 14] {
                let bounds: Vec<f64> =
                    (0..2000).map(|i| order.error(points, f64::from(i) / 4000.0 / points as f64)).collect();
                assert!(bounds.windows(2).all(|pair| pair[0] <= pair[1] + 1e-14), "{order:?} {points}");
            }
        }
    }

    #[test]
    fn fourier_coefficients_by_halves_are_those_of_the_sum() {
        for points in [1, 2, 6, 12, 15, 16, 40] {
            let values = table(points, 4);
            for (j, value) in fourier(&values).into_iter().enumerate() {
                let direct: Complex64 = (0..points)
                    .map(|k| values[k] * Complex64::cis(-2.0 * PI * (j * k) as f64 / points as f64))
                    .sum();
                assert!((value - direct).norm() < 1e-11 * points as f64);
            }
        }
    }

    #[test]
    fn tables_that_are_none_are_refused() {
        assert!(interpolation(&[1.0], InterpolationOrder::First).is_err());
        assert!(interpolation(&vec![0.0; MOST_POINTS + 1], InterpolationOrder::First).is_err());
        assert!(interpolation(&[1.0, f64::NAN], InterpolationOrder::First).is_err());
    }
}
