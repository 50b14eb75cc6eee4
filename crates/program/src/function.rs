//! Smooth functions of the language: values, slopes, and where they are defined.

use serde::{Deserialize, Serialize};
use sunzi_circuits::approximation::Function as Known;

/// Smooth function of one number, approximated by a polynomial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Function {
    /// Logistic function 1/(1 + e^−x).
    Sigmoid,
    /// Hyperbolic tangent of x.
    Tanh,
    /// Exponential function e^x.
    Exp,
    /// Natural logarithm of x, for x > 0.
    Log,
    /// Square root √x, for x ≥ 0.
    Sqrt,
    /// Reciprocal 1/x, on intervals with x > 0 or with x < 0.
    Inverse,
}

impl Function {
    /// All functions of the language.
    pub const ALL: [Self; 6] = [Self::Sigmoid, Self::Tanh, Self::Exp, Self::Log, Self::Sqrt, Self::Inverse];

    /// Returns the function's name in the language.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sigmoid => "sigmoid",
            Self::Tanh => "tanh",
            Self::Exp => "exp",
            Self::Log => "log",
            Self::Sqrt => "sqrt",
            Self::Inverse => "inverse",
        }
    }

    /// Returns the function of the approximation library, whose polynomials have proved errors.
    pub(crate) fn known(self) -> Known {
        match self {
            Self::Sigmoid => Known::Sigmoid,
            Self::Tanh => Known::Tanh,
            Self::Exp => Known::Exp,
            Self::Log => Known::Ln,
            Self::Sqrt => Known::SquareRoot,
            Self::Inverse => Known::Inverse,
        }
    }

    /// Returns the function's value at x.
    #[must_use]
    pub fn at(self, x: f64) -> f64 {
        self.known().at(x)
    }

    /// Whether the function is smooth on \[low, high\], both ends included.
    #[must_use]
    pub fn is_smooth(self, low: f64, high: f64) -> bool {
        match self {
            Self::Sigmoid | Self::Tanh | Self::Exp => true,
            Self::Log | Self::Sqrt => low > 0.0,
            Self::Inverse => low > 0.0 || high < 0.0,
        }
    }

    /// Whether the function grows beyond all bounds near 0, or its slope does.
    pub(crate) fn has_pole(self) -> bool {
        matches!(self, Self::Log | Self::Sqrt | Self::Inverse)
    }

    /// Returns an upper bound of |f′| on \[low, high\]; infinite where the function f is not smooth.
    #[must_use]
    pub fn slope(self, low: f64, high: f64) -> f64 {
        if !self.is_smooth(low, high) {
            return f64::INFINITY;
        }
        let nearest = 0.0_f64.max(low).min(high);
        let slope = match self {
            Self::Sigmoid => self.at(nearest) * self.at(-nearest),
            Self::Tanh => 1.0 - nearest.tanh() * nearest.tanh(),
            Self::Exp => high.exp(),
            Self::Log => 1.0 / low,
            Self::Sqrt => 0.5 / low.sqrt(),
            Self::Inverse => 1.0 / (nearest * nearest),
        };
        // Above the rounding errors of the line before.
        slope * (1.0 + 1e-12) + 1e-15
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_secant_is_steeper_than_the_slope() {
        for function in Function::ALL {
            for (low, high) in [(-3.0, 2.0), (0.5, 4.0), (-6.0, -1.0), (1e-3, 1.0), (-40.0, 40.0)] {
                let slope = function.slope(low, high);
                if !function.is_smooth(low, high) {
                    assert_eq!(slope, f64::INFINITY);
                    continue;
                }
                let step = (high - low) / 1000.0;
                let at = |i: i32| function.at(low + step * f64::from(i));
                let steepest = (0..1000).map(|i| (at(i + 1) - at(i)).abs() / step).fold(0.0, f64::max);
                assert!(steepest <= slope * (1.0 + 1e-9) + 1e-9, "{function:?} [{low}, {high}]");
                assert!(steepest >= 0.4 * slope, "{function:?} [{low}, {high}]: {steepest}, {slope}");
            }
        }
    }
}
