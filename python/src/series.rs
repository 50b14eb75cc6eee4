//! Polynomials with real coefficients.

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use sunzi_circuits::approximation::{Target, approximate};
use sunzi_circuits::series::{self, Basis};

use crate::error::OrRaise as _;

/// Σ a_i·x^i, or Σ a_i·T_i on an interval.
#[pyclass(frozen, module = "sunzi._native")]
pub(crate) struct Series {
    pub(crate) series: series::Series,
    error: Option<f64>,
}

#[pymethods]
impl Series {
    #[staticmethod]
    fn power(py: Python<'_>, coefficients: PyReadonlyArray1<'_, f64>) -> PyResult<Self> {
        let coefficients = coefficients.as_array().to_vec();
        Ok(Self { series: series::Series::power(coefficients).or_raise(py)?, error: None })
    }

    #[staticmethod]
    fn chebyshev(
        py: Python<'_>,
        low: f64,
        high: f64,
        coefficients: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<Self> {
        let coefficients = coefficients.as_array().to_vec();
        Ok(Self { series: series::Series::chebyshev(low, high, coefficients).or_raise(py)?, error: None })
    }

    /// The Chebyshev series of a function, to a degree or to an error.
    #[staticmethod]
    #[pyo3(signature = (function, low, high, *, degree=None, error=None))]
    fn approximate(
        py: Python<'_>,
        function: &Bound<'_, PyAny>,
        low: f64,
        high: f64,
        degree: Option<usize>,
        error: Option<f64>,
    ) -> PyResult<Self> {
        let target = match (degree, error) {
            (Some(degree), None) => Target::Degree(degree),
            (None, Some(error)) => Target::Error(error),
            _ => return Err(pyo3::exceptions::PyTypeError::new_err("give either a degree or an error")),
        };
        let raised = std::cell::RefCell::new(None);
        let at = |x: f64| match function.call1((x,)).and_then(|y| y.extract::<f64>()) {
            Ok(y) => y,
            Err(error) => {
                raised.borrow_mut().get_or_insert(error);
                f64::NAN
            }
        };
        let found = approximate(at, low, high, target);
        if let Some(error) = raised.into_inner() {
            return Err(error);
        }
        let found = found.or_raise(py)?;
        Ok(Self { series: found.series, error: Some(found.error) })
    }

    /// By how much it may be off, if it approximates something.
    #[getter]
    fn error(&self) -> Option<f64> {
        self.error
    }

    #[getter]
    fn degree(&self) -> usize {
        self.series.degree()
    }

    /// Levels that its value takes.
    #[getter]
    fn depth(&self) -> usize {
        series::depth(&self.series)
    }

    #[getter]
    fn interval(&self) -> Option<(f64, f64)> {
        match self.series.basis() {
            Basis::Power => None,
            Basis::Chebyshev { low, high } => Some((low, high)),
        }
    }

    #[getter]
    fn coefficients<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.series.coefficients())
    }

    fn __call__(&self, x: f64) -> f64 {
        self.series.at(x)
    }

    fn __repr__(&self) -> String {
        let on = self.interval().map_or(String::new(), |(low, high)| format!(" on [{low}, {high}]"));
        format!("<series of degree {}{on}, {} levels>", self.degree(), self.depth())
    }
}
