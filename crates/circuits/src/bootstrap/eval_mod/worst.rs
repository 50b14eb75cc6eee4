//! The maximum norm of what EvalMod is wrong by, for every integer of its range.

use std::f64::consts::LN_2;

use super::{EvalMod, ratio, variance};

/// Bounds on value − (x mod 1), for |x mod 1| ≤ a largest one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorstError {
    /// The largest error of all, at any integer up to K.
    pub largest: f64,
    /// A bound on the deviation at integers themselves, in the sense that t times as much is exceeded with probability at most 2·exp(−t²/2): rare
    /// integers are approximated worse.
    pub at_integers: f64,
    /// The same of the slope's distance from 1.
    pub of_slopes: f64,
    /// The largest error beyond those two, times the square of largest/|x mod 1|: what a vector of x mod 1 with ‖·‖₂ ≤ largest is wrong by in the norm ‖·‖₁.
    pub distortion: f64,
    /// The largest |slope|.
    pub slope: f64,
}

/// An integer so many deviations away has a probability below 2^-64: its errors are in the maximum norm only.
const RAREST: f64 = 9.5;
/// Points between 0 and the largest x mod 1.
const POINTS: i32 = 32;
/// By how much more the grid may miss: values move by less from point to point.
const MARGIN: f64 = 1.02;

impl EvalMod {
    /// The maximum norm over all integers up to K, for x mod 1 of at most `largest`.
    #[must_use]
    pub fn worst_error(&self, largest: f64) -> WorstError {
        let mut worst =
            WorstError { largest: 0.0, at_integers: 0.0, of_slopes: 0.0, distortion: 0.0, slope: 1.0 };
        let deviation = variance(self.parameters.weight).sqrt();
        let (mut at_integers, mut of_slopes) = (0.0_f64, 0.0_f64);
        for integer in 0..=self.parameters.range {
            for centre in [integer as f64, -(integer as f64)] {
                let (at, slope) = (self.at(centre), self.slope(centre));
                at_integers = at_integers.max(at.abs());
                of_slopes = of_slopes.max((slope - 1.0).abs());
                for step in (1..=POINTS).flat_map(|step| [step, -step]) {
                    let share = f64::from(step) / f64::from(POINTS);
                    let rest = largest * share;
                    let value = self.at(centre + rest);
                    worst.largest = worst.largest.max((value - rest).abs());
                    let beyond = (value - at - slope * rest).abs() / (share * share);
                    worst.distortion = worst.distortion.max(beyond);
                }
                for rest in [-largest, largest] {
                    worst.slope = worst.slope.max(self.slope(centre + rest).abs());
                }
            }
            // P(|I| ≥ k) ≤ 2·exp(−t²/2) for this t: x is a sum of uniform variables, whose moments are at most a Gaussian's.
            let rarity = ((integer as f64 - 0.5) / deviation).max((2.0 * LN_2).sqrt());
            if rarity > RAREST {
                continue;
            }
            worst.at_integers = worst.at_integers.max(at_integers / rarity);
            worst.of_slopes = worst.of_slopes.max(of_slopes / rarity);
        }
        worst.largest = MARGIN * worst.largest.max(at_integers);
        worst.distortion *= MARGIN;
        worst
    }

    /// The derivative, by a difference of a 64th of the largest x mod 1.
    fn slope(&self, x: f64) -> f64 {
        let step = ratio(self.parameters.ratio_bits) / 64.0;
        (self.at(x + step) - self.at(x - step)) / (2.0 * step)
    }
}
