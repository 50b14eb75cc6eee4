//! Parser of the program language: a text to a [`Program`].
//!
//! | text | is |
//! |---|---|
//! | `a; b; c` | three results |
//! | `name = expression` | a result with a name, which later statements may use |
//! | `age`, or between backticks where a name has blanks | a column |
//! | `12`, `-0.5` | constants |
//! | `+ - * / ^` | arithmetic; rows are divided by constants, totals by totals |
//! | `> >= < <= == !=` | 1 where it holds, else 0; `region == "north"` for categories |
//! | `sum(x)`, `count()`, `count(x > 5)`, `mean(x)`, `var(x)`, `std(x)`, `cov(x, y)`, `corr(x, y)`, `dot(x, y)` | totals; var, std and cov divide by n − 1 |
//! | `… by region, sex` | the same for every group of rows |
//! | `poly(x, a0, a1, …)` | Σ a_i·x^i |
//! | `sigmoid(x)`, `tanh`, `exp`, `log`, `sqrt`, `inverse` | functions, by polynomials wherever x may lie by the ranges of columns; `(x, low, high)` is taken, and narrows nothing |
//! | `linear("file")`, `logistic("file")` | scores with weights from a JSON file |
//!
//! The parser is written by hand, by operator precedence: the language is small, and good errors matter most.

mod compile;
mod error;
mod functions;
mod lexer;
mod syntax;

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
