//! Results of a plan in JSON.

use serde::Serialize;
use sunzi_program::Number;
use sunzi_table::in_memory::{Opened, OpenedNumber};

use crate::error::Failure;

/// A number of a result.
#[derive(Serialize)]
struct Told {
    /// Nearest double; none where the number is not defined.
    value: Option<f64>,
    /// Bound of the error.
    error: f64,
    /// Fraction of integers, where the number is exact.
    exact: Option<String>,
    /// Reason why there is no number.
    undefined: Option<String>,
    /// Whether the number was never encrypted.
    clear: bool,
}

/// Value of a result.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
enum Value {
    Number(Told),
    Groups { groups: Vec<Group> },
    Rows { values: Vec<f64>, errors: Vec<f64>, clear: bool },
}

/// A group with its number.
#[derive(Serialize)]
struct Group {
    labels: Vec<String>,
    number: Told,
}

/// Result with its name.
#[derive(Serialize)]
struct Named {
    name: String,
    value: Value,
}

/// Returns results in JSON.
pub(crate) fn json(results: Vec<(String, Opened)>) -> Result<String, Failure> {
    let named = |(name, opened)| Ok(Named { name, value: value(opened)? });
    let named = results.into_iter().map(named).collect::<Result<Vec<_>, Failure>>()?;
    Ok(serde_json::to_string(&named)?)
}

fn value(opened: Opened) -> Result<Value, Failure> {
    let group = |(labels, number)| Group { labels, number: told(&number) };
    match opened {
        Opened::Number(number) => Ok(Value::Number(told(&number))),
        Opened::Groups(groups) => Ok(Value::Groups { groups: groups.into_iter().map(group).collect() }),
        Opened::Rows { values, errors, clear } => Ok(Value::Rows { values, errors, clear }),
        _ => {
            Err(Failure::new("InternalError", "a result of a form that JavaScript has not: please report it"))
        }
    }
}

fn told(OpenedNumber { number, clear }: &OpenedNumber) -> Told {
    match number {
        Err(why) => {
            Told { value: None, error: 0.0, exact: None, undefined: Some(why.to_string()), clear: *clear }
        }
        Ok(estimate) => {
            let exact = match &estimate.number {
                Number::Exact(ratio) => Some(ratio.to_string()),
                Number::Real(_) => None,
            };
            let (value, error) = (Some(estimate.number.to_f64()), estimate.error);
            Told { value, error, exact, undefined: None, clear: *clear }
        }
    }
}
