//! Taylor models: the first terms of a power series with bounds on their errors, and one on all that follow.
//!
//! A model of f around a centre c with a radius r says that f(c + r·τ) = Σ a_j·τ^j with |a_j − term_j| ≤ error_j for the first terms, and
//! Σ |a_j| ≤ rest for the others. Sums and products keep that, roundings of doubles included, so that a model of a composition follows from
//! one of its innermost polynomial.

use crate::series::{Basis, Series};

/// Number of terms that a Taylor model keeps.
const TERMS: usize = 12;
/// Half of a unit in the last place of a double.
pub(super) const UNIT: f64 = f64::EPSILON / 2.0;
/// Factor above the rounding loss of a sum of a few positive numbers.
const ROUNDED: f64 = 1.0 + 1e-12;
/// Number of steps of the grid from 0 to 1 on which polynomials are bounded.
const STEPS: i32 = 32;

/// First terms of a power series, with bounds on their errors and on all other terms.
#[derive(Clone, Copy, Debug)]
pub(super) struct TaylorModel {
    terms: [f64; TERMS],
    errors: [f64; TERMS],
    rest: f64,
}

impl TaylorModel {
    /// Makes the model of a constant function.
    fn constant(value: f64) -> Self {
        let mut model = Self { terms: [0.0; TERMS], errors: [0.0; TERMS], rest: 0.0 };
        model.add_constant(value);
        model
    }

    /// Adds a number to the function of a model.
    fn add_constant(&mut self, value: f64) {
        let ([term, ..], [error, ..]) = (&mut self.terms, &mut self.errors);
        *term += value;
        *error = (*error + UNIT * term.abs()) * ROUNDED;
    }

    /// Sum Σ |a_j| of the first terms of the model.
    fn size(&self) -> f64 {
        self.terms.iter().zip(&self.errors).map(|(term, error)| term.abs() + error).sum()
    }

    /// Returns the model of the product of two functions around one centre.
    pub(super) fn times(&self, other: &Self) -> Self {
        let (mut terms, mut errors, mut late) = ([0.0_f64; TERMS], [0.0_f64; TERMS], 0.0_f64);
        for (i, (a, a_error)) in self.terms.iter().zip(&self.errors).enumerate() {
            let room = TERMS - i;
            let others = other.terms.iter().zip(&other.errors);
            let sums = terms.iter_mut().zip(&mut errors).skip(i);
            for ((b, b_error), (term, error)) in others.clone().zip(sums) {
                *term += a * b;
                // One rounding of the product, and at most as many of sums as there are terms.
                let rounding = UNIT * (TERMS + 1) as f64 * (a * b).abs();
                *error += a.abs() * b_error + a_error * (b.abs() + b_error) + rounding;
            }
            let reach: f64 = others.skip(room).map(|(b, b_error)| b.abs() + b_error).sum();
            late += (a.abs() + a_error) * reach;
        }
        errors.iter_mut().for_each(|error| *error = *error * ROUNDED + f64::MIN_POSITIVE);
        let rest = late + self.rest * (other.size() + other.rest) + other.rest * self.size();
        Self { terms, errors, rest: rest * ROUNDED + f64::MIN_POSITIVE }
    }

    /// Returns the model of the difference of two functions around one centre.
    pub(super) fn minus(&self, other: &Self) -> Self {
        let mut difference = *self;
        let others = other.terms.iter().zip(&other.errors);
        for ((term, error), (b, b_error)) in
            difference.terms.iter_mut().zip(&mut difference.errors).zip(others)
        {
            *term -= b;
            *error = (*error + b_error + UNIT * term.abs()) * ROUNDED;
        }
        difference.rest = (self.rest + other.rest) * ROUNDED;
        difference
    }

    /// Returns the model of the function times a number that may itself be off by two units in the last
    /// place.
    pub(super) fn scaled(&self, factor: f64) -> Self {
        let mut scaled = *self;
        for (term, error) in scaled.terms.iter_mut().zip(&mut scaled.errors) {
            *term *= factor;
            *error = (*error * factor.abs() + 6.0 * UNIT * term.abs()) * ROUNDED + f64::MIN_POSITIVE;
        }
        scaled.rest *= factor.abs() * ROUNDED;
        scaled
    }

    /// Returns the model of 2f² − 1, the doubled angle.
    pub(super) fn doubled(&self) -> Self {
        let mut square = self.times(self).scaled(2.0);
        square.add_constant(-1.0);
        square
    }

    /// Returns the model of p(f) for a polynomial p in the basis of powers, by Horner's rule.
    pub(super) fn through(&self, series: &Series) -> Self {
        series.coefficients().iter().rev().fold(Self::constant(0.0), |sum, &coefficient| {
            let mut next = sum.times(self);
            next.add_constant(coefficient);
            next
        })
    }

    /// Restricts the model to |τ| ≤ 1/2, in terms of s = 2τ.
    pub(super) fn inner_half(&self) -> Inner {
        let halves = |values: &[f64; TERMS]| -> Vec<f64> {
            std::iter::successors(Some(1.0), |power| Some(power / 2.0))
                .zip(values)
                .map(|(p, v)| p * v)
                .collect()
        };
        // Factor j·2^-j falls from here on.
        let late = self.rest * (-(TERMS as f64)).exp2();
        let (terms, errors) = (halves(&self.terms), halves(&self.errors));
        Inner { terms, errors, late, late_slopes: late * TERMS as f64 }
    }
}

/// Bounds of a sum Σ a_j·s^j for |s| ≤ 1: |a_j − term_j| ≤ error_j for the first terms, Σ |a_j| ≤ late and Σ
/// j·|a_j| ≤ `late_slopes` for the others.
pub(super) struct Inner {
    terms: Vec<f64>,
    errors: Vec<f64>,
    late: f64,
    late_slopes: f64,
}

impl Inner {
    /// Returns the bounds of an unknown function, which are infinite.
    pub(super) fn unknown() -> Self {
        let all = f64::INFINITY;
        Self { terms: vec![0.0; TERMS], errors: vec![all; TERMS], late: all, late_slopes: all }
    }

    /// Returns a bound on |a_j − value| for one of the first terms.
    pub(super) fn term_from(&self, j: usize, value: f64) -> f64 {
        let of = |values: &[f64]| values.get(j).copied().unwrap_or(f64::INFINITY);
        (of(&self.terms) - value).abs() * ROUNDED + of(&self.errors)
    }

    /// Returns a bound on |Σ a_j·s^j − slope·s|.
    pub(super) fn distance_from_line(&self, slope: f64) -> f64 {
        let mut terms = self.terms.clone();
        let mut rounding = 0.0;
        if let Some(linear) = terms.get_mut(1) {
            *linear -= slope;
            rounding = UNIT * linear.abs();
        }
        (largest(&terms) + self.errors.iter().sum::<f64>() + rounding + self.late) * ROUNDED
    }

    /// Returns a bound on |Σ_(j ≥ 2) a_j·s^(j − 2)|.
    pub(super) fn beyond_line(&self) -> f64 {
        let errors: f64 = self.errors.iter().skip(2).sum();
        (largest(self.terms.get(2..).unwrap_or_default()) + errors + self.late) * ROUNDED
    }

    /// Returns a bound on |Σ j·a_j·s^(j − 1)|.
    pub(super) fn largest_slope(&self) -> f64 {
        let weighted = |values: &[f64]| -> Vec<f64> {
            values.iter().enumerate().skip(1).map(|(j, value)| j as f64 * value).collect()
        };
        let errors: f64 = weighted(&self.errors).iter().sum();
        (largest(&weighted(&self.terms)) * (1.0 + 2.0 * UNIT) + errors + self.late_slopes) * ROUNDED
    }
}

/// Returns a bound on |Σ p_j·s^j| for |s| ≤ 1: the largest value on a grid of step h, and h²/8 times a bound on the second derivative.
fn largest(p: &[f64]) -> f64 {
    let at = |s: f64| p.iter().rev().fold(0.0, |sum, c| sum * s + c).abs();
    let step = 1.0 / f64::from(STEPS);
    let on_grid = (-STEPS..=STEPS).map(|i| at(f64::from(i) * step)).fold(0.0, f64::max);
    let size: f64 = p.iter().map(|c| c.abs()).sum();
    let curved: f64 = p.iter().enumerate().map(|(j, c)| (j * j.saturating_sub(1)) as f64 * c.abs()).sum();
    on_grid + curved * step * step / 8.0 + (2 * p.len() + 2) as f64 * UNIT * size
}

/// A polynomial and its derivatives, each divided by the factorial of its order.
pub(super) struct Derivatives {
    chebyshev: bool,
    /// Coefficients of the first derivatives of the polynomial, each with a bound on its error.
    orders: Vec<Vec<(f64, f64)>>,
    /// Bounds on each derivative over \[−1, 1\]: sums of absolute values of coefficients.
    sizes: Vec<f64>,
}

impl Derivatives {
    /// Computes all derivatives of the polynomial Σ c_k·T_k(u) or Σ c_k·u^k.
    pub(super) fn new(coefficients: &[f64], basis: Basis) -> Self {
        let chebyshev = matches!(basis, Basis::Chebyshev { .. });
        let mut current: Vec<(f64, f64)> = coefficients.iter().map(|&c| (c, 0.0)).collect();
        let (mut orders, mut sizes) = (Vec::new(), Vec::new());
        for order in 1..=coefficients.len().max(TERMS) {
            sizes.push(current.iter().map(|(c, error)| c.abs() + error).sum::<f64>() * ROUNDED);
            let next = differentiated(&current, order as f64, chebyshev);
            if orders.len() < TERMS {
                orders.push(current);
            }
            current = next;
        }
        Self { chebyshev, orders, sizes }
    }

    /// Returns the model around u, which may be off by two units in the last place, for a radius. All lies in \[−1, 1\] but for the radius.
    pub(super) fn around(&self, u: f64, radius: f64) -> TaylorModel {
        let count = self.orders.iter().map(Vec::len).max().unwrap_or(0);
        let angle = u.clamp(-1.0, 1.0).acos();
        let basis: Vec<f64> = match self.chebyshev {
            true => (0..count).map(|k| (k as f64 * angle).cos()).collect(),
            false => std::iter::successors(Some(1.0), |power| Some(power * u)).take(count).collect(),
        };
        let (mut terms, mut errors) = ([0.0; TERMS], [0.0; TERMS]);
        let places = terms.iter_mut().zip(&mut errors).zip(&self.orders).zip(powers(radius));
        for (j, (((term, error), coefficients), (power, power_error))) in places.enumerate() {
            let (mut value, mut off) = (0.0, 0.0);
            for (k, ((c, c_error), b)) in coefficients.iter().zip(&basis).enumerate() {
                value += c * b;
                // An angle of up to π, off by few units, k times; or k products; and the sum.
                off += c_error + c.abs() * UNIT * (8 * k + count + 8) as f64;
            }
            // The derivative of order j + 1, over (j + 1)!, j + 1 times.
            let slope = self.sizes.get(j + 1).copied().unwrap_or(0.0) * (j + 1) as f64;
            *term = value * power;
            *error = (off + 4.0 * UNIT * slope) * power + value.abs() * power_error + UNIT * term.abs();
            *error = *error * ROUNDED + f64::MIN_POSITIVE;
        }
        let late = self.sizes.iter().zip(powers(radius)).skip(TERMS);
        let rest: f64 = late.map(|(size, (power, error))| size * (power + error)).sum();
        TaylorModel { terms, errors, rest: rest * ROUNDED + f64::MIN_POSITIVE }
    }
}

/// Yields the powers of a number that may be off by two units in the last place, each with a bound on its
/// error.
fn powers(radius: f64) -> impl Iterator<Item = (f64, f64)> {
    let powers = std::iter::successors(Some(1.0_f64), move |power| Some(power * radius));
    powers.enumerate().map(|(j, power)| (power, (6 * j) as f64 * UNIT * power + f64::MIN_POSITIVE))
}

/// Returns the derivative of a polynomial divided by `order`, in the same basis, with bounds on its errors.
fn differentiated(of: &[(f64, f64)], order: f64, chebyshev: bool) -> Vec<(f64, f64)> {
    let mut derivative = vec![(0.0, 0.0); of.len().saturating_sub(1)];
    // b_(k − 1) = b_(k + 1) + 2k·c_k, for Chebyshev polynomials: from above.
    let mut above = [(0.0, 0.0); 2];
    for (k, ((c, error), to)) in of.iter().skip(1).zip(&mut derivative).enumerate().rev() {
        let factor = (k + 1) as f64 * if chebyshev { 2.0 } else { 1.0 } / order;
        let own = c * factor;
        let (before, before_error) = if chebyshev { above[1] } else { (0.0, 0.0) };
        let sum: f64 = own + before;
        let error = error * factor + 3.0 * UNIT * own.abs() + before_error + UNIT * sum.abs();
        *to = (sum, error * ROUNDED + f64::MIN_POSITIVE);
        above = [*to, above[0]];
    }
    if let (true, Some(first)) = (chebyshev, derivative.first_mut()) {
        *first = (first.0 / 2.0, first.1 / 2.0);
    }
    derivative
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chebyshev(coefficients: &[f64]) -> Derivatives {
        Derivatives::new(coefficients, Basis::Chebyshev { low: -1.0, high: 1.0 })
    }

    #[test]
    fn derivatives_by_hand() {
        // T_3 = 4u³ − 3u: its Taylor terms at 1/2 are −1, 0, 6, 4.
        let expected = [-1.0, 0.0, 6.0, 4.0];
        let power = Derivatives::new(&[0.0, -3.0, 0.0, 4.0], Basis::Power);
        for model in [chebyshev(&[0.0, 0.0, 0.0, 1.0]), power].map(|of| of.around(0.5, 1.0)) {
            for (j, (term, error)) in model.terms.iter().zip(&model.errors).enumerate() {
                let expected = expected.get(j).copied().unwrap_or(0.0);
                assert!((term - expected).abs() <= *error && *error < 1e-13, "{j}: {model:?}");
            }
            assert!(model.rest < 1e-300);
        }
    }

    /// Checks that omitted terms are in the rest: T_30 has 31 terms.
    #[test]
    fn what_is_left_out_is_bounded() {
        let mut coefficients = vec![0.0; 31];
        coefficients[30] = 1.0;
        let radius = 0.04;
        let model = chebyshev(&coefficients).around(0.3, radius);
        let series = Series::chebyshev(-1.0, 1.0, coefficients).unwrap();
        let mut seen = 0.0_f64;
        for i in -100..=100 {
            let s = f64::from(i) / 100.0;
            let kept = model.terms.iter().rev().fold(0.0, |sum, c| sum * s + c);
            let error = (series.at(0.3 + radius * s) - kept).abs();
            assert!(error <= (model.rest + model.errors.iter().sum::<f64>()) * s.abs().powi(12) + 1e-13);
            seen = seen.max(error);
        }
        assert!(seen > 1e-9 && model.rest < 1.0, "{seen} {}", model.rest);
    }

    /// Checks the second derivative's part of the bound: without it the largest value between points of the grid would be missed.
    #[test]
    fn values_between_points_of_the_grid_are_bounded() {
        let top = 1.0 / 64.0;
        // 1 − (s − top)²: 1 lies halfway between two points.
        let bound = largest(&[1.0 - top * top, 2.0 * top, -1.0]);
        assert!((1.0..1.001).contains(&bound), "{bound}");
        let half = [0.0, 0.0, 1.0].map(|c: f64| c * 4.0);
        assert!((4.0..4.01).contains(&largest(&half)));
    }

    #[test]
    fn models_of_compositions() {
        // cos 2θ, 1/(4π) of it, and a cubic of it, at a centre and a radius.
        let base = chebyshev(&[0.1, 0.7, -0.2]);
        let (u, radius) = (0.4, 0.05);
        let series = Series::power(vec![0.5, 1.0, 0.0, 1.0 / 6.0]).unwrap();
        let model =
            base.around(u, radius).doubled().scaled(1.0 / (4.0 * std::f64::consts::PI)).through(&series);
        let square = model.minus(&model.times(&model));
        let exact = |u: f64| {
            let c: f64 = 0.1 + 0.7 * u - 0.2 * (2.0 * u * u - 1.0);
            let v = (2.0 * c * c - 1.0) / (4.0 * std::f64::consts::PI);
            let y = 0.5 + v + v.powi(3) / 6.0;
            y - y * y
        };
        for i in -50..=50 {
            let s = f64::from(i) / 50.0;
            let kept = square.terms.iter().rev().fold(0.0, |sum, c| sum * s + c);
            let bound = square.errors.iter().sum::<f64>() + square.rest;
            let error = (exact(u + radius * s) - kept).abs();
            assert!(error <= bound + 1e-16 && bound < 1e-9, "{s}: {error} {bound}");
        }
    }
}
