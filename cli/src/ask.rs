//! Questions whose answer is yes or no.

use std::io::{self, IsTerminal, Write};

use crate::error::CliError;

/// Asks a question whose answer is yes or no, at a terminal alone. `option` answers it where there is none.
pub(crate) fn confirm(question: &str, option: &str) -> Result<(), CliError> {
    if !io::stdin().is_terminal() {
        return Err(CliError::input(format!(
            "{question} There is no terminal to ask: look at what was shown, and give {option}"
        )));
    }
    let mut asked = anstream::stderr().lock();
    // Where nobody sees the question, nobody answers it.
    let _ = write!(asked, "{question} [y/N] ").and_then(|()| asked.flush());
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).map_err(|error| CliError::io(format!("standard input: {error}")))?;
    if matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes") {
        return Ok(());
    }
    Err(CliError::input("nothing was done: the answer was not yes"))
}
