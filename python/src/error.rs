//! Errors of Rust as exceptions of Python: each variant of an error type is a class of its name in `sunzi.errors`.

use std::error::Error;

use pyo3::prelude::*;

/// Failure of a call that computes.
pub(crate) enum Failure {
    /// An error of the library, with the name of its Python class and its message.
    Library { class: String, message: String },
    /// A Python exception that a callable of the caller raised.
    Python(PyErr),
}

/// Names of error variants that only carry an error of a layer below.
const WRAPPERS: [&str; 20] = [
    "Bfv",
    "Bgv",
    "Bootstrap",
    "Ckks",
    "Encoder",
    "Encoding",
    "Kernel",
    "Math",
    "Moduli",
    "Program",
    "Rlwe",
    "Ring",
    "Scheme",
    "Segment",
    "Series",
    "Sampling",
    "Sharing",
    "Statistics",
    "Transform",
    "Wire",
];

/// Advice that names functions of Rust or options of the command line, and what it is in Python.
const ADVICE: [(&str, &str); 7] = [
    (
        "declare a tighter bound with Evaluator::with_magnitude if you know one",
        "declare a tighter bound if you know one (encrypt(values, bounds=(low, high)), array.declared(low, high))",
    ),
    ("compute with Overflow::Wrap", "encrypt with overflow=\"wrap\""),
    ("declare a smaller bound by with_magnitude", "declare a tighter bound (array.declared(low, high))"),
    ("with --scheme integers", "with scheme=\"integers\""),
    ("ask for more --precision", "ask for more by precision"),
    (
        "say what is done about missing cells: --missing skip leaves them out of statistics, --missing VALUE fills them in",
        "declare it with missing=True, which leaves them out of statistics",
    ),
    (
        "make a schema with --missing skip, or fill them in with --missing VALUE",
        "declare it with missing=True, or fill them in",
    ),
];

impl<E: Error> From<E> for Failure {
    fn from(error: E) -> Self {
        let debug = format!("{error:?}");
        Self::Library { class: class(&debug).to_owned(), message: advised(error.to_string()) }
    }
}

/// Returns a message with the advice that is for Python.
pub(crate) fn advised(message: String) -> String {
    ADVICE.iter().fold(message, |text, (rust, python)| text.replace(rust, python))
}

/// Returns the name of the innermost variant in the debug text of an error.
fn class(debug: &str) -> &str {
    let end = debug.find(|c: char| !c.is_alphanumeric()).unwrap_or(debug.len());
    let (name, rest) = debug.split_at(end);
    match rest.strip_prefix('(') {
        Some(inner) if WRAPPERS.contains(&name) => class(inner),
        _ => name,
    }
}

impl Failure {
    /// Makes an error of the Python layer, with its class and message.
    pub(crate) fn new(class: &str, message: impl Into<String>) -> Self {
        Self::Library { class: class.to_owned(), message: message.into() }
    }

    /// Makes the error for a fault of the library itself.
    pub(crate) fn internal(what: &str) -> Self {
        Self::new("InternalError", format!("{what}: this is a fault of the library, please report it"))
    }

    /// Returns the name of the exception class, and the message of the failure.
    pub(crate) fn told(self) -> (String, String) {
        match self {
            Self::Library { class, message } => (class, message),
            Self::Python(error) => ("SunziError".to_owned(), error.to_string()),
        }
    }

    pub(crate) fn raise(self, py: Python<'_>) -> PyErr {
        match self {
            Self::Python(error) => error,
            Self::Library { class, message } => raised(py, &class, &message).unwrap_or_else(|error| error),
        }
    }
}

fn raised(py: Python<'_>, class: &str, message: &str) -> PyResult<PyErr> {
    let module = py.import("sunzi.errors")?;
    let found = module.getattr(class).or_else(|_| module.getattr("SunziError"));
    let exception = found?.call1((message,))?;
    Ok(PyErr::from_value(exception))
}

/// Conversion of errors to Python exceptions, for calls that compute nothing.
pub(crate) trait OrRaise<T> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T, E: Into<Failure>> OrRaise<T> for Result<T, E> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| error.into().raise(py))
    }
}
