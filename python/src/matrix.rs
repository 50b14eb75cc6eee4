//! Products of clear matrices with rows of ciphertexts, in every scheme.

use std::sync::Arc;

use numpy::{PyReadonlyArray2, PyUntypedArrayMethods as _};
use pyo3::prelude::*;
use rayon::prelude::*;
use sunzi_ckks::{Evaluator, PlainMatrix as RealMatrix};
use sunzi_rlwe::evaluator::PreparedMatrix;

use crate::ciphertext::Ciphertext;
use crate::compute::run;
use crate::context::Context;
use crate::error::Failure;
use crate::scheme::{Cipher, Scheme, mixed};

/// A clear matrix prepared to multiply rows of ciphertexts, without rotations and keys.
#[pyclass(frozen, module = "sunzi._native")]
pub(crate) struct PlainMatrix {
    scheme: Arc<Scheme>,
    matrix: Arc<Matrix>,
    shape: (usize, usize),
}

enum Matrix {
    Exact(PreparedMatrix),
    /// A matrix of real numbers, and whether its products are rescaled: those of integers are not.
    Real(RealMatrix, bool),
}

#[pymethods]
impl PlainMatrix {
    /// Prepares a matrix of integers: products take no level.
    #[staticmethod]
    fn of_integers(py: Python<'_>, context: &Context, values: PyReadonlyArray2<'_, i64>) -> PyResult<Self> {
        let [rows, columns] = [0, 1].map(|axis| values.shape().get(axis).copied().unwrap_or_default());
        let entries: Vec<i64> = values.as_array().iter().copied().collect();
        let scheme = Arc::clone(&context.scheme);
        let (matrix, shape) = run(py, move || {
            let matrix = match &*scheme {
                Scheme::Ckks(_) => {
                    let entries: Vec<f64> = entries.iter().map(|&entry| entry as f64).collect();
                    Matrix::Real(RealMatrix::with_scale(rows, columns, &entries, 1.0)?, false)
                }
                _ => Matrix::Exact(PreparedMatrix::new(rows, columns, &entries)?),
            };
            Ok((matrix, (rows, columns)))
        })?;
        Ok(Self { scheme: Arc::clone(&context.scheme), matrix: Arc::new(matrix), shape })
    }

    /// Prepares a matrix of real numbers for rows of CKKS at a level and its canonical scale: products take a level.
    #[staticmethod]
    fn of_reals(
        py: Python<'_>,
        context: &Context,
        values: PyReadonlyArray2<'_, f64>,
        level: usize,
    ) -> PyResult<Self> {
        let [rows, columns] = [0, 1].map(|axis| values.shape().get(axis).copied().unwrap_or_default());
        let entries: Vec<f64> = values.as_array().iter().copied().collect();
        let scheme = Arc::clone(&context.scheme);
        let matrix = run(py, move || {
            let matrix = scheme.reals()?.evaluator.prepare_matrix(rows, columns, &entries, level)?;
            Ok(Matrix::Real(matrix, true))
        })?;
        let scheme = Arc::clone(&context.scheme);
        Ok(Self { scheme, matrix: Arc::new(matrix), shape: (rows, columns) })
    }

    #[getter]
    fn shape(&self) -> (usize, usize) {
        self.shape
    }

    #[getter]
    fn nbytes(&self) -> usize {
        match &*self.matrix {
            Matrix::Exact(matrix) => matrix.byte_len(),
            Matrix::Real(matrix, _) => matrix.byte_len(),
        }
    }

    /// Multiplies rows of ciphertexts, one for each column of the matrix: row i of the product is the sum of m_ik·row_k.
    fn multiply(&self, py: Python<'_>, rows: Vec<PyRef<'_, Ciphertext>>) -> PyResult<Vec<Ciphertext>> {
        let rows: Vec<Cipher> = rows.iter().map(|row| row.value()).collect();
        let (scheme, matrix) = (Arc::clone(&self.scheme), Arc::clone(&self.matrix));
        let products = run(py, move || multiplied(&scheme, &matrix, &rows))?;
        Ok(products.into_iter().map(|product| Ciphertext::new(&self.scheme, product)).collect())
    }
}

fn multiplied(scheme: &Scheme, matrix: &Matrix, rows: &[Cipher]) -> Result<Vec<Cipher>, Failure> {
    macro_rules! rows {
        ($variant:ident) => {
            rows.iter()
                .map(|row| match row {
                    Cipher::$variant(row) => Ok(&**row),
                    _ => Err(mixed()),
                })
                .collect::<Result<Vec<_>, Failure>>()?
        };
    }
    Ok(match (scheme, matrix) {
        (Scheme::Bfv(exact), Matrix::Exact(matrix)) => {
            let products = exact.evaluator.multiply_matrix(matrix, &rows!(Bfv))?;
            products.into_iter().map(Cipher::from).collect()
        }
        (Scheme::Bgv(exact), Matrix::Exact(matrix)) => {
            let products = exact.evaluator.multiply_matrix(matrix, &rows!(Bgv))?;
            products.into_iter().map(Cipher::from).collect()
        }
        (Scheme::Ckks(reals), Matrix::Real(matrix, rescales)) => {
            let evaluator: &Evaluator = &reals.evaluator;
            let products = evaluator.multiply_matrix(matrix, &rows!(Ckks))?;
            let rescale = |product| if *rescales { evaluator.rescale(&product) } else { Ok(product) };
            let products: Vec<_> = products.into_par_iter().map(rescale).collect::<Result<_, _>>()?;
            products.into_iter().map(Cipher::from).collect()
        }
        _ => return Err(mixed()),
    })
}
