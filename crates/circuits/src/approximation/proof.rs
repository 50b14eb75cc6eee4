//! Proofs of bounds on polynomials and on errors between the points of a grid.
//!
//! A polynomial of degree N in cos θ is a trigonometric one of θ, and near the place of its largest value V it is at least V·cos(N·δ) at the
//! distance δ (M. Riesz). So its values on a grid of step h bound it everywhere: by the largest of them over cos(N·h/2). For an error f − p, where
//! some polynomial q of degree N is within ε of f, |f − p| ≤ ε + |q − p|, and q − p is on the grid within ε of what is measured there. Roundings
//! of all that is computed are added.

use std::f64::consts::PI;

use crate::series::{Basis, Series};

/// Least number of grid points for each degree: the bound is 1/cos(π/32) = 1.005 times the measured maximum.
const GRID: usize = 16;
/// Largest number of grid points for each degree: the bound is 1.00002 times the measured maximum.
const FINEST: usize = 256;
/// Number of grid points whose cost is negligible in a proof.
const CHEAP: usize = 4096;
/// Largest number of sums of products for a grid and a polynomial.
const MOST_WORK: usize = 1 << 26;
/// Least and largest degree of the polynomial q of a proof.
const DEGREES: [usize; 2] = [64, 1 << 16];
/// Half of a unit in the last place of a double.
const UNIT: f64 = f64::EPSILON / 2.0;

/// Known properties of a function on \[low, high\].
pub(crate) struct Known<'a> {
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// Values of the function, by its argument.
    pub(crate) at: &'a dyn Fn(f64) -> f64,
    /// Relative error bound of the values of the function.
    pub(crate) relative: f64,
    /// Bound of the change of the function's value where its argument moves by a given step.
    pub(crate) change: &'a dyn Fn(f64) -> f64,
    /// Bound of the distance of the best polynomial of a given degree from the function.
    pub(crate) best: &'a dyn Fn(usize) -> f64,
}

impl Known<'_> {
    /// Returns a bound on max |f − p| over the interval.
    pub(crate) fn largest_error(&self, series: &Series) -> f64 {
        let degree = series.degree().max(1);
        let most = farthest(degree);
        let (coarse, _, largest) = self.on_grid(series, 4 * (degree + 2));
        // A distance of q this much smaller than the error suffices.
        let enough = (coarse / 1024.0).max(largest * UNIT);
        let mut reach = degree;
        while reach < most && (self.best)(reach) > enough {
            reach = (reach + reach / 4 + 1).min(most);
        }
        let apart = (self.best)(reach);
        let grid = (CHEAP / reach).clamp(GRID, FINEST);
        let (error, rounding, _) = self.on_grid(series, grid * reach);
        let slack = Values::slack(series, [self.low, self.high]);
        let nearest = PI / (2 * grid) as f64 + reach as f64 * slack;
        (apart + (error + rounding + apart) / nearest.min(1.5).cos()) * (1.0 + 1e-12)
    }

    /// Returns max |f − p| over a grid of `count` steps, the bound of roundings there, and max |f|.
    fn on_grid(&self, series: &Series, count: usize) -> (f64, f64, f64) {
        let (low, high) = (self.low, self.high);
        let (centre, radius) = (f64::midpoint(low, high), (high - low) / 2.0);
        let values = Values::new(series, [low, high], count);
        let (mut error, mut largest) = (0.0_f64, 0.0_f64);
        for j in 0..=count {
            let x = (centre + radius * values.cosine(j)).clamp(low, high);
            let f = (self.at)(x);
            error = error.max((f - values.at(j, x)).abs());
            largest = largest.max(f.abs());
        }
        let moved = 12.0 * UNIT * low.abs().max(high.abs());
        let rounding = values.rounding + largest * self.relative + (self.change)(moved);
        (error, rounding, largest)
    }
}

/// Largest degree of the polynomial q in a proof for a polynomial of a degree.
pub(super) fn farthest(degree: usize) -> usize {
    (MOST_WORK / (GRID * (degree + 1))).clamp(DEGREES[0], DEGREES[1]).max(degree)
}

/// Returns a bound on |p − value| over \[low, high\], for a polynomial in a Chebyshev basis on an interval that contains \[low, high\].
pub(crate) fn distance(series: &Series, value: f64, low: f64, high: f64) -> f64 {
    let known = Known { low, high, at: &|_| value, relative: 0.0, change: &|_| 0.0, best: &|_| 0.0 };
    known.largest_error(series)
}

/// Values of a polynomial at the points of a grid, each Σ c_k·cos(kθ), which keeps roundings small.
struct Values<'a> {
    series: &'a Series,
    /// Values cos(π·i/count) of the cosine for i < 2·count.
    cosines: Vec<f64>,
    /// Whether the grid is that of the polynomial's own interval, not of a part of it.
    own: bool,
    /// Bound of the rounding error of a value of the polynomial.
    rounding: f64,
}

impl<'a> Values<'a> {
    fn new(series: &'a Series, interval: [f64; 2], count: usize) -> Self {
        let own = is_own(series, interval);
        // Angles of at most π/2, where a cosine is right to a few units.
        let cosine = |i: usize| {
            let i = i.min(2 * count - i);
            let half = |i: usize| (PI * i as f64 / count as f64).cos();
            if 2 * i <= count { half(i) } else { -half(count - i) }
        };
        let cosines = (0..2 * count).map(cosine).collect();
        let terms = series.coefficients().iter().map(|c| c.abs()).enumerate();
        let (sum, slopes) = terms.fold((0.0, 0.0), |(sum, slopes), (k, c)| (sum + c, slopes + c * k as f64));
        let summed = (series.degree() + 16) as f64 * UNIT * sum;
        // Also counted: an angle of up to π that is off by a few units, k times, and u, whose derivative is k² at most.
        let (slope, shift) = series.change_of_variable();
        let exact = slope == 1.0 && shift == 0.0;
        let changed = if exact { 0.0 } else { 8.0 * UNIT * (1.0 + shift.abs()) * series.degree() as f64 };
        let rounding = summed + if own { 0.0 } else { slopes * (16.0 * UNIT + changed) };
        Self { series, cosines, own, rounding }
    }

    /// Bounds the error of grid points as angles: 0 where values are those at the angles themselves.
    fn slack(series: &Series, interval: [f64; 2]) -> f64 {
        let [low, high] = interval;
        // |cos a − cos b| ≥ 2·((a − b)/π)².
        let relative = 12.0 * UNIT * low.abs().max(high.abs()) * 2.0 / (high - low);
        if is_own(series, interval) { 0.0 } else { PI * (relative / 2.0).sqrt() }
    }

    /// Returns the cosine cos(π·j/count) of a grid point.
    fn cosine(&self, j: usize) -> f64 {
        self.cosines.get(j).copied().unwrap_or(-1.0)
    }

    /// Returns the value of the polynomial at grid point j, which is x.
    fn at(&self, j: usize, x: f64) -> f64 {
        let coefficients = self.series.coefficients().iter().enumerate();
        if self.own {
            let period = self.cosines.len();
            return coefficients.map(|(k, c)| c * self.cosine(k * j % period)).sum();
        }
        let (slope, shift) = self.series.change_of_variable();
        let angle = (slope * x + shift).clamp(-1.0, 1.0).acos();
        coefficients.map(|(k, c)| c * (k as f64 * angle).cos()).sum()
    }
}

fn is_own(series: &Series, interval: [f64; 2]) -> bool {
    matches!(series.basis(), Basis::Chebyshev { low, high } if [low, high] == interval)
}
