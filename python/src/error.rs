//! Errors of Rust as exceptions of Python: each variant of an error type is a class of its name in `sunzi.errors`.

use std::error::Error;

use pyo3::prelude::*;
use sunzi_parties::PartiesError;
use sunzi_rlwe::words::innermost_variant;

/// Failure of a call that computes.
pub(crate) enum Failure {
    /// An error of the library, with the name of its Python class and its message.
    Library { class: String, message: String },
    /// An error of a protocol of several parties, with the name of its Python class, its message, and what is known of the message that was refused.
    Party { class: &'static str, message: String, refused: Option<Box<Refused>> },
    /// A Python exception that a callable of the caller raised.
    Python(PyErr),
}

/// What is known of a message that was refused: whose it is, what is wrong with it, and whether the session ends.
pub(crate) struct Refused {
    sender: String,
    fault: String,
    is_fatal: bool,
}

/// Advice that names functions of Rust or options of the command line, and what it is in Python.
const ADVICE: [(&str, &str); 13] = [
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
    ("take the public key, or the secret one", "load the folder public, or secret"),
    ("take the evaluation keys", "load the folder eval"),
    ("take the secret key", "load the folder secret"),
    ("leave some columns of the schema encrypted", "leave some with encrypted=True in the schema"),
    ("(plan within those of the keys)", "(plan within them by program.plan(keys=keys))"),
    ("(make the program for the schema of the table)", "(Program(text, table.schema) is for these)"),
];

impl<E: Error> From<E> for Failure {
    fn from(error: E) -> Self {
        let debug = format!("{error:?}");
        Self::Library { class: innermost_variant(&debug).to_owned(), message: advised(error.to_string()) }
    }
}

/// Returns a message with the advice that is for Python.
pub(crate) fn advised(message: String) -> String {
    ADVICE.iter().fold(message, |text, (rust, python)| text.replace(rust, python))
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

    /// Makes the error of a protocol of several parties. Its variants have classes of other names, since those of the layers below have some of theirs.
    pub(crate) fn party(error: PartiesError) -> Self {
        let class = match &error {
            PartiesError::Setting { .. } => "PartySetting",
            PartiesError::Message { .. } => "PartyMessage",
            PartiesError::Missing { .. } => "PartyMissing",
            PartiesError::Aborted { .. } => "SessionAborted",
            PartiesError::Refused { .. } => "RequestRefused",
            PartiesError::Journal { .. } => "PartyRecords",
            PartiesError::Channel(_) => "PartyChannel",
            PartiesError::Peer { .. } => "PartyPeer",
            PartiesError::Wire(_) | PartiesError::Rlwe(_) => return Self::from(error),
            _ => "PartiesError",
        };
        let refused = error.sender().zip(error.fault()).map(|(sender, fault)| {
            let fault_name = innermost_variant(&format!("{fault:?}")).to_owned();
            Box::new(Refused { sender: sender.to_owned(), fault: fault_name, is_fatal: error.is_fatal() })
        });
        Self::Party { class, message: error.to_string(), refused }
    }

    /// Returns the name of the exception class, and the message of the failure.
    pub(crate) fn told(self) -> (String, String) {
        match self {
            Self::Party { class, message, .. } => (class.to_owned(), message),
            Self::Library { class, message } => (class, message),
            Self::Python(error) => ("SunziError".to_owned(), error.to_string()),
        }
    }

    pub(crate) fn raise(self, py: Python<'_>) -> PyErr {
        match self {
            Self::Python(error) => error,
            Self::Library { class, message } => raised(py, &class, &message).unwrap_or_else(|error| error),
            Self::Party { class, message, refused } => {
                let told = raised(py, class, &message).and_then(|error| match refused {
                    Some(refused) => refused.noted(py, error),
                    None => Ok(error),
                });
                told.unwrap_or_else(|error| error)
            }
        }
    }
}

impl Refused {
    /// Returns the exception with what is known as attributes.
    fn noted(&self, py: Python<'_>, error: PyErr) -> PyResult<PyErr> {
        let exception = error.value(py);
        exception.setattr("sender", &self.sender)?;
        exception.setattr("fault", &self.fault)?;
        exception.setattr("is_fatal", self.is_fatal)?;
        Ok(error)
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

/// Conversion of errors of protocols of several parties, which have classes of their own.
pub(crate) trait Told<T> {
    fn told(self) -> Result<T, Failure>;
}

impl<T> Told<T> for Result<T, PartiesError> {
    fn told(self) -> Result<T, Failure> {
        self.map_err(Failure::party)
    }
}
