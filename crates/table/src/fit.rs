//! Conversion of cells to the numbers and labels of a schema.

use std::collections::HashMap;

use sunzi_program::Column;
use sunzi_program::run::{MISSING_LABEL, MISSING_UNIT};
use sunzi_program::schema::{Kind, Unit};

use crate::missing::{REFUSED, UNDECLARED};
use crate::reading::{Numeric, Reading};
use crate::{Cell, Decimal, Missing, Moment, TableError};

/// A cell converted for its column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fitted {
    Unit(i64),
    Real(f64),
    Label(u32),
}

/// Check of cells against a column.
pub(crate) struct Fit {
    column: Column,
    reading: Reading,
    /// Index of each label of the column.
    labels: HashMap<String, u32>,
    /// What stands in missing cells, or the problem that they have.
    missing: Result<Fitted, String>,
}

impl Fit {
    pub(crate) fn new(column: &Column, reading: &Reading) -> Self {
        let labels = match &column.kind {
            Kind::Category { labels } => labels.iter().cloned().zip(0..).collect(),
            _ => HashMap::new(),
        };
        let missing = Err(REFUSED.to_owned());
        let mut fit = Self { column: column.clone(), reading: reading.clone(), labels, missing };
        fit.missing = match reading.missing.of(&column.name, column.missing) {
            Missing::Refuse => Err(REFUSED.to_owned()),
            Missing::Skip if column.missing => Ok(fit.absent()),
            Missing::Skip => Err(UNDECLARED.to_owned()),
            Missing::Value(value) => {
                let plain = Self { reading: reading.plain(), labels: fit.labels.clone(), ..fit.bare() };
                plain
                    .try_there(&Cell::Text(value))
                    .map_err(|problem| format!("is missing, and the value {value:?} in its place {problem}"))
            }
        };
        fit
    }

    /// Returns the check of the column without its labels.
    fn bare(&self) -> Self {
        let (column, reading) = (self.column.clone(), self.reading.clone());
        Self { column, reading, labels: HashMap::new(), missing: self.missing.clone() }
    }

    /// Returns what stands for a cell that stays missing.
    fn absent(&self) -> Fitted {
        match self.column.kind {
            Kind::Decimal { .. } => Fitted::Unit(MISSING_UNIT),
            Kind::Real { .. } => Fitted::Real(f64::NAN),
            Kind::Category { .. } => Fitted::Label(MISSING_LABEL),
        }
    }

    /// Whether the column has labels.
    pub(crate) fn is_of_labels(&self) -> bool {
        matches!(self.column.kind, Kind::Category { .. })
    }

    /// Whether a word such as NA is a missing cell of the column, whose missing cells are `taken` or else refused.
    pub(crate) fn has_missing_words(&self, cell: &Cell<'_>, taken: bool) -> bool {
        !self.is_of_labels() || taken && !self.labels.contains_key(cell.text().as_ref())
    }

    /// Refuses a number outside the declared range, and a label that was not declared; `place` names the cell in the message.
    pub(crate) fn check(&self, cell: &Cell<'_>, place: impl FnOnce() -> String) -> Result<(), TableError> {
        self.fit(cell, place).map(drop)
    }

    /// Converts a cell, or refuses it as [`check`](Self::check) does.
    pub(crate) fn fit(&self, cell: &Cell<'_>, place: impl FnOnce() -> String) -> Result<Fitted, TableError> {
        self.try_fit(cell).map_err(|problem| cell.refuse(place(), &self.column.name, problem))
    }

    fn try_fit(&self, cell: &Cell<'_>) -> Result<Fitted, String> {
        let absent =
            cell.is_absent() || cell.is_missing_word() && self.has_missing_words(cell, self.missing.is_ok());
        if absent { self.missing.clone() } else { self.try_there(cell) }
    }

    /// Converts a cell that is not missing.
    fn try_there(&self, cell: &Cell<'_>) -> Result<Fitted, String> {
        match (&self.column.kind, self.column.unit) {
            (Kind::Decimal { low, high, .. }, Some(unit)) => self.time(cell, unit, (*low, *high)),
            (Kind::Decimal { decimals, low, high }, None) => {
                let number = self.number(cell)?;
                if number.decimals() > *decimals {
                    let got = number.decimals();
                    return Err(format!(
                        "has {got} decimals, the schema says at most {decimals}: declare more, or round"
                    ));
                }
                let units = number.scaled(*decimals).and_then(|v| i64::try_from(v).ok());
                match units.filter(|v| (low..=high).contains(&v)) {
                    Some(units) => Ok(Fitted::Unit(units)),
                    None => Err(outside(decimal(*low, *decimals), decimal(*high, *decimals))),
                }
            }
            (Kind::Real { low, high }, _) => {
                let value = match cell {
                    Cell::Real(value) => *value,
                    _ => self.number(cell)?.to_f64(),
                };
                let inside = (*low..=*high).contains(&value);
                if inside { Ok(Fitted::Real(value)) } else { Err(outside(low, high)) }
            }
            (Kind::Category { .. }, _) => {
                self.labels.get(cell.text().as_ref()).copied().map(Fitted::Label).ok_or_else(|| {
                    format!(
                        "is none of the {} labels that the schema declares: correct it, or declare it",
                        self.labels.len()
                    )
                })
            }
        }
    }

    /// Returns the number in a cell; true is 1 and false is 0.
    fn number(&self, cell: &Cell<'_>) -> Result<Decimal, String> {
        match self.reading.numeric(cell) {
            Ok(Numeric::Number(number)) => Ok(number),
            Ok(Numeric::Truth(truth)) => Ok(Decimal::new(truth.into(), 0)),
            Ok(own @ Numeric::Moment(_)) => {
                Err(format!("is {}, and the schema has a column of numbers: declare its unit", own.word()))
            }
            Err(problem) => Err(format!("{problem}; correct it")),
        }
    }

    /// Returns a date or a time in units since its origin.
    fn time(&self, cell: &Cell<'_>, unit: Unit, (low, high): (i64, i64)) -> Result<Fitted, String> {
        let moment = match self.reading.numeric(cell) {
            Ok(Numeric::Moment(moment)) => Some(moment),
            _ => None,
        };
        let moment = moment.filter(|moment| moment.since == unit.since).ok_or_else(|| {
            format!("is no date or time that counts {unit}: write it as in 2024-05-17 or 10:30:00, or give the pattern of dates")
        })?;
        let units = moment.units(unit.time).ok_or_else(|| no_whole(unit))?;
        if (low..=high).contains(&units) {
            return Ok(Fitted::Unit(units));
        }
        Err(outside(Moment::of_units(low, unit), Moment::of_units(high, unit)))
    }
}

/// Problem of a time that is finer than its unit.
pub(crate) fn no_whole(unit: Unit) -> String {
    let name = unit.time.name();
    format!("is no whole number of {name}: take a finer unit than {name}")
}

pub(crate) fn outside(low: impl ToString, high: impl ToString) -> String {
    let (low, high) = (low.to_string(), high.to_string());
    format!("is outside of the declared range from {low} to {high}: correct it, or declare a wider one")
}

/// Writes the number v/10^decimals in digits.
fn decimal(v: i64, decimals: u32) -> Decimal {
    Decimal::new(v.into(), -(decimals as i32))
}
