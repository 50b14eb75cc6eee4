//! Known functions, with enough of their properties to prove how far a polynomial is from them.

use std::f64::consts::{FRAC_2_PI, FRAC_PI_2, FRAC_PI_4, LN_2, PI};

use crate::series::{SeriesError, check_interval};

/// Relative error bound of the standard library's value of a function: 16 units in the last place, where today's
/// libraries promise one or two.
pub(crate) const VALUE_ERROR: f64 = 8.0 * f64::EPSILON;

/// A function that [`approximate_function`](super::approximate_function) knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Function {
    /// Exponential function e^x.
    Exp,
    /// Logistic function 1/(1 + e^−x).
    Sigmoid,
    /// Hyperbolic tangent of x.
    Tanh,
    /// Natural logarithm of x, for x > 0.
    Ln,
    /// Reciprocal 1/x, for x > 0 or x < 0 throughout.
    Inverse,
    /// Square root √x, for x ≥ 0.
    SquareRoot,
    /// Reciprocal square root 1/√x, for x > 0.
    InverseSquareRoot,
    /// Sine of an angle x in radians.
    Sine,
    /// Cosine of an angle x in radians.
    Cosine,
}

impl Function {
    /// All functions that approximations know.
    pub const ALL: [Self; 9] = [
        Self::Exp,
        Self::Sigmoid,
        Self::Tanh,
        Self::Ln,
        Self::Inverse,
        Self::SquareRoot,
        Self::InverseSquareRoot,
        Self::Sine,
        Self::Cosine,
    ];

    /// Returns the function's value in the clear, as the standard library computes it.
    #[must_use]
    pub fn at(self, x: f64) -> f64 {
        match self {
            Self::Exp => x.exp(),
            Self::Sigmoid => 1.0 / (1.0 + (-x).exp()),
            Self::Tanh => x.tanh(),
            Self::Ln => x.ln(),
            Self::Inverse => 1.0 / x,
            Self::SquareRoot => x.sqrt(),
            Self::InverseSquareRoot => 1.0 / x.sqrt(),
            Self::Sine => x.sin(),
            Self::Cosine => x.cos(),
        }
    }

    /// Checks that the function is defined all over the interval.
    ///
    /// # Errors
    /// [`SeriesError::Interval`]; [`SeriesError::OutOfRange`] for an interval that reaches a pole or what lies beyond it;
    /// [`SeriesError::NotFinite`] where the function's values exceed a double.
    pub fn check(self, low: f64, high: f64) -> Result<(), SeriesError> {
        check_interval(low, high)?;
        let expected = match self {
            Self::Ln | Self::InverseSquareRoot if low <= 0.0 => "above 0",
            Self::SquareRoot if low < 0.0 => "at least 0",
            Self::Inverse if low <= 0.0 && high >= 0.0 => {
                "above 0, or the upper end below 0: 1/x has its pole there"
            }
            _ => "",
        };
        if !expected.is_empty() {
            return Err(SeriesError::OutOfRange { what: "the lower end", got: low, expected });
        }
        match [low, high].into_iter().find(|&x| !self.at(x).is_finite()) {
            Some(at) => Err(SeriesError::NotFinite { at }),
            None => Ok(()),
        }
    }

    /// Whether the function is defined above any interval of numbers above 0, and no harder to approximate there.
    pub(crate) fn goes_on_above(self) -> bool {
        matches!(self, Self::Ln | Self::SquareRoot | Self::InverseSquareRoot | Self::Inverse)
    }

    /// Bounds the change of the function's value where its argument in \[low, high\] moves by `step`.
    pub(crate) fn change(self, low: f64, high: f64, step: f64) -> f64 {
        let nearest = low.abs().min(high.abs());
        match self {
            Self::Exp => step * high.exp(),
            Self::Sigmoid => step / 4.0,
            Self::Tanh | Self::Sine | Self::Cosine => step,
            Self::Ln => step / nearest,
            Self::Inverse => step / (nearest * nearest),
            // |√x − √y| ≤ √|x − y|.
            Self::SquareRoot => step.sqrt().min(step / (2.0 * nearest.sqrt())),
            Self::InverseSquareRoot => step / (2.0 * nearest * nearest.sqrt()),
        }
    }

    /// Bounds the distance of the best polynomial of a degree from the function on \[low, high\], in the maximum norm: the tail of its Chebyshev
    /// series, whose coefficients fall as 2·M·ρ^−k where |f| ≤ M on the ellipse of Bernstein whose semi-axes add up to ρ.
    #[must_use]
    pub fn best_error(self, low: f64, high: f64, degree: usize) -> f64 {
        // Ellipses from 1 + 2^-24 to 1 + 2^24 in steps of a quarter of an octave, and finer ones beside the best of them.
        let at = |quarter: f64| self.tail(low, high, degree, (quarter / 4.0).exp2());
        let coarse = (-96..=96).map(|quarter| (at(f64::from(quarter)), f64::from(quarter)));
        let (_, around) =
            coarse.fold((f64::INFINITY, 0.0), |best, next| if next.0 < best.0 { next } else { best });
        let fine = (-16..=16).map(|i| at(around + f64::from(i) / 16.0)).fold(f64::INFINITY, f64::min);
        if self != Self::SquareRoot {
            return fine;
        }
        // √x on [0, b] has the coefficients (4/π)·√b/(4k² − 1), whose sum beyond the degree is this.
        let from_zero = high.sqrt() * FRAC_2_PI / (2 * degree + 1) as f64;
        fine.min(from_zero * (1.0 + 1e-12))
    }

    /// Returns the tail 2·M·ρ^−degree/(ρ − 1) of a Chebyshev series for ρ = 1 + beyond.
    fn tail(self, low: f64, high: f64, degree: usize, beyond: f64) -> f64 {
        let Some(largest) = self.ln_on_ellipse(low, high, beyond) else { return f64::INFINITY };
        // All roundings together change it by far less than this margin.
        (LN_2 + largest - degree as f64 * beyond.ln_1p() - beyond.ln() + 1e-9).exp()
    }

    /// Returns ln M for the ellipse of ρ = 1 + beyond; `None` where the function has no bound there.
    fn ln_on_ellipse(self, low: f64, high: f64, beyond: f64) -> Option<f64> {
        let radius = (high - low) / 2.0;
        // The semi-axes: radius + out, and up.
        let out = radius * beyond * beyond / (2.0 * (1.0 + beyond));
        let up = radius * beyond * (2.0 + beyond) / (2.0 * (1.0 + beyond));
        // Distance of the ellipse from 0 where it lies on one side of it.
        let nearest = low.abs().min(high.abs()) * (1.0 - 1e-12) - out;
        let farthest = low.abs().max(high.abs()) + out;
        let largest = match self {
            Self::Exp => return Some(high + out),
            // |sin z|, |cos z| ≤ cosh(Im z).
            Self::Sine | Self::Cosine => return Some(up),
            // |1 + e^−z| ≥ 1 where |Im z| ≤ π/2, and from there to π the distance of −1 from a ray.
            Self::Sigmoid if up <= FRAC_PI_2 => 1.0,
            Self::Sigmoid if up < PI * (1.0 - 1e-12) => up.sin().recip(),
            // |tanh z|² = (sinh² x + sin² y)/(sinh² x + cos² y) for z = x + iy.
            Self::Tanh if up <= FRAC_PI_4 => 1.0,
            Self::Tanh if up < FRAC_PI_2 * (1.0 - 1e-12) => up.tan(),
            Self::Ln if nearest > 0.0 => nearest.ln().abs().max(farthest.ln().abs()) + FRAC_PI_2,
            Self::Inverse if nearest > 0.0 => nearest.recip(),
            Self::InverseSquareRoot if nearest > 0.0 => nearest.sqrt().recip(),
            Self::SquareRoot if nearest >= 0.0 => farthest.sqrt(),
            _ => return None,
        };
        Some(largest.ln())
    }
}
