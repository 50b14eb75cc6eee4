//! Enclosures of formulas: intervals that hold the right value of a formula for any totals within their errors.
//!
//! Two enclosures are intersected: interval arithmetic over the formula, and its mean-value form f(c) + Σ f_i(X)·(X_i − c_i), with
//! derivatives by interval arithmetic too. The first is wide where a total occurs twice, the second where derivatives vary much. All
//! roundings go outward.

use std::collections::BTreeMap;

use crate::estimate::Estimate;
use crate::{Formula, NodeId, Number};

/// Reason why a formula has no value that can be printed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Undefined {
    /// Formula that divides by zero, as the mean of no rows does.
    #[error("not defined: a division by zero")]
    DividedByZero,
    /// Formula that takes the root of a negative number.
    #[error("not defined: the square root of a negative number")]
    NegativeRoot,
    /// Divisor that may be zero within its error.
    #[error(
        "refused: the divisor lies between {low:.3e} and {high:.3e}, so it may be zero: ask for more --precision"
    )]
    Divisor {
        /// Least possible value of the divisor.
        low: f64,
        /// Largest possible value of the divisor.
        high: f64,
    },
    /// Formula that may have any value within the errors of its totals.
    #[error("refused: the errors of its totals leave no bound on it: ask for more --precision")]
    Unbounded,
    /// Total that undecided comparisons of too many rows may change.
    #[error(
        "refused: comparisons of up to {weight:.0} of {rows} rows are too close to tell: ask for more --precision (up to 30), or \
         declare the decimals of the columns that are compared"
    )]
    Close {
        /// Change of the total that undecided comparisons may cause, in ranges of a row.
        weight: f64,
        /// Number of all rows of the table.
        rows: u64,
    },
    /// Formula that reads a total which is missing.
    #[error("refused: a total is missing")]
    Missing,
}

/// Interval of doubles from low to high.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Interval {
    low: f64,
    high: f64,
}

impl Interval {
    const ALL: Self = Self { low: f64::NEG_INFINITY, high: f64::INFINITY };

    fn point(value: f64) -> Self {
        Self { low: value, high: value }
    }

    fn around(value: f64, error: f64) -> Self {
        Self::outward(value - error, value + error)
    }

    /// Makes an interval one unit wider at both ends, which is more than the rounding error of one operation.
    fn outward(low: f64, high: f64) -> Self {
        if low.is_nan() || high.is_nan() {
            return Self::ALL;
        }
        Self { low: low.next_down(), high: high.next_up() }
    }

    fn of(ends: [f64; 4]) -> Self {
        if ends.iter().any(|end| end.is_nan()) {
            return Self::ALL;
        }
        Self::outward(
            ends.into_iter().fold(f64::INFINITY, f64::min),
            ends.into_iter().fold(f64::NEG_INFINITY, f64::max),
        )
    }

    fn add(self, other: Self) -> Self {
        Self::outward(self.low + other.low, self.high + other.high)
    }

    fn negative(self) -> Self {
        Self { low: -self.high, high: -self.low }
    }

    fn multiply(self, other: Self) -> Self {
        let (a, b) = (self, other);
        Self::of([a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high])
    }

    fn divide(self, other: Self) -> Result<Self, Undefined> {
        let (a, b) = (self, other);
        match (b.low, b.high) {
            (0.0, 0.0) => Err(Undefined::DividedByZero),
            (low, high) if low <= 0.0 && high >= 0.0 => Err(Undefined::Divisor { low, high }),
            _ => Ok(Self::of([a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high])),
        }
    }

    fn square_root(self) -> Result<Self, Undefined> {
        if self.high < 0.0 {
            return Err(Undefined::NegativeRoot);
        }
        let root = Self::outward(self.low.max(0.0).sqrt(), self.high.sqrt());
        Ok(Self { low: root.low.max(0.0), ..root })
    }

    fn within(self, other: Self) -> Self {
        let both = Self { low: self.low.max(other.low), high: self.high.min(other.high) };
        if both.low <= both.high { both } else { self }
    }
}

/// Formula with the values of all its parts.
struct Evaluated<'a> {
    formula: &'a Formula,
    /// Exact value of the formula, where no total has an error and no root is taken.
    exact: Option<Number>,
    value: Interval,
    parts: Vec<Evaluated<'a>>,
}

impl<'a> Evaluated<'a> {
    fn new(
        formula: &'a Formula,
        rows: u64,
        total: &impl Fn(NodeId) -> Result<(Number, Interval), Undefined>,
    ) -> Result<Self, Undefined> {
        let part = |part: &'a Formula| Self::new(part, rows, total);
        match formula {
            Formula::Number(number) => Ok(Self::leaf(formula, (*number).into())),
            Formula::Rows => Ok(Self::leaf(formula, Number::scaled(rows.into(), 0))),
            Formula::Total(id) => match total(*id)? {
                (number @ Number::Exact(_), _) => Ok(Self::leaf(formula, number)),
                (Number::Real(_), value) => Ok(Self { formula, exact: None, value, parts: Vec::new() }),
            },
            Formula::SquareRoot(a) => {
                let a = part(a)?;
                let value = a.value.square_root()?;
                Ok(Self { formula, exact: None, value, parts: vec![a] })
            }
            Formula::Add(a, b)
            | Formula::Subtract(a, b)
            | Formula::Multiply(a, b)
            | Formula::Divide(a, b) => Self::joined(formula, part(a)?, part(b)?),
        }
    }

    fn leaf(formula: &'a Formula, number: Number) -> Self {
        let value = Interval::around(number.to_f64(), 0.0);
        Self { formula, exact: Some(number), value, parts: Vec::new() }
    }

    fn joined(formula: &'a Formula, a: Self, b: Self) -> Result<Self, Undefined> {
        if let (Some(x), Some(y)) = (&a.exact, &b.exact) {
            let number = match formula {
                Formula::Subtract(..) => x.sub(y),
                Formula::Multiply(..) => x.multiply(y),
                Formula::Divide(..) => x.divide(y).ok_or(Undefined::DividedByZero)?,
                _ => x.add(y),
            };
            // A number of too many digits is not exact: its interval remains.
            if matches!(number, Number::Exact(_)) {
                return Ok(Self::leaf(formula, number));
            }
        }
        let value = match formula {
            Formula::Subtract(..) => a.value.add(b.value.negative()),
            Formula::Multiply(..) => a.value.multiply(b.value),
            Formula::Divide(..) => a.value.divide(b.value)?,
            _ => a.value.add(b.value),
        };
        Ok(Self { formula, exact: None, value, parts: vec![a, b] })
    }

    /// Adds the derivatives of the formula with respect to all totals, times `outer`.
    fn derive(&self, outer: Interval, into: &mut BTreeMap<NodeId, Interval>) {
        match (self.formula, self.parts.as_slice()) {
            (Formula::Total(id), _) if self.exact.is_none() => {
                let sum = into.entry(*id).or_insert(Interval::point(0.0));
                *sum = sum.add(outer);
            }
            (Formula::Subtract(..), [a, b]) => {
                a.derive(outer, into);
                b.derive(outer.negative(), into);
            }
            (Formula::Multiply(..), [a, b]) => {
                a.derive(outer.multiply(b.value), into);
                b.derive(outer.multiply(a.value), into);
            }
            (Formula::Divide(..), [a, b]) => {
                let inner = outer.divide(b.value).unwrap_or(Interval::ALL);
                a.derive(inner, into);
                b.derive(inner.multiply(self.value).negative(), into);
            }
            (Formula::SquareRoot(_), [a]) => {
                let twice = self.value.add(self.value);
                a.derive(outer.divide(twice).unwrap_or(Interval::ALL), into);
            }
            (_, [a, b]) => {
                a.derive(outer, into);
                b.derive(outer, into);
            }
            _ => {}
        }
    }
}

impl Formula {
    /// Returns the value and error bound of a formula, for any totals within their errors; exact if totals are exact
    /// and no root is taken.
    ///
    /// # Errors
    /// Every [`Undefined`].
    pub fn estimate(
        &self,
        rows: u64,
        total: &impl Fn(NodeId) -> Result<Estimate, Undefined>,
    ) -> Result<Estimate, Undefined> {
        let whole = |id| {
            let Estimate { number, error } = total(id)?;
            let value = Interval::around(number.to_f64(), error);
            // A number with an error is not exact.
            let number = if error == 0.0 { number } else { Number::Real(number.to_f64()) };
            Ok((number, value))
        };
        let ranges = Evaluated::new(self, rows, &whole)?;
        if let Some(number) = ranges.exact {
            return Ok(number.into());
        }
        let centre = |id| {
            let (number, _) = whole(id)?;
            let value = Interval::point(number.to_f64());
            Ok((number, value))
        };
        // Where the formula has no value at the middle of all totals, the ranges alone count.
        let middle = Evaluated::new(self, rows, &centre).map(|middle| middle.value).unwrap_or(Interval::ALL);
        let mut slopes = BTreeMap::new();
        ranges.derive(Interval::point(1.0), &mut slopes);
        let mut linear = middle;
        for (id, slope) in slopes {
            let error = total(id)?.error.next_up();
            linear = linear.add(slope.multiply(Interval { low: -error, high: error }));
        }
        let Interval { low, high } = ranges.value.within(linear);
        let inside = |value: f64| value.is_finite() && low <= value && value <= high;
        let (between, halfway) = (middle.low / 2.0 + middle.high / 2.0, low / 2.0 + high / 2.0);
        let value = if inside(between) { between } else { halfway };
        let error = (high - value).max(value - low).next_up();
        if !(value.is_finite() && error.is_finite()) {
            return Err(Undefined::Unbounded);
        }
        Ok(Estimate { number: Number::Real(value), error })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Decimal;

    const X: NodeId = NodeId(0);
    const Y: NodeId = NodeId(1);

    fn total(id: NodeId) -> Formula {
        Formula::Total(id)
    }

    fn real(value: f64, error: f64) -> Estimate {
        Estimate { number: Number::Real(value), error }
    }

    /// Checks that an estimate holds the formula at all corners and between them; returns its error.
    fn holds(formula: &Formula, x: (f64, f64), y: (f64, f64)) -> f64 {
        let at = |id| Ok(if id == X { real(x.0, x.1) } else { real(y.0, y.1) });
        let got = formula.estimate(10, &at).unwrap();
        let value = got.number.to_f64();
        for i in 0..=20 {
            for j in 0..=20 {
                let of = |(v, e): (f64, f64), i: i32| v + e * (f64::from(i) / 10.0 - 1.0);
                let point = |id| Some(Number::Real(if id == X { of(x, i) } else { of(y, j) }));
                let Some(expected) = formula.value(10, &point) else { continue };
                let off = (expected.to_f64() - value).abs();
                assert!(off <= got.error, "{value} ± {}: {expected:?}", got.error);
            }
        }
        got.error
    }

    #[test]
    fn formulas_stay_within_their_errors() {
        let square = || total(X).multiply(total(X));
        assert!(holds(&total(X).sub(total(X)), (3.0, 0.5), (0.0, 0.0)) < 1e-12);
        // Interval arithmetic alone makes 0 to 4 of it, slopes alone −3 to 5.
        assert!(holds(&square(), (1.0, 1.0), (0.0, 0.0)) <= 3.0 + 1e-9);
        assert!(holds(&total(X).divide(total(Y)), (10.0, 0.1), (2.0, 0.1)) < 0.33);
        let ten = || Formula::Rows;
        let spread = ten().multiply(total(Y)).sub(square());
        assert!(holds(&spread, (20.0, 0.01), (50.0, 0.01)) < 0.51);
        holds(&spread.clone().square_root(), (20.0, 0.01), (50.0, 0.01));
        // The range of this root begins close to zero.
        assert!(holds(&total(X).square_root(), (1e-4, 1e-4), (0.0, 0.0)) < 0.0143);
        let quotient = total(X).divide(spread.square_root());
        holds(&quotient, (20.0, 0.01), (50.0, 0.01));
    }

    #[test]
    fn what_has_no_bound_says_so() {
        let of = |x: Estimate, formula: Formula| formula.estimate(10, &|_| Ok(x.clone()));
        let one = || Formula::Number(Decimal::ONE);
        let near_zero = of(real(0.1, 0.2), one().divide(total(X)));
        assert!(matches!(near_zero, Err(Undefined::Divisor { .. })), "{near_zero:?}");
        assert_eq!(of(real(-3.0, 0.2), total(X).square_root()), Err(Undefined::NegativeRoot));
        assert_eq!(of(real(f64::NAN, 0.2), total(X)), Err(Undefined::Unbounded));
        let zero: Estimate = Number::scaled(0.into(), 0).into();
        assert_eq!(of(zero, one().divide(total(X))), Err(Undefined::DividedByZero));
        let exact: Estimate = Number::scaled(3.into(), 0).into();
        assert_eq!(of(exact, one().divide(total(X))).unwrap().error, 0.0);
    }
}
