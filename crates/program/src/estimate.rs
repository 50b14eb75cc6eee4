//! Estimates: numbers with a bound on their errors.

use crate::Number;

/// Number with a bound on its error, 0 where the number is exact.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// Number that the estimate states.
    pub number: Number,
    /// Bound on the difference between the estimate's number and the right one.
    pub error: f64,
}

impl From<Number> for Estimate {
    fn from(number: Number) -> Self {
        Self { number, error: 0.0 }
    }
}

impl Estimate {
    /// Returns what stands for a number that is missing, as in a row without a cell.
    pub(crate) fn missing() -> Self {
        Self { number: Number::Real(f64::NAN), error: 0.0 }
    }

    /// Whether the number is missing, as in a row without a cell.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        matches!(self.number, Number::Real(value) if value.is_nan())
    }

    /// Whether a number that is 0 or 1 is 1; `None` where its error leaves that open.
    pub(crate) fn holds(&self) -> Option<bool> {
        let value = self.number.to_f64();
        let off = (value - value.round()).abs() + self.error;
        (off < 0.5 && (value.round() == 0.0 || value.round() == 1.0)).then_some(value.round() == 1.0)
    }

    /// Returns the estimate with its error increased by the upper bound that `bound` gives.
    pub(crate) fn widened(self, bound: &Self) -> Self {
        let error = self.error + bound.number.to_f64().max(0.0) + bound.error;
        Self { error: error.next_up().next_up(), ..self }
    }
}
