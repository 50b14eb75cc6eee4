//! Reasons why results of a file cannot be opened.

use std::path::Path;

use sunzi::program::ProgramError;
use sunzi::rlwe::wire::WireError;

use super::refuse_in;
use crate::error::CliError;
use crate::files::refuse;

/// Reason why the opening of results stopped.
pub(crate) enum Stopped {
    Wire(WireError),
    Program(ProgramError),
    Said(CliError),
}

impl From<WireError> for Stopped {
    fn from(error: WireError) -> Self {
        Self::Wire(error)
    }
}

impl From<ProgramError> for Stopped {
    fn from(error: ProgramError) -> Self {
        Self::Program(error)
    }
}

impl Stopped {
    /// Returns the command-line error for results in a file.
    pub(crate) fn of(self, file: &Path) -> CliError {
        match self {
            Self::Wire(error) => refuse(file, error),
            Self::Program(error) => refuse_in(file, error),
            Self::Said(error) => error,
        }
    }
}
