//! How the texts of a table are read: as numbers, truth values, dates and times.

use sunzi_program::schema::TimeUnit;

use crate::{Cell, DateFormat, Decimal, MissingCells, Moment, NotDecimal};

/// Choices of how the texts of a table are read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// Whether numbers have a decimal comma in place of the point.
    pub decimal_comma: bool,
    /// Pattern of dates and times beside ISO 8601.
    pub date_format: Option<DateFormat>,
    /// Units of time of columns, by name, for all others than days (dates) and seconds (times).
    pub units: Vec<(String, TimeUnit)>,
    /// What is done about missing cells.
    pub missing: MissingCells,
}

/// Number in a cell, and what it was written as.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Numeric {
    Number(Decimal),
    Truth(bool),
    Moment(Moment),
}

impl Numeric {
    /// Word for what the cell is, for messages.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Number(_) => "a number",
            Self::Truth(_) => "true or false",
            Self::Moment(moment) if moment.is_date => "a date",
            Self::Moment(_) => "a time",
        }
    }
}

impl Reading {
    /// Reads a cell as a number; texts are numbers, `true` or `false`, dates or times.
    pub(crate) fn numeric(&self, cell: &Cell<'_>) -> Result<Numeric, NotDecimal> {
        let text = match cell {
            Cell::Moment(moment) => return Ok(Numeric::Moment(*moment)),
            Cell::Text(text) => *text,
            // What has types may have no type for dates.
            Cell::Label(text) => {
                return self.moment(text).map(Numeric::Moment).ok_or(NotDecimal::NotANumber);
            }
            _ => return cell.number().map(Numeric::Number),
        };
        self.number(text).map(Numeric::Number).or_else(|error| self.word(text).ok_or(error))
    }

    /// Reads a text as a number.
    pub(crate) fn number(&self, text: &str) -> Result<Decimal, NotDecimal> {
        if self.decimal_comma { Decimal::parse_with_comma(text) } else { Decimal::parse(text) }
    }

    /// Reads a text as a truth value, a date or a time.
    fn word(&self, text: &str) -> Option<Numeric> {
        match text.len() {
            4 if text.eq_ignore_ascii_case("true") => Some(Numeric::Truth(true)),
            5 if text.eq_ignore_ascii_case("false") => Some(Numeric::Truth(false)),
            _ => self.moment(text).map(Numeric::Moment),
        }
    }

    /// Reads a text as a date or a time.
    pub(crate) fn moment(&self, text: &str) -> Option<Moment> {
        Moment::parse(text, self.date_format.as_ref())
    }

    /// Returns the choices for texts of people, who write numbers with a decimal point.
    pub(crate) fn plain(&self) -> Self {
        Self { decimal_comma: false, ..self.clone() }
    }

    /// Unit of time that is asked for a column.
    pub(crate) fn unit(&self, column: &str) -> Option<TimeUnit> {
        self.units.iter().find(|(name, _)| name == column).map(|(_, unit)| *unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_numbers_truth_values_or_dates() {
        let number = |text: &str| Ok(Numeric::Number(Decimal::parse(text).unwrap()));
        let point = Reading::default();
        assert_eq!(point.numeric(&Cell::Text("1.5")), number("1.5"));
        assert_eq!(point.numeric(&Cell::Text("1,5")), Err(NotDecimal::NotANumber));
        assert_eq!(point.numeric(&Cell::Text("TRUE")), Ok(Numeric::Truth(true)));
        assert_eq!(point.numeric(&Cell::Text("False")), Ok(Numeric::Truth(false)));
        assert_eq!(point.numeric(&Cell::Text("yes")), Err(NotDecimal::NotANumber));
        assert_eq!(point.numeric(&Cell::Label("true")), Err(NotDecimal::NotANumber));
        let moment = Moment::parse("2024-05-17", None).unwrap();
        assert_eq!(point.numeric(&Cell::Text("2024-05-17")), Ok(Numeric::Moment(moment)));
        assert_eq!(point.numeric(&Cell::Moment(moment)), Ok(Numeric::Moment(moment)));
        assert_eq!(point.numeric(&Cell::Label("2024-05-17")), Ok(Numeric::Moment(moment)));
        let comma = Reading {
            decimal_comma: true,
            date_format: Some(DateFormat::new("%d.%m.%Y").unwrap()),
            ..Reading::default()
        };
        assert_eq!(comma.numeric(&Cell::Text("1,5")), number("1.5"));
        assert_eq!(comma.numeric(&Cell::Text("17.05.2024")), Ok(Numeric::Moment(moment)));
        assert_eq!(comma.numeric(&Cell::Text("1.5")), Err(NotDecimal::NotACommaNumber));
        // What Parquet has is a number already.
        assert_eq!(comma.numeric(&Cell::Real(1.5)), number("1.5"));
    }
}
