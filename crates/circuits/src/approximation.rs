//! Approximation of functions by polynomials, in the clear, for [`series`](crate::series) to evaluate under encryption.
//!
//! * [`approximate_function`]: a known [`Function`] on an interval, by its Chebyshev series, to a degree or to an error. The error is proved.
//! * [`Reciprocal`]: c/x on wide intervals away from 0, in fewer levels than a series; proved.
//! * [`approximate_stored`]: a known function of numbers divided by a power of two, at the lower cost of two intervals; proved.
//! * [`approximate_smooth`]: a caller's function, of which a bound on a derivative is known. The error is proved if the bound is true.
//! * [`approximate`]: any closure. The error is measured on a grid and not proved.
//! * [`inverse`], [`square_root`]: on an interval away from 0, or down to it; measured.
//! * [`minimax`]: the best polynomial of all, by the algorithm of Remez; measured, [`proved_error`] proves it for known functions.
//! * [`CompositeSign`]: sign by composition of minimax polynomials, for comparisons and maxima; proved.

mod function;
mod linear;
mod proof;
mod proved;
mod reciprocal;
mod remez;
mod sign;

use std::f64::consts::PI;

use crate::series::{Series, SeriesError, check_interval};

pub use function::Function;
pub(crate) use linear::least_squares;
pub use proved::{
    ProvedApproximation, Smoothness, approximate_function, approximate_smooth, approximate_stored,
    is_within_reach, proved_error,
};
pub use reciprocal::Reciprocal;
pub use remez::minimax;
pub use sign::CompositeSign;

/// Largest degree that [`approximate`] tries: ten levels.
pub const LARGEST_DEGREE: usize = 1023;

/// A polynomial and its measured distance from a function; for an error that is proved see [`ProvedApproximation`].
#[derive(Clone, Debug, PartialEq)]
pub struct Approximation {
    /// Polynomial that approximates the function.
    pub series: Series,
    /// Largest error on a grid about 16 times as fine as the polynomial's oscillations.
    pub error: f64,
    /// Sum Σ|a_i| of the coefficients left out: a bound on the error where the function is as smooth as they show.
    pub tail: f64,
}

/// Degree or error that an approximation has to reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// Exactly this degree, whatever the error is.
    Degree(usize),
    /// Least degree with an error of at most this, judged by the tail; a little more where the tail falls slowly.
    Error(f64),
}

/// Approximates f on \[low, high\] by its truncated Chebyshev series. Coefficients below the rounding errors of f64 are left out, so that
/// even and odd functions on symmetric intervals give even and odd polynomials.
///
/// ```
/// use sunzi_circuits::approximation::{Target, approximate};
/// let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
/// let found = approximate(sigmoid, -8.0, 8.0, Target::Error(1e-3))?;
/// assert!(found.error <= 1e-3 && found.series.degree() < 32);
/// # Ok::<(), sunzi_circuits::series::SeriesError>(())
/// ```
///
/// # Errors
/// [`SeriesError::Interval`]; [`SeriesError::NotFinite`]; [`SeriesError::NotReached`] for an error that
/// [`LARGEST_DEGREE`] misses; [`SeriesError::OutOfRange`] for a larger degree.
pub fn approximate(
    f: impl Fn(f64) -> f64,
    low: f64,
    high: f64,
    target: Target,
) -> Result<Approximation, SeriesError> {
    check_interval(low, high)?;
    let nodes = match target {
        Target::Degree(degree) if degree <= LARGEST_DEGREE => 4 * (degree + 1),
        Target::Degree(degree) => {
            let expected = "at most 1023";
            return Err(SeriesError::OutOfRange { what: "the degree", got: degree as f64, expected });
        }
        Target::Error(_) => 2 * (LARGEST_DEGREE + 1),
    };
    let coefficients = chebyshev_coefficients(&f, low, high, nodes)?;
    let wanted = match target {
        Target::Degree(degree) => return cut(&f, low, high, &coefficients, degree + 1),
        Target::Error(wanted) => wanted,
    };
    let mut keep = terms_for_tail(&coefficients, wanted);
    loop {
        let found = cut(&f, low, high, &coefficients, keep.min(LARGEST_DEGREE + 1))?;
        if keep <= LARGEST_DEGREE + 1 && found.error <= wanted {
            return Ok(found);
        }
        if keep > LARGEST_DEGREE {
            let reached = found.error.max(found.tail);
            return Err(SeriesError::NotReached { wanted, largest: LARGEST_DEGREE, reached });
        }
        // Coefficients beyond those computed count too where they fall slowly.
        keep += keep / 16 + 1;
    }
}

/// Returns the first coefficients as a polynomial, with the sum of the absolute values of those left out.
fn cut(
    f: &impl Fn(f64) -> f64,
    low: f64,
    high: f64,
    coefficients: &[f64],
    keep: usize,
) -> Result<Approximation, SeriesError> {
    let largest = coefficients.iter().fold(0.0, |a: f64, c| a.max(c.abs()));
    let noise = largest * f64::EPSILON * 4.0;
    let is_kept = |i: usize, c: f64| i < keep && c.abs() > noise;
    let all = || coefficients.iter().copied().enumerate();
    let tail = all().filter(|&(i, c)| !is_kept(i, c)).map(|(_, c)| c.abs()).sum();
    let series = all().take(keep).map(|(i, c)| if is_kept(i, c) { c } else { 0.0 }).collect();
    let series = Series::chebyshev(low, high, series)?;
    let error = largest_error(f, &series, low, high, 16 * (keep + 4));
    Ok(Approximation { series, error, tail })
}

/// Returns the number of coefficients to keep for a tail of at most `wanted`.
fn terms_for_tail(coefficients: &[f64], wanted: f64) -> usize {
    let mut tail = 0.0;
    let left_out = coefficients.iter().rev().take_while(|c| {
        tail += c.abs();
        tail <= wanted
    });
    (coefficients.len() - left_out.count()).max(1)
}

/// Returns the coefficients of the polynomial through f at the `count` Chebyshev nodes of \[low, high\].
fn chebyshev_coefficients(
    f: &impl Fn(f64) -> f64,
    low: f64,
    high: f64,
    count: usize,
) -> Result<Vec<f64>, SeriesError> {
    let values = nodes(low, high, count).map(|x| {
        let value = f(x);
        if value.is_finite() { Ok(value) } else { Err(SeriesError::NotFinite { at: x }) }
    });
    let values: Vec<f64> = values.collect::<Result<_, _>>()?;
    // cos(π·k(2j + 1)/2n), by the index modulo 4n.
    let cosines: Vec<f64> = (0..4 * count).map(|i| (PI * i as f64 / (2 * count) as f64).cos()).collect();
    let cosine = |i: usize| cosines.get(i % (4 * count)).copied().unwrap_or(1.0);
    let coefficient = |k: usize| {
        let sum: f64 = values.iter().enumerate().map(|(j, v)| v * cosine(k * (2 * j + 1))).sum();
        sum * if k == 0 { 1.0 } else { 2.0 } / count as f64
    };
    Ok((0..count).map(coefficient).collect())
}

/// Yields the zeros of T_count, mapped to \[low, high\].
pub(crate) fn nodes(low: f64, high: f64, count: usize) -> impl Iterator<Item = f64> + Clone {
    let (centre, radius) = ((low + high) / 2.0, (high - low) / 2.0);
    (0..count).map(move |j| centre + radius * (PI * (2 * j + 1) as f64 / (2 * count) as f64).cos())
}

/// Returns max |f − p| over a grid of `count` Chebyshev nodes and both ends.
pub(crate) fn largest_error(
    f: &impl Fn(f64) -> f64,
    series: &Series,
    low: f64,
    high: f64,
    count: usize,
) -> f64 {
    let points = nodes(low, high, count).chain([low, high]);
    points.map(|x| (f(x) - series.at(x)).abs()).fold(0.0, f64::max)
}

/// Approximates 1/x on \[low, high\] for 0 < low, to an absolute error. With κ = high/low the degree is about ln(2/error·low)·√κ/2.
///
/// # Errors
/// Every error of [`approximate`]; [`SeriesError::OutOfRange`] unless 0 < low.
pub fn inverse(low: f64, high: f64, error: f64) -> Result<Approximation, SeriesError> {
    if low <= 0.0 {
        let expected = "above 0, where 1/x has its pole";
        return Err(SeriesError::OutOfRange { what: "the lower end", got: low, expected });
    }
    approximate(|x| 1.0 / x, low, high, Target::Error(error))
}

/// Approximates √x on \[low, high\] for 0 ≤ low, to an absolute error. For low = 0 the error falls only as 1/degree.
///
/// # Errors
/// Every error of [`approximate`]; [`SeriesError::OutOfRange`] unless 0 ≤ low.
pub fn square_root(low: f64, high: f64, error: f64) -> Result<Approximation, SeriesError> {
    if low < 0.0 {
        let expected = "at least 0";
        return Err(SeriesError::OutOfRange { what: "the lower end", got: low, expected });
    }
    approximate(f64::sqrt, low, high, Target::Error(error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::Parity;

    #[test]
    fn the_series_of_smooth_functions() {
        let exp = approximate(f64::exp, -1.0, 1.0, Target::Degree(7)).unwrap();
        assert_eq!(exp.series.degree(), 7);
        // The first coefficient left out is 2·I_8(1) = 1.99e-7.
        assert!(exp.error > 1.5e-7 && exp.error < 2.5e-7, "{}", exp.error);
        assert!(exp.tail >= exp.error * 0.9 && exp.tail < 3e-7, "{}", exp.tail);
        let cos = approximate(f64::cos, -3.0, 3.0, Target::Error(1e-12)).unwrap();
        assert_eq!(cos.series.parity(), Parity::Even);
        assert!(cos.error < 2e-12);
        let tanh = approximate(f64::tanh, -2.0, 2.0, Target::Error(1e-9)).unwrap();
        assert_eq!(tanh.series.parity(), Parity::Odd);
        let line = approximate(|x| 3.0 * x - 1.0, 0.0, 5.0, Target::Error(1e-9)).unwrap();
        assert_eq!(line.series.degree(), 1);
    }

    #[test]
    fn stated_errors_hold_on_a_finer_grid() {
        for (low, high, error) in [(0.5, 2.0, 1e-6), (0.01, 1.0, 1e-3), (1.0, 100.0, 1e-9)] {
            let found = inverse(low, high, error).unwrap();
            let worst = largest_error(&|x| 1.0 / x, &found.series, low, high, 9973);
            assert!(worst <= error && found.error <= error && worst <= 1.01 * found.error + 1e-13);
        }
        let root = square_root(0.0, 1.0, 1e-3).unwrap();
        assert!(largest_error(&|x: f64| x.sqrt(), &root.series, 0.0, 1.0, 9973) <= 1.1e-3);
    }

    #[test]
    fn what_cannot_be_approximated_says_so() {
        let error = inverse(1e-9, 1.0, 1e-9).unwrap_err();
        assert!(matches!(error, SeriesError::NotReached { .. }), "{error}");
        assert!(matches!(inverse(0.0, 1.0, 1e-3), Err(SeriesError::OutOfRange { .. })));
        assert!(matches!(square_root(-1.0, 1.0, 1e-3), Err(SeriesError::OutOfRange { .. })));
        let pole = approximate(|x| x.ln(), -1.0, 1.0, Target::Degree(3));
        assert!(matches!(pole, Err(SeriesError::NotFinite { .. })));
        assert!(approximate(f64::exp, 0.0, 1.0, Target::Degree(LARGEST_DEGREE + 1)).is_err());
        assert!(approximate(f64::exp, 1.0, 0.0, Target::Degree(1)).is_err());
    }
}
