//! What can go wrong with a program.

use crate::parse::ParseError;

/// An error of a program: what was expected, what came, what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// A table that cannot be.
    #[error("the schema: {0}")]
    Schema(String),
    /// A text that is no program.
    #[error(transparent)]
    Parse(#[from] Box<ParseError>),
    /// A program that cannot be, from elsewhere than the parser.
    #[error("the program is not valid: {0}")]
    Invalid(String),
    /// Constants of too many digits.
    #[error("a constant has more than 36 digits, or more than 30 behind the point: write fewer digits")]
    Digits,
}
