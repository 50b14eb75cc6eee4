//! Parser: tokens to trees, by operator precedence.

use std::ops::Range;

use super::error::Wrong;
use super::lexer::{Token, tokens};
use crate::Decimal;
use crate::language::instead_of_word;

/// Largest nesting depth of expressions, since the parser is recursive.
const DEEPEST: usize = 100;
/// Largest height of syntax trees, as of a long sum, since their readers are recursive.
const HIGHEST: usize = 500;

/// Syntax tree of an expression with its place in the text.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    pub(super) kind: Kind,
    pub(super) span: Range<usize>,
    height: usize,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Number(Decimal),
    Name(String),
    Text(String),
    Negate(Box<Tree>),
    Binary(&'static str, Box<Tree>, Box<Tree>),
    Call(String, Vec<Tree>),
}

/// Statement `name = value by groups` of a program.
#[derive(Debug)]
pub(super) struct Statement {
    pub(super) name: Option<(String, Range<usize>)>,
    pub(super) value: Tree,
    pub(super) groups: Vec<(String, Range<usize>)>,
    /// Byte range from the first token of the value to the last token of the groups.
    pub(super) span: Range<usize>,
}

/// Parses all statements of a program.
pub(super) fn statements(text: &str) -> Result<Vec<Statement>, Wrong> {
    let mut parser = Parser { tokens: tokens(text)?, at: 0, depth: 0 };
    let mut statements = Vec::new();
    loop {
        while parser.take(";") {}
        if *parser.token() == Token::End {
            break;
        }
        statements.push(parser.statement()?);
        if *parser.token() != Token::End && !parser.take(";") {
            return Err(parser.expected("an operator, `by`, or `;` before the next statement"));
        }
    }
    if statements.is_empty() {
        return Err(Wrong::at(&(0..text.len()), "there is no statement: write for example mean(x)"));
    }
    Ok(statements)
}

struct Parser {
    tokens: Vec<(Token, Range<usize>)>,
    at: usize,
    depth: usize,
}

impl Parser {
    fn token(&self) -> &Token {
        self.tokens.get(self.at).map_or(&Token::End, |(token, _)| token)
    }

    fn span(&self) -> Range<usize> {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(0..0, |(_, span)| span.clone())
    }

    /// Returns the byte position at which the last token ends.
    fn end(&self) -> usize {
        self.at.checked_sub(1).and_then(|at| self.tokens.get(at)).map_or(0, |(_, span)| span.end)
    }

    fn take(&mut self, sign: &str) -> bool {
        let found = matches!(self.token(), Token::Sign(found) if *found == sign);
        self.at += usize::from(found);
        found
    }

    fn expected(&self, what: &str) -> Wrong {
        let got = match self.token() {
            Token::End => "the end".to_owned(),
            Token::Sign(sign) => format!("`{sign}`"),
            Token::Number(number) => format!("`{number}`"),
            Token::Word(word) => format!("`{word}`"),
            Token::Text(text) => format!("{text:?}"),
        };
        let wrong = Wrong::at(&self.span(), format!("expected {what}, got {got}"));
        match self.written_elsewhere() {
            Some(help) => wrong.with_help(help),
            None => wrong,
        }
    }

    /// Returns what is written instead of a word or sign of another language that stands here.
    fn written_elsewhere(&self) -> Option<&'static str> {
        let before = self.at.checked_sub(1).and_then(|at| self.tokens.get(at)).map(|(token, _)| token);
        match (before, self.token()) {
            (Some(Token::Sign("*")), Token::Sign("*")) => Some("powers are written x ^ 2"),
            (Some(Token::Sign("<")), Token::Sign(">")) => Some("unequal is written !="),
            (Some(Token::Sign("=")), Token::Sign("=" | ">" | "<" | ">=" | "<=")) => {
                Some("comparisons are written == != < <= > >=")
            }
            (Some(Token::Sign("(")), Token::Sign("*")) => Some("the number of rows is count()"),
            (_, Token::Sign("=")) => {
                Some("equality is written ==, and a result is named in front: a = mean(x)")
            }
            (_, Token::Sign("[" | "]")) => Some("there are no indices: a column is named as it is"),
            (Some(Token::Word(word)), Token::Word(_)) => instead_of_word(word).or(self.word_here()),
            _ => self.word_here(),
        }
    }

    fn word_here(&self) -> Option<&'static str> {
        if let Token::Word(word) = self.token() { instead_of_word(word) } else { None }
    }

    fn word(&mut self, what: &str) -> Result<(String, Range<usize>), Wrong> {
        match self.token() {
            Token::Word(word) => {
                let found = (word.clone(), self.span());
                self.at += 1;
                Ok(found)
            }
            _ => Err(self.expected(what)),
        }
    }

    fn statement(&mut self) -> Result<Statement, Wrong> {
        let mut name = None;
        let assigned = matches!(self.tokens.get(self.at + 1), Some((Token::Sign("="), _)));
        if assigned {
            name = Some(self.word("a name before `=`")?);
            self.at += 1;
        }
        let start = self.span().start;
        let value = self.expression(0)?;
        let mut groups = Vec::new();
        if matches!(self.token(), Token::Word(word) if word == "by") {
            self.at += 1;
            groups.push(self.word("a column after `by`")?);
            while self.take(",") {
                groups.push(self.word("another column after `,`")?);
            }
        }
        Ok(Statement { name, value, groups, span: start..self.end() })
    }

    /// Parses an expression of operators that bind stronger than `least`.
    fn expression(&mut self, least: u8) -> Result<Tree, Wrong> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Wrong::at(&self.span(), format!("expressions are nested deeper than {DEEPEST}")));
        }
        let start = self.span().start;
        let mut left = self.operand()?;
        while let Token::Sign(sign) = *self.token() {
            let Some((strength, to_the_right)) = strength(sign) else { break };
            if strength <= least {
                break;
            }
            self.at += 1;
            let right = self.expression(if to_the_right { strength - 1 } else { strength })?;
            if strength == COMPARISON && matches!(self.token(), Token::Sign(next) if compares(next)) {
                let message = "a comparison of a comparison: each of them is 1 or 0";
                let help = "both hold where the product is 1: (18 < age) * (age < 65)";
                return Err(Wrong::at(&self.span(), message).with_help(help));
            }
            let height = 1 + left.height.max(right.height);
            if height > HIGHEST {
                let message = format!("more than {HIGHEST} operators in a row or within each other");
                return Err(
                    Wrong::at(&self.span(), message).with_help("name a part of it, as in a = …; a + …")
                );
            }
            let kind = Kind::Binary(sign, Box::new(left), Box::new(right));
            left = Tree { kind, span: start..self.end(), height };
        }
        self.depth -= 1;
        Ok(left)
    }

    fn operand(&mut self) -> Result<Tree, Wrong> {
        let start = self.span().start;
        let kind = match self.token().clone() {
            Token::Number(number) => {
                self.at += 1;
                Kind::Number(number)
            }
            Token::Text(text) => {
                self.at += 1;
                Kind::Text(text)
            }
            Token::Word(word) if word != "by" => {
                self.at += 1;
                if self.take("(") { Kind::Call(word, self.arguments()?) } else { Kind::Name(word) }
            }
            Token::Sign("-") => {
                self.at += 1;
                // Weaker than a power, stronger than a product: −x^2 is −(x^2).
                Kind::Negate(Box::new(self.expression(NEGATION)?))
            }
            Token::Sign("(") => {
                self.at += 1;
                let inner = self.expression(0)?;
                if !self.take(")") {
                    return Err(self.expected("an operator or `)`"));
                }
                return Ok(Tree { span: start..self.end(), ..inner });
            }
            _ => return Err(self.expected("a column, a number, a function or `(`")),
        };
        let below = match &kind {
            Kind::Negate(inner) => inner.height,
            Kind::Call(_, arguments) => arguments.iter().map(|tree| tree.height).max().unwrap_or(0),
            _ => 0,
        };
        Ok(Tree { kind, span: start..self.end(), height: below + 1 })
    }

    /// Parses the arguments between the parentheses of a call.
    fn arguments(&mut self) -> Result<Vec<Tree>, Wrong> {
        let mut arguments = Vec::new();
        if self.take(")") {
            return Ok(arguments);
        }
        loop {
            arguments.push(self.expression(0)?);
            if self.take(")") {
                return Ok(arguments);
            }
            if !self.take(",") {
                return Err(self.expected("an operator, `,` or `)`"));
            }
        }
    }
}

const COMPARISON: u8 = 1;
const NEGATION: u8 = 4;

fn compares(sign: &str) -> bool {
    strength(sign).is_some_and(|(strength, _)| strength == COMPARISON)
}

/// Returns the strength with which an operator binds, and whether it groups to the right.
fn strength(sign: &str) -> Option<(u8, bool)> {
    match sign {
        ">" | ">=" | "<" | "<=" | "==" | "!=" => Some((COMPARISON, false)),
        "+" | "-" => Some((2, false)),
        "*" | "/" => Some((3, false)),
        "^" => Some((5, true)),
        _ => None,
    }
}
