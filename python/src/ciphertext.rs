//! Module of the Python class of ciphertexts of any scheme.

mod methods;

use std::sync::{Arc, PoisonError, RwLock};

use pyo3::prelude::*;

use crate::compute::{run, run_short};
use crate::error::Failure;
use crate::scheme::{Cipher, Scheme};

/// A ciphertext of any scheme. Only `+=` and the other operations in place change it.
#[pyclass(frozen, module = "sunzi._native")]
pub(crate) struct Ciphertext {
    scheme: Arc<Scheme>,
    /// The ciphertext of its scheme; locked for an instant only, and never during a computation.
    value: RwLock<Cipher>,
}

impl Ciphertext {
    pub(crate) fn new(scheme: &Arc<Scheme>, value: Cipher) -> Self {
        Self { scheme: Arc::clone(scheme), value: RwLock::new(value) }
    }

    pub(crate) fn scheme(&self) -> &Arc<Scheme> {
        &self.scheme
    }

    pub(crate) fn value(&self) -> Cipher {
        self.value.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, value: Cipher) {
        *self.value.write().unwrap_or_else(PoisonError::into_inner) = value;
    }

    pub(crate) fn computed(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Scheme, &Cipher) -> Result<Cipher, Failure> + Send + 'static,
    ) -> PyResult<Self> {
        let (scheme, value) = (Arc::clone(&self.scheme), self.value());
        let value = run_short(py, self.scheme.words(), move || work(&scheme, &value))?;
        Ok(Self::new(&self.scheme, value))
    }

    /// Computes a ciphertext from this ciphertext, by many operations.
    pub(crate) fn computed_slowly(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Scheme, &Cipher) -> Result<Cipher, Failure> + Send + 'static,
    ) -> PyResult<Self> {
        let [result] = self.all_computed_slowly(py, move |scheme, a| Ok([work(scheme, a)?]))?;
        Ok(result)
    }

    /// Computes several ciphertexts from this ciphertext, by many operations.
    pub(crate) fn all_computed_slowly<const RESULTS: usize>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Scheme, &Cipher) -> Result<[Cipher; RESULTS], Failure> + Send + 'static,
    ) -> PyResult<[Self; RESULTS]> {
        let (scheme, value) = (Arc::clone(&self.scheme), self.value());
        let values = run(py, move || work(&scheme, &value))?;
        Ok(values.map(|value| Self::new(&self.scheme, value)))
    }

    /// Computes any number of ciphertexts from this ciphertext, by many operations.
    pub(crate) fn list_computed_slowly(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Scheme, &Cipher) -> Result<Vec<Cipher>, Failure> + Send + 'static,
    ) -> PyResult<Vec<Self>> {
        let (scheme, value) = (Arc::clone(&self.scheme), self.value());
        let values = run(py, move || work(&scheme, &value))?;
        Ok(values.into_iter().map(|value| Self::new(&self.scheme, value)).collect())
    }
}
