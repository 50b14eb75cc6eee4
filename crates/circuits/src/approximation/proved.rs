//! Approximations whose error is proved.

use super::function::VALUE_ERROR;
use super::proof::Known;
use super::{Function, LARGEST_DEGREE, Target, chebyshev_coefficients, kept, largest_error};
use sunzi_ckks::{Ciphertext, CkksError, Evaluator, Metadata};
use sunzi_rlwe::RelinearizationKey;

use crate::series::{Series, SeriesError, check_interval, evaluate};

/// A polynomial and a bound on how far it is from the function.
///
/// The error holds at every point of the interval, not only at those that were looked at. It takes for granted that values of the function are
/// right to 16 units in the last place of the largest one.
#[derive(Clone, Debug, PartialEq)]
pub struct ProvedApproximation {
    /// The polynomial, in a Chebyshev basis of the interval.
    pub series: Series,
    /// max |f − p| over the interval is at most this.
    pub error: f64,
}

/// What is known of a function of one's own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Smoothness {
    /// |f(x) − f(y)| ≤ L·|x − y|: a bound on |f′| is one.
    Lipschitz(f64),
    /// |f″| is at most this: errors are proved at far less work.
    SecondDerivative(f64),
}

/// The Chebyshev series of a known function on \[low, high\], cut off, and its error, proved.
///
/// ```
/// use sunzi_circuits::approximation::{Function, Target, approximate_function};
/// let found = approximate_function(Function::Sigmoid, -8.0, 8.0, Target::Error(1e-3))?;
/// assert!(found.error <= 1e-3 && found.series.degree() < 32);
/// assert!((found.series.at(7.3) - Function::Sigmoid.at(7.3)).abs() <= found.error);
/// # Ok::<(), sunzi_circuits::series::SeriesError>(())
/// ```
///
/// # Errors
/// As [`Function::check`]; [`SeriesError::NotReached`] for an error that [`LARGEST_DEGREE`] misses or rounding errors hide;
/// [`SeriesError::OutOfRange`] for a larger degree.
pub fn approximate_function(
    function: Function,
    low: f64,
    high: f64,
    target: Target,
) -> Result<ProvedApproximation, SeriesError> {
    function.check(low, high)?;
    with_known(function, low, high, |known| approximated(known, target))
}

/// A bound on how far any polynomial is from a known function on \[low, high\]: one of [`minimax`](super::minimax), say. Outside of the interval of its
/// Chebyshev basis it says nothing.
///
/// # Errors
/// As [`Function::check`]; [`SeriesError::Interval`] unless the polynomial is in a Chebyshev basis on an interval that holds this one.
pub fn proved_error(function: Function, series: &Series, low: f64, high: f64) -> Result<f64, SeriesError> {
    function.check(low, high)?;
    match series.basis() {
        crate::series::Basis::Chebyshev { low: from, high: to } if from <= low && high <= to => {}
        _ => return Err(SeriesError::Interval { low, high }),
    }
    with_known(function, low, high, |known| Ok(known.largest_error(series)))
}

/// The Chebyshev series of a function of one's own and its error, proved if what is said of its smoothness is true: nothing can check that.
///
/// A Lipschitz constant leaves much room between points: ask for errors down to 10^-4 of L·(high − low) with it, or give the second derivative.
///
/// # Errors
/// As [`approximate`](super::approximate); [`SeriesError::OutOfRange`] for a bound that is no finite number from 0 on.
pub fn approximate_smooth(
    f: impl Fn(f64) -> f64,
    smoothness: Smoothness,
    low: f64,
    high: f64,
    target: Target,
) -> Result<ProvedApproximation, SeriesError> {
    check_interval(low, high)?;
    let (Smoothness::Lipschitz(bound) | Smoothness::SecondDerivative(bound)) = smoothness;
    if !(bound.is_finite() && bound >= 0.0) {
        let expected = "a finite number from 0 on";
        return Err(SeriesError::OutOfRange { what: "the bound on the derivative", got: bound, expected });
    }
    let (length, half_pi) = (high - low, std::f64::consts::FRAC_PI_2);
    let slope = match smoothness {
        Smoothness::Lipschitz(slope) => slope,
        Smoothness::SecondDerivative(bound) => {
            // |f| between points is at most that of a neighbour and what a parabola adds; f′ is a quotient of differences and f″.
            let largest = (0..=64).map(|i| f(low + length * f64::from(i) / 64.0).abs()).fold(0.0, f64::max);
            4.0 * (largest + bound * (length / 64.0).powi(2) / 8.0) / length + bound * length / 4.0
        }
    };
    // The theorems of Jackson with the constants of Favard, Achieser and Krein.
    let best = |degree: usize| match smoothness {
        Smoothness::Lipschitz(slope) => half_pi * slope * length / 2.0 / (degree + 1) as f64,
        Smoothness::SecondDerivative(bound) => {
            (half_pi * length / 2.0).powi(2) * bound / ((degree + 1) * degree.max(1)) as f64
        }
    };
    let known = Known { low, high, at: &f, relative: VALUE_ERROR, change: &|step| slope * step, best: &best };
    approximated(&known, target)
}

impl ProvedApproximation {
    /// The approximation of to·f(from·s) at s = x/from, for powers of two: no number is rounded.
    ///
    /// # Errors
    /// [`SeriesError::OutOfRange`] for anything but positive powers of two; those of [`Series::new`] where numbers become too large.
    pub fn rescaled(&self, from: f64, to: f64) -> Result<Self, SeriesError> {
        for got in [from, to] {
            if !(got > 0.0 && got.log2().fract() == 0.0) {
                return Err(SeriesError::OutOfRange { what: "a factor", got, expected: "a power of two" });
            }
        }
        let basis = match self.series.basis() {
            crate::series::Basis::Chebyshev { low, high } => {
                crate::series::Basis::Chebyshev { low: low / from, high: high / from }
            }
            basis @ crate::series::Basis::Power => basis,
        };
        let coefficients = self.series.coefficients().iter().map(|c| c * to).collect();
        Ok(Self { series: Series::new(basis, coefficients)?, error: self.error * to })
    }
}

impl ProvedApproximation {
    /// Its value at an encrypted point, whose declared bound must lie in the interval. The error is added to the estimate that travels with the
    /// ciphertext, as one that depends on everything: seven deviations of an estimate are more than the error, but sums of many independent results
    /// are estimated as if their errors were random. Whoever needs a bound adds [`error`](Self::error) up beside.
    ///
    /// # Errors
    /// As [`evaluate`](crate::series::evaluate()).
    pub fn evaluate(
        &self,
        evaluator: &Evaluator,
        x: &Ciphertext,
        key: &RelinearizationKey,
    ) -> Result<Ciphertext, CkksError> {
        let mut value = evaluate(evaluator, &self.series, x, key)?;
        let metadata = value.metadata();
        let precision = metadata.precision.plus_dependent_error(self.error);
        let metadata = Metadata { precision, ..metadata.clone() };
        value.set_metadata(metadata);
        Ok(value)
    }
}

fn with_known<T>(
    function: Function,
    low: f64,
    high: f64,
    then: impl Fn(&Known<'_>) -> Result<T, SeriesError>,
) -> Result<T, SeriesError> {
    then(&Known {
        low,
        high,
        at: &|x| function.at(x),
        relative: VALUE_ERROR,
        change: &|step| function.change(low, high, step),
        best: &|degree| function.best_error(low, high, degree),
    })
}

/// Numbers of nodes that are tried in turn: smooth functions need few.
const NODES: [usize; 3] = [128, 512, 2 * (LARGEST_DEGREE + 1)];

fn approximated(known: &Known<'_>, target: Target) -> Result<ProvedApproximation, SeriesError> {
    let coefficients = |nodes: usize| chebyshev_coefficients(&known.at, known.low, known.high, nodes);
    match target {
        Target::Degree(degree) if degree <= LARGEST_DEGREE => {
            let series = cut(known.low, known.high, &coefficients(4 * (degree + 1))?, degree + 1)?;
            Ok(ProvedApproximation { error: known.largest_error(&series), series })
        }
        Target::Degree(degree) => {
            let expected = "at most 1023";
            Err(SeriesError::OutOfRange { what: "the degree", got: degree as f64, expected })
        }
        Target::Error(wanted) => {
            let mut reached = Err(SeriesError::NotReached { wanted, largest: 0, reached: f64::INFINITY });
            for nodes in NODES {
                reached = reaching(known, &coefficients(nodes)?, wanted);
                if reached.is_ok() {
                    break;
                }
            }
            reached
        }
    }
}

/// The fewest coefficients whose error is proved to be at most `wanted`, of the first half of those that are there: they are right.
fn reaching(
    known: &Known<'_>,
    coefficients: &[f64],
    wanted: f64,
) -> Result<ProvedApproximation, SeriesError> {
    let (low, high, most) = (known.low, known.high, coefficients.len() / 2);
    let mut keep = kept(coefficients, wanted * 0.99).min(most);
    loop {
        let series = cut(low, high, coefficients, keep)?;
        let mut reached = largest_error(&known.at, &series, low, high, 4 * (keep + 4));
        if reached <= wanted {
            reached = known.largest_error(&series);
            if reached <= wanted {
                return Ok(ProvedApproximation { series, error: reached });
            }
        }
        if keep == most {
            return Err(SeriesError::NotReached { wanted, largest: most - 1, reached });
        }
        keep = (keep + keep / 16 + 1).min(most);
    }
}

/// The first coefficients, without those that are roundings.
fn cut(low: f64, high: f64, coefficients: &[f64], keep: usize) -> Result<Series, SeriesError> {
    let largest = coefficients.iter().fold(0.0, |a: f64, c| a.max(c.abs()));
    let noise = largest * f64::EPSILON * 4.0;
    let kept = coefficients.iter().take(keep).map(|&c| if c.abs() > noise { c } else { 0.0 }).collect();
    Series::chebyshev(low, high, kept)
}
