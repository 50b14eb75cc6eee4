//! Errors of bootstrapping.

use sunzi_ckks::CkksError;
use sunzi_rlwe::RlweError;
use sunzi_rlwe::words::counted;

use crate::linear_transform::LinearTransformError;
use crate::series::SeriesError;

/// An error of bootstrapping: what was expected, what came, what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BootstrapError {
    /// Slots exceed the range that EvalMod distinguishes from the integers it removes.
    #[error(
        "slots of up to {got:.4} are declared, the bootstrapping takes at most {limit:.4}: scale the message down, declare a tighter \
         bound with Evaluator::with_magnitude if you know one, or choose a set with a larger q_0 or more message bits"
    )]
    MessageTooLarge {
        /// Bound on the slots that the ciphertext carries.
        got: f64,
        /// Largest possible bound on the slots.
        limit: f64,
    },
    /// The level of a ciphertext is too low for a step of bootstrapping.
    #[error(
        "{what} takes a ciphertext of level {expected} or above, this one has level {got}: bootstrap it earlier"
    )]
    LevelTooLow {
        /// Name of the step of bootstrapping.
        what: &'static str,
        /// Least level that the step takes.
        expected: usize,
        /// Level of the ciphertext.
        got: usize,
    },
    /// A message has more slots than the bootstrapping was made for.
    #[error(
        "a message of {got} slots for a bootstrapping of {slots}: make the Blueprint for as many slots as the message has"
    )]
    TooManySlots {
        /// Number of slots of the bootstrapping.
        slots: usize,
        /// Number of slots of the message.
        got: usize,
    },
    /// A set has too few levels for this many rounds of refinement.
    #[error(
        "{rounds} rounds of refinement take a level each, above the lowest that a message may have; the set has {} there: take fewer rounds, or a set \
         such as Set::high_precision_128",
        counted(*levels, "residual level", "residual levels")
    )]
    TooManyRounds {
        /// Number of rounds of refinement requested.
        rounds: usize,
        /// Number of residual levels of the set above the lowest that a message may have.
        levels: usize,
    },
    /// The noise that hides the noise of a shared result leaves too few bits.
    #[error(
        "shared, {policy}, the result keeps {left:.1} bits, {bits_short:.1} fewer than asked for: ask for fewer bits, share fewer results at a larger \
         distance, or bootstrap with a set whose error is smaller, such as Set::high_precision_128"
    )]
    SharingRoom {
        /// Sharing policy of the result requested.
        policy: sunzi_rlwe::SharingPolicy,
        /// Bits left: −log2 of the deviation of a slot after sharing.
        left: f64,
        /// Number of bits missing in the shared result.
        bits_short: f64,
    },
    /// Numbers of a parameter set contradict each other.
    #[error("{what} of {got}: it must be {expected}")]
    Set {
        /// Name of the number at fault.
        what: &'static str,
        /// Value of the number at fault.
        got: String,
        /// Values that are possible for the number.
        expected: String,
    },
    /// The context was not made from the parameter set.
    #[error("the context has {got} levels, the set {expected}: make the context from Set::parameters")]
    ContextMismatch {
        /// Number of levels of the set.
        expected: usize,
        /// Number of levels of the context.
        got: usize,
    },
    /// A key of the bootstrapping is missing.
    #[error("{what} is missing: generate BootstrapKeys from the same blueprint")]
    MissingKey {
        /// Name of the missing key.
        what: String,
    },
    /// A number of a table or of its messages is out of range.
    #[error("{what} is {got}: it must be {expected}")]
    Table {
        /// Name of the number of a table that is out of range.
        what: &'static str,
        /// Value of the number that is out of range.
        got: String,
        /// Range that the number must be in.
        expected: &'static str,
    },
    /// The noise of messages may lead a table to the next message.
    #[error(
        "noise of up to {got:.2e} is in the numbers of messages modulo {modulus}, and {limit:.2e} is where the next message begins: apply a table \
         earlier, after fewer sums, or take a smaller modulus"
    )]
    MessageNoise {
        /// Modulus p of the messages.
        modulus: usize,
        /// Bound on the noise of the numbers 2m/p.
        got: f64,
        /// Half of the distance of two numbers.
        limit: f64,
    },
    /// An error of the mathematics on series, in the clear.
    #[error(transparent)]
    Series(#[from] SeriesError),
    /// An error of a linear transform.
    #[error(transparent)]
    Transform(#[from] LinearTransformError),
    /// An error of the CKKS scheme.
    #[error(transparent)]
    Ckks(#[from] CkksError),
    /// An error of the RLWE layer.
    #[error(transparent)]
    Rlwe(#[from] RlweError),
}

impl BootstrapError {
    /// Converts the error for a missing key to that of bootstrapping, whose keys are made together.
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
