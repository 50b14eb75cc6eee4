//! Findings about a column of a table, cell by cell.

use std::collections::BTreeSet;

use sunzi_program::Column;
use sunzi_program::schema::{Kind, LARGEST_CELL, Origin, Unit};

use crate::fit::{Fit, no_whole, outside};
use crate::missing::REFUSED;
use crate::reading::{Numeric, Reading};
use crate::times::looks_like_date;
use crate::{Cell, Decimal, Moment, TableError};

/// Largest number of bytes of a label that a survey finds.
const LONGEST_LABEL: usize = 256;
/// Largest number of labels of a category that a survey finds.
pub const MOST_LABELS: usize = 256;
/// Largest number of decimals of an exact column.
const MOST_DECIMALS: u32 = 15;
/// Largest absolute value of a number in a table.
const LARGEST: f64 = 1e15;

/// Findings of a survey about a column so far.
pub(super) enum Found {
    /// A declared column, with the check of its cells.
    Declared(Box<Fit>),
    /// A category, with its labels, whatever they look like.
    Labels(BTreeSet<String>),
    /// A column without cells so far.
    Nothing,
    /// A column of numbers, or of true and false.
    Numbers(Numbers),
    /// A column of dates or times.
    Times(Times),
    /// A column of texts, which is a category.
    Texts(BTreeSet<String>),
}

/// Summary of the numbers of a column seen so far.
pub(super) struct Numbers {
    /// Whether the cells are true and false.
    truth: bool,
    /// Whether the range is declared.
    fixed: bool,
    /// Largest number of decimals of a cell seen so far.
    decimals: u32,
    /// Least and largest number of the column in units of 10^-decimals; `None` if they do not fit.
    units: Option<(i128, i128)>,
    reals: (f64, f64),
}

/// Summary of the dates and times of a column seen so far.
pub(super) struct Times {
    since: Origin,
    /// Whether all cells are dates.
    dates: bool,
    /// Whether the range is declared.
    fixed: bool,
    low: Moment,
    high: Moment,
}

impl Found {
    pub(super) fn labels() -> Self {
        Self::Labels(BTreeSet::new())
    }

    /// Whether the column is declared.
    pub(super) fn is_declared(&self) -> bool {
        matches!(self, Self::Declared(_))
    }

    /// Whether the column has labels, as far as it is known.
    pub(super) fn is_of_labels(&self) -> bool {
        match self {
            Self::Declared(fit) => fit.is_of_labels(),
            Self::Labels(_) | Self::Texts(_) => true,
            Self::Nothing | Self::Numbers(_) | Self::Times(_) => false,
        }
    }

    /// Whether a word such as NA is a missing cell of the column: among numbers always, and among texts where missing
    /// cells are not refused and no label is declared that is written so.
    pub(super) fn has_missing_words(&self, cell: &Cell<'_>, taken: bool) -> bool {
        match self {
            Self::Declared(fit) => fit.has_missing_words(cell, taken),
            Self::Labels(_) | Self::Texts(_) | Self::Nothing => taken,
            Self::Numbers(_) | Self::Times(_) => true,
        }
    }

    /// Takes a cell into account, or refuses it; `place` names the cell in the message.
    pub(super) fn see(
        &mut self,
        cell: &Cell<'_>,
        column: &str,
        place: impl FnOnce() -> String,
        reading: &Reading,
    ) -> Result<(), TableError> {
        match self {
            Self::Declared(fit) => return fit.check(cell, place),
            Self::Labels(labels) => return add(labels, cell, column),
            _ => {}
        }
        let (others, in_words) = (self.word(), self.is_of_words());
        let problem = match (&mut *self, reading.numeric(cell)) {
            (Self::Texts(labels), Err(_)) => return add(labels, cell, column),
            (Self::Nothing, Err(_)) if matches!(cell, Cell::Text(_) | Cell::Label(_)) => {
                *self = Self::Texts(BTreeSet::new());
                return self.see(cell, column, place, reading);
            }
            (Self::Numbers(numbers), Ok(Numeric::Number(number))) if !numbers.truth => {
                numbers.see(cell, number)
            }
            (Self::Numbers(numbers), Ok(Numeric::Truth(truth))) if numbers.truth => {
                numbers.see(cell, Decimal::new(truth.into(), 0))
            }
            (Self::Times(times), Ok(Numeric::Moment(moment))) if times.since == moment.since => {
                times.see(moment, reading.unit(column).map(|time| Unit { time, since: moment.since }))
            }
            (Self::Nothing, Ok(numeric)) => {
                *self = Self::begin(numeric, cell);
                return self.see(cell, column, place, reading);
            }
            (Self::Nothing, Err(problem)) => Some(problem.to_string()),
            (_, Err(_)) if in_words => Some(format!("is not {others}, {OTHERS}")),
            (_, Err(problem)) => Some(format!("{problem}, {OTHERS}")),
            (Self::Texts(labels), Ok(_)) if labels.iter().all(|text| Cell::Text(text).is_missing_word()) => {
                let word = labels.first().map_or("", String::as_str);
                Some(format!("stands beside {word:?}, which {REFUSED}; {CATEGORY}"))
            }
            (_, Ok(numeric)) => {
                let own = numeric.word();
                Some(format!(
                    "is {own}, and another cell of the column is {others}; correct them, {CATEGORY}"
                ))
            }
        };
        problem.map_or(Ok(()), |problem| Err(cell.refuse(place(), column, problem)))
    }

    /// Begins a column with its first cell.
    fn begin(numeric: Numeric, cell: &Cell<'_>) -> Self {
        let numbers = |number: Decimal, truth| {
            let value = value(cell, number);
            let units = number.scaled(number.decimals()).map(|v| (v, v));
            let (decimals, fixed) = (number.decimals(), false);
            Self::Numbers(Numbers { truth, fixed, decimals, units, reals: (value, value) })
        };
        match numeric {
            Numeric::Number(number) => numbers(number, false),
            Numeric::Truth(truth) => numbers(Decimal::new(truth.into(), 0), true),
            Numeric::Moment(moment) => {
                let (since, dates) = (moment.since, moment.is_date);
                Self::Times(Times { since, dates, fixed: false, low: moment, high: moment })
            }
        }
    }

    /// Whether the cells are words or times, which are no numbers to whoever reads a message.
    fn is_of_words(&self) -> bool {
        matches!(self, Self::Times(_) | Self::Numbers(Numbers { truth: true, .. }))
    }

    /// Word for a cell seen so far.
    fn word(&self) -> &'static str {
        match self {
            Self::Numbers(numbers) if numbers.truth => "true or false",
            Self::Numbers(_) => "a number",
            Self::Times(Times { since: Origin::Midnight, .. }) => "a time of day",
            Self::Times(_) => "a date or a time",
            _ => "a text",
        }
    }

    /// Declares the range seen so far, whose first end was written as `low`; false for a column of another kind, and for a first end that is not the least.
    pub(super) fn fix(&mut self, low: &str, reading: &Reading) -> bool {
        let first = reading.numeric(&Cell::Text(low));
        match (self, first) {
            (Self::Numbers(numbers), Ok(Numeric::Number(low))) => {
                numbers.fixed = true;
                numbers.units.is_some_and(|(least, _)| low.scaled(numbers.decimals) == Some(least))
            }
            (Self::Times(times), Ok(Numeric::Moment(low))) => {
                times.fixed = true;
                times.low.nanoseconds == low.nanoseconds
            }
            _ => false,
        }
    }

    /// Returns the column with what was found of it.
    pub(super) fn finish(self, column: Column, reading: &Reading) -> Result<Column, TableError> {
        let asked = reading.unit(&column.name);
        let kind = match self {
            Self::Times(times) => return times.finish(column, reading),
            Self::Declared(_) => return Ok(column),
            _ if asked.is_some() => {
                return Err(TableError::column(
                    &column.name,
                    "has no dates or times, and so no unit of time",
                ));
            }
            Self::Texts(labels) if let Some(advice) = advice(&labels) => {
                return Err(TableError::column(&column.name, advice));
            }
            Self::Labels(labels) | Self::Texts(labels) => {
                Kind::Category { labels: labels.into_iter().collect() }
            }
            Self::Numbers(numbers) => numbers.kind(),
            Self::Nothing => return Err(TableError::column(&column.name, "has no cells: leave it out")),
        };
        Ok(Column { kind, ..column })
    }
}

/// Ends of the problem of a cell that is not of its column's kind.
const OTHERS: &str = "as others of the column are; correct it, or make the column a category";
const CATEGORY: &str = "or make the column a category";

/// Returns the value of a cell as a double; `number` is its number.
fn value(cell: &Cell<'_>, number: Decimal) -> f64 {
    if let Cell::Real(value) = cell { *value } else { number.to_f64() }
}

/// Returns what to do about texts that are numbers or dates in another form.
fn advice(labels: &BTreeSet<String>) -> Option<&'static str> {
    if labels.iter().all(|label| has_decimal_comma(label)) {
        return Some(
            "has numbers with a comma: read them with a decimal comma, write them as 1.5, or make the column a category",
        );
    }
    labels.iter().all(|label| looks_like_date(label)).then_some(
        "has dates in a form of its own: give their date format, such as %d.%m.%Y, or make the column a category",
    )
}

/// Whether a text is a number with a decimal comma, as some countries write it.
fn has_decimal_comma(text: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    text.trim_start_matches('-')
        .split_once(',')
        .is_some_and(|(whole, fraction)| digits(whole) && digits(fraction))
}

fn add(labels: &mut BTreeSet<String>, cell: &Cell<'_>, column: &str) -> Result<(), TableError> {
    let text = cell.text();
    if text.len() > LONGEST_LABEL {
        let problem =
            format!("has a text of {} bytes, labels have at most {LONGEST_LABEL}: leave it out", text.len());
        return Err(TableError::column(column, problem));
    }
    if !labels.contains(text.as_ref()) {
        labels.insert(text.into_owned());
    }
    if labels.len() <= MOST_LABELS {
        return Ok(());
    }
    let many = format!(
        "has more than {MOST_LABELS} different texts: leave it out, or declare it as a category with all its labels"
    );
    Err(TableError::column(column, advice(labels).map_or(many, str::to_owned)))
}

impl Numbers {
    /// Takes a number into account; returns the problem of one that cannot be taken.
    fn see(&mut self, cell: &Cell<'_>, number: Decimal) -> Option<String> {
        let value = value(cell, number);
        if value.abs() > LARGEST {
            return Some("is beyond ±1e15: use a larger unit".to_owned());
        }
        let decimals = self.decimals.max(number.decimals());
        let unit = number.scaled(decimals);
        // An exact range that was lost stays lost.
        let shift = 10_i128.checked_pow(decimals - self.decimals);
        let wider = |v: i128| v.checked_mul(shift?);
        let ends = self.units.and_then(|(low, high)| Some((wider(low)?, wider(high)?, unit?)));
        if self.fixed {
            let inside = match ends {
                Some((low, high, unit)) => (low..=high).contains(&unit),
                None => (self.reals.0..=self.reals.1).contains(&value),
            };
            if !inside {
                return Some(outside(self.reals.0, self.reals.1));
            }
        }
        self.units = ends.map(|(low, high, unit)| (low.min(unit), high.max(unit)));
        self.reals = (self.reals.0.min(value), self.reals.1.max(value));
        self.decimals = decimals;
        None
    }

    fn kind(self) -> Kind {
        let fits =
            |v: i128| i64::try_from(v).ok().filter(|v| v.unsigned_abs() <= LARGEST_CELL.unsigned_abs());
        let exact = self.units.and_then(|(low, high)| Some((fits(low)?, fits(high)?)));
        match exact {
            Some((low, high)) if self.decimals <= MOST_DECIMALS => {
                Kind::Decimal { decimals: self.decimals, low, high }
            }
            _ => Kind::Real { low: self.reals.0, high: self.reals.1 },
        }
    }
}

impl Times {
    /// Takes a moment into account; returns the problem of one that cannot be taken.
    fn see(&mut self, moment: Moment, asked: Option<Unit>) -> Option<String> {
        let unit = asked.unwrap_or(Unit { time: moment.default_unit(), since: moment.since });
        if moment.units(unit.time).is_none() {
            return Some(no_whole(unit));
        }
        let inside = (self.low.nanoseconds..=self.high.nanoseconds).contains(&moment.nanoseconds);
        if self.fixed && !inside {
            return Some(outside(self.low, self.high));
        }
        self.dates &= moment.is_date;
        if moment.nanoseconds < self.low.nanoseconds {
            self.low = moment;
        }
        if moment.nanoseconds > self.high.nanoseconds {
            self.high = moment;
        }
        None
    }

    fn finish(self, column: Column, reading: &Reading) -> Result<Column, TableError> {
        let default = Moment { is_date: self.dates, ..self.low }.default_unit();
        let unit = Unit { time: reading.unit(&column.name).unwrap_or(default), since: self.since };
        let (low, high) = (self.low.units(unit.time), self.high.units(unit.time));
        let fits = |end: Option<i64>| end.filter(|v| v.unsigned_abs() <= LARGEST_CELL.unsigned_abs());
        let (Some(low), Some(high)) = (fits(low), fits(high)) else {
            return Err(TableError::column(
                &column.name,
                format!("has times too far for {unit}: take a larger unit"),
            ));
        };
        Ok(Column { kind: Kind::Decimal { decimals: 0, low, high }, unit: Some(unit), ..column })
    }
}
