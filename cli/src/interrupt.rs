//! Ctrl-C and requests to end: files that are not finished are removed before the process ends.

use sunzi::rlwe::wire::remove_unfinished;

use crate::error::CliError;

/// Exit code that a shell gives a process that was interrupted.
pub(crate) const INTERRUPTED: i32 = 130;

/// Makes an interrupted process remove every file or folder that is not finished, from now on.
pub(crate) fn watch() -> Result<(), CliError> {
    let stop = || {
        remove_unfinished();
        std::process::exit(INTERRUPTED);
    };
    ctrlc::set_handler(stop).map_err(CliError::failure)
}

/// Calls `stop` whenever the process is interrupted or asked to end, from now on.
#[cfg(feature = "serve")]
pub(crate) fn call(stop: impl FnMut() + Send + 'static) -> Result<(), CliError> {
    ctrlc::set_handler(stop).map_err(CliError::failure)
}
