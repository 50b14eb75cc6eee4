//! Results as text, JSON and CSV.

use std::collections::BTreeMap;
use std::io::Write;

use num_bigint::BigInt;
use serde::Serialize;
use sunzi::program::run::Estimate;
use sunzi::program::{NodeId, Number, Opened, OutputValue, Program};

use crate::error::{CliError, one_line};

/// Digits that an exact number is printed with.
const LONGEST: usize = 40;

/// All results.
#[derive(Debug, Serialize)]
pub(super) struct Printed {
    results: Vec<Named>,
}

/// A result.
#[derive(Debug, Serialize)]
struct Named {
    name: String,
    #[serde(flatten)]
    value: Values,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum Values {
    Number(Option<Value>),
    Groups(Vec<Grouped>),
    Rows(Vec<Value>),
}

/// A number of a group.
#[derive(Debug, Serialize)]
struct Grouped {
    labels: Vec<String>,
    number: Option<Value>,
}

/// A number: the nearest double, by how much it may be off, and where it is exact the fraction itself.
#[derive(Debug, Serialize)]
struct Value {
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exact: Option<String>,
}

impl Value {
    fn new(estimate: &Estimate) -> Self {
        let exact = match &estimate.number {
            Number::Exact(ratio) => Some(ratio.to_string()),
            Number::Real(_) => None,
        };
        Self { value: estimate.number.to_f64(), error: off(estimate), exact }
    }
}

fn off(estimate: &Estimate) -> Option<f64> {
    (estimate.error > 0.0).then_some(estimate.error)
}

/// A number in decimals: exactly where that takes few digits, else the nearest double.
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

/// A number for people: no more digits than its error leaves.
fn shown(estimate: Option<&Estimate>) -> String {
    let Some(estimate) = estimate else { return "not defined".to_owned() };
    match off(estimate) {
        None => decimals(&estimate.number),
        Some(error) => {
            let places = (1.0 - error.log10()).clamp(0.0, 17.0) as usize;
            format!("{:.places$} ± {error:.1e}", estimate.number.to_f64())
        }
    }
}

impl Printed {
    pub(super) fn new(opened: &[(&str, Opened)], columns: &BTreeMap<NodeId, Vec<Estimate>>) -> Self {
        let value = |number: &Option<Estimate>| number.as_ref().map(Value::new);
        let named = |(name, opened): &(&str, Opened)| {
            let value = match opened {
                Opened::Number(number) => Values::Number(value(number)),
                Opened::Groups(groups) => {
                    let group = |(labels, number): &(Vec<String>, Option<Estimate>)| Grouped {
                        labels: labels.clone(),
                        number: value(number),
                    };
                    Values::Groups(groups.iter().map(group).collect())
                }
                Opened::Column(id) => {
                    Values::Rows(columns.get(id).into_iter().flatten().map(Value::new).collect())
                }
            };
            Named { name: (*name).to_owned(), value }
        };
        Self { results: opened.iter().map(named).collect() }
    }
}

/// Results for people.
pub(super) fn text(opened: &[(&str, Opened)], columns: &BTreeMap<NodeId, Vec<Estimate>>) -> String {
    const FIRST: usize = 5;
    let mut text = String::new();
    let mut line = |words: &str, value: String| {
        text.push_str(&format!("{}: {value}\n", one_line(words)));
    };
    for (name, opened) in opened {
        match opened {
            Opened::Number(number) => line(name, shown(number.as_ref())),
            Opened::Groups(groups) => {
                for (labels, number) in groups {
                    line(&format!("{name} [{}]", labels.join(", ")), shown(number.as_ref()));
                }
            }
            Opened::Column(id) => {
                let rows = columns.get(id).map_or(&[][..], Vec::as_slice);
                let first: Vec<String> = rows.iter().take(FIRST).map(|row| shown(Some(row))).collect();
                let more = if rows.len() > FIRST { ", … (--csv prints all)" } else { "" };
                line(name, format!("{} rows: {}{more}", rows.len(), first.join(", ")));
            }
        }
    }
    text
}

/// One line for each number: result, group or row, value, error.
pub(super) struct Csv<'a> {
    program: &'a Program,
}

impl<'a> Csv<'a> {
    pub(super) fn new(program: &'a Program) -> Self {
        Self { program }
    }

    pub(super) fn header(&self) -> Result<(), CliError> {
        write(["result", "of", "value", "error"].map(str::to_owned))
    }

    /// Rows of a column, from this one on.
    pub(super) fn rows(&self, id: NodeId, first: usize, cells: &[Estimate]) -> Result<(), CliError> {
        let of =
            |output: &&sunzi::program::Output| matches!(output.value, OutputValue::Column(own) if own == id);
        for output in self.program.outputs().iter().filter(of) {
            for (row, cell) in cells.iter().enumerate() {
                line(&output.name, (first + row + 1).to_string(), Some(cell))?;
            }
        }
        Ok(())
    }

    /// A number, or one for each group.
    pub(super) fn result(&self, name: &str, opened: &Opened) -> Result<(), CliError> {
        match opened {
            Opened::Number(number) => line(name, String::new(), number.as_ref()),
            Opened::Groups(groups) => {
                groups.iter().try_for_each(|(labels, number)| line(name, labels.join(", "), number.as_ref()))
            }
            Opened::Column(_) => Ok(()),
        }
    }
}

fn line(name: &str, of: String, estimate: Option<&Estimate>) -> Result<(), CliError> {
    let value = estimate.map_or_else(String::new, |estimate| decimals(&estimate.number));
    let error = estimate.and_then(off).map_or_else(String::new, |error| format!("{error:e}"));
    write([name.to_owned(), of, value, error])
}

/// A line with quotation marks where CSV asks for them.
fn write(fields: [String; 4]) -> Result<(), CliError> {
    let quoted = |field: &String| {
        if field.contains([',', '"', '\n', '\r']) {
            format!("\"{}\"", field.replace('"', "\"\""))
        } else {
            field.clone()
        }
    };
    let line = fields.iter().map(quoted).collect::<Vec<_>>().join(",");
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{line}") {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(CliError::failure(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}
