//! Reasons why a command refuses or fails, and their exit codes.

use std::fmt;

/// Exit code when a check inside the job did not hold, or something broke that is not the input's fault.
pub(crate) const FAILED: u8 = 1;
/// Exit code for input that was refused.
pub(crate) const BAD_INPUT: u8 = 2;

/// Exit code for a file of other keys or parameters.
const MISMATCH: u8 = 3;
/// Exit code for a computation that the parameters do not allow.
const IMPOSSIBLE: u8 = 4;
/// Exit code for a file that is damaged.
const DAMAGED: u8 = 5;
/// Exit code for what could not be read or written: a missing file, no permission, a full disk.
const UNREACHABLE: u8 = 6;

/// Reason why a command stopped. The message is one line: what was expected, what came, what to do.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// Input was refused: the user can mend it.
    #[error("{0}")]
    Input(String),
    /// A file belongs to other keys or parameters, or is of another kind.
    #[error("{0}")]
    Mismatch(String),
    /// A computation does not fit the parameters.
    #[error("{0}")]
    Impossible(String),
    /// A file is damaged: it is not whole.
    #[error("{0}")]
    Damaged(String),
    /// A file or folder is missing, or could not be read or written.
    #[error("{0}")]
    Io(String),
    /// The job ran, and a check did not hold.
    #[error("{0}")]
    Check(String),
    /// Sunzi or the machine failed.
    #[error("{0}")]
    Failure(String),
    /// An error that the JSON object on standard output already tells.
    #[error("{0}")]
    Reported(Box<CliError>),
    /// Whoever reads standard output has stopped, as `head` does: no error.
    #[error("whoever reads the output has stopped")]
    ReaderGone,
}

impl CliError {
    /// Makes the error of bad input, to be mended by the user.
    pub(crate) fn input(message: impl fmt::Display) -> Self {
        Self::Input(one_line(&message.to_string()))
    }

    /// Makes the error of a file of other keys or parameters.
    pub(crate) fn mismatch(message: impl fmt::Display) -> Self {
        Self::Mismatch(one_line(&message.to_string()))
    }

    /// Makes the error of a computation that does not fit the parameters.
    pub(crate) fn impossible(message: impl fmt::Display) -> Self {
        Self::Impossible(one_line(&message.to_string()))
    }

    /// Makes the error of a file that is not whole.
    pub(crate) fn damaged(message: impl fmt::Display) -> Self {
        Self::Damaged(one_line(&message.to_string()))
    }

    /// Makes the error of a file that is missing, or could not be read or written.
    pub(crate) fn io(message: impl fmt::Display) -> Self {
        Self::Io(one_line(&message.to_string()))
    }

    /// Makes the error of a failure that is not the input's fault.
    pub(crate) fn failure(message: impl fmt::Display) -> Self {
        Self::Failure(one_line(&message.to_string()))
    }

    /// Puts the place of the error before its message.
    #[cfg(feature = "net")]
    pub(crate) fn in_place(self, place: &str) -> Self {
        let told = |message: String| one_line(&format!("{place}: {message}"));
        match self {
            Self::Input(message) => Self::Input(told(message)),
            Self::Mismatch(message) => Self::Mismatch(told(message)),
            Self::Impossible(message) => Self::Impossible(told(message)),
            Self::Damaged(message) => Self::Damaged(told(message)),
            Self::Io(message) => Self::Io(told(message)),
            Self::Check(message) => Self::Check(told(message)),
            Self::Failure(message) => Self::Failure(told(message)),
            other @ (Self::Reported(_) | Self::ReaderGone) => other,
        }
    }

    /// Exit code that the process leaves with after this error.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Input(_) => BAD_INPUT,
            Self::Mismatch(_) => MISMATCH,
            Self::Impossible(_) => IMPOSSIBLE,
            Self::Damaged(_) => DAMAGED,
            Self::Io(_) => UNREACHABLE,
            Self::Check(_) | Self::Failure(_) => FAILED,
            Self::Reported(error) => error.exit_code(),
            Self::ReaderGone => 0,
        }
    }
}

/// Text on one line: text from outside may hold anything, so control characters are shown escaped and cannot steer
/// a terminal, nor turn the direction of what is around them.
pub(crate) fn one_line(text: &str) -> String {
    text.chars()
        .flat_map(|c| if steers(c) { Escaped::Yes(c.escape_default()) } else { Escaped::No(Some(c)) })
        .collect()
}

/// Whether a character is a control, ends a line, or turns the direction of text.
fn steers(c: char) -> bool {
    let turns = ['\u{61c}', '\u{200e}', '\u{200f}'].contains(&c);
    turns || c.is_control() || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns a text whose lines cannot steer a terminal, each of them ended.
#[cfg(feature = "net")]
pub(crate) fn one_lines(text: &str) -> String {
    text.lines().map(|line| one_line(line) + "\n").collect()
}

/// A character of a message, escaped or as it is.
enum Escaped {
    Yes(std::char::EscapeDefault),
    No(Option<char>),
}

impl Iterator for Escaped {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        match self {
            Self::Yes(escape) => escape.next(),
            Self::No(c) => c.take(),
        }
    }
}

/// Quotes a cell or name for a message, shortened if long.
pub(crate) fn quoted(text: &str) -> String {
    const LONGEST: usize = 40;
    if text.chars().count() <= LONGEST {
        return format!("\"{text}\"");
    }
    let start: String = text.chars().take(LONGEST).collect();
    format!("\"{start}…\"")
}

/// Lists up to `most` names in a row for a message.
pub(crate) fn listed<S: AsRef<str>>(names: &[S], most: usize) -> String {
    let shown: Vec<&str> = names.iter().take(most).map(AsRef::as_ref).collect();
    let more = names.len().saturating_sub(most);
    match more {
        0 => shown.join(", "),
        _ => format!("{} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_stay_on_one_line() {
        let error = CliError::input(format!("cell {}", quoted("a\nb\u{1b}[2J")));
        assert_eq!(error.to_string(), "cell \"a\\nb\\u{1b}[2J\"");
        assert_eq!(one_line("a\u{202e}b\u{2069}\u{2028} עב"), "a\\u{202e}b\\u{2069}\\u{2028} עב");
        assert_eq!(error.exit_code(), 2);
        assert_eq!(CliError::failure("x").exit_code(), 1);
        assert_eq!(CliError::Reported(Box::new(CliError::io("x"))).exit_code(), 6);
        assert!(quoted(&"é".repeat(100)).chars().count() < 50);
        assert_eq!(listed(&["a", "b", "c"], 2), "a, b and 1 more");
        assert_eq!(listed(&["a", "b"], 2), "a, b");
    }
}
