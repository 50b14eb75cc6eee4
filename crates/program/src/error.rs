//! Errors of programs.

use sunzi_rlwe::RlweError;
use sunzi_rlwe::wire::WireError;

use crate::parse::ParseError;

/// Reason why a program does not fit, and its costliest expression.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("the program cannot be computed: {reason}; the costliest expression is {expression}")]
pub struct Refusal {
    /// Reason why the program does not fit, and what would help.
    pub reason: String,
    /// Costliest expression of the refused program.
    pub expression: String,
}

impl Refusal {
    /// Makes the refusal of a whole program, whichever expression it is.
    pub(crate) fn of_program(reason: impl std::fmt::Display) -> Box<Self> {
        Box::new(Self { reason: reason.to_string(), expression: "the program".to_owned() })
    }
}

/// Error of a program: what was expected, what came, what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// Schema that is not valid.
    #[error("the schema: {0}")]
    Schema(String),
    /// Text that is not a program.
    #[error(transparent)]
    Parse(#[from] Box<ParseError>),
    /// Program that is not valid, from another source than the parser.
    #[error("the program is not valid: {0}")]
    Invalid(String),
    /// Constants that would have too many digits.
    #[error("a constant has more than 36 digits, or more than 30 behind the point: write fewer digits")]
    Digits,
    /// Program that no parameters fit.
    #[error(transparent)]
    Refused(#[from] Box<Refusal>),
    /// Inputs or outputs that do not belong to the plan.
    #[error("{what}: expected {expected}, got {got}")]
    Mismatch {
        /// Name of the property that differs.
        what: &'static str,
        /// Expected value of the property that differs.
        expected: String,
        /// Value of the property that was found.
        got: String,
    },
    /// Memory requirement above what the machine has left, found before any work.
    #[error(transparent)]
    Memory(RlweError),
    /// Result that cannot be shared.
    #[error(transparent)]
    Sharing(Box<RlweError>),
    /// Error of a scheme during a run.
    #[error("{0}")]
    Scheme(Box<dyn std::error::Error + Send + Sync>),
}

/// Converts errors of programs for readers of parameters, which make contexts of them.
impl From<ProgramError> for WireError {
    fn from(error: ProgramError) -> Self {
        match error {
            ProgramError::Memory(error) => Self::Rlwe(error),
            other => Self::scheme(other),
        }
    }
}

/// Converts errors of CKKS for circuits whose steps may fail otherwise too.
impl From<sunzi_ckks::CkksError> for ProgramError {
    fn from(error: sunzi_ckks::CkksError) -> Self {
        Self::scheme(error)
    }
}

impl ProgramError {
    pub(crate) fn of_bfv(error: sunzi_bfv::BfvError) -> Self {
        if let sunzi_bfv::BfvError::Rlwe(error) = error { Self::of_rlwe(error) } else { Self::scheme(error) }
    }

    pub(crate) fn of_bgv(error: sunzi_bgv::BgvError) -> Self {
        if let sunzi_bgv::BgvError::Rlwe(error) = error { Self::of_rlwe(error) } else { Self::scheme(error) }
    }

    pub(crate) fn of_ckks(error: sunzi_ckks::CkksError) -> Self {
        if let sunzi_ckks::CkksError::Rlwe(error) = error {
            Self::of_rlwe(error)
        } else {
            Self::scheme(error)
        }
    }

    /// Converts errors about sharing to their own variant, and wraps all others.
    pub(crate) fn of_rlwe(error: RlweError) -> Self {
        match error {
            RlweError::SharingRoom { .. }
            | RlweError::ReencryptionRoom { .. }
            | RlweError::SharingSpent { .. }
            | RlweError::NoiseDeclaredTooLow { .. }
            | RlweError::Ledger(_) => Self::Sharing(Box::new(error)),
            other => Self::scheme(other),
        }
    }

    /// Wraps an error of a scheme.
    pub fn scheme(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::Scheme(Box::new(error))
    }

    pub(crate) fn mismatch(what: &'static str, expected: impl ToString, got: impl ToString) -> Self {
        Self::Mismatch { what, expected: expected.to_string(), got: got.to_string() }
    }
}
