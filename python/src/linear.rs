//! Products of matrices with the slots of CKKS, by diagonals.

use std::collections::BTreeMap;
use std::sync::Arc;

use numpy::{Complex64, PyReadonlyArray1};
use pyo3::prelude::*;
use sunzi_circuits::linear_transform::{self, Diagonals, Plan};

use crate::ciphertext::Ciphertext;
use crate::compute::run;
use crate::context::Context;
use crate::error::OrRaise as _;
use crate::keys::EvaluationKeys;
use crate::ops;
use crate::scheme::{Cipher, mixed};

/// A matrix with encoded diagonals; a product takes one level.
#[pyclass(frozen, module = "sunzi._native")]
pub(crate) struct LinearTransform {
    transform: Arc<linear_transform::LinearTransform>,
}

#[pymethods]
impl LinearTransform {
    /// Makes a matrix from diagonals: entry i of diagonal d is that of row i and column i + d.
    #[new]
    fn new(
        py: Python<'_>,
        context: &Context,
        size: usize,
        diagonals: BTreeMap<i64, PyReadonlyArray1<'_, Complex64>>,
        level: usize,
    ) -> PyResult<Self> {
        let mut matrix = Diagonals::new(size).or_raise(py)?;
        for (d, values) in &diagonals {
            let values: Vec<Complex64> = values.as_array().iter().copied().collect();
            matrix.add(*d, &values).or_raise(py)?;
        }
        let scheme = Arc::clone(&context.scheme);
        run(py, move || {
            let context = scheme.reals()?.evaluator.context();
            let plan = Plan::new(context, &matrix, level)?;
            let transform = linear_transform::LinearTransform::encode(context, &matrix, plan)?;
            Ok(Self { transform: Arc::new(transform) })
        })
    }

    /// Steps of the rotations that the product with the matrix needs keys for.
    #[getter]
    fn rotations(&self) -> Vec<i64> {
        self.transform.plan().rotations()
    }

    #[getter]
    fn level(&self) -> usize {
        self.transform.plan().level()
    }

    #[getter]
    fn size(&self) -> usize {
        self.transform.plan().size()
    }

    #[getter]
    fn nbytes(&self) -> usize {
        self.transform.byte_len()
    }

    fn apply(&self, py: Python<'_>, a: &Ciphertext, keys: &EvaluationKeys) -> PyResult<Ciphertext> {
        let (transform, keys) = (Arc::clone(&self.transform), Arc::clone(&keys.keys));
        a.computed_slowly(py, move |scheme, a| match a {
            Cipher::Ckks(a) => {
                Ok(transform.apply(&scheme.reals()?.evaluator, a, ops::galois(&keys)?)?.into())
            }
            _ => Err(mixed()),
        })
    }
}
