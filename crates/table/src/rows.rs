//! Rows of a table, one after the other.

use std::borrow::Cow;

use crate::{Decimal, Moment, NotDecimal, TableError};

/// A cell as it stands in a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// An absent cell, in a row in which other columns have cells.
    Missing,
    /// Text that may be a number, from a file without types.
    Text(&'a str),
    /// Text that is a label, or a date, and no number whatever it looks like.
    Label(&'a str),
    /// An exact number in a cell.
    Number(Decimal),
    /// A double, which stands for the shortest decimal number that reads as it.
    Real(f64),
    /// A date or a time, from a file with types.
    Moment(Moment),
}

impl<'a> Cell<'a> {
    /// Reads the cell as a number.
    ///
    /// # Errors
    /// Every [`NotDecimal`], by the text of the cell.
    pub fn number(&self) -> Result<Decimal, NotDecimal> {
        match self {
            Self::Missing => Err(NotDecimal::Empty),
            Self::Text(text) => Decimal::parse(text),
            Self::Label(_) | Self::Moment(_) => Err(NotDecimal::NotANumber),
            Self::Number(number) => Ok(*number),
            Self::Real(value) if !value.is_finite() => Err(NotDecimal::NotFinite),
            // The shortest digits; the exponent form keeps zeros out.
            Self::Real(value) => Decimal::parse(&format!("{value:e}")),
        }
    }

    /// Returns the text of the cell, as a label or for a message.
    #[must_use]
    pub fn text(&self) -> Cow<'a, str> {
        match self {
            Self::Missing => Cow::Borrowed(""),
            Self::Text(text) | Self::Label(text) => Cow::Borrowed(text),
            Self::Number(number) => Cow::Owned(number.to_string()),
            Self::Real(value) => Cow::Owned(value.to_string()),
            Self::Moment(moment) => Cow::Owned(moment.to_string()),
        }
    }

    /// Makes an error that names this cell.
    pub(crate) fn refuse(&self, place: String, column: &str, problem: impl ToString) -> TableError {
        const LONGEST: usize = 40;
        let text = self.text();
        let mut cell: String = text.chars().take(LONGEST).collect();
        if cell.len() < text.len() {
            cell.push('…');
        }
        TableError::Cell { place, column: column.to_owned(), cell, problem: problem.to_string() }
    }
}

/// A table that is read one row at a time.
pub trait Rows {
    /// Names of the columns of the table.
    fn names(&self) -> &[String];

    /// Chooses the columns whose cells will be read: all others are skipped, whatever they hold. Without a call all columns are read.
    ///
    /// # Errors
    /// [`TableError::Form`] for a column without a name, and for a name that another column has too; [`TableError::Column`] for a type that is no number, date or text.
    fn select(&mut self, columns: &[usize]) -> Result<(), TableError>;

    /// Advances to the next row of the table; false if there is none.
    ///
    /// # Errors
    /// [`TableError::Io`]; [`TableError::Form`].
    fn advance(&mut self) -> Result<bool, TableError>;

    /// Returns a cell of the current row; missing for a column that does not exist or was not selected.
    fn cell(&self, column: usize) -> Cell<'_>;

    /// Returns the position of the current row, in words for a message.
    fn place(&self) -> String;
}
