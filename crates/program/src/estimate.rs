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
    /// Returns the estimate with its error increased by the upper bound that `bound` gives.
    pub(crate) fn widened(self, bound: &Self) -> Self {
        let error = self.error + bound.number.to_f64().max(0.0) + bound.error;
        Self { error: error.next_up().next_up(), ..self }
    }
}
