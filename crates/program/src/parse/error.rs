//! Errors of the parser, with their place in the text of the program.

use std::fmt;
use std::ops::Range;

/// Error in the text of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Description of the error, and what was expected.
    pub message: String,
    /// Suggestion of what to write instead, if there is one.
    pub help: Option<String>,
    /// Number of the line with the error, from 1.
    pub line: usize,
    /// Position of the first wrong character in its line, from 1.
    pub column: usize,
    /// Number of characters that the error concerns.
    pub width: usize,
    /// Text of the line with the error.
    pub source_line: String,
}

impl std::error::Error for ParseError {}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.message)?;
        let number = self.line.to_string();
        writeln!(f, "{number} | {}", self.source_line)?;
        let indent = " ".repeat(self.column - 1);
        write!(f, "{} | {indent}{}", " ".repeat(number.len()), "^".repeat(self.width.max(1)))?;
        match &self.help {
            Some(help) => write!(f, "\n{help}"),
            None => Ok(()),
        }
    }
}

/// Error with its byte range in the text, before the text is at hand for a [`ParseError`].
#[derive(Debug)]
pub(super) struct Wrong {
    pub(super) span: Range<usize>,
    pub(super) message: String,
    pub(super) help: Option<String>,
}

impl Wrong {
    pub(super) fn at(span: &Range<usize>, message: impl Into<String>) -> Self {
        Self { span: span.clone(), message: message.into(), help: None }
    }

    pub(super) fn with_help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    /// Makes the error for an unknown word, with the nearest known word.
    pub(super) fn unknown<'a>(
        span: &Range<usize>,
        what: &str,
        word: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let known: Vec<&str> = known.into_iter().collect();
        let near = known.iter().map(|candidate| (distance(word, candidate), *candidate)).min();
        let wrong = Self::at(span, format!("there is no {what} `{word}`"));
        match near {
            Some((distance, candidate)) if distance <= 1 + word.chars().count() / 3 => {
                wrong.with_help(format!("did you mean `{candidate}`?"))
            }
            _ => {
                let shown: Vec<&str> = known.iter().take(20).copied().collect();
                wrong.with_help(format!("there are: {}", shown.join(", ")))
            }
        }
    }

    pub(super) fn in_text(self, text: &str) -> ParseError {
        let start = self.span.start.min(text.len());
        let before = text.get(..start).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = text.get(line_start..).unwrap_or_default();
        let source_line = line.lines().next().unwrap_or_default().to_owned();
        let column = text.get(line_start..start).unwrap_or_default().chars().count();
        let marked = text.get(start..self.span.end.min(text.len())).unwrap_or_default();
        let width = marked.lines().next().unwrap_or_default().chars().count();
        ParseError {
            message: self.message,
            help: self.help,
            line: before.matches('\n').count() + 1,
            column: column + 1,
            width: width.max(1),
            source_line,
        }
    }
}

/// Returns the edit distance of two words: characters inserted, deleted, replaced or swapped with their neighbour
/// (Damerau, restricted).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) =
        (a.to_lowercase().chars().take(64).collect(), b.to_lowercase().chars().take(64).collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    let at = |rows: &[Vec<usize>], i: usize, j: usize| {
        rows.get(i).and_then(|row| row.get(j)).copied().unwrap_or(usize::MAX / 2)
    };
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let left = row.last().copied().unwrap_or(0) + 1;
            let mut best = left.min(at(&rows, i, j + 1) + 1).min(at(&rows, i, j) + usize::from(x != y));
            let before = |s: &[char], k: usize| k.checked_sub(1).and_then(|k| s.get(k)).copied();
            if i > 0 && j > 0 && before(&a, i) == Some(*y) && before(&b, j) == Some(*x) {
                best = best.min(at(&rows, i - 1, j - 1) + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    at(&rows, a.len(), b.len())
}

#[cfg(test)]
mod tests {
    use super::distance;

    #[test]
    fn distances_of_words() {
        for (a, b, expected) in [
            ("", "", 0),
            ("age", "age", 0),
            ("aeg", "age", 1),
            ("chol", "cholesterol", 7),
            ("", "abc", 3),
            ("Mean", "mean", 0),
            ("cor", "corr", 1),
        ] {
            assert_eq!(distance(a, b), expected, "{a} {b}");
            assert_eq!(distance(b, a), expected, "{b} {a}");
        }
    }
}
