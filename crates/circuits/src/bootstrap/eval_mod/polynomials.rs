//! First polynomials of EvalMod, and the one that undoes the sine.

use std::f64::consts::PI;

use num_complex::Complex64;

use super::{ApproximationForm, EvalMod, EvalModParameters, SHIFT, likelihood, ratio};
use crate::approximation::{least_squares, nodes};
use crate::series::{Series, SeriesError};

/// Least weight of an integer in a least-squares fit, against a weight of 1 for 0.
const LEAST_WEIGHT: f64 = 1e-4;
/// Number of points of the fit around every integer.
const POINTS: usize = 6;

/// Returns the Taylor polynomial of exp(i·a·u) in u for the angle a = 2πW/2^r.
pub(super) fn taylor(width: f64, doublings: usize, degree: usize) -> Result<Series<Complex64>, SeriesError> {
    let angle = 2.0 * PI * width / (doublings as f64).exp2();
    let coefficients = (0..=degree).scan(Complex64::ONE, |term, k| {
        let own = *term;
        *term *= Complex64::i() * angle / (k + 1) as f64;
        Some(own)
    });
    Series::power(coefficients.collect())
}

/// Returns the first terms of the Chebyshev series of exp(i·a·u), J_0(a) + Σ 2·i^k·J_k(a)·T_k(u), for the angle a = 2πW/2^r: real coefficients for
/// even k, imaginary ones for odd k.
pub(super) fn jacobi_anger(
    width: f64,
    doublings: usize,
    degree: usize,
) -> Result<Series<Complex64>, SeriesError> {
    let angle = 2.0 * PI * width / (doublings as f64).exp2();
    // The sum over nodes gives each coefficient but for those of degree 2N − k and beyond.
    let count = 4 * (degree + 1) + 2 * angle.ceil() as usize;
    let at = |i: usize| PI * (i as f64 + 0.5) / count as f64;
    let coefficient = |k: usize| -> Complex64 {
        let terms = (0..count).map(|i| Complex64::cis(angle * at(i).cos()) * (k as f64 * at(i)).cos());
        let sum: Complex64 = terms.sum();
        let whole = sum * (if k == 0 { 1.0 } else { 2.0 } / count as f64);
        if k.is_multiple_of(2) { whole.re.into() } else { Complex64::new(0.0, whole.im) }
    };
    Series::chebyshev(-1.0, 1.0, (0..=degree).map(coefficient).collect())
}

impl EvalMod {
    /// Returns a bound on |E − exp(2πi·x)| for |x| ≤ W, without roundings: what the first polynomial leaves out, after r squarings. It is
    /// infinite for the cosine, which has no E.
    #[must_use]
    pub fn exponential_error(&self) -> f64 {
        let EvalModParameters { form, doublings, .. } = *self.parameters();
        let angle = 2.0 * PI * self.width() / (doublings as f64).exp2();
        // |J_k(a)| ≤ (a/2)^k/k!, and two of each.
        let (base, factor, degree) = match form {
            ApproximationForm::Exponential { degree } => (angle, 1.0, degree),
            ApproximationForm::JacobiAnger { degree } => (angle / 2.0, 2.0, degree),
            ApproximationForm::Cosine { .. } => return f64::INFINITY,
        };
        let first: f64 = (1..=degree + 1).map(|k| base / k as f64).product();
        let ratio = base / (degree + 2) as f64;
        if ratio >= 1.0 {
            return f64::INFINITY;
        }
        // Coefficients are doubles.
        let left_out = factor * first / (1.0 - ratio) + f64::EPSILON * (degree + 2) as f64;
        ((doublings as f64).exp2() * left_out.ln_1p()).exp_m1()
    }
}

/// Returns an even polynomial of u = (x − 1/4)/W close to cos(2π(x − 1/4)/2^r) where x is near an integer: least squares at Chebyshev nodes around
/// each, weighted by the cube root of how likely the integer is. That evens out what the error of an integer costs and how
/// often it occurs; the square root would leave the rarest ones almost unapproximated.
pub(super) fn cosine(
    parameters: &EvalModParameters,
    width: f64,
    degree: usize,
) -> Result<Series, SeriesError> {
    let (ratio, range) = (ratio(parameters.ratio_bits), parameters.range as i64);
    let around = |integer: i64| {
        let weight = likelihood(integer as f64, parameters.weight).cbrt().max(LEAST_WEIGHT);
        let centre = integer as f64 - SHIFT;
        nodes(centre - ratio, centre + ratio, POINTS).map(move |x| (x, weight))
    };
    let points: Vec<(f64, f64)> = (-range..=range).flat_map(around).collect();
    let frequency = 2.0 * PI / (parameters.doublings as f64).exp2();
    let values = points.iter().map(|(x, weight)| weight * (frequency * x).cos()).collect();
    // T_k(u) by columns.
    let mut before: Vec<f64> = vec![1.0; points.len()];
    let mut current: Vec<f64> = points.iter().map(|(x, _)| x / width).collect();
    let mut columns = Vec::new();
    for k in 0..=degree {
        if k % 2 == 0 {
            columns.push(before.iter().zip(&points).map(|(t, (_, weight))| t * weight).collect());
        }
        let terms = points.iter().zip(&current).zip(&before);
        let next = terms.map(|(((x, _), t), s)| 2.0 * x / width * t - s).collect();
        before = std::mem::replace(&mut current, next);
    }
    let even = least_squares(columns, values);
    let coefficients = even.into_iter().flat_map(|c| [c, 0.0]).collect();
    Series::chebyshev(-1.0, 1.0, coefficients)
}

/// Returns the Taylor polynomial of arcsin(v)/2π of an odd degree; `None` for degree 1. A minimax polynomial is better for the largest messages and
/// worse for typical ones, whose coefficients are far smaller.
pub(super) fn inverse_sine(degree: usize) -> Result<Option<Series>, SeriesError> {
    if degree <= 1 {
        return Ok(None);
    }
    // arcsin v = Σ (2k choose k)/4^k·v^(2k+1)/(2k + 1).
    let term = |(binomial, k): (f64, usize)| [0.0, binomial / (2 * k + 1) as f64 / (2.0 * PI)];
    let binomials = std::iter::successors(Some((1.0, 0)), |&(binomial, k)| {
        Some((binomial * (2 * k + 1) as f64 / (2 * k + 2) as f64, k + 1))
    });
    Ok(Some(Series::power(binomials.take(degree / 2 + 1).flat_map(term).collect())?))
}
