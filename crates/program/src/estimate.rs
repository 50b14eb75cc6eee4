//! Numbers with a bound on their errors.

use crate::Number;

/// A number and by how much it may be off: 0 where it is exact.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// The number.
    pub number: Number,
    /// How far from it the right one may be.
    pub error: f64,
}

impl From<Number> for Estimate {
    fn from(number: Number) -> Self {
        Self { number, error: 0.0 }
    }
}

impl Estimate {
    /// This estimate with an error that another number bounds from above.
    pub(crate) fn widened(self, bound: &Self) -> Self {
        let error = self.error + bound.number.to_f64().max(0.0) + bound.error;
        Self { error: error.next_up().next_up(), ..self }
    }
}
