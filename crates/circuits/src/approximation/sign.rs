//! Sign function by composition of minimax polynomials.

use super::proof::distance;
use super::{Approximation, minimax, nodes};
use crate::series::{Parity, Series, SeriesError};

/// Numbers of levels that one polynomial of a composition may take: degrees 3, 7, 15 and 31.
const STAGES: std::ops::RangeInclusive<usize> = 2..=5;
/// Bound of the change that roundings of all coefficients make to a polynomial.
const ROUNDED: f64 = 1e-13;
/// Fraction of a small least value that the proof of the value may cost.
const LOST: f64 = 1e-3;
/// Largest number of intervals into which a proof divides.
const MOST_INTERVALS: usize = 1 << 16;
/// Largest number of levels of a composition of polynomials.
const DEEPEST: usize = 64;

/// Approximates sgn(x) for `gap` ≤ |x| ≤ 1 by a composition of odd minimax polynomials, with the least error that its depth allows
/// `[LLNK21]`.
///
/// Each polynomial takes ±\[a, 1\] to ±\[a′, 1\] with a′ nearer to 1, and the minimax approximation of 1 on \[a, 1\] by odd
/// polynomials of a degree does that best; the degrees are found by dynamic programming over the depth, which is exact since
/// a larger a always ends at a larger a′. Between −gap and gap the value has the sign of x or is 0, and is at most 1 + `error` in size.
///
/// Errors and ranges are proved for the polynomials with their rounded coefficients, not only measured on a grid.
///
/// ```
/// use sunzi_circuits::approximation::CompositeSign;
///
/// let sign = CompositeSign::new(1.0 / 16.0, 1e-3)?;
/// assert!((sign.at(0.07) - 1.0).abs() <= sign.error());
/// assert_eq!(sign.depth(), sign.stages().iter().map(sunzi_circuits::series::depth).sum::<usize>());
/// # Ok::<(), sunzi_circuits::series::SeriesError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct CompositeSign {
    stages: Vec<Series>,
    gap: f64,
    error: f64,
    slack: f64,
    start: Start,
}

/// Proved bound next to 0: |value| ≤ slope·|x| + offset for |x| up to `within`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Start {
    slope: f64,
    offset: f64,
    within: f64,
}

/// Best composition of one depth: its polynomials, the a at which they end, and its bound next to 0.
#[derive(Clone)]
struct Best {
    stages: Vec<Series>,
    a: f64,
    start: Start,
}

impl Best {
    /// Appends a polynomial that multiplies numbers up to this composition's a by at most `slope`.
    fn followed_by(&self, last: Series, a: f64, slope: f64) -> Self {
        let stages = self.stages.iter().cloned().chain([last]).collect();
        let Start { slope: own, offset, within } = self.start;
        let within = within.min((self.a - offset) / own);
        Self { stages, a, start: Start { slope: own * slope, offset: offset * slope, within } }
    }
}

impl CompositeSign {
    /// Returns the composition of least depth with at most this error.
    ///
    /// ```
    /// use sunzi_circuits::approximation::CompositeSign;
    /// let sign = CompositeSign::new(1.0 / 64.0, 1e-6)?;
    /// assert!((sign.at(-0.02) + 1.0).abs() <= 1e-6);
    /// println!("{} levels, error {:e}", sign.depth(), sign.error());
    /// # Ok::<(), sunzi_circuits::series::SeriesError>(())
    /// ```
    ///
    /// # Errors
    /// [`SeriesError::OutOfRange`] unless 2^-30 ≤ gap < 1 and 10^-12 ≤ error < 1; [`SeriesError::NotReached`] where no composition of 64 levels
    /// has a proved error as small.
    pub fn new(gap: f64, error: f64) -> Result<Self, SeriesError> {
        Self::with_slack(gap, error, 0.0)
    }

    /// Returns the composition of least depth with at most this error, where every value between two polynomials may be off by `slack`: as much as a
    /// bootstrapping adds to it. Values between −gap and gap may have any sign then.
    ///
    /// ```
    /// use sunzi_circuits::approximation::CompositeSign;
    ///
    /// let sign = CompositeSign::with_slack(1.0 / 64.0, 1e-4, 1e-5)?;
    /// let wrong = sign.stages().iter().fold(0.02, |x, stage| stage.at(x - 1e-5));
    /// assert!((wrong - 1.0).abs() <= sign.error());
    /// # Ok::<(), sunzi_circuits::series::SeriesError>(())
    /// ```
    ///
    /// # Errors
    /// Every error of [`new`](Self::new); [`SeriesError::OutOfRange`] unless 0 ≤ slack < 1/4.
    pub fn with_slack(gap: f64, error: f64, slack: f64) -> Result<Self, SeriesError> {
        if !(0.0..0.25).contains(&slack) {
            let expected = "from 0 to below 1/4";
            return Err(SeriesError::OutOfRange { what: "the slack", got: slack, expected });
        }
        if !(2.0_f64.powi(-30)..1.0).contains(&gap) {
            let expected = "from 2^-30 to below 1";
            return Err(SeriesError::OutOfRange { what: "the gap", got: gap, expected });
        }
        if !(1e-12..1.0).contains(&error) {
            let expected = "from 1e-12 to below 1";
            return Err(SeriesError::OutOfRange { what: "the error", got: error, expected });
        }
        let start = Start { slope: 1.0, offset: 0.0, within: 1.0 };
        let mut best = vec![Some(Best { stages: Vec::new(), a: gap, start }), None];
        let mut reached = 1.0;
        for depth in 2..=DEEPEST {
            let mut next: Option<Best> = None;
            for stage in STAGES {
                let before = depth.checked_sub(stage).and_then(|d| best.get(d)).and_then(Option::as_ref);
                let Some(before) = before else { continue };
                let Approximation { series: found, error: seen, .. } =
                    minimax(|_| 1.0, before.a, 1.0, (1 << stage) - 1, Parity::Odd)?;
                let apart = distance(&found, 1.0, before.a, 1.0);
                reached = apart;
                if apart <= error
                    && let Some(slope) = slope_within(&found, before.a, apart)
                {
                    let Best { stages, start, .. } = before.followed_by(found, 1.0, slope);
                    return Ok(Self { stages, gap, error: apart, slack, start });
                }
                // No value exceeds 1, so that the next polynomial needs no change of variable.
                let most = (1.0 + apart) * (1.0 + ROUNDED) / (1.0 - slack);
                let a = least(&found, before.a, apart, seen) / most * (1.0 - ROUNDED) - slack;
                // A short polynomial may gain less than the rounding of its error.
                if a > before.a
                    && next.as_ref().is_none_or(|next| a > next.a)
                    && let Some(slope) = slope_within(&found, before.a, apart)
                {
                    let scaled = found.coefficients().iter().map(|c| c / most).collect();
                    let last = Series::chebyshev(-1.0, 1.0, scaled)?;
                    let mut best = before.followed_by(last, a, slope / most * (1.0 + ROUNDED));
                    best.start.offset += slack;
                    next = Some(best);
                }
            }
            best.push(next);
        }
        Err(SeriesError::NotReached { wanted: error, largest: DEEPEST, reached })
    }

    /// Polynomials in the order in which they are applied, each on \[−1, 1\].
    #[must_use]
    pub fn stages(&self) -> &[Series] {
        &self.stages
    }

    /// Largest |x| below which the sign that the composition gives is undetermined.
    #[must_use]
    pub fn gap(&self) -> f64 {
        self.gap
    }

    /// Proved bound on |value − sgn(x)| for gap ≤ |x| ≤ 1.
    #[must_use]
    pub fn error(&self) -> f64 {
        self.error
    }

    /// Returns the largest |x|, next to 0, up to which |value| is proved to be at most `value`.
    #[must_use]
    pub fn largest_below(&self, value: f64) -> f64 {
        ((value - self.start.offset) / self.start.slope).min(self.start.within).max(0.0) * (1.0 - ROUNDED)
    }

    /// Largest error that a value between two polynomials may have.
    #[must_use]
    pub fn slack(&self) -> f64 {
        self.slack
    }

    /// Number of levels of the composition.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.stages.iter().map(|stage| stage.cost().depth).sum()
    }

    /// Returns the value of the composition in the clear.
    #[must_use]
    pub fn at(&self, x: f64) -> f64 {
        self.stages.iter().fold(x, |x, stage| stage.at(x))
    }
}

/// Returns the largest p(x)/x of an odd polynomial on \[−a, a\]; `None` unless it is proved that p has the sign of x there, and that |p| ≤ 1 + `error`.
fn slope_within(series: &Series, a: f64, error: f64) -> Option<f64> {
    let slope = steepest(series, a)?;
    (error < 1.0 && is_below(series, [0.0, a], 1.0 + error)).then_some(slope)
}

/// Returns a lower bound of p on \[a, 1\], where |p − 1| ≤ `apart` and the largest distance found is `seen`: distances next to 1 determine it badly.
fn least(series: &Series, a: f64, apart: f64, seen: f64) -> f64 {
    let (proved, likely) = (1.0 - apart, (1.0 - seen) * (1.0 - LOST));
    if apart < 0.5 {
        return proved;
    }
    let negative = series.coefficients().iter().map(|c| -c).collect();
    let negative = Series::chebyshev(-1.0, 1.0, negative);
    if negative.is_ok_and(|negative| is_below(&negative, [a, 1.0], -likely)) { likely } else { proved }
}

/// Returns the largest p(x)/x of an odd polynomial on \[−a, a\]; `None` unless it is proved to be above 0 throughout.
fn steepest(series: &Series, a: f64) -> Option<f64> {
    // T_1/x = 1 and T_(k+1)/x = 2·T_k − T_(k−1)/x.
    let odd: Vec<f64> = series.coefficients().iter().skip(1).step_by(2).copied().collect();
    let mut quotient = vec![0.0; (2 * odd.len()).saturating_sub(1)];
    let mut sum = 0.0;
    for (i, c) in odd.iter().enumerate().rev() {
        sum = c - sum;
        let coefficient = if i == 0 { sum } else { 2.0 * sum };
        quotient.get_mut(2 * i).into_iter().for_each(|slot| *slot = coefficient);
    }
    let quotient = Series::chebyshev(-1.0, 1.0, quotient).ok()?;
    let values = || nodes(-a, a, 16 * (odd.len() + 1)).chain([0.0, a]).map(|x| quotient.at(x));
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    let middle = f64::midpoint(low, high);
    let apart = distance(&quotient, middle, -a, a);
    (apart < middle).then_some((middle + apart) * (1.0 + ROUNDED))
}

/// Whether p ≤ `most` on an interval within \[−1, 1\] can be proved: on a short interval p is at most its larger end and a term of the second
/// derivative, which is at most N²(N² − 1)/3 times the largest |p| (V. Markov).
fn is_below(series: &Series, interval: [f64; 2], most: f64) -> bool {
    let squared = (series.degree() * series.degree()) as f64;
    let second = squared * (squared - 1.0) / 3.0 * distance(series, 0.0, -1.0, 1.0);
    let rounding = ROUNDED / 8.0;
    let mut open = vec![interval];
    for _ in 0..MOST_INTERVALS {
        let Some([low, high]) = open.pop() else { return true };
        let larger = series.at(low).max(series.at(high)) + rounding;
        if larger + second * (high - low).powi(2) / 8.0 <= most {
            continue;
        }
        let middle = f64::midpoint(low, high);
        if larger > most || middle <= low || middle >= high {
            return false;
        }
        open.extend([[low, middle], [middle, high]]);
    }
    false
}
