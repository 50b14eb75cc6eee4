//! Python classes of batches of encrypted matrices, their keys and their products.

use std::sync::Arc;

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use sunzi_circuits::matrix_batch::{self, Lines};
use sunzi_rlwe::randomness::from_os;

use crate::ciphertext::Ciphertext;
use crate::compute::run;
use crate::context::Context;
use crate::error::{Failure, OrRaise as _};
use crate::keys::{PublicKey, SecretKey};
use crate::scheme::{Cipher, Scheme, mixed};

/// Keys of products of encrypted matrices.
#[pyclass(frozen, module = "sunzi._native")]
pub(crate) struct MatrixKeys {
    scheme: Arc<Scheme>,
    keys: Arc<matrix_batch::MatrixKeys>,
}

/// Returns the ciphertexts of real numbers of a list.
fn of_reals(lines: &[Cipher]) -> Result<Vec<&sunzi_ckks::Ciphertext>, Failure> {
    fn line(line: &Cipher) -> Result<&sunzi_ckks::Ciphertext, Failure> {
        if let Cipher::Ckks(line) = line { Ok(line) } else { Err(mixed()) }
    }
    lines.iter().map(line).collect()
}

#[pymethods]
impl MatrixKeys {
    #[staticmethod]
    fn generate(py: Python<'_>, secret: &SecretKey, size: usize, few: bool) -> PyResult<Self> {
        let (scheme, key) = (Arc::clone(&secret.scheme), Arc::clone(&secret.key));
        run(py, move || {
            let context = scheme.reals()?.evaluator.context();
            let rng = &mut from_os()?;
            let keys = if few {
                matrix_batch::MatrixKeys::generate_few(context, &key, size, rng)?
            } else {
                matrix_batch::MatrixKeys::generate(context, &key, size, rng)?
            };
            Ok(Self { scheme: Arc::clone(&scheme), keys: Arc::new(keys) })
        })
    }

    /// Multiplies a matrix, whose columns are given as polynomials, by one whose rows are given in any encoding.
    fn multiply(
        &self,
        py: Python<'_>,
        columns: Vec<PyRef<'_, Ciphertext>>,
        rows: Vec<PyRef<'_, Ciphertext>>,
    ) -> PyResult<Vec<Ciphertext>> {
        let [columns, rows]: [Vec<Cipher>; 2] =
            [columns, rows].map(|lines| lines.iter().map(|line| line.value()).collect());
        let (scheme, keys) = (Arc::clone(&self.scheme), Arc::clone(&self.keys));
        let products = run(py, move || {
            let (columns, rows) = (of_reals(&columns)?, of_reals(&rows)?);
            Ok(keys.multiply(&scheme.reals()?.evaluator, &columns, &rows)?)
        })?;
        Ok(products.into_iter().map(|row| Ciphertext::new(&self.scheme, row.into())).collect())
    }

    #[getter]
    fn nbytes(&self) -> usize {
        self.keys.byte_len()
    }
}

/// Encrypted matrices of one shape.
#[pyclass(frozen, module = "sunzi._native")]
pub(crate) struct MatrixBatch {
    scheme: Arc<Scheme>,
    batch: Arc<matrix_batch::MatrixBatch>,
}

#[pymethods]
impl MatrixBatch {
    /// The number of matrices that a batch has room for.
    #[staticmethod]
    fn capacity(py: Python<'_>, context: &Context, size: usize) -> PyResult<usize> {
        let reals = context.scheme.reals().or_raise(py)?;
        Ok(matrix_batch::MatrixBatch::capacity(reals.evaluator.context(), size))
    }

    /// Encrypts matrices, row after row and matrix after matrix.
    #[staticmethod]
    fn encrypt(
        py: Python<'_>,
        key: &PublicKey,
        size: usize,
        shape: [usize; 2],
        values: PyReadonlyArray1<'_, f64>,
        columns: bool,
    ) -> PyResult<Self> {
        let (scheme, key) = (Arc::clone(&key.scheme), Arc::clone(&key.key));
        let entries = zeroize::Zeroizing::new(values.as_array().iter().copied().collect::<Vec<f64>>());
        run(py, move || {
            let context = scheme.reals()?.evaluator.context();
            let (lines, rng) = (if columns { Lines::Columns } else { Lines::Rows }, &mut from_os()?);
            let key = (&*key).into();
            let batch = matrix_batch::MatrixBatch::encrypt(context, size, shape, &entries, lines, key, rng)?;
            Ok(Self { scheme: Arc::clone(&scheme), batch: Arc::new(batch) })
        })
    }

    /// Decrypts the matrices, row after row and matrix after matrix.
    fn decrypt<'py>(&self, py: Python<'py>, key: &SecretKey) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (scheme, key, batch) = (Arc::clone(&self.scheme), Arc::clone(&key.key), Arc::clone(&self.batch));
        let numbers = run(py, move || Ok(batch.decrypt(scheme.reals()?.evaluator.context(), &key)?))?;
        Ok(PyArray1::from_vec(py, numbers))
    }

    #[getter]
    fn shape(&self) -> (usize, usize, usize) {
        let [rows, columns] = self.batch.shape();
        (self.batch.count(), rows, columns)
    }

    #[getter]
    fn by_columns(&self) -> bool {
        self.batch.lines() == Lines::Columns
    }

    #[getter]
    fn level(&self) -> usize {
        self.batch.ciphertexts().iter().map(|line| line.metadata().level).min().unwrap_or_default()
    }

    #[getter]
    fn deviation(&self) -> f64 {
        self.batch.deviation()
    }

    #[getter]
    fn nbytes(&self) -> usize {
        let parts = self.batch.ciphertexts().iter().flat_map(|line| line.parts());
        parts.map(|part| part.byte_len()).sum()
    }

    /// The transposed matrices, at no cost.
    fn transposed(&self) -> Self {
        let batch = (*self.batch).clone().transposed();
        Self { scheme: Arc::clone(&self.scheme), batch: Arc::new(batch) }
    }

    /// Multiplies every matrix by the matrix of the other batch in its place.
    fn multiply(&self, py: Python<'_>, right: &Self, keys: &MatrixKeys) -> PyResult<Self> {
        let scheme = Arc::clone(&self.scheme);
        let (left, right, keys) = (Arc::clone(&self.batch), Arc::clone(&right.batch), Arc::clone(&keys.keys));
        let batch = run(py, move || -> Result<_, Failure> {
            let Scheme::Ckks(reals) = &*scheme else { return Err(mixed()) };
            Ok(left.multiplied(&reals.evaluator, &right, &keys)?)
        })?;
        Ok(Self { scheme: Arc::clone(&self.scheme), batch: Arc::new(batch) })
    }
}
