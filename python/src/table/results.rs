//! Results of a run: bytes for whoever computes, numbers for the key holder.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Cursor;
use std::sync::Arc;

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sunzi_program::results::{Description, ResultsReader};
use sunzi_program::run::Estimate;
use sunzi_program::{Formula, NodeId, Number, Opened, OutputValue, Plan, ProgramError, Undefined};
use sunzi_rlwe::wire::WireError;

use super::keys::{Held, missing};
use super::mismatch;
use crate::compute::run;
use crate::error::{Failure, advised};

/// Results of a run, in the bytes of their file.
#[pyclass(frozen, module = "sunzi._native")]
pub(crate) struct TableResults {
    pub(super) bytes: Arc<Vec<u8>>,
}

/// Number as Python takes it: the nearest double, by how much it may be off, the fraction where it is exact, why there is none, and whether it was never encrypted.
type Told = (f64, f64, Option<String>, Option<String>, bool);
/// Doubles of a column, and by how much they may be off.
type Rows<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>, bool);

/// Value of a result.
#[derive(IntoPyObject)]
pub(super) enum Value<'py> {
    Number(Told),
    Groups(Vec<(Vec<String>, Told)>),
    Rows(Rows<'py>),
}

impl TableResults {
    /// Makes results of the bytes of their file.
    pub(crate) fn of(bytes: Vec<u8>) -> Self {
        Self { bytes: Arc::new(bytes) }
    }

    /// Shares the bytes with other classes.
    pub(crate) fn bytes(&self) -> Arc<Vec<u8>> {
        Arc::clone(&self.bytes)
    }
}

#[pymethods]
impl TableResults {
    /// Reads what the results say of themselves.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: Vec<u8>) -> PyResult<Self> {
        run(py, move || {
            Description::peek(&data[..])?;
            Ok(Self { bytes: Arc::new(data) })
        })
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.bytes)
    }

    #[getter]
    fn nbytes(&self) -> usize {
        self.bytes.len()
    }
}

/// Gives Python the values of results.
pub(super) fn given(py: Python<'_>, results: Vec<(String, Found)>) -> Vec<(String, Value<'_>)> {
    let array = |cells: Vec<f64>| PyArray1::from_vec(py, cells);
    let value = |value| match value {
        Found::Number(number) => Value::Number(number),
        Found::Groups(groups) => Value::Groups(groups),
        Found::Rows(values, errors, clear) => Value::Rows((array(values), array(errors), clear)),
    };
    results.into_iter().map(|(name, found)| (name, value(found))).collect()
}

/// Decrypted value of a result.
pub(super) enum Found {
    Number(Told),
    Groups(Vec<(Vec<String>, Told)>),
    Rows(Vec<f64>, Vec<f64>, bool),
}

/// Reason why results were not opened.
struct Stopped(Failure);

impl From<WireError> for Stopped {
    fn from(error: WireError) -> Self {
        Self(error.into())
    }
}

impl From<ProgramError> for Stopped {
    fn from(error: ProgramError) -> Self {
        Self(error.into())
    }
}

/// Opens the results of a plan, and of no other program.
pub(super) fn decrypted(bytes: &[u8], plan: &Plan, keys: &Held) -> Result<Vec<(String, Found)>, Failure> {
    keys.check_plan(plan)?;
    let secret = keys.secret.as_ref().ok_or_else(|| missing("to decrypt with: load the folder secret"))?;
    let contexts = &keys.contexts;
    let mut results = ResultsReader::open(contexts, Cursor::new(bytes))?;
    if results.key() != secret.id() {
        return Err(WireError::Key { expected: Some(secret.id()), got: Some(results.key()) }.into());
    }
    let description = results.description().clone();
    description.check_plan(plan)?;
    if description.layout != plan.layout {
        return Err(mismatch("where rows are", "as the plan says", "elsewhere"));
    }
    let codec = contexts.codec(&plan.layout)?;
    let mut columns: BTreeMap<NodeId, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
    let clear = results.clear();
    let totals = results.decrypt(&codec, secret, |id, _, cells| {
        let (values, errors) = columns.entry(id).or_default();
        values.extend(cells.iter().map(|cell| cell.number.to_f64()));
        errors.extend(cells.iter().map(|cell| cell.error));
        Ok::<_, Stopped>(())
    });
    let totals = totals.map_err(|stopped| stopped.0)?;
    let opened = plan.program.finish(|id| totals.get(&id).cloned());
    let outputs = plan.program.outputs().iter().zip(opened);
    Ok(outputs
        .map(|(output, (name, opened))| (name.to_owned(), found(&output.value, opened, &columns, &clear)))
        .collect())
}

fn found(
    value: &OutputValue,
    opened: Opened,
    columns: &BTreeMap<NodeId, (Vec<f64>, Vec<f64>)>,
    clear: &BTreeSet<NodeId>,
) -> Found {
    match opened {
        Opened::Number(number) => {
            let known = matches!(value, OutputValue::Number(formula) if rests(formula, clear));
            Found::Number(told(&number, known))
        }
        Opened::Groups(groups) => {
            let formula = |at: usize| match value {
                OutputValue::Groups(groups) => groups.get(at).map(|group| &group.formula),
                _ => None,
            };
            let known = |at| formula(at).is_some_and(|formula| rests(formula, clear));
            let group =
                |(at, (labels, number)): (usize, (Vec<String>, _))| (labels, told(&number, known(at)));
            Found::Groups(groups.into_iter().enumerate().map(group).collect())
        }
        Opened::Column(id) => {
            // Two results may be one column.
            let (values, errors) = columns.get(&id).cloned().unwrap_or_default();
            Found::Rows(values, errors, clear.contains(&id))
        }
    }
}

/// Whether a formula rests on totals alone that were never encrypted.
fn rests(formula: &Formula, clear: &BTreeSet<NodeId>) -> bool {
    let totals = formula.totals();
    !totals.is_empty() && totals.iter().all(|id| clear.contains(id))
}

fn told(number: &Result<Estimate, Undefined>, clear: bool) -> Told {
    match number {
        Err(why) => (f64::NAN, 0.0, None, Some(advised(why.to_string())), clear),
        Ok(estimate) => {
            let exact = match &estimate.number {
                Number::Exact(ratio) => Some(ratio.to_string()),
                Number::Real(_) => None,
            };
            (estimate.number.to_f64(), estimate.error, exact, None, clear)
        }
    }
}
