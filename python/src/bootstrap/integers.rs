//! Encrypted integers and their operations for Python.

mod rows;

use std::sync::Arc;

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use sunzi_circuits::integers::{
    Conditions, IntegerError, IntegerEvaluator as Evaluator, IntegerKind, Integers, Overflow, RowEvaluator,
};
use sunzi_ckks as ckks;
use zeroize::Zeroizing;

use super::{BootstrapKeys, Bootstrapper, Inner, Keys};
use crate::ciphertext::Ciphertext;
use crate::compute::run;
use crate::error::{Failure, OrRaise as _};
use crate::keys::SecretKey;
use crate::plaintext::Plaintext;
use crate::scheme::{Cipher, Plain, Scheme, mixed};

/// An operation on two batches.
type Binary = fn(&Evaluator<'_>, &Integers, &Integers) -> Result<Integers, IntegerError>;
/// A comparison of two batches.
type Comparison = fn(&Evaluator<'_>, &Integers, &Integers) -> Result<Conditions, IntegerError>;
/// A condition of two.
type Junction = fn(&Evaluator<'_>, &Conditions, &Conditions) -> Result<Conditions, IntegerError>;

/// A batch of encrypted integers: what an evaluator made, or ciphertexts that none has seen yet, as they are in bytes.
#[pyclass(frozen, module = "sunzi._native")]
pub(crate) struct IntegerBatch {
    scheme: Arc<Scheme>,
    held: Arc<Held>,
}

enum Held {
    Computed(Integers),
    Stored { kind: IntegerKind, count: usize, bounds: [i128; 2], digits: Vec<Arc<ckks::Ciphertext>> },
}

#[pymethods]
impl IntegerBatch {
    /// Makes a batch of the ciphertexts of digits from 0 to 15, the least first.
    #[new]
    fn new(
        py: Python<'_>,
        dtype: &str,
        count: usize,
        bounds: (i128, i128),
        digits: Vec<PyRef<'_, Ciphertext>>,
    ) -> PyResult<Self> {
        let empty = || Failure::new("Empty", "integers without a ciphertext: give one for each digit");
        let scheme = Arc::clone(digits.first().ok_or_else(empty).or_raise(py)?.scheme());
        let digits = digits.iter().map(|digit| reals(digit)).collect::<Result<_, _>>().or_raise(py)?;
        let held = Held::Stored { kind: kind_of(dtype).or_raise(py)?, count, bounds: bounds.into(), digits };
        Ok(Self { scheme, held: Arc::new(held) })
    }

    /// Number of integers.
    #[getter]
    fn count(&self) -> usize {
        match &*self.held {
            Held::Computed(integers) => integers.count(),
            Held::Stored { count, .. } => *count,
        }
    }

    /// Public bounds on all integers, both ends included.
    #[getter]
    fn bounds(&self) -> (i128, i128) {
        match &*self.held {
            Held::Computed(integers) => integers.bounds().into(),
            Held::Stored { bounds, .. } => (*bounds).into(),
        }
    }

    /// Whether the ciphertexts are those of digits from 0 to 15, as they were given.
    #[getter]
    fn is_stored(&self) -> bool {
        matches!(&*self.held, Held::Stored { .. })
    }

    /// The ciphertexts of the digits, the least first.
    #[getter]
    fn ciphertexts(&self) -> Vec<Ciphertext> {
        let whole = |a: &ckks::Ciphertext| Ciphertext::new(&self.scheme, a.clone().into());
        match &*self.held {
            Held::Computed(integers) => integers.ciphertexts().map(whole).collect(),
            Held::Stored { digits, .. } => digits.iter().map(|digit| whole(digit)).collect(),
        }
    }
}

impl Held {
    /// Gives an operation the integers.
    fn with<T>(
        &self,
        evaluator: &Evaluator<'_>,
        work: impl FnOnce(&Integers) -> Result<T, IntegerError>,
    ) -> Result<T, IntegerError> {
        match self {
            Self::Computed(integers) => work(integers),
            Self::Stored { kind, count, bounds, digits } => {
                let digits = digits.iter().map(|digit| (**digit).clone()).collect();
                work(&evaluator.from_digits(*kind, *count, *bounds, digits)?)
            }
        }
    }
}

/// Operations on batches of integers, with the keys of their look-ups.
#[pyclass(frozen, module = "sunzi._native")]
pub(crate) struct IntegerEvaluator {
    scheme: Arc<Scheme>,
    inner: Arc<Inner>,
    keys: Arc<Keys>,
    overflow: Overflow,
}

#[pymethods]
impl IntegerEvaluator {
    /// Makes an evaluator that wraps results, or refuses those that may wrap.
    #[new]
    #[pyo3(signature = (bootstrapper, keys, *, refuse=false))]
    fn new(
        py: Python<'_>,
        bootstrapper: &Bootstrapper,
        keys: &BootstrapKeys,
        refuse: bool,
    ) -> PyResult<Self> {
        let made = Self {
            scheme: Arc::clone(&bootstrapper.scheme),
            inner: Arc::clone(&bootstrapper.inner),
            keys: Arc::clone(&keys.keys),
            overflow: if refuse { Overflow::Refuse } else { Overflow::Wrap },
        };
        made.computed(py, |_| Ok(()))?;
        Ok(made)
    }

    /// Plaintexts of integers, which are given in two's complement, one for each digit.
    fn encode(
        &self,
        py: Python<'_>,
        dtype: &str,
        bounds: (i128, i128),
        values: PyReadonlyArray1<'_, i64>,
    ) -> PyResult<Vec<Plaintext>> {
        let kind = kind_of(dtype).or_raise(py)?;
        let values = wide(kind, &values);
        let plaintexts = self.computed(py, move |e| e.encode(kind, bounds.into(), &values))?;
        let whole = |m| Plaintext::new(&self.scheme, Plain::Ckks(Arc::new(m)));
        Ok(plaintexts.into_iter().map(whole).collect())
    }

    fn add(&self, py: Python<'_>, a: &IntegerBatch, b: &IntegerBatch) -> PyResult<IntegerBatch> {
        self.binary(py, a, b, |e, a, b| e.add(a, b))
    }

    fn sub(&self, py: Python<'_>, a: &IntegerBatch, b: &IntegerBatch) -> PyResult<IntegerBatch> {
        self.binary(py, a, b, |e, a, b| e.sub(a, b))
    }

    fn multiply(&self, py: Python<'_>, a: &IntegerBatch, b: &IntegerBatch) -> PyResult<IntegerBatch> {
        self.binary(py, a, b, |e, a, b| e.multiply(a, b))
    }

    fn minimum(&self, py: Python<'_>, a: &IntegerBatch, b: &IntegerBatch) -> PyResult<IntegerBatch> {
        self.binary(py, a, b, |e, a, b| e.min(a, b))
    }

    fn maximum(&self, py: Python<'_>, a: &IntegerBatch, b: &IntegerBatch) -> PyResult<IntegerBatch> {
        self.binary(py, a, b, |e, a, b| e.max(a, b))
    }

    fn negate(&self, py: Python<'_>, a: &IntegerBatch) -> PyResult<IntegerBatch> {
        self.unary(py, a, |e, a| e.negate(a))
    }

    fn abs(&self, py: Python<'_>, a: &IntegerBatch) -> PyResult<IntegerBatch> {
        self.unary(py, a, |e, a| e.abs(a))
    }

    fn relu(&self, py: Python<'_>, a: &IntegerBatch) -> PyResult<IntegerBatch> {
        self.unary(py, a, |e, a| e.relu(a))
    }

    fn carried(&self, py: Python<'_>, a: &IntegerBatch) -> PyResult<IntegerBatch> {
        self.unary(py, a, |e, a| e.carried(a))
    }

    fn add_clear(&self, py: Python<'_>, a: &IntegerBatch, c: i128) -> PyResult<IntegerBatch> {
        self.unary(py, a, move |e, a| e.add_clear(a, c))
    }

    /// Adds clear integers, which are given in two's complement, one for each.
    fn add_clear_batch(
        &self,
        py: Python<'_>,
        a: &IntegerBatch,
        dtype: &str,
        c: PyReadonlyArray1<'_, i64>,
    ) -> PyResult<IntegerBatch> {
        let c = wide(kind_of(dtype).or_raise(py)?, &c);
        self.unary(py, a, move |e, a| e.add_clear_batch(a, &c))
    }

    fn multiply_clear(&self, py: Python<'_>, a: &IntegerBatch, c: i128) -> PyResult<IntegerBatch> {
        self.unary(py, a, move |e, a| e.multiply_clear(a, c))
    }

    fn shift_left(&self, py: Python<'_>, a: &IntegerBatch, k: u32) -> PyResult<IntegerBatch> {
        self.unary(py, a, move |e, a| e.shift_left(a, k))
    }

    fn shift_right(&self, py: Python<'_>, a: &IntegerBatch, k: u32) -> PyResult<IntegerBatch> {
        self.unary(py, a, move |e, a| e.shift_right(a, k))
    }

    fn quotient(&self, py: Python<'_>, a: &IntegerBatch, d: i128) -> PyResult<IntegerBatch> {
        self.unary(py, a, move |e, a| e.quotient_by_clear(a, d))
    }

    /// Quotient and remainder.
    fn divide(&self, py: Python<'_>, a: &IntegerBatch, d: i128) -> PyResult<(IntegerBatch, IntegerBatch)> {
        let held = Arc::clone(&a.held);
        let [quotient, remainder] =
            self.computed(py, move |e| held.with(e, |a| e.divide_clear(a, d)))?.map(|a| self.batch(a));
        Ok((quotient, remainder))
    }

    fn less(&self, py: Python<'_>, a: &IntegerBatch, b: &IntegerBatch) -> PyResult<Ciphertext> {
        self.comparison(py, a, b, |e, a, b| e.less(a, b))
    }

    fn equal(&self, py: Python<'_>, a: &IntegerBatch, b: &IntegerBatch) -> PyResult<Ciphertext> {
        self.comparison(py, a, b, |e, a, b| e.equal(a, b))
    }

    fn less_than_clear(&self, py: Python<'_>, a: &IntegerBatch, c: i128) -> PyResult<Ciphertext> {
        let held = Arc::clone(&a.held);
        self.conditions(py, move |e| held.with(e, |a| e.less_than_clear(a, c)))
    }

    fn equal_to_clear(&self, py: Python<'_>, a: &IntegerBatch, c: i128) -> PyResult<Ciphertext> {
        let held = Arc::clone(&a.held);
        self.conditions(py, move |e| held.with(e, |a| e.equal_to_clear(a, c)))
    }

    fn not_of(&self, py: Python<'_>, a: &Ciphertext, count: usize) -> PyResult<Ciphertext> {
        let a = reals(a).or_raise(py)?;
        self.conditions(py, move |e| e.not(&conditions(e, count, &a)?))
    }

    fn and_of(&self, py: Python<'_>, a: &Ciphertext, b: &Ciphertext, count: usize) -> PyResult<Ciphertext> {
        self.junction(py, a, b, count, |e, a, b| e.and(a, b))
    }

    fn or_of(&self, py: Python<'_>, a: &Ciphertext, b: &Ciphertext, count: usize) -> PyResult<Ciphertext> {
        self.junction(py, a, b, count, |e, a, b| e.or(a, b))
    }

    fn xor_of(&self, py: Python<'_>, a: &Ciphertext, b: &Ciphertext, count: usize) -> PyResult<Ciphertext> {
        self.junction(py, a, b, count, |e, a, b| e.xor(a, b))
    }

    /// Number of conditions that hold.
    fn count_of(&self, py: Python<'_>, a: &Ciphertext, count: usize) -> PyResult<IntegerBatch> {
        let a = reals(a).or_raise(py)?;
        let held = self.computed(py, move |e| RowEvaluator::new(*e).count(&conditions(e, count, &a)?))?;
        Ok(self.batch(held.first(1)))
    }

    /// Integers of a where conditions hold, else those of b.
    fn select(
        &self,
        py: Python<'_>,
        condition: &Ciphertext,
        a: &IntegerBatch,
        b: &IntegerBatch,
    ) -> PyResult<IntegerBatch> {
        let (condition, count, held) = (reals(condition).or_raise(py)?, a.count(), Arc::clone(&b.held));
        self.unary(py, a, move |e, a| held.with(e, |b| e.select(&conditions(e, count, &condition)?, a, b)))
    }

    /// Integers where conditions hold, else 0.
    fn masked(&self, py: Python<'_>, condition: &Ciphertext, a: &IntegerBatch) -> PyResult<IntegerBatch> {
        let (condition, count) = (reals(condition).or_raise(py)?, a.count());
        self.unary(py, a, move |e, a| e.masked(&conditions(e, count, &condition)?, a))
    }

    /// Results across all integers of a batch: one batch, or the extreme and its place.
    #[pyo3(signature = (operation, a, k=0))]
    fn rows(
        &self,
        py: Python<'_>,
        operation: &str,
        a: &IntegerBatch,
        k: usize,
    ) -> PyResult<Vec<IntegerBatch>> {
        let (held, operation) = (Arc::clone(&a.held), operation.to_owned());
        let results = self.computed(py, move |e| {
            held.with(e, |a| rows::across(&RowEvaluator::new(*e), &operation, a, k))
        })?;
        Ok(results.into_iter().map(|a| self.batch(a)).collect())
    }

    /// Integers by their places in ascending order, one beside the other.
    fn at_places(&self, py: Python<'_>, a: &IntegerBatch, places: Vec<usize>) -> PyResult<IntegerBatch> {
        self.unary(py, a, move |e, a| rows::at_places(e, a, &places))
    }

    /// Ciphertexts of digits from 0 to 15, for bytes.
    fn digits(&self, py: Python<'_>, a: &IntegerBatch) -> PyResult<Vec<Ciphertext>> {
        let held = Arc::clone(&a.held);
        let digits = self.computed(py, move |e| held.with(e, |a| e.to_digits(a)))?;
        Ok(digits.into_iter().map(|a| Ciphertext::new(&self.scheme, a.into())).collect())
    }

    /// The integers in two's complement.
    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        a: &IntegerBatch,
        secret: &SecretKey,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let (held, secret) = (Arc::clone(&a.held), Arc::clone(&secret.key));
        let opened = self.computed(py, move |e| {
            let values = Zeroizing::new(held.with(e, |a| e.decrypt(a, &secret))?);
            Ok(values.iter().map(|&value| value as i64).collect())
        })?;
        Ok(PyArray1::from_vec(py, opened))
    }

    fn decrypt_conditions<'py>(
        &self,
        py: Python<'py>,
        a: &Ciphertext,
        count: usize,
        secret: &SecretKey,
    ) -> PyResult<Bound<'py, PyArray1<bool>>> {
        let (a, secret) = (reals(a).or_raise(py)?, Arc::clone(&secret.key));
        let opened = self.computed(py, move |e| e.decrypt_conditions(&conditions(e, count, &a)?, &secret))?;
        Ok(PyArray1::from_vec(py, opened))
    }
}

impl IntegerEvaluator {
    /// Computes as all calls do: without the lock, open to Ctrl-C.
    fn computed<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Evaluator<'_>) -> Result<T, IntegerError> + Send + 'static,
    ) -> PyResult<T> {
        let (inner, keys, overflow) = (Arc::clone(&self.inner), Arc::clone(&self.keys), self.overflow);
        run(py, move || {
            let Keys::Whole(keys) = &*keys else { return Err(mixed()) };
            let evaluator = Evaluator::new(inner.tables()?, keys).map_err(told)?;
            work(&evaluator.with_overflow(overflow)).map_err(told)
        })
    }

    fn batch(&self, integers: Integers) -> IntegerBatch {
        IntegerBatch { scheme: Arc::clone(&self.scheme), held: Arc::new(Held::Computed(integers)) }
    }

    fn unary(
        &self,
        py: Python<'_>,
        a: &IntegerBatch,
        work: impl FnOnce(&Evaluator<'_>, &Integers) -> Result<Integers, IntegerError> + Send + 'static,
    ) -> PyResult<IntegerBatch> {
        let held = Arc::clone(&a.held);
        Ok(self.batch(self.computed(py, move |e| held.with(e, |a| work(e, a)))?))
    }

    fn binary(
        &self,
        py: Python<'_>,
        a: &IntegerBatch,
        b: &IntegerBatch,
        work: Binary,
    ) -> PyResult<IntegerBatch> {
        let held = Arc::clone(&b.held);
        self.unary(py, a, move |e, a| held.with(e, |b| work(e, a, b)))
    }

    fn conditions(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Evaluator<'_>) -> Result<Conditions, IntegerError> + Send + 'static,
    ) -> PyResult<Ciphertext> {
        let found = self.computed(py, work)?;
        Ok(Ciphertext::new(&self.scheme, found.ciphertext().clone().into()))
    }

    fn comparison(
        &self,
        py: Python<'_>,
        a: &IntegerBatch,
        b: &IntegerBatch,
        work: Comparison,
    ) -> PyResult<Ciphertext> {
        let [a, b] = [a, b].map(|batch| Arc::clone(&batch.held));
        self.conditions(py, move |e| a.with(e, |a| b.with(e, |b| work(e, a, b))))
    }

    fn junction(
        &self,
        py: Python<'_>,
        a: &Ciphertext,
        b: &Ciphertext,
        count: usize,
        work: Junction,
    ) -> PyResult<Ciphertext> {
        let (a, b) = (reals(a).or_raise(py)?, reals(b).or_raise(py)?);
        self.conditions(py, move |e| work(e, &conditions(e, count, &a)?, &conditions(e, count, &b)?))
    }
}

/// Returns the kind of integers of a type of numpy.
fn kind_of(dtype: &str) -> Result<IntegerKind, Failure> {
    Ok(match dtype {
        "uint8" => IntegerKind::U8,
        "uint16" => IntegerKind::U16,
        "uint32" => IntegerKind::U32,
        "uint64" => IntegerKind::U64,
        "int8" => IntegerKind::I8,
        "int16" => IntegerKind::I16,
        "int32" => IntegerKind::I32,
        "int64" => IntegerKind::I64,
        _ => return Err(Failure::new("WrongScheme", format!("integers of the type {dtype}"))),
    })
}

/// Returns integers of a kind that are given in two's complement.
fn wide(kind: IntegerKind, values: &PyReadonlyArray1<'_, i64>) -> Zeroizing<Vec<i128>> {
    Zeroizing::new(values.as_array().iter().map(|&value| kind.wrapped(i128::from(value))).collect())
}

fn reals(a: &Ciphertext) -> Result<Arc<ckks::Ciphertext>, Failure> {
    match a.value() {
        Cipher::Ckks(a) => Ok(a),
        _ => Err(mixed()),
    }
}

fn conditions(
    evaluator: &Evaluator<'_>,
    count: usize,
    a: &Arc<ckks::Ciphertext>,
) -> Result<Conditions, IntegerError> {
    evaluator.conditions(count, (**a).clone())
}

/// Makes the failure of an error. An integer out of range is no number in bytes, which share the name of the variant.
fn told(error: IntegerError) -> Failure {
    match error {
        IntegerError::Value { .. } => Failure::new("OutsideBounds", error.to_string()),
        _ => error.into(),
    }
}
