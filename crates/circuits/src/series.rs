//! Polynomials with real or complex coefficients, and their values at an encrypted point of CKKS.

pub(crate) mod evaluate;
pub(crate) mod plan;

use std::f64::consts::PI;

use num_complex::Complex64;

pub use evaluate::{declared_within, depth, evaluate, evaluate_many, evaluate_to};
pub use plan::Cost;

/// Basis of the coefficients of a [`Series`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Basis {
    /// Basis of powers 1, x, x², ….
    Power,
    /// Chebyshev polynomials T_0(u), T_1(u), T_2(u), … with u = (2x − low − high)/(high − low), which is in \[−1, 1\] on the interval.
    Chebyshev {
        /// Lower end of the interval of x.
        low: f64,
        /// Upper end of the interval of x.
        high: f64,
    },
}

/// Parity of the terms of a polynomial, in u for a Chebyshev basis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parity {
    /// Even exponents only: half of the degree in u², one level below.
    Even,
    /// Odd exponents only: even powers but powers of two are left out.
    Odd,
    /// Exponents of both parities in one polynomial.
    Mixed,
}

/// A polynomial Σ a_i·x^i or Σ a_i·T_i(u) with coefficients of type `C`: real ones, or [`Complex64`].
#[derive(Clone, Debug, PartialEq)]
pub struct Series<C = f64> {
    basis: Basis,
    coefficients: Vec<C>,
}

/// An error of the mathematics on series, in the clear: what was expected, what came, what to do.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SeriesError {
    /// An interval is empty or unbounded.
    #[error("the interval [{low}, {high}]: give finite ends with the lower one first")]
    Interval {
        /// Lower end of the interval.
        low: f64,
        /// Upper end of the interval.
        high: f64,
    },
    /// A number given to a function is out of its range.
    #[error("{what} is {got}: it must be {expected}")]
    OutOfRange {
        /// Name of the number that is out of range.
        what: &'static str,
        /// Value of the number that is out of range.
        got: f64,
        /// Range that the number must be in.
        expected: &'static str,
    },
    /// A function has no finite value where it is needed.
    #[error("the function has no finite value at {at}: choose an interval on which it is smooth")]
    NotFinite {
        /// Point at which the function has no finite value.
        at: f64,
    },
    /// No degree up to the largest reaches the requested error.
    #[error(
        "an error of {wanted:e} needs a degree above {largest}, which leaves {reached:e}: allow a larger error or \
         choose a smaller interval"
    )]
    NotReached {
        /// Error of approximation requested.
        wanted: f64,
        /// Largest degree that was tried.
        largest: usize,
        /// Error reached at the largest degree.
        reached: f64,
    },
}

impl<C: Copy + Into<Complex64>> Series<C> {
    /// Makes a polynomial from coefficients and their basis; trailing zeros are dropped.
    ///
    /// # Errors
    /// [`SeriesError::Interval`]; [`SeriesError::OutOfRange`] for a coefficient that is not finite.
    pub fn new(basis: Basis, mut coefficients: Vec<C>) -> Result<Self, SeriesError> {
        if let Basis::Chebyshev { low, high } = basis {
            check_interval(low, high)?;
        }
        if let Some(got) = coefficients.iter().map(|&c| c.into()).find(|c| !c.is_finite()) {
            let got = got.norm();
            return Err(SeriesError::OutOfRange { what: "a coefficient", got, expected: "finite" });
        }
        while coefficients.last().is_some_and(|&c| c.into() == Complex64::ZERO) {
            coefficients.pop();
        }
        Ok(Self { basis, coefficients })
    }

    /// Makes the polynomial Σ a_i·x^i in the basis of powers.
    ///
    /// # Errors
    /// Every error of [`new`](Self::new).
    pub fn power(coefficients: Vec<C>) -> Result<Self, SeriesError> {
        Self::new(Basis::Power, coefficients)
    }

    /// Makes the polynomial Σ a_i·T_i(u) for x in \[low, high\], in the Chebyshev basis.
    ///
    /// # Errors
    /// Every error of [`new`](Self::new).
    pub fn chebyshev(low: f64, high: f64, coefficients: Vec<C>) -> Result<Self, SeriesError> {
        Self::new(Basis::Chebyshev { low, high }, coefficients)
    }

    /// Basis of the polynomial's coefficients.
    #[must_use]
    pub fn basis(&self) -> Basis {
        self.basis
    }

    /// Coefficients a_0, a_1, … of the polynomial, the last one not zero.
    #[must_use]
    pub fn coefficients(&self) -> &[C] {
        &self.coefficients
    }

    /// Degree of the polynomial; 0 for the polynomial zero too.
    #[must_use]
    pub fn degree(&self) -> usize {
        self.coefficients.len().saturating_sub(1)
    }

    /// Parity of the exponents of the polynomial. Constants are even.
    #[must_use]
    pub fn parity(&self) -> Parity {
        let zero = |odd: usize| self.terms().skip(odd).step_by(2).all(|c| c == Complex64::ZERO);
        match (zero(1), zero(0)) {
            (true, _) => Parity::Even,
            (false, true) => Parity::Odd,
            (false, false) => Parity::Mixed,
        }
    }

    /// Returns slope and shift of u = slope·x + shift, the variable of the polynomial's basis.
    #[must_use]
    pub fn change_of_variable(&self) -> (f64, f64) {
        match self.basis {
            Basis::Power => (1.0, 0.0),
            Basis::Chebyshev { low, high } => (2.0 / (high - low), -(low + high) / (high - low)),
        }
    }

    /// Returns the cost of the polynomial's evaluation by [`evaluate`].
    #[must_use]
    pub fn cost(&self) -> Cost {
        plan::Plan::new(self).cost()
    }

    /// Returns a bound on |p| of the polynomial over its interval, for a Chebyshev basis: the largest value
    /// on a grid and a margin; infinity for powers.
    #[must_use]
    pub fn largest_value(&self) -> f64 {
        let Basis::Chebyshev { low, high } = self.basis else { return f64::INFINITY };
        let points = 16 * (self.degree() + 1);
        let at = |i: usize| low + (high - low) * (0.5 - 0.5 * (PI * i as f64 / points as f64).cos());
        // Between points the argument of a cosine of frequency d moves by π/32 at most from an extremum.
        (0..=points).map(|i| self.at_complex(at(i).into()).norm()).fold(0.0, f64::max) * 1.01
    }

    /// Returns the polynomial's value in the clear at a complex point, by Horner's or Clenshaw's rule.
    #[must_use]
    pub fn at_complex(&self, x: Complex64) -> Complex64 {
        let (slope, shift) = self.change_of_variable();
        let u = x * slope + shift;
        let (mut first, mut second) = (Complex64::ZERO, Complex64::ZERO);
        match self.basis {
            Basis::Power => self.terms().rev().fold(first, |y, c| y * u + c),
            Basis::Chebyshev { .. } => {
                for c in self.terms().skip(1).rev() {
                    (first, second) = (u * first * 2.0 - second + c, first);
                }
                u * first - second + self.terms().next().unwrap_or(Complex64::ZERO)
            }
        }
    }

    /// Returns the polynomial with coefficients of complex type.
    #[must_use]
    pub fn to_complex(&self) -> Series<Complex64> {
        Series { basis: self.basis, coefficients: self.terms().collect() }
    }

    /// The coefficients as complex numbers.
    pub(crate) fn terms(&self) -> impl DoubleEndedIterator<Item = Complex64> + ExactSizeIterator {
        self.coefficients.iter().map(|&c| c.into())
    }
}

impl Series {
    /// Returns the polynomial's value at x in the clear.
    #[must_use]
    pub fn at(&self, x: f64) -> f64 {
        self.at_complex(Complex64::from(x)).re
    }
}

pub(crate) fn check_interval(low: f64, high: f64) -> Result<(), SeriesError> {
    let good = low.is_finite() && high.is_finite() && low < high;
    if good { Ok(()) } else { Err(SeriesError::Interval { low, high }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_bases_agree_in_the_clear() {
        // T_0 − 2·T_1 + 3·T_3 = 1 − 11u + 12u³ for u = (x − 1)/2.
        let chebyshev = Series::chebyshev(-1.0, 3.0, vec![1.0, -2.0, 0.0, 3.0, 0.0]).unwrap();
        let power = Series::power(vec![1.0, -11.0, 0.0, 12.0]).unwrap();
        assert_eq!((chebyshev.degree(), chebyshev.parity()), (3, Parity::Mixed));
        for x in [-1.0, -0.3, 0.0, 1.0, 2.9, 3.0] {
            assert!((chebyshev.at(x) - power.at((x - 1.0) / 2.0)).abs() < 1e-13);
        }
    }

    #[test]
    fn parity_and_bad_arguments() {
        let parity = |c: &[f64]| Series::power(c.to_vec()).unwrap().parity();
        assert_eq!(parity(&[]), Parity::Even);
        assert_eq!(parity(&[1.0, 0.0, 2.0]), Parity::Even);
        assert_eq!(parity(&[0.0, 1.0, 0.0, 2.0]), Parity::Odd);
        assert_eq!(parity(&[1.0, 1.0]), Parity::Mixed);
        assert!(Series::power(vec![f64::NAN]).is_err());
        assert!(Series::<f64>::chebyshev(1.0, 1.0, vec![]).is_err());
        assert!(Series::<f64>::chebyshev(f64::NEG_INFINITY, 1.0, vec![]).is_err());
    }
}
