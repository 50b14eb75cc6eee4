//! Messages and their tables for Python.

use std::sync::Arc;

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use sunzi_circuits::bootstrap::BootstrapError;
use sunzi_circuits::bootstrap::functional::{InterpolationOrder, Messages, Table};
use zeroize::Zeroizing;

use super::{Inner, Keys};
use crate::compute::{run, run_short};
use crate::context::{Context, place};
use crate::error::Failure;
use crate::plaintext::Plaintext;
use crate::scheme::{Cipher, Plain, mixed};

/// Returns the order of the interpolation of tables with this many values: the noise of 10 bits takes the third.
pub(super) fn order(points: usize) -> InterpolationOrder {
    if points > 1 << 9 { InterpolationOrder::Third } else { InterpolationOrder::First }
}

/// A table: a message modulo `to` for every message, or for every pair of messages.
#[pyclass(frozen, module = "sunzi._native")]
pub(crate) struct MessageTable {
    pub(super) table: Arc<Table>,
}

#[pymethods]
impl MessageTable {
    /// Makes the table whose result for message m is `values[m]`, and for messages a and b of a pair `values[a·lower + b]`.
    #[new]
    #[pyo3(signature = (values, to, lower=None))]
    fn new(
        py: Python<'_>,
        values: PyReadonlyArray1<'_, u16>,
        to: usize,
        lower: Option<usize>,
    ) -> PyResult<Self> {
        let values: Vec<usize> = values.as_array().iter().copied().map(usize::from).collect();
        run(py, move || {
            let (points, to) = (values.len(), Messages::new(to)?);
            let value = |m: usize| values.get(m).copied().unwrap_or_default();
            let table = match lower {
                None => Table::of_messages(Messages::new(points)?, to, order(points), value)?,
                Some(lower) => {
                    let pair = [Messages::new(points / lower.max(1))?, Messages::new(lower)?];
                    Table::of_pairs(pair, to, order(points), |a, b| value(a * lower + b))?
                }
            };
            Ok(Self { table: Arc::new(table) })
        })
    }
}

/// Encodes messages of one ciphertext, those of real parts of all slots first; those that are missing are 0.
#[pyfunction]
#[pyo3(signature = (context, values, modulus, level=None, scale=None))]
pub(crate) fn encode_messages(
    py: Python<'_>,
    context: &Context,
    values: PyReadonlyArray1<'_, u16>,
    modulus: usize,
    level: Option<usize>,
    scale: Option<f64>,
) -> PyResult<Plaintext> {
    let values = values.as_array().iter().copied().map(usize::from).collect();
    let mut values: Zeroizing<Vec<usize>> = Zeroizing::new(values);
    let scheme = Arc::clone(&context.scheme);
    run_short(py, context.scheme.words(), move || {
        let reals = scheme.reals()?;
        let of = reals.evaluator.context();
        let slots = of.max_slots();
        if values.len() > 2 * slots {
            let message = format!("{} messages in {slots} slots: there are two in a slot", values.len());
            return Err(Failure::new("ShapeError", message));
        }
        values.resize(2 * slots, 0);
        let numbers = Messages::new(modulus)?.slots(&values)?;
        let (level, scale) = place(of, level, scale)?;
        let plaintext = reals.encoder(slots)?.encode_at(&numbers, level, scale)?;
        Ok(Plaintext::new(&scheme, Plain::Ckks(Arc::new(plaintext))))
    })
}

/// Decodes all messages of a plaintext, those of real parts first.
#[pyfunction]
pub(crate) fn decode_messages<'py>(
    py: Python<'py>,
    plaintext: &Plaintext,
    modulus: usize,
) -> PyResult<Bound<'py, PyArray1<u16>>> {
    let (scheme, value) = (Arc::clone(&plaintext.scheme), plaintext.value.clone());
    let messages = run_short(py, plaintext.scheme.words(), move || {
        let Plain::Ckks(plaintext) = &value else { return Err(mixed()) };
        let numbers = scheme.reals()?.encoder(plaintext.slots())?.decode(plaintext)?;
        let messages = Messages::new(modulus)?.of_slots(&numbers);
        // A modulus is at most 2^14.
        Ok(messages.into_iter().map(|m| u16::try_from(m).unwrap_or_default()).collect::<Vec<u16>>())
    })?;
    Ok(PyArray1::from_vec(py, messages))
}

impl Inner {
    /// Returns the results of tables.
    pub(super) fn results(
        &self,
        a: &Cipher,
        tables: Vec<Arc<Table>>,
        only_real: bool,
        keys: &Keys,
    ) -> Result<Vec<Cipher>, Failure> {
        let (Cipher::Ckks(a), Keys::Whole(keys)) = (a, keys) else { return Err(mixed()) };
        let (bootstrapper, tables) =
            (self.tables()?, tables.iter().map(|table| &**table).collect::<Vec<_>>());
        let results = if only_real {
            bootstrapper.apply_real(a, &tables, keys)?
        } else {
            bootstrapper.apply(a, &tables, keys)?
        };
        Ok(results.into_iter().map(Cipher::from).collect())
    }

    /// Returns two messages as one, for a modulo the modulus of `upper`.
    pub(super) fn joined(&self, (a, upper): (&Cipher, Messages), b: &Cipher) -> Result<Cipher, Failure> {
        let (Cipher::Ckks(a), Cipher::Ckks(b)) = (a, b) else { return Err(mixed()) };
        Ok(self.tables()?.joined((a, upper), b)?.into())
    }

    /// Refuses noise that may lead a number to the next message.
    pub(super) fn check_messages(&self, a: &Cipher, modulus: usize) -> Result<(), Failure> {
        let Cipher::Ckks(a) = a else { return Err(mixed()) };
        let (got, limit) = (self.tables()?.noise(a), 1.0 / modulus as f64);
        if got < limit {
            return Ok(());
        }
        Err(BootstrapError::MessageNoise { modulus, got, limit }.into())
    }
}
