//! Results of a program as text, JSON and CSV.

use std::collections::BTreeMap;

use num_bigint::BigInt;
use serde::Serialize;
use sunzi::program::run::Estimate;
use sunzi::program::{NodeId, Number, Opened, Program, Undefined};

use super::agreed::Clear;
use crate::error::{CliError, one_line};
use crate::output;

/// Largest number of digits that an exact number is printed with.
const LONGEST: usize = 40;

/// Mark behind a printed number that the server knows.
const CLEAR: &str = " (never encrypted)";

/// All results of a program as they are printed.
#[derive(Debug, Serialize)]
pub(super) struct Printed {
    results: Vec<Named>,
}

/// A printed result with its name.
#[derive(Debug, Serialize)]
struct Named {
    name: String,
    #[serde(flatten)]
    value: Values,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum Values {
    Number(Told),
    Groups(Vec<Grouped>),
    Rows(Vec<Value>),
}

/// A printed number, or why there is none.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Told {
    Number(Value),
    Not { undefined: String },
}

impl Told {
    fn new(number: &Result<Estimate, Undefined>, clear: bool) -> Self {
        match number {
            Ok(estimate) => Self::Number(Value::new(estimate, clear)),
            Err(why) => Self::Not { undefined: why.to_string() },
        }
    }
}

/// A printed number of one group.
#[derive(Debug, Serialize)]
struct Grouped {
    labels: Vec<String>,
    number: Told,
}

/// A number as it is printed: the nearest double, by how much it may be off, and where it is exact the fraction
/// itself.
#[derive(Debug, Serialize)]
struct Value {
    /// The number; none in a row in which a cell is missing.
    value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exact: Option<String>,
    /// Whether the number was never encrypted: the server knows it, and may have written what it liked.
    #[serde(skip_serializing_if = "Option::is_none")]
    never_encrypted: Option<bool>,
}

impl Value {
    fn new(estimate: &Estimate, clear: bool) -> Self {
        let exact = match &estimate.number {
            Number::Exact(ratio) => Some(ratio.to_string()),
            Number::Real(_) => None,
        };
        Self {
            value: (!estimate.is_missing()).then(|| estimate.number.to_f64()),
            error: off(estimate),
            exact,
            never_encrypted: clear.then_some(true),
        }
    }
}

fn off(estimate: &Estimate) -> Option<f64> {
    (estimate.error > 0.0).then_some(estimate.error)
}

/// Returns a number in decimals: exactly where that takes few digits, else the nearest double.
fn decimals(number: &Number) -> String {
    let Number::Exact(ratio) = number else { return number.to_f64().to_string() };
    if ratio.is_integer() {
        let digits = ratio.to_integer().to_string();
        return if digits.len() <= LONGEST { digits } else { number.to_f64().to_string() };
    }
    let (mut scaled, mut places) = (ratio.clone(), 0);
    while !scaled.is_integer() && places < 15 {
        scaled *= BigInt::from(10);
        places += 1;
    }
    if !scaled.is_integer() || scaled.to_integer().to_string().len() > LONGEST {
        return number.to_f64().to_string();
    }
    let digits = scaled.to_integer().to_string();
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits.as_str()), |digits| ("-", digits));
    let digits = format!("{digits:0>width$}", width = places + 1);
    let (whole, fraction) = digits.split_at(digits.len() - places);
    format!("{sign}{whole}.{fraction}")
}

/// Returns a number for people: no more digits than its error leaves, and an error that holds what rounding
/// takes.
fn shown(estimate: &Estimate) -> String {
    if estimate.is_missing() {
        return "missing".to_owned();
    }
    let Some(error) = off(estimate) else { return decimals(&estimate.number) };
    let value = estimate.number.to_f64();
    let places = (1.0 - error.log10()).clamp(0.0, 17.0) as usize;
    let printed = format!("{value:.places$}");
    let rounded = printed.parse::<f64>().map_or(f64::INFINITY, |printed| (printed - value).abs());
    format!("{printed} ± {}", not_below((error + rounded).next_up()))
}

/// Returns two digits of a positive number, rounded up.
fn not_below(error: f64) -> String {
    let nearest = format!("{error:.1e}");
    if nearest.parse().is_ok_and(|printed: f64| printed >= error) {
        return nearest;
    }
    // Half a unit of the second digit more rounds up.
    let unit = 10_f64.powi(error.log10().floor() as i32 - 1);
    format!("{:.1e}", error + 0.5001 * unit)
}

/// Returns a number as text for people, or why there is none.
fn told(number: &Result<Estimate, Undefined>) -> String {
    number.as_ref().map_or_else(ToString::to_string, shown)
}

impl Printed {
    pub(super) fn new(
        opened: &[(&str, Opened)],
        columns: &BTreeMap<NodeId, Vec<Estimate>>,
        clear: &Clear,
    ) -> Self {
        let named = |(at, (name, opened)): (usize, &(&str, Opened))| {
            let value = match opened {
                Opened::Number(number) => Values::Number(Told::new(number, clear.at(at, 0))),
                Opened::Groups(groups) => {
                    let group =
                        |(place, (labels, number)): (usize, &(Vec<String>, Result<Estimate, Undefined>))| {
                            Grouped { labels: labels.clone(), number: Told::new(number, clear.at(at, place)) }
                        };
                    Values::Groups(groups.iter().enumerate().map(group).collect())
                }
                Opened::Column(id) => {
                    let rows = columns.get(id).into_iter().flatten();
                    Values::Rows(rows.map(|cell| Value::new(cell, clear.at(at, 0))).collect())
                }
            };
            Named { name: (*name).to_owned(), value }
        };
        Self { results: opened.iter().enumerate().map(named).collect() }
    }
}

/// Returns results as text for people.
pub(super) fn text(
    opened: &[(&str, Opened)],
    columns: &BTreeMap<NodeId, Vec<Estimate>>,
    clear: &Clear,
) -> String {
    const FIRST: usize = 5;
    let mut text = String::new();
    let mut line = |words: &str, value: String, clear: bool| {
        let mark = if clear { CLEAR } else { "" };
        text.push_str(&format!("{}: {value}{mark}\n", one_line(words)));
    };
    for (at, (name, opened)) in opened.iter().enumerate() {
        match opened {
            Opened::Number(number) => line(name, told(number), clear.at(at, 0)),
            Opened::Groups(groups) => {
                for (place, (labels, number)) in groups.iter().enumerate() {
                    let words = format!("{name} [{}]", labels.join(", "));
                    line(&words, told(number), clear.at(at, place));
                }
            }
            Opened::Column(id) => {
                let rows = columns.get(id).map_or(&[][..], Vec::as_slice);
                let first: Vec<String> = rows.iter().take(FIRST).map(shown).collect();
                let more = if rows.len() > FIRST { ", … (--csv prints all)" } else { "" };
                line(name, format!("{} rows: {}{more}", rows.len(), first.join(", ")), clear.at(at, 0));
            }
        }
    }
    text
}

/// Writer of results as CSV, one line for each number: result, group or row, value, error, and whether it
/// came encrypted.
pub(super) struct Csv<'a> {
    program: &'a Program,
    clear: &'a Clear,
}

impl<'a> Csv<'a> {
    pub(super) fn new(program: &'a Program, clear: &'a Clear) -> Self {
        Self { program, clear }
    }

    pub(super) fn header(&self) -> Result<(), CliError> {
        write(["result", "of", "value", "error", "encrypted"].map(str::to_owned))
    }

    /// Writes rows of a column as CSV, from row `first` on.
    pub(super) fn rows(&self, id: NodeId, first: usize, cells: &[Estimate]) -> Result<(), CliError> {
        let of = |output: &sunzi::program::Output| output.value.column() == Some(id);
        for (at, output) in self.program.outputs().iter().enumerate().filter(|(_, output)| of(output)) {
            for (row, cell) in cells.iter().enumerate() {
                line(&output.name, (first + row + 1).to_string(), Ok(cell), self.clear.at(at, 0))?;
            }
        }
        Ok(())
    }

    /// Writes a result as CSV: a number, or one for each group.
    pub(super) fn result(&self, at: usize, name: &str, opened: &Opened) -> Result<(), CliError> {
        match opened {
            Opened::Number(number) => line(name, String::new(), number.as_ref(), self.clear.at(at, 0)),
            Opened::Groups(groups) => groups.iter().enumerate().try_for_each(|(place, (labels, number))| {
                line(name, labels.join(", "), number.as_ref(), self.clear.at(at, place))
            }),
            Opened::Column(_) => Ok(()),
        }
    }
}

/// Writes a number and its error as a line of CSV, or nothing and why there is none.
fn line(name: &str, of: String, number: Result<&Estimate, &Undefined>, clear: bool) -> Result<(), CliError> {
    let there = number.ok().filter(|estimate| !estimate.is_missing());
    let value = there.map_or_else(String::new, |estimate| decimals(&estimate.number));
    let error = match number {
        Ok(estimate) => off(estimate).map_or_else(String::new, |error| format!("{error:e}")),
        Err(why) => why.to_string(),
    };
    write([name.to_owned(), of, value, error, if clear { "no" } else { "yes" }.to_owned()])
}

/// Writes a line of CSV, with quotation marks where the format asks for them.
fn write(fields: [String; 5]) -> Result<(), CliError> {
    let quoted = |field: &String| {
        if field.contains([',', '"', '\n', '\r']) {
            format!("\"{}\"", field.replace('"', "\"\""))
        } else {
            field.clone()
        }
    };
    let line = fields.iter().map(quoted).collect::<Vec<_>>().join(",");
    output::print(&line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_intervals_hold_the_right_one() {
        for (value, error) in [
            (1100.4, 4.149),
            (0.123_456_789, 9.96e-3),
            (-7.05, 0.0999),
            (12.5, 99.9),
            (1e-9, 3.04e-12),
            (5e8, 1.01e7),
        ] {
            let printed = shown(&Estimate { number: Number::Real(value), error });
            let (middle, off) = printed.split_once(" ± ").expect("an error is printed");
            let [middle, off]: [f64; 2] = [middle, off].map(|text| text.parse().expect("a number"));
            assert!(
                middle - off <= value - error && value + error <= middle + off,
                "{printed}: {value} ± {error}"
            );
            assert!(off <= 1.2 * error, "{printed}: {error}");
        }
    }
}
