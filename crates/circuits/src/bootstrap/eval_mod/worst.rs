//! Maximum norm of the error of EvalMod, for every integer of its range, by a proof.
//!
//! Around every integer a [`TaylorModel`] of the value follows from one of the first polynomial: through the doublings, or squarings, and the polynomial next
//! to arcsin. It has the error and its slope in the first two terms, and all that lies beyond in the others, with roundings of doubles.

use std::f64::consts::{LN_2, PI};

use num_complex::Complex64;

use super::taylor_model::{Derivatives, Inner, TaylorModel};
use super::{ApproximationForm, EvalMod, SHIFT};

/// Proved bounds on value − (x mod 1), for |x mod 1| up to a largest value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorstError {
    /// Largest error of EvalMod at any integer up to K.
    pub largest: f64,
    /// Largest error of EvalMod at integers that occur with a probability of 2^-64 or more.
    pub likely: f64,
    /// Bound on the deviation of the error at integers, in the sense that t times as much is exceeded with probability at most 2·exp(−t²/2): rare
    /// integers are approximated worse.
    pub at_integers: f64,
    /// Bound on the deviation of the slope's distance from 1, in the sense of `at_integers`.
    pub of_slopes: f64,
    /// Largest error beyond `at_integers` and `of_slopes`, times the square of largest/|x mod 1|: the error
    /// of a vector of x mod 1 with ‖·‖₂ ≤ largest in the norm ‖·‖₁.
    pub distortion: f64,
    /// Largest |slope| of EvalMod near an integer.
    pub slope: f64,
}

/// Rarity beyond which an integer occurs with probability below 2^-64 in any of 2^17 coefficients: its errors are in the maximum norm only.
const RAREST: f64 = 10.7;
/// Least bound on |x mod 1| that is computed with: smaller ones are rounded up to it.
const LEAST: f64 = 1.0 / (1_u64 << 60) as f64;

impl EvalMod {
    /// Computes bounds over all integers up to K, for x mod 1 of at most `largest`: infinite above 1, where nothing is near.
    #[must_use]
    pub fn worst_error(&self, largest: f64) -> WorstError {
        let mut worst = WorstError {
            largest: 0.0,
            likely: 0.0,
            at_integers: 0.0,
            of_slopes: 0.0,
            distortion: 0.0,
            slope: 1.0,
        };
        if largest.is_nan() || largest > 1.0 {
            let all = f64::INFINITY;
            let [likely, at_integers, of_slopes, distortion, slope] = [all; 5];
            return WorstError { largest: all, likely, at_integers, of_slopes, distortion, slope };
        }
        let largest = largest.max(LEAST);
        let first = self.first_polynomials();
        let (mut at_integers, mut of_slopes) = (0.0_f64, 0.0_f64);
        for integer in 0..=self.parameters.range {
            for centre in [integer as f64, -(integer as f64)] {
                let model = self.model(&first, centre, largest);
                at_integers = at_integers.max(bound(model.term_from(0, 0.0)));
                of_slopes = of_slopes.max(bound(model.term_from(1, largest)) / largest);
                worst.largest = worst.largest.max(bound(model.distance_from_line(largest)));
                worst.distortion = worst.distortion.max(bound(model.beyond_line()));
                worst.slope = worst.slope.max(bound(model.largest_slope()) / largest);
            }
            let rarity = rarity(self.parameters.weight, integer as f64 - 0.5 - largest);
            if rarity > RAREST {
                continue;
            }
            worst.likely = worst.largest;
            worst.at_integers = worst.at_integers.max(at_integers / rarity);
            worst.of_slopes = worst.of_slopes.max(of_slopes / rarity);
        }
        worst
    }

    /// Returns the first polynomial with its derivatives: one, or real and imaginary part.
    fn first_polynomials(&self) -> Vec<Derivatives> {
        let part = |of: fn(&Complex64) -> f64| {
            let part: Vec<f64> = self.base.coefficients().iter().map(of).collect();
            Derivatives::new(&part, self.base.basis())
        };
        match self.parameters.form {
            ApproximationForm::Cosine { .. } => vec![part(|c| c.re)],
            _ => vec![part(|c| c.re), part(|c| c.im)],
        }
    }

    /// Returns a model of the value around an integer, for |x mod 1| ≤ largest: a model of twice that radius, restricted to the inner half.
    fn model(&self, first: &[Derivatives], centre: f64, largest: f64) -> Inner {
        let (radius, doublings) = (2.0 * largest / self.width, self.parameters.doublings);
        let around = |u: f64| first.iter().map(|part| part.around(u, radius)).collect::<Vec<_>>();
        let value = match self.parameters.form {
            ApproximationForm::Cosine { .. } => {
                let models = around((centre - SHIFT) / self.width);
                let cosine =
                    models.into_iter().next().map(|first| (0..doublings).fold(first, |c, _| c.doubled()));
                match &self.arcsine {
                    Some(series) => cosine.map(|cosine| cosine.through(series)),
                    None => cosine.map(|cosine| cosine.scaled(1.0 / (2.0 * PI))),
                }
            }
            _ => match around(centre / self.width)[..] {
                [real, imaginary] => {
                    let square = |(a, b): (TaylorModel, TaylorModel), _| {
                        (a.times(&a).minus(&b.times(&b)), a.times(&b).scaled(2.0))
                    };
                    let (_, sine) = (0..doublings).fold((real, imaginary), square);
                    Some(sine.scaled(1.0 / (2.0 * PI)))
                }
                _ => None,
            },
        };
        value.map_or_else(Inner::unknown, |value| value.inner_half())
    }
}

/// Returns t with P(|I| ≥ k) ≤ 2·exp(−t²/2), where |I| ≥ k requires a sum of h uniform variables that is at least x in absolute value.
///
/// The moments of the sum of uniform variables are at most a Gaussian's; and it is at least x with the
/// probability d^h/h! at most, for d = h/2 − x, which is the volume of a simplex that contains the corner of
/// the cube.
fn rarity(weight: usize, x: f64) -> f64 {
    let count = weight.max(1) as f64;
    let gaussian = x / (count / 12.0).sqrt();
    let factorial: f64 = (1..=weight.max(1)).map(|k| (k as f64).ln()).sum();
    let corner = (count / 2.0 - x).max(0.0);
    let simplex = (2.0 * (factorial - count * corner.ln())).max(0.0).sqrt();
    gaussian.max(simplex).max((2.0 * LN_2).sqrt()) * (1.0 - 1e-9)
}

/// Turns NaN, which is no bound, into infinity.
fn bound(value: f64) -> f64 {
    if value.is_nan() { f64::INFINITY } else { value }
}

#[cfg(test)]
mod tests;
