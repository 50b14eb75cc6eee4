//! Python classes of the slots of rings whose index is no power of two: elements of GF(p^d) or GR(p^r, d), and their rotations.

use std::sync::Arc;

use numpy::{PyArray1, PyArray2, PyArrayMethods as _, PyReadonlyArray2};
use pyo3::prelude::*;
use sunzi_circuits::slots as circuits;
use zeroize::Zeroizing;
use {sunzi_bfv as bfv, sunzi_bgv as bgv};

use crate::ciphertext::Ciphertext;
use crate::compute::run;
use crate::context::Context;
use crate::error::{Failure, OrRaise as _};
use crate::keys::EvaluationKeys;
use crate::plaintext::Plaintext;
use crate::scheme::{Cipher, Plain, Scheme, mixed, wrong_scheme};

/// The field, or ring, of which every slot of a context holds an element.
#[pyclass(frozen, module = "sunzi._native")]
pub(crate) struct Field {
    scheme: Arc<Scheme>,
    /// Number of coefficients of an element.
    degree: usize,
}

#[pymethods]
impl Field {
    #[new]
    fn new(py: Python<'_>, context: &Context) -> PyResult<Self> {
        let degree = context.scheme.elements().or_raise(py)?.ring().degree();
        Ok(Self { scheme: Arc::clone(&context.scheme), degree })
    }

    #[getter]
    fn ring_index(&self) -> u64 {
        self.scheme.rlwe().ring().index()
    }

    #[getter]
    fn prime(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.scheme.elements().or_raise(py)?.ring().prime())
    }

    #[getter]
    fn exponent(&self, py: Python<'_>) -> PyResult<u32> {
        Ok(self.scheme.elements().or_raise(py)?.ring().exponent())
    }

    #[getter]
    fn degree(&self) -> usize {
        self.degree
    }

    #[getter]
    fn slots(&self) -> usize {
        self.scheme.slots()
    }

    /// Coefficients of the polynomial G modulo which elements are, without the leading one.
    #[getter]
    fn relation<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let relation = self.scheme.elements().or_raise(py)?.ring().relation();
        Ok(PyArray1::from_vec(py, relation.iter().map(|x| x.cast_signed()).collect()))
    }

    /// Returns the exponent k of the automorphism X → X^k that applies Y → Y^p in every slot, several times.
    fn frobenius_exponent(&self, py: Python<'_>, times: i64) -> PyResult<u64> {
        Ok(self.scheme.elements().or_raise(py)?.frobenius_exponent(times))
    }

    /// Dimensions of the hypercube of slots, the slowest first: length, whether a rotation is one automorphism, generator.
    #[getter]
    fn dimensions(&self, py: Python<'_>) -> PyResult<Vec<(usize, bool, u64)>> {
        let dimensions = self.scheme.elements().or_raise(py)?.group().dimensions();
        Ok(dimensions.iter().map(|d| (d.length, d.good, d.generator)).collect())
    }

    /// Encodes elements, one in each row, with coefficients in [0, p^r).
    fn encode(&self, py: Python<'_>, values: PyReadonlyArray2<'_, i64>) -> PyResult<Plaintext> {
        let (scheme, values) = (Arc::clone(&self.scheme), self.rows(&values).or_raise(py)?);
        run(py, move || {
            let plaintext = scheme.elements()?.encode_elements(&values)?;
            Ok(Plaintext::new(&scheme, Plain::Exact(Arc::new(plaintext))))
        })
    }

    /// Decodes the elements of all slots, one in each row.
    fn decode<'py>(&self, py: Python<'py>, plaintext: &Plaintext) -> PyResult<Bound<'py, PyArray2<i64>>> {
        let (scheme, value) = (Arc::clone(&self.scheme), plaintext.value.clone());
        let elements = run(py, move || match &value {
            Plain::Exact(plaintext) => Ok(scheme.elements()?.decode_elements(plaintext)?),
            Plain::Ckks(_) => Err(wrong_scheme("a plaintext of elements", "bfv or bgv", "ckks")),
        })?;
        self.array(py, elements)
    }

    /// Returns the products of clear elements, row by row.
    fn multiply<'py>(
        &self,
        py: Python<'py>,
        a: PyReadonlyArray2<'_, i64>,
        b: PyReadonlyArray2<'_, i64>,
    ) -> PyResult<Bound<'py, PyArray2<i64>>> {
        let (a, b) = (self.rows(&a).or_raise(py)?, self.rows(&b).or_raise(py)?);
        if a.len() != b.len() {
            let what = format!("{} elements times {}: give as many", a.len(), b.len());
            return Err(Failure::new("ShapeError", what).raise(py));
        }
        let scheme = Arc::clone(&self.scheme);
        let products = run(py, move || {
            let ring = scheme.elements()?.ring();
            let pairs = a.iter().zip(b.iter());
            Ok(pairs.map(|(a, b)| ring.mul(a, b)).collect::<Result<Vec<_>, _>>()?)
        })?;
        self.array(py, products)
    }
}

impl Field {
    /// Returns the rows of an array as elements; fails unless they have d coefficients that are not negative.
    fn rows(&self, values: &PyReadonlyArray2<'_, i64>) -> Result<Zeroizing<Vec<Vec<u64>>>, Failure> {
        let (values, degree) = (values.as_array(), self.degree);
        if values.ncols() != degree {
            let what = format!("elements of {} coefficients: they have {degree} here", values.ncols());
            return Err(Failure::new("ElementDegree", what));
        }
        let row = |row: numpy::ndarray::ArrayView1<'_, i64>| {
            row.iter().map(|&x| u64::try_from(x)).collect::<Result<Vec<u64>, _>>()
        };
        let rows = values.rows().into_iter().map(row).collect::<Result<Vec<_>, _>>();
        let negative =
            |_| Failure::new("ValueOutOfRange", "a negative coefficient: give those modulo p^r, from 0 on");
        rows.map(Zeroizing::new).map_err(negative)
    }

    fn array<'py>(&self, py: Python<'py>, elements: Vec<Vec<u64>>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        let count = elements.len();
        let flat = elements.into_iter().flatten().map(u64::cast_signed).collect();
        PyArray1::from_vec(py, flat).reshape([count, self.degree])
    }
}

/// A rotation of the slots of field elements along a dimension, with its mask where the dimension is bad.
#[pyclass(frozen, module = "sunzi._native")]
pub(crate) struct SlotRotation {
    rotation: Arc<Prepared>,
}

/// A rotation, prepared for the scheme of its context.
enum Prepared {
    Bfv(circuits::SlotRotation<bfv::Evaluator>),
    Bgv(circuits::SlotRotation<bgv::Evaluator>),
}

#[pymethods]
impl SlotRotation {
    /// Prepares the rotation that moves element e + steps of every line to place e.
    #[new]
    fn new(py: Python<'_>, context: &Context, dimension: usize, steps: i64) -> PyResult<Self> {
        let scheme = Arc::clone(&context.scheme);
        run(py, move || {
            let encoder = scheme.elements()?;
            let rotation = match &*scheme {
                Scheme::Bfv(exact) => {
                    Prepared::Bfv(circuits::SlotRotation::new(&exact.evaluator, encoder, dimension, steps)?)
                }
                Scheme::Bgv(exact) => {
                    Prepared::Bgv(circuits::SlotRotation::new(&exact.evaluator, encoder, dimension, steps)?)
                }
                Scheme::Ckks(_) => return Err(mixed()),
            };
            Ok(Self { rotation: Arc::new(rotation) })
        })
    }

    /// Exponents k of the automorphisms X → X^k that need keys.
    #[getter]
    fn exponents(&self) -> Vec<u64> {
        match &*self.rotation {
            Prepared::Bfv(rotation) => rotation.exponents().collect(),
            Prepared::Bgv(rotation) => rotation.exponents().collect(),
        }
    }

    fn apply(&self, py: Python<'_>, a: &Ciphertext, keys: &EvaluationKeys) -> PyResult<Ciphertext> {
        let (rotation, keys) = (Arc::clone(&self.rotation), Arc::clone(&keys.keys));
        a.computed(py, move |scheme, a| match (&*rotation, scheme, a) {
            (Prepared::Bfv(rotation), Scheme::Bfv(exact), Cipher::Bfv(a)) => {
                Ok(rotation.apply(&exact.evaluator, a, &keys)?.into())
            }
            (Prepared::Bgv(rotation), Scheme::Bgv(exact), Cipher::Bgv(a)) => {
                Ok(rotation.apply(&exact.evaluator, a, &keys)?.into())
            }
            _ => Err(mixed()),
        })
    }
}
