//! Parser of the program language: a text to a [`Program`].
//!
//! [`language`](crate::language) describes what it takes, and has the table of functions that it looks up.
//!
//! The parser is written by hand, by operator precedence: the language is small, and good errors matter most.

mod compile;
mod error;
mod functions;
mod lexer;
mod lookup;
mod needs;
mod order;
mod rows;
mod syntax;
mod totals;

pub use error::ParseError;

use crate::{Program, ProgramError, Schema};

/// Function that reads a file of weights, by the name that the program gives.
pub type Files<'a> = &'a dyn Fn(&str) -> Result<String, String>;

/// Largest number of bytes of the text of a program.
pub const LONGEST_TEXT: usize = 1 << 20;

impl Program {
    /// Parses a program that reads no files.
    ///
    /// # Errors
    /// Every error of [`parse_with`](Self::parse_with).
    pub fn parse(text: &str, schema: &Schema) -> Result<Self, ProgramError> {
        let none = |name: &str| Err(format!("no file {name:?}: this program may read none"));
        Self::parse_with(text, schema, &none)
    }

    /// Parses a program; `files` reads the files of weights that it names.
    ///
    /// ```
    /// use sunzi_program::{Column, Program, Schema};
    ///
    /// let schema = Schema::new(10, vec![Column::integer("age", 0, 120)])?;
    /// let error = Program::parse("mean(aeg)", &schema).unwrap_err().to_string();
    /// assert!(error.contains("did you mean `age`?"), "{error}");
    /// # Ok::<(), sunzi_program::ProgramError>(())
    /// ```
    ///
    /// # Errors
    /// [`ProgramError::Parse`], with the place; [`ProgramError::Schema`].
    pub fn parse_with(text: &str, schema: &Schema, files: Files<'_>) -> Result<Self, ProgramError> {
        schema.check()?;
        compile::program(text, schema, files)
    }
}
