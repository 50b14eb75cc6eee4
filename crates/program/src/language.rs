//! Reference of the program language: the functions that the parser looks up, what other languages have instead, and
//! the pages that are written from both.

mod elsewhere;
mod functions;
mod page;
mod render;

pub use elsewhere::{ELSEWHERE, Elsewhere, SIGNS, SYNONYMS, Sign, WORDS, Way, Word};
pub(crate) use elsewhere::{instead_of, instead_of_sign, instead_of_word, synonym};
pub use functions::FUNCTIONS;
pub use page::{Block, page};
pub use render::{lines, markdown, plain, text};

use serde::Serialize;

use crate::schema::{Column, Schema};
use crate::{Function, ProgramError};

/// Function of the language as the parser knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Builtin {
    Count,
    Sum,
    Mean,
    Variance,
    Deviation,
    Covariance,
    Correlation,
    Dot,
    Polynomial,
    Linear,
    Logistic,
    Choice,
    Maximum,
    Minimum,
    Median,
    Quantile,
    Sort,
    Rank,
    Top,
    LookUp,
    Smooth(Function),
}

/// Argument of a function, as its forms show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Argument {
    /// Argument with a number in every row.
    Rows(&'static str),
    /// Argument that is a constant.
    Constant(&'static str),
    /// Constants, at least one, which end the arguments.
    Constants(&'static str),
    /// Argument that names a file between quotation marks.
    File(&'static str),
}

/// What a function gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Gives {
    /// One number for the table, or for each group.
    Total,
    /// A number for each row.
    Rows,
}

/// Schemes that offer a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Schemes {
    /// BFV, BGV and CKKS; columns of real numbers need CKKS.
    All,
    /// CKKS alone.
    Ckks,
    /// Encrypted integers alone.
    Integers,
    /// BFV, BGV and encrypted integers.
    Exact,
}

/// Function of the language, as the reference describes it.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Entry {
    /// Name of the function.
    pub name: &'static str,
    /// Arguments of each form in which the function is written.
    pub forms: &'static [&'static [Argument]],
    /// Meaning of the function in one line.
    pub meaning: &'static str,
    /// Numbers that the function takes, and their ranges.
    pub takes: &'static str,
    /// What the function gives.
    pub gives: Gives,
    /// Schemes that offer the function.
    pub schemes: Schemes,
    /// What is stated of the result's error.
    pub error: &'static str,
    /// Program over the [`example_schema`] that uses the function.
    pub example: &'static str,
    #[serde(skip)]
    pub(crate) builtin: Builtin,
}

impl Argument {
    /// Returns the argument as forms show it.
    #[must_use]
    pub fn written(&self) -> String {
        match self {
            Self::Rows(name) | Self::Constant(name) | Self::Constants(name) => (*name).to_owned(),
            Self::File(name) => format!("{name:?}"),
        }
    }
}

impl Entry {
    /// Returns the forms of the function, as `sigmoid(x)` and `sigmoid(x, low, high)`.
    pub fn written(&self) -> impl Iterator<Item = String> {
        self.forms.iter().map(|form| {
            let arguments: Vec<String> = form.iter().map(Argument::written).collect();
            format!("{}({})", self.name, arguments.join(", "))
        })
    }

    /// Whether a form of the function has this number of arguments.
    pub(crate) fn takes_arguments(&self, number: usize) -> bool {
        self.forms.iter().any(|form| match form.last() {
            Some(Argument::Constants(_)) => number >= form.len(),
            _ => number == form.len(),
        })
    }
}

/// Returns the function of this name.
#[must_use]
pub fn function(name: &str) -> Option<&'static Entry> {
    FUNCTIONS.iter().find(|entry| entry.name == name)
}

/// Returns the schema of the table in the reference's examples.
///
/// ```
/// use sunzi_program::language::{FUNCTIONS, example_schema, example_weights};
/// use sunzi_program::Program;
///
/// for function in &FUNCTIONS {
///     Program::parse_with(function.example, &example_schema()?, &example_weights)?;
/// }
/// # Ok::<(), sunzi_program::ProgramError>(())
/// ```
///
/// # Errors
/// None for the schema as it is; [`ProgramError::Schema`] if it were not valid.
pub fn example_schema() -> Result<Schema, ProgramError> {
    let columns = vec![
        Column::integer("age", 18, 90),
        Column::decimal("cost", 2, 0, 50_000),
        Column::real("score", 0.125, 1.0),
        Column::category("region", &["north", "south"]),
        Column::integer("year", 1990, 2030).in_the_clear(),
    ];
    Schema::new(1000, columns)
}

/// Returns the file of weights in the reference's examples.
///
/// # Errors
/// A message for every other file.
pub fn example_weights(name: &str) -> Result<String, String> {
    match name {
        "weights.json" => Ok(WEIGHTS.to_owned()),
        "rates.csv" => Ok(RATES.to_owned()),
        _ => Err(format!("the examples have no file {name:?}")),
    }
}

/// Table in the reference's examples.
const RATES: &str = "age,rate\n18,0.5\n19,0.5\n20,0.75\n";
/// File of weights in the reference's examples.
const WEIGHTS: &str = r#"{"weights": {"age": 0.0625, "score": -1.5}, "intercept": -2}"#;
