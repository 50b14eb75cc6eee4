//! Results of a plan, opened in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Cursor;

use sunzi_program::results::ResultsReader;
use sunzi_program::run::Estimate;
use sunzi_program::{Formula, NodeId, OutputValue, Plan, Undefined};
use sunzi_rlwe::wire::WireError;

use super::Keys;
use crate::TableError;

/// A number of a result, with by how much it may be off, or why there is none.
pub struct OpenedNumber {
    /// Number and the bound of its error, or the reason why there is none.
    pub number: Result<Estimate, Undefined>,
    /// Whether the number rests on clear columns alone, and so was never encrypted.
    pub clear: bool,
}

/// Value of a result.
#[non_exhaustive]
pub enum Opened {
    /// One number.
    Number(OpenedNumber),
    /// A number for each group, with the labels of the group.
    Groups(Vec<(Vec<String>, OpenedNumber)>),
    /// A number for each row.
    Rows {
        /// Numbers of the rows, each the nearest double.
        values: Vec<f64>,
        /// Bounds of the errors of the rows.
        errors: Vec<f64>,
        /// Whether the rows were never encrypted.
        clear: bool,
    },
}

impl Keys {
    /// Opens the results of a plan, in the bytes of their file, and those of no other program; each by its name.
    ///
    /// # Errors
    /// [`TableError::MissingKey`] without the secret key; [`TableError::Mismatch`] for results of another layout; [`WireError`] for those of another key, and for
    /// bytes that are none; [`TableError::Program`] for those of another program.
    pub fn decrypt(&self, plan: &Plan, bytes: &[u8]) -> Result<Vec<(String, Opened)>, TableError> {
        self.check_plan(plan)?;
        let missing = TableError::MissingKey { what: "to decrypt with: take the secret key" };
        let secret = self.secret.as_ref().ok_or(missing)?;
        let mut results = ResultsReader::open(&self.contexts, Cursor::new(bytes))?;
        if results.key() != secret.id() {
            return Err(WireError::Key { expected: Some(secret.id()), got: Some(results.key()) }.into());
        }
        let description = results.description().clone();
        description.check_plan(plan)?;
        if description.layout != plan.layout {
            return Err(TableError::mismatch("where rows are", "as the plan says", "elsewhere"));
        }
        let codec = self.contexts.codec(&plan.layout)?;
        let mut columns: Columns = BTreeMap::new();
        let clear = results.clear();
        let totals = results.decrypt(&codec, secret, |id, _, cells| {
            let (values, errors) = columns.entry(id).or_default();
            values.extend(cells.iter().map(|cell| cell.number.to_f64()));
            errors.extend(cells.iter().map(|cell| cell.error));
            Ok::<_, TableError>(())
        })?;
        let opened = plan.program.finish(|id| totals.get(&id).cloned());
        let outputs = plan.program.outputs().iter().zip(opened);
        let value = |value: &OutputValue, opened| found(value, opened, &columns, &clear);
        Ok(outputs.map(|(output, (name, opened))| (name.to_owned(), value(&output.value, opened))).collect())
    }
}

/// Values of columns, with the bounds of their errors.
type Columns = BTreeMap<NodeId, (Vec<f64>, Vec<f64>)>;

fn found(
    value: &OutputValue,
    opened: sunzi_program::Opened,
    columns: &Columns,
    clear: &BTreeSet<NodeId>,
) -> Opened {
    match opened {
        sunzi_program::Opened::Number(number) => {
            let clear = matches!(value, OutputValue::Number(formula) if rests(formula, clear));
            Opened::Number(OpenedNumber { number, clear })
        }
        sunzi_program::Opened::Groups(groups) => {
            let formula = |at: usize| match value {
                OutputValue::Groups(groups) => groups.get(at).map(|group| &group.formula),
                _ => None,
            };
            let known = |at| formula(at).is_some_and(|formula| rests(formula, clear));
            let groups = groups.into_iter().enumerate();
            let group = |(at, (labels, number))| (labels, OpenedNumber { number, clear: known(at) });
            Opened::Groups(groups.map(group).collect())
        }
        sunzi_program::Opened::Column(id) => {
            // Two results may be one column.
            let (values, errors) = columns.get(&id).cloned().unwrap_or_default();
            Opened::Rows { values, errors, clear: clear.contains(&id) }
        }
    }
}

/// Whether a formula rests on totals alone that were never encrypted.
fn rests(formula: &Formula, clear: &BTreeSet<NodeId>) -> bool {
    let totals = formula.totals();
    !totals.is_empty() && totals.iter().all(|id| clear.contains(id))
}
