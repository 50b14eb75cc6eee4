//! Sign by composition of minimax polynomials.

use super::minimax;
use crate::series::{Parity, Series, SeriesError};

/// Levels that one polynomial of a composition may take: degrees 3, 7, 15 and 31.
const STAGES: std::ops::RangeInclusive<usize> = 2..=5;
/// No composition takes more levels.
const DEEPEST: usize = 64;

/// sgn(x) for `gap` ≤ |x| ≤ 1 as a composition of odd minimax polynomials, with the least error that its depth allows
/// `[LLNK21]`.
///
/// Each polynomial takes ±\[a, 1\] to ±\[a′, 1\] with a′ nearer to 1, and the minimax approximation of 1 on \[a, 1\] by odd
/// polynomials of a degree does that best; the degrees are found by dynamic programming over the depth, which is exact since
/// a larger a always ends at a larger a′. Between −gap and gap the value lies between −1 and 1, up to `error`.
#[derive(Clone, Debug, PartialEq)]
pub struct CompositeSign {
    stages: Vec<Series>,
    gap: f64,
    error: f64,
}

/// The best composition of one depth: its polynomials and the a that they end at.
#[derive(Clone)]
struct Best {
    stages: Vec<Series>,
    a: f64,
}

impl CompositeSign {
    /// The composition of least depth with at most this error.
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
    /// [`SeriesError::OutOfRange`] unless 2^-30 ≤ gap < 1 and 10^-12 ≤ error < 1.
    pub fn new(gap: f64, error: f64) -> Result<Self, SeriesError> {
        if !(2.0_f64.powi(-30)..1.0).contains(&gap) {
            let expected = "from 2^-30 to below 1";
            return Err(SeriesError::OutOfRange { what: "the gap", got: gap, expected });
        }
        if !(1e-12..1.0).contains(&error) {
            let expected = "from 1e-12 to below 1";
            return Err(SeriesError::OutOfRange { what: "the error", got: error, expected });
        }
        let mut best: Vec<Option<Best>> = vec![Some(Best { stages: Vec::new(), a: gap }), None];
        let mut reached = 1.0;
        for depth in 2..=DEEPEST {
            let mut next: Option<Best> = None;
            for stage in STAGES {
                let before = depth.checked_sub(stage).and_then(|d| best.get(d)).and_then(Option::as_ref);
                let Some(before) = before else { continue };
                let found = minimax(|_| 1.0, before.a, 1.0, (1 << stage) - 1, Parity::Odd)?;
                reached = found.error;
                if reached <= error {
                    let stages = before.stages.iter().cloned().chain([found.series]).collect();
                    return Ok(Self { stages, gap, error: reached });
                }
                // Divided by 1 + error, so that the next one has no change of variable.
                let a = (1.0 - found.error) / (1.0 + found.error);
                // A short polynomial may gain less than the rounding of its error.
                if a > before.a && next.as_ref().is_none_or(|next| a > next.a) {
                    let scaled =
                        found.series.coefficients().iter().map(|c| c / (1.0 + found.error)).collect();
                    let last = Series::chebyshev(-1.0, 1.0, scaled)?;
                    next = Some(Best { stages: before.stages.iter().cloned().chain([last]).collect(), a });
                }
            }
            best.push(next);
        }
        Err(SeriesError::NotReached { wanted: error, largest: DEEPEST, reached })
    }

    /// The polynomials, the first to be applied first, each on \[−1, 1\].
    #[must_use]
    pub fn stages(&self) -> &[Series] {
        &self.stages
    }

    /// Below which |x| the sign is not told.
    #[must_use]
    pub fn gap(&self) -> f64 {
        self.gap
    }

    /// The largest |value − sgn(x)| for gap ≤ |x| ≤ 1, measured.
    #[must_use]
    pub fn error(&self) -> f64 {
        self.error
    }

    /// Levels.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.stages.iter().map(|stage| stage.cost().depth).sum()
    }

    /// Its value in the clear.
    #[must_use]
    pub fn at(&self, x: f64) -> f64 {
        self.stages.iter().fold(x, |x, stage| stage.at(x))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approximation::nodes;

    #[test]
    fn the_error_holds_everywhere_outside_the_gap() {
        for (gap, error) in [
            (0.5, 1e-3),
            (0.125, 1e-6),
            (1.0 / 256.0, 1e-6),
            (2f64.powi(-12), 2f64.powi(-12)),
            (2f64.powi(-16), 2f64.powi(-16)),
        ] {
            let sign = CompositeSign::new(gap, error).unwrap();
            assert!(sign.error() <= error);
            for x in nodes(gap, 1.0, 20011).chain([gap, 1.0]) {
                for (x, sgn) in [(x, 1.0), (-x, -1.0)] {
                    assert!((sign.at(x) - sgn).abs() <= sign.error() * 1.001 + 1e-13, "{gap} at {x}");
                }
            }
            for x in nodes(-gap, gap, 101) {
                assert!(sign.at(x).abs() <= 1.0 + sign.error() * 1.001, "{gap} at {x}");
            }
        }
    }

    #[test]
    fn no_shallower_than_compositions_of_equal_degrees() {
        for (alpha, expected) in [(4, 6), (8, 12), (12, 17), (16, 21)] {
            let bound = 2f64.powi(-alpha);
            let depth = CompositeSign::new(bound, bound).unwrap().depth();
            assert_eq!(depth, expected, "{alpha}");
            for stage in STAGES {
                let (mut a, mut levels, mut error) = (bound, 0, 1.0);
                while error > bound {
                    error = minimax(|_| 1.0, a, 1.0, (1 << stage) - 1, Parity::Odd).unwrap().error;
                    let reached = (1.0 - error) / (1.0 + error);
                    // Stages too short to get anywhere from so small a value.
                    if reached <= a {
                        levels = usize::MAX;
                        break;
                    }
                    (a, levels) = (reached, levels + stage);
                }
                assert!(depth <= levels, "{alpha}: {depth} levels, {levels} with stages of {stage}");
            }
        }
    }

    #[test]
    fn bad_arguments() {
        assert!(CompositeSign::new(0.0, 1e-3).is_err());
        assert!(CompositeSign::new(1.0, 1e-3).is_err());
        assert!(CompositeSign::new(0.1, 0.0).is_err());
        assert!(CompositeSign::new(f64::NAN, 0.1).is_err());
    }
}
