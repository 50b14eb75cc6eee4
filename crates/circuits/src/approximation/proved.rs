//! Approximations of functions with a proved error.

use super::function::VALUE_ERROR;
use super::proof::{Known, farthest};
use super::{Function, LARGEST_DEGREE, Target, chebyshev_coefficients, largest_error, terms_for_tail};
use sunzi_ckks::{Ciphertext, CkksError, Evaluator, Metadata};
use sunzi_rlwe::RelinearizationKey;

use crate::series::{Series, SeriesError, check_interval, depth, evaluate};

/// A polynomial with a proved bound on its distance from a function.
///
/// The error holds at every point of the interval, not only at points of a grid. It assumes that values of the function are
/// right to 16 units in the last place of the largest one.
#[derive(Clone, Debug, PartialEq)]
pub struct ProvedApproximation {
    /// Polynomial that approximates the function, in a Chebyshev basis of the interval.
    pub series: Series,
    /// Bound of max |f − p| over the interval.
    pub error: f64,
}

/// Bound on a derivative of a function that the caller gives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Smoothness {
    /// Lipschitz constant L with |f(x) − f(y)| ≤ L·|x − y|: any bound on |f′|.
    Lipschitz(f64),
    /// Bound on |f″|: errors are proved at far less work.
    SecondDerivative(f64),
}

/// Approximates a known function on \[low, high\] by its truncated Chebyshev series, with a proved error.
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
/// Every error of [`Function::check`]; [`SeriesError::NotReached`] for an error that [`LARGEST_DEGREE`] misses or rounding errors hide;
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

/// Approximates to·f(from·s) at s = x/from for x in \[low, high\], from and to powers of two, with a proved error. A function that goes on
/// beyond `high` is approximated on a wider interval instead where the change of variable then takes no level and that costs fewer levels,
/// or as many and fewer relinearisations.
///
/// ```
/// use sunzi_circuits::approximation::{Function, Target, approximate_function, approximate_stored};
/// use sunzi_circuits::series::depth;
/// let error = 2.0_f64.powi(-13);
/// let own = approximate_function(Function::Ln, 0.97, 100.0, Target::Error(error))?.rescaled(128.0, 0.125)?;
/// let found = approximate_stored(Function::Ln, [0.97, 100.0], [128.0, 0.125], error)?;
/// assert!(depth(&found.series) < depth(&own.series));
/// assert!((found.series.at(1.0 / 128.0)).abs() <= found.error);
/// # Ok::<(), sunzi_circuits::series::SeriesError>(())
/// ```
///
/// # Errors
/// Every error of [`approximate_function`] and of [`rescaled`](ProvedApproximation::rescaled).
pub fn approximate_stored(
    function: Function,
    [low, high]: [f64; 2],
    [from, to]: [f64; 2],
    error: f64,
) -> Result<ProvedApproximation, SeriesError> {
    let on = |low: f64, high: f64| {
        approximate_function(function, low, high, Target::Error(error))?.rescaled(from, to)
    };
    let Some([wide_low, wide_high]) =
        with_whole_slope([low, high], from).filter(|_| function.goes_on_above())
    else {
        return on(low, high);
    };
    let cost = |found: &ProvedApproximation| (depth(&found.series), found.series.cost().relinearizations);
    match (on(low, high), on(wide_low, wide_high)) {
        (Ok(own), Ok(wide)) => Ok(if cost(&wide) < cost(&own) { wide } else { own }),
        (own, Err(_)) => own,
        (Err(_), wide) => wide,
    }
}

/// Whether a known function has a polynomial of a degree up to [`LARGEST_DEGREE`] with half of this error on \[low, high\], judged by its
/// Chebyshev series, and whether the error could be proved: for advice before any polynomial is chosen.
#[must_use]
pub fn is_within_reach(function: Function, low: f64, high: f64, error: f64) -> bool {
    let nodes = 2 * (LARGEST_DEGREE + 1);
    function.check(low, high).is_ok()
        && function.best_error(low, high, farthest(LARGEST_DEGREE)) <= error / 8.0
        && chebyshev_coefficients(&|x| function.at(x), low, high, nodes)
            .is_ok_and(|found| terms_for_tail(&found, error / 2.0) <= nodes / 2)
}

/// Returns an interval around one of numbers above 0 that is as long as from·2/k for a power of two k, so that u = k·s + shift exactly.
fn with_whole_slope([low, high]: [f64; 2], from: f64) -> Option<[f64; 2]> {
    // Lower ends are multiples of 2^-40, which sums with a power of two hold exactly.
    let unit = 2.0_f64.powi(-40);
    let start = (low / from / unit).floor() * unit;
    let length = (high / from - start).log2().ceil().exp2();
    (start > 0.0 && length <= 2.0 && length > unit).then_some([start * from, (start + length) * from])
}

/// Proves a bound on the distance of any polynomial from a known function on \[low, high\]: of one from [`minimax`](super::minimax), say. Outside the interval of its
/// Chebyshev basis there is no bound.
///
/// # Errors
/// Every error of [`Function::check`]; [`SeriesError::Interval`] unless the polynomial is in a Chebyshev basis on an interval that contains \[low, high\].
pub fn proved_error(function: Function, series: &Series, low: f64, high: f64) -> Result<f64, SeriesError> {
    function.check(low, high)?;
    match series.basis() {
        crate::series::Basis::Chebyshev { low: from, high: to } if from <= low && high <= to => {}
        _ => return Err(SeriesError::Interval { low, high }),
    }
    with_known(function, low, high, |known| Ok(known.largest_error(series)))
}

/// Approximates a caller's function by its Chebyshev series, with an error that is proved if `smoothness` is true of it: that is not checked.
///
/// A Lipschitz constant gives weak bounds between points: ask for errors down to 10^-4 of L·(high − low) with it, or give the second derivative.
///
/// # Errors
/// Every error of [`approximate`](super::approximate); [`SeriesError::OutOfRange`] for a bound that is negative or not finite.
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
            // |f| between points is at most that of a neighbour plus the height of a parabola; f′ is a quotient of differences and f″.
            let largest = (0..=64).map(|i| f(low + length * f64::from(i) / 64.0).abs()).fold(0.0, f64::max);
            4.0 * (largest + bound * (length / 64.0).powi(2) / 8.0) / length + bound * length / 4.0
        }
    };
    // The theorems of Jackson with the constants of Favard, Achieser and Krein.
    let best = |degree: usize| match smoothness {
        Smoothness::Lipschitz(slope) => half_pi * slope * length / 2.0 / (degree + 1) as f64,
        Smoothness::SecondDerivative(bound) => {
            (half_pi * length / 2.0).powi(2) * bound / ((degree + 1) as f64 * degree.max(1) as f64)
        }
    };
    let known = Known { low, high, at: &f, relative: VALUE_ERROR, change: &|step| slope * step, best: &best };
    approximated(&known, target)
}

impl ProvedApproximation {
    /// Returns the approximation of to·f(from·s) at s = x/from, for powers of two: no number is rounded.
    ///
    /// # Errors
    /// [`SeriesError::OutOfRange`] for anything but positive powers of two; every error of [`Series::new`] where numbers become too large.
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
    /// Evaluates the polynomial at an encrypted point, whose declared bound must lie in the interval. The error is added to the estimate that travels with the
    /// ciphertext, as one that depends on all slots: seven deviations of an estimate are more than the error, but sums of many independent results
    /// are estimated as if their errors were random. For a bound, add [`error`](Self::error) to it.
    ///
    /// # Errors
    /// Every error of [`evaluate`](crate::series::evaluate()).
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

/// Numbers of Chebyshev nodes tried in turn: smooth functions need few.
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

/// Returns the fewest coefficients whose error is proved to be at most `wanted`, among the first half, which rounding errors do not change.
fn reaching(
    known: &Known<'_>,
    coefficients: &[f64],
    wanted: f64,
) -> Result<ProvedApproximation, SeriesError> {
    let (low, high, most) = (known.low, known.high, coefficients.len() / 2);
    let mut keep = terms_for_tail(coefficients, wanted * 0.99).min(most);
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

/// Returns the first coefficients as a polynomial, without those that are rounding errors.
fn cut(low: f64, high: f64, coefficients: &[f64], keep: usize) -> Result<Series, SeriesError> {
    let largest = coefficients.iter().fold(0.0, |a: f64, c| a.max(c.abs()));
    let noise = largest * f64::EPSILON * 4.0;
    let kept = coefficients.iter().take(keep).map(|&c| if c.abs() > noise { c } else { 0.0 }).collect();
    Series::chebyshev(low, high, kept)
}
