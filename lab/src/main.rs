//! The program `lab`: timings of every operation, beside rivals, and the papers' tables and figures computed again.
//!
//! Exit codes of `lab`: 0 every result that was timed is right, 1 one is wrong or something failed, 2 the
//! input was refused. A bar that is missed does not change the exit code; rows say it
//! (`lab bench peers --check` makes it 1).
#![forbid(unsafe_code)]

mod command;

use std::process::ExitCode;

fn main() -> ExitCode {
    command::main()
}
