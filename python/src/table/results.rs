//! Results of a run: bytes for whoever computes, numbers for the key holder.

use std::sync::Arc;

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sunzi_program::Number;
use sunzi_program::results::Description;
use sunzi_table::in_memory::{Opened, OpenedNumber};

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
pub(super) fn given(
    py: Python<'_>,
    results: Vec<(String, Opened)>,
) -> Result<Vec<(String, Value<'_>)>, Failure> {
    let array = |cells: Vec<f64>| PyArray1::from_vec(py, cells);
    let group = |(labels, number): (Vec<String>, OpenedNumber)| (labels, told(&number));
    let value = |value| match value {
        Opened::Number(number) => Ok(Value::Number(told(&number))),
        Opened::Groups(groups) => Ok(Value::Groups(groups.into_iter().map(group).collect())),
        Opened::Rows { values, errors, clear } => Ok(Value::Rows((array(values), array(errors), clear))),
        _ => Err(Failure::internal("a result of a form that Python has not")),
    };
    results.into_iter().map(|(name, opened)| Ok((name, value(opened)?))).collect()
}

fn told(OpenedNumber { number, clear }: &OpenedNumber) -> Told {
    let clear = *clear;
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
