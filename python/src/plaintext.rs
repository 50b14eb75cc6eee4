//! Python class of plaintexts: encoded slots.

use std::sync::Arc;

use pyo3::prelude::*;

use crate::scheme::{Plain, Scheme};

/// A plaintext of encoded slots: secret if the numbers in them are.
#[pyclass(frozen, module = "sunzi._native")]
pub(crate) struct Plaintext {
    pub(crate) scheme: Arc<Scheme>,
    pub(crate) value: Plain,
}

impl Plaintext {
    pub(crate) fn new(scheme: &Arc<Scheme>, value: Plain) -> Self {
        Self { scheme: Arc::clone(scheme), value }
    }
}

#[pymethods]
impl Plaintext {
    #[getter]
    fn level(&self) -> Option<usize> {
        match &self.value {
            Plain::Ckks(plaintext) => Some(plaintext.level()),
            Plain::Exact(_) => None,
        }
    }

    #[getter]
    fn scale(&self) -> Option<f64> {
        match &self.value {
            Plain::Ckks(plaintext) => Some(plaintext.scale()),
            Plain::Exact(_) => None,
        }
    }

    #[getter]
    fn slots(&self) -> usize {
        match &self.value {
            Plain::Ckks(plaintext) => plaintext.slots(),
            Plain::Exact(_) => self.scheme.slots(),
        }
    }

    fn __repr__(&self) -> String {
        format!("<plaintext of {} slots, {}>", self.slots(), self.scheme.name())
    }
}
