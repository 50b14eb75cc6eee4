//! Lexer: text to tokens.

use std::ops::Range;

use super::error::Wrong;
use crate::Decimal;
use crate::language::instead_of_sign;

/// Token of the program language.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Number(Decimal),
    Word(String),
    Text(String),
    /// Operator or bracket, as written.
    Sign(&'static str),
    End,
}

/// Operators and brackets of the language, those of two characters first.
const SIGNS: [&str; 18] =
    [">=", "<=", "==", "!=", "+", "-", "*", "/", "^", "(", ")", ",", ";", "=", ">", "<", "[", "]"];

/// Returns all tokens of a text with their places, and the end of the text.
pub(super) fn tokens(text: &str) -> Result<Vec<(Token, Range<usize>)>, Wrong> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(remaining) = text.get(at..).filter(|remaining| !remaining.is_empty()) {
        let blank = remaining.len() - remaining.trim_start().len();
        if blank > 0 {
            at += blank;
            continue;
        }
        if remaining.starts_with('#') {
            at += remaining.find('\n').unwrap_or(remaining.len());
            continue;
        }
        let (token, length) = one(remaining, at)?;
        tokens.push((token, at..at + length));
        at += length;
    }
    tokens.push((Token::End, at..at));
    Ok(tokens)
}

/// Returns the first token of a text that is not empty, and its number of bytes.
fn one(remaining: &str, at: usize) -> Result<(Token, usize), Wrong> {
    let while_true = |f: fn(char) -> bool| remaining.find(|c| !f(c)).unwrap_or(remaining.len());
    let first = remaining.chars().next().unwrap_or(' ');
    if first.is_ascii_digit() {
        let length = while_true(|c| c.is_ascii_alphanumeric() || c == '.' || c == '_');
        let digits = remaining.get(..length).unwrap_or_default();
        let number = digits.parse().map_err(|error| {
            Wrong::at(&(at..at + length), format!("{error}")).with_help("numbers are written as 12 or 0.5")
        })?;
        return Ok((Token::Number(number), length));
    }
    if first.is_alphabetic() || first == '_' {
        let length = while_true(|c| c.is_alphanumeric() || c == '_' || c == '.');
        return Ok((Token::Word(remaining.get(..length).unwrap_or_default().to_owned()), length));
    }
    if first == '"' || first == '`' {
        let inside = remaining.get(1..).unwrap_or_default();
        let Some(end) = inside.find(first) else {
            return Err(Wrong::at(
                &(at..at + remaining.len()),
                format!("a text that begins with {first} has no end"),
            ));
        };
        let text = inside.get(..end).unwrap_or_default().to_owned();
        // Backticks enclose names with blanks, quotation marks labels and files.
        return Ok((if first == '"' { Token::Text(text) } else { Token::Word(text) }, end + 2));
    }
    let sign = SIGNS.iter().find(|sign| remaining.starts_with(**sign));
    match sign {
        Some(sign) => Ok((Token::Sign(sign), sign.len())),
        None => {
            let span = at..at + first.len_utf8();
            let wrong = Wrong::at(&span, format!("the character {first:?} has no meaning here"));
            Err(match instead_of_sign(first) {
                Some(help) => wrong.with_help(help),
                None => wrong,
            })
        }
    }
}
