//! Conversion of cells to the numbers and labels of a schema.

use std::collections::HashMap;

use sunzi_program::Column;
use sunzi_program::schema::Kind;

use crate::{Cell, TableError};

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
    /// Index of each label.
    labels: HashMap<String, u32>,
}

impl Fit {
    pub(crate) fn new(column: &Column) -> Self {
        let labels = match &column.kind {
            Kind::Category { labels } => labels.iter().cloned().zip(0..).collect(),
            _ => HashMap::new(),
        };
        Self { column: column.clone(), labels }
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
        let number = || cell.number().map_err(|problem| format!("{problem}; correct it"));
        match &self.column.kind {
            Kind::Decimal { decimals, low, high } => {
                let number = number()?;
                if number.decimals() > *decimals {
                    let got = number.decimals();
                    return Err(format!(
                        "has {got} decimals, the schema says at most {decimals}: declare more, or round"
                    ));
                }
                let units = number.scaled(*decimals).and_then(|v| i64::try_from(v).ok());
                match units.filter(|v| (low..=high).contains(&v)) {
                    Some(units) => Ok(Fitted::Unit(units)),
                    None => Err(outside(unit(*low, *decimals), unit(*high, *decimals))),
                }
            }
            Kind::Real { low, high } => {
                let value = match cell {
                    Cell::Real(value) => *value,
                    _ => number()?.to_f64(),
                };
                let inside = (*low..=*high).contains(&value);
                if inside { Ok(Fitted::Real(value)) } else { Err(outside(low, high)) }
            }
            Kind::Category { .. } if matches!(cell, Cell::Missing) => {
                Err("is empty, expected a label: fill it in".to_owned())
            }
            Kind::Category { .. } => {
                self.labels.get(cell.text().as_ref()).copied().map(Fitted::Label).ok_or_else(|| {
                    format!(
                        "is none of the {} labels that the schema declares: correct it, or declare it",
                        self.labels.len()
                    )
                })
            }
        }
    }
}

fn outside(low: impl ToString, high: impl ToString) -> String {
    let (low, high) = (low.to_string(), high.to_string());
    format!(
        "is outside of the range from {low} to {high} that the schema declares: correct it, or declare a wider one"
    )
}

/// Writes v/10^decimals in digits.
fn unit(v: i64, decimals: u32) -> crate::Decimal {
    crate::Decimal::new(v.into(), -(decimals as i32))
}
