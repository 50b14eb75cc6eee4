//! Ctrl-C and requests to end: files that are not finished are removed before the process ends.

use sunzi::rlwe::wire::remove_unfinished;

use crate::error::CliError;

/// Exit code that a shell gives a process that was interrupted.
const INTERRUPTED: i32 = 130;

/// Makes an interrupted process remove every file or folder that is not finished, from now on.
pub(crate) fn watch() -> Result<(), CliError> {
    let stop = || {
        remove_unfinished();
        std::process::exit(INTERRUPTED);
    };
    ctrlc::set_handler(stop).map_err(CliError::failure)
}
