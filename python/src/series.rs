//! Python class of polynomials with real coefficients.

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use sunzi_circuits::approximation::{
    Approximation, Function, ProvedApproximation, Smoothness, Target, approximate, approximate_function,
    approximate_smooth,
};
use sunzi_circuits::series::{self, Basis, SeriesError};

use crate::compute::run;
use crate::error::{Failure, OrRaise as _};

/// Names of the known functions, whose errors are proved without further information.
const KNOWN: [(&str, Function); 9] = [
    ("exp", Function::Exp),
    ("sigmoid", Function::Sigmoid),
    ("tanh", Function::Tanh),
    ("log", Function::Ln),
    ("sqrt", Function::SquareRoot),
    ("inverse", Function::Inverse),
    ("inverse_sqrt", Function::InverseSquareRoot),
    ("sin", Function::Sine),
    ("cos", Function::Cosine),
];

/// A series Σ a_i·x^i, or Σ a_i·T_i on an interval.
#[pyclass(frozen, module = "sunzi._native")]
pub(crate) struct Series {
    pub(crate) series: series::Series,
    /// Largest distance of the series from its function; `None` for a polynomial that approximates nothing.
    error: Option<f64>,
    /// Whether the error bound of the series holds all over the interval; else it was measured on a grid.
    proved: bool,
    /// Name of the known function that the series approximates, if it is one.
    function: Option<&'static str>,
}

impl Series {
    fn exact(series: series::Series) -> Self {
        Self { series, error: None, proved: true, function: None }
    }

    fn of_proved(found: ProvedApproximation, function: Option<&'static str>) -> Self {
        Self { series: found.series, error: Some(found.error), proved: true, function }
    }

    fn of_measured(found: Approximation) -> Self {
        Self { series: found.series, error: Some(found.error), proved: false, function: None }
    }
}

fn known(name: &str) -> Result<(&'static str, Function), Failure> {
    KNOWN.iter().copied().find(|(known, _)| *known == name).ok_or_else(|| {
        let names: Vec<_> = KNOWN.iter().map(|(name, _)| *name).collect();
        let text = format!(
            "no function has the name {name:?}: take one of {}, or give a callable",
            names.join(", ")
        );
        Failure::new("UnknownFunction", text)
    })
}

/// Returns the name of a known function: from a string, or a callable of numpy or of the module math.
fn name_of(function: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    if let Ok(name) = function.cast::<PyString>() {
        return Ok(Some(name.to_string()));
    }
    function.py().import("sunzi._functions")?.getattr("known_name")?.call1((function,))?.extract()
}

/// Returns the bound given on the derivatives of a callable.
fn smoothness(lipschitz: Option<f64>, second_derivative: Option<f64>) -> PyResult<Option<Smoothness>> {
    match (lipschitz, second_derivative) {
        (None, None) => Ok(None),
        (Some(bound), None) => Ok(Some(Smoothness::Lipschitz(bound))),
        (None, Some(bound)) => Ok(Some(Smoothness::SecondDerivative(bound))),
        _ => Err(PyTypeError::new_err("give either lipschitz or second_derivative")),
    }
}

/// Approximates a Python callable, which may raise, by a Chebyshev series.
fn of_callable(
    function: &Bound<'_, PyAny>,
    smoothness: Option<Smoothness>,
    [low, high]: [f64; 2],
    target: Target,
) -> PyResult<Series> {
    let raised = std::cell::RefCell::new(None);
    let at = |x: f64| match function.call1((x,)).and_then(|y| y.extract::<f64>()) {
        Ok(y) => y,
        Err(error) => {
            raised.borrow_mut().get_or_insert(error);
            f64::NAN
        }
    };
    let found: Result<Series, SeriesError> = match smoothness {
        Some(smoothness) => {
            approximate_smooth(at, smoothness, low, high, target).map(|found| Series::of_proved(found, None))
        }
        None => approximate(at, low, high, target).map(Series::of_measured),
    };
    match raised.into_inner() {
        Some(error) => Err(error),
        None => found.or_raise(function.py()),
    }
}

#[pymethods]
impl Series {
    #[staticmethod]
    fn power(py: Python<'_>, coefficients: PyReadonlyArray1<'_, f64>) -> PyResult<Self> {
        let coefficients = coefficients.as_array().to_vec();
        Ok(Self::exact(series::Series::power(coefficients).or_raise(py)?))
    }

    #[staticmethod]
    fn chebyshev(
        py: Python<'_>,
        low: f64,
        high: f64,
        coefficients: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<Self> {
        let coefficients = coefficients.as_array().to_vec();
        Ok(Self::exact(series::Series::chebyshev(low, high, coefficients).or_raise(py)?))
    }

    /// Approximates a function by its Chebyshev series, to a degree or to an error.
    #[staticmethod]
    #[pyo3(signature = (function, low, high, *, degree=None, error=None, lipschitz=None, second_derivative=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn approximate(
        py: Python<'_>,
        function: &Bound<'_, PyAny>,
        low: f64,
        high: f64,
        degree: Option<usize>,
        error: Option<f64>,
        lipschitz: Option<f64>,
        second_derivative: Option<f64>,
    ) -> PyResult<Self> {
        let target = match (degree, error) {
            (Some(degree), None) => Target::Degree(degree),
            (None, Some(error)) => Target::Error(error),
            _ => return Err(PyTypeError::new_err("give either a degree or an error")),
        };
        let smoothness = smoothness(lipschitz, second_derivative)?;
        if let Some(name) = name_of(function)? {
            let (name, function) = known(&name).or_raise(py)?;
            let found = run(py, move || Ok(approximate_function(function, low, high, target)?))?;
            return Ok(Self::of_proved(found, Some(name)));
        }
        of_callable(function, smoothness, [low, high], target)
    }

    /// Restores a series from a pickle.
    #[staticmethod]
    fn restored(
        py: Python<'_>,
        interval: Option<(f64, f64)>,
        coefficients: PyReadonlyArray1<'_, f64>,
        error: Option<f64>,
        proved: bool,
        function: Option<&str>,
    ) -> PyResult<Self> {
        let basis = interval.map_or(Basis::Power, |(low, high)| Basis::Chebyshev { low, high });
        let series = series::Series::new(basis, coefficients.as_array().to_vec()).or_raise(py)?;
        let function = function.map(known).transpose().or_raise(py)?.map(|(name, _)| name);
        Ok(Self { series, error, proved, function })
    }

    /// Largest error of the approximation on its interval; `None` for a polynomial that approximates nothing.
    #[getter]
    fn error(&self) -> Option<f64> {
        self.error
    }

    /// Whether the error bound of the series holds all over the interval; else it was measured on a grid.
    #[getter]
    fn error_is_proved(&self) -> bool {
        self.proved
    }

    /// Name of the known function that the series approximates.
    #[getter]
    fn function(&self) -> Option<&'static str> {
        self.function
    }

    #[getter]
    fn degree(&self) -> usize {
        self.series.degree()
    }

    /// Number of levels that an evaluation of the series takes.
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
