//! What can go wrong with bootstrapping.

use sunzi_ckks::CkksError;
use sunzi_rlwe::RlweError;

use crate::linear_transform::LinearTransformError;
use crate::series::SeriesError;

/// An error of bootstrapping: what was expected, what came, what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BootstrapError {
    /// Slots beyond what EvalMod tells from the integers it removes.
    #[error(
        "slots of up to {got:.4} are declared, the bootstrapping takes at most {limit:.4}: scale the message down, declare a tighter \
         bound with Evaluator::with_magnitude if you know one, or choose a set with a larger q_0 or more message bits"
    )]
    MessageTooLarge {
        /// The bound that the ciphertext carries.
        got: f64,
        /// The largest bound possible.
        limit: f64,
    },
    /// Too few levels where a step needs some.
    #[error(
        "{what} takes a ciphertext of level {expected} or above, this one has level {got}: bootstrap it earlier"
    )]
    LevelTooLow {
        /// The step.
        what: &'static str,
        /// The least level.
        expected: usize,
        /// Its level.
        got: usize,
    },
    /// More rounds of refinement than a set has room for.
    #[error(
        "{rounds} rounds of refinement take a residual level each and SlotsToCoeffs at the end; the set has {levels} residual level(s) and \
         SlotsToCoeffs {order}: take fewer rounds, or a set such as Set::high_precision_128"
    )]
    TooManyRounds {
        /// The rounds asked for.
        rounds: usize,
        /// Residual levels of the set.
        levels: usize,
        /// Where its SlotsToCoeffs stands.
        order: &'static str,
    },
    /// What hides the noise of a result leaves too little of it.
    #[error(
        "shared, {policy}, the result keeps {left:.1} bits, {bits_short:.1} fewer than asked for: ask for fewer bits, share fewer results at a larger \
         distance, or bootstrap with a set whose error is smaller, such as Set::high_precision_128"
    )]
    SharingRoom {
        /// What was to be promised.
        policy: sunzi_rlwe::SharingPolicy,
        /// −log2 of the deviation of a slot after sharing.
        left: f64,
        /// Bits that are missing.
        bits_short: f64,
    },
    /// Numbers of a set that do not fit each other.
    #[error("{what} of {got}: it must be {expected}")]
    Set {
        /// The number.
        what: &'static str,
        /// Its value.
        got: String,
        /// What is possible.
        expected: String,
    },
    /// A context that was not made from the set.
    #[error("the context has {got} levels, the set {expected}: make the context from Set::parameters")]
    ContextMismatch {
        /// Levels of the set.
        expected: usize,
        /// Levels of the context.
        got: usize,
    },
    /// The keys lack a part.
    #[error("{what} is missing: generate BootstrapKeys from the same blueprint")]
    MissingKey {
        /// The key.
        what: String,
    },
    /// An error of the mathematics in the clear.
    #[error(transparent)]
    Series(#[from] SeriesError),
    /// An error of a linear transform.
    #[error(transparent)]
    Transform(#[from] LinearTransformError),
    /// An error of the scheme.
    #[error(transparent)]
    Ckks(#[from] CkksError),
    /// An error of the RLWE layer.
    #[error(transparent)]
    Rlwe(#[from] RlweError),
}

impl BootstrapError {
    /// A key that is not there, by the remedy of bootstrapping: its keys are made together.
    pub(super) fn of_bootstrapping(self) -> Self {
        match self {
            Self::Ckks(CkksError::MissingRotation { wanted, .. })
            | Self::Transform(LinearTransformError::Ckks(CkksError::MissingRotation { wanted, .. })) => {
                Self::MissingKey { what: format!("the key for {wanted}") }
            }
            other => other,
        }
    }
}
