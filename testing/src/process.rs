//! Tests in processes of their own: the executable of the tests, started again for a single one.

use std::env;
use std::io;
use std::process::Command;

/// Environment variable that names the test a process was started for.
const ALONE: &str = "SUNZI_TEST_ALONE";

/// Makes a command that starts this test executable for one test, whether it is ignored or not, and shows
/// what the test prints.
///
/// # Errors
///
/// An error of the system, if it does not tell which file the test executable is.
pub fn again(test: &str) -> io::Result<Command> {
    let mut command = Command::new(env::current_exe()?);
    command.args(["--include-ignored", "--exact", "--nocapture", test]).env(ALONE, test);
    Ok(command)
}

/// Runs the body of `test` in a process that runs nothing else, so that memory and its peak are those of one test.
///
/// # Panics
///
/// Panics if the test fails in its own process, or if no test has that name.
#[expect(clippy::panic, clippy::print_stdout, reason = "a part of tests")]
pub fn alone(test: &str, body: impl FnOnce()) {
    if env::var(ALONE).is_ok_and(|name| name == test) {
        return body();
    }
    let output = match again(test).and_then(|mut command| command.output()) {
        Ok(output) => output,
        Err(error) => panic!("{test} cannot be started alone: {error}"),
    };
    let text = String::from_utf8_lossy(&output.stdout);
    println!("{text}");
    let passed = output.status.success() && text.contains("test result: ok. 1 passed");
    assert!(passed, "{test} failed in its process: {}", String::from_utf8_lossy(&output.stderr));
}
