//! Minimax polynomials, by the exchange algorithm of Remez.

use super::{least_squares, nodes};
use crate::approximation::Approximation;
use crate::series::{Basis, Parity, Series, SeriesError, check_interval};

/// Number of grid points for each unknown between which extrema of the error are refined.
const GRID: usize = 24;
/// Largest number of exchanges. They converge quadratically: more only fight rounding errors.
const ROUNDS: usize = 40;

/// Returns the minimax approximation of f on \[low, high\] of a degree.
///
/// With [`Parity::Odd`] or [`Parity::Even`] the polynomial has only such terms, in a Chebyshev basis on \[−high, high\], for 0 ≤ low: f is
/// then meant to be odd or even, and the error holds on \[−high, −low\] too. The error stated is measured; it is the
/// least possible up to 10^-3 of itself, or about 10^-14.
///
/// # Errors
/// [`SeriesError::Interval`]; [`SeriesError::NotFinite`]; [`SeriesError::OutOfRange`] for a parity with low < 0.
pub fn minimax(
    f: impl Fn(f64) -> f64,
    low: f64,
    high: f64,
    degree: usize,
    parity: Parity,
) -> Result<Approximation, SeriesError> {
    check_interval(low, high)?;
    let (exponents, from): (Vec<usize>, f64) = match parity {
        Parity::Mixed => ((0..=degree).collect(), low),
        _ if low < 0.0 => {
            let expected = "at least 0 for an odd or even polynomial";
            return Err(SeriesError::OutOfRange { what: "the lower end", got: low, expected });
        }
        Parity::Odd => ((1..=degree.max(1)).step_by(2).collect(), -high),
        Parity::Even => ((0..=degree).step_by(2).collect(), -high),
    };
    if let Some(at) = nodes(low, high, 64).chain([low, high]).find(|&x| !f(x).is_finite()) {
        return Err(SeriesError::NotFinite { at });
    }
    let basis = Basis::Chebyshev { low: from, high };
    let terms = exponents.len();
    // The extrema of T_terms, away from 0, where odd polynomials vanish.
    let mut reference: Vec<f64> = nodes(low, high, terms + 1).collect();
    let mut best: Option<Approximation> = None;
    for _ in 0..ROUNDS {
        let series = levelled(&f, basis, &exponents, &reference)?;
        let (extrema, error) = extrema(&f, &series, low, high, terms);
        let least = extrema.iter().map(|&(_, e)| e.abs()).fold(f64::INFINITY, f64::min);
        let better = best.as_ref().is_none_or(|best| error < best.error);
        if better {
            best = Some(Approximation { series, error, tail: 0.0 });
        }
        if extrema.len() < terms + 1 || error <= least * 1.001 {
            break;
        }
        reference = extrema.into_iter().map(|(x, _)| x).collect();
    }
    best.ok_or(SeriesError::Interval { low, high })
}

/// Returns the polynomial whose error at the reference points has one absolute value and alternating signs.
fn levelled(
    f: &impl Fn(f64) -> f64,
    basis: Basis,
    exponents: &[usize],
    reference: &[f64],
) -> Result<Series, SeriesError> {
    let highest = exponents.last().copied().unwrap_or(0);
    let unit = |e: usize, x: f64| -> Result<f64, SeriesError> {
        let mut coefficients = vec![0.0; e];
        coefficients.push(1.0);
        Ok(Series::new(basis, coefficients)?.at(x))
    };
    let column = |&e: &usize| reference.iter().map(|&x| unit(e, x)).collect::<Result<Vec<f64>, _>>();
    let mut columns = exponents.iter().map(column).collect::<Result<Vec<_>, _>>()?;
    columns.push((0..reference.len()).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect());
    let solution = least_squares(columns, reference.iter().map(|&x| f(x)).collect());
    let mut coefficients = vec![0.0; highest + 1];
    for (&e, c) in exponents.iter().zip(solution) {
        coefficients.get_mut(e).into_iter().for_each(|slot| *slot = c);
    }
    Series::new(basis, coefficients)
}

/// Returns terms + 1 points of alternating, locally largest errors, or fewer where rounding errors hide them; and the largest error.
fn extrema(
    f: &impl Fn(f64) -> f64,
    series: &Series,
    low: f64,
    high: f64,
    terms: usize,
) -> (Vec<(f64, f64)>, f64) {
    let error = |x: f64| f(x) - series.at(x);
    let count = GRID * (terms + 2);
    let grid: Vec<f64> = std::iter::once(high).chain(nodes(low, high, count)).chain([low]).collect();
    let mut found: Vec<(f64, f64)> = Vec::new();
    for window in grid.windows(3) {
        let &[left, x, right] = window else { continue };
        let (x, e) = sharpened(&error, left, x, right);
        push_alternating(&mut found, (x, e));
    }
    for x in [high, low] {
        let point = (x, error(x));
        if x == low { push_alternating(&mut found, point) } else { push_front(&mut found, point) }
    }
    let largest = found.iter().map(|&(_, e)| e.abs()).fold(0.0, f64::max);
    while found.len() > terms + 1 {
        let [first, last] = [found.first(), found.last()].map(|p| p.map_or(0.0, |&(_, e)| e.abs()));
        let weaker = if first < last { 0 } else { found.len() - 1 };
        found.remove(weaker);
    }
    (found, largest)
}

/// Returns the extremum near the middle of three points, if the middle one is extremal among them, by parabolas through ever nearer
/// points; else the middle point.
fn sharpened(error: &impl Fn(f64) -> f64, mut left: f64, mut x: f64, mut right: f64) -> (f64, f64) {
    let mut value = error(x);
    for _ in 0..3 {
        let (a, c) = (error(left), error(right));
        if value.abs() < a.abs() || value.abs() < c.abs() || a * value < 0.0 || value * c < 0.0 {
            break;
        }
        let (to_left, to_right) = (x - left, x - right);
        let (from_left, from_right) = (to_left * (value - c), to_right * (value - a));
        let vertex = x - (to_left * from_left - to_right * from_right) / (2.0 * (from_left - from_right));
        let inside = vertex.is_finite() && vertex <= left.max(right) && vertex >= left.min(right);
        let there = if inside { error(vertex) } else { value };
        if there.abs() <= value.abs() {
            break;
        }
        let radius = to_left.abs().min(to_right.abs()) / 16.0;
        (left, x, right, value) = (vertex - radius, vertex, vertex + radius, there);
    }
    (x, value)
}

/// Adds an extremum to a list of alternating signs: of neighbours with equal signs the larger is kept.
fn push_alternating(found: &mut Vec<(f64, f64)>, point: (f64, f64)) {
    match found.last_mut() {
        Some(last) if last.1 * point.1 >= 0.0 => {
            if point.1.abs() > last.1.abs() {
                *last = point;
            }
        }
        _ => found.push(point),
    }
}

fn push_front(found: &mut Vec<(f64, f64)>, point: (f64, f64)) {
    match found.first_mut() {
        Some(first) if first.1 * point.1 >= 0.0 => {
            if point.1.abs() > first.1.abs() {
                *first = point;
            }
        }
        _ => found.insert(0, point),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approximation::largest_error;

    #[test]
    fn known_minimax_errors() {
        // |x| on [−1, 1] by even polynomials is √t on [0, 1]; degree 2: 1/8 + x², error 1/8.
        let found = minimax(f64::abs, 0.0, 1.0, 2, Parity::Even).unwrap();
        assert!((found.error - 0.125).abs() < 1e-4, "{found:?}");
        // x³ by degree 2 on [−1, 1]: T_3/4 is left out.
        let found = minimax(|x| x * x * x, -1.0, 1.0, 2, Parity::Mixed).unwrap();
        assert!((found.error - 0.25).abs() < 3e-4, "{found:?}");
        // exp, degree 4, on [−1, 1]: 5.4667e-4.
        let found = minimax(f64::exp, -1.0, 1.0, 4, Parity::Mixed).unwrap();
        assert!((found.error - 5.4667e-4).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn never_worse_than_the_chebyshev_series() {
        use crate::approximation::{Target, approximate};
        for degree in [3, 7, 12, 15] {
            let series = approximate(f64::exp, -2.0, 1.0, Target::Degree(degree)).unwrap();
            let best = minimax(f64::exp, -2.0, 1.0, degree, Parity::Mixed).unwrap();
            assert!(best.error <= series.error * 1.001 + 1e-14, "degree {degree}");
            let measured = largest_error(&f64::exp, &best.series, -2.0, 1.0, 9973);
            assert!(measured <= best.error * 1.001 + 1e-14, "degree {degree}");
        }
    }

    #[test]
    fn odd_polynomials_on_one_side() {
        let asin = |x: f64| x.asin();
        let found = minimax(asin, 0.0, 0.5, 7, Parity::Odd).unwrap();
        assert_eq!(found.series.parity(), Parity::Odd);
        assert!(found.error < 2e-6, "{}", found.error);
        assert!((found.series.at(-0.4) - asin(-0.4)).abs() <= found.error * 1.01);
        assert!(minimax(asin, -0.5, 0.5, 7, Parity::Odd).is_err());
    }
}
