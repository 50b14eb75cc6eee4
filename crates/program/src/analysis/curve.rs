//! Functions and polynomials of one stored number, as they are computed under encryption.

use sunzi_circuits::approximation::Reciprocal;
use sunzi_circuits::series::{self, Series};
use sunzi_ckks::{Ciphertext, CkksError, Evaluator};
use sunzi_rlwe::RelinearizationKey;

/// Polynomial of one stored number.
#[derive(Clone, Debug)]
pub(crate) enum Curve {
    /// Polynomial that is evaluated by its coefficients.
    Series(Series),
    /// Reciprocal that is a product of factors.
    Reciprocal(Reciprocal),
}

impl Curve {
    /// Number of levels of the evaluation.
    pub(super) fn depth(&self) -> usize {
        match self {
            Self::Series(own) => series::depth(own),
            Self::Reciprocal(own) => own.depth(),
        }
    }

    /// Number of ciphertexts that the evaluation holds at a time, at most.
    pub(super) fn held(&self) -> usize {
        match self {
            Self::Series(own) => own.cost().relinearizations + 1,
            // The point, a square, a factor and the product of factors.
            Self::Reciprocal(_) => 4,
        }
    }

    /// Value at a stored number in the clear.
    pub(super) fn at(&self, s: f64) -> f64 {
        match self {
            Self::Series(own) => own.at(s),
            Self::Reciprocal(own) => own.at(s),
        }
    }

    /// Evaluates at an encrypted number, which lies in the interval as the plan knows by the ranges of columns.
    pub(crate) fn evaluate(
        &self,
        evaluator: &Evaluator,
        x: &Ciphertext,
        key: &RelinearizationKey,
    ) -> Result<Ciphertext, CkksError> {
        match self {
            Self::Series(own) => {
                series::evaluate(evaluator, own, &series::declared_within(evaluator, own, x)?, key)
            }
            Self::Reciprocal(own) => own.evaluate(evaluator, &own.declared_within(evaluator, x)?, key),
        }
    }
}
