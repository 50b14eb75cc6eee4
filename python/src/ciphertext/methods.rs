//! Methods of the Python class of ciphertexts.

use std::sync::Arc;

use numpy::Complex64;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sunzi_circuits::polynomial::{Method, Polynomial, evaluate};
use sunzi_circuits::series::declared_within;
use sunzi_ckks::Metadata;
use sunzi_rlwe::sharing::DeclaredNoise;
use sunzi_rlwe::wire;
use sunzi_rlwe::{Log2, NoiseBound, NoiseTerm};

use super::Ciphertext;
use crate::compute::run;
use crate::context::Context;
use crate::error::{Failure, OrRaise as _};
use crate::keys::{EvaluationKeys, short};
use crate::ops;
use crate::plaintext::Plaintext;
use crate::scheme::{Cipher, Scheme, mixed};
use crate::series::Series;
use crate::unified;

/// Returns a property of a ciphertext of any scheme.
macro_rules! said {
    ($value:expr, |$x:ident| $body:expr) => {
        match $value {
            Cipher::Bfv($x) => $body,
            Cipher::Bgv($x) => $body,
            Cipher::Ckks($x) => $body,
        }
    };
}

#[pymethods]
impl Ciphertext {
    fn add(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        let other = other.value();
        self.computed(py, move |scheme, a| ops::add(scheme, a, &other))
    }

    fn sub(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        let other = other.value();
        self.computed(py, move |scheme, a| ops::sub(scheme, a, &other))
    }

    fn negate(&self, py: Python<'_>) -> PyResult<Self> {
        self.computed(py, ops::negate)
    }

    /// Multiplies two ciphertexts; the product is relinearised, and rescaled in CKKS.
    fn multiply(&self, py: Python<'_>, other: &Self, keys: &EvaluationKeys) -> PyResult<Self> {
        let (other, keys) = (other.value(), Arc::clone(&keys.keys));
        self.computed(py, move |scheme, a| ops::multiply(scheme, a, &other, &keys))
    }

    /// Multiplies two ciphertexts to a product of three parts, without rescaling.
    fn multiply_unrelinearized(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        let other = other.value();
        self.computed(py, move |scheme, a| ops::multiply_unrelinearized(scheme, a, &other))
    }

    fn relinearize(&self, py: Python<'_>, keys: &EvaluationKeys) -> PyResult<Self> {
        let keys = Arc::clone(&keys.keys);
        self.computed(py, move |scheme, a| ops::relinearize(scheme, a, &keys))
    }

    fn add_plain(&self, py: Python<'_>, plaintext: &Plaintext) -> PyResult<Self> {
        let plaintext = plaintext.value.clone();
        self.computed(py, move |scheme, a| ops::add_plain(scheme, a, &plaintext))
    }

    fn sub_plain(&self, py: Python<'_>, plaintext: &Plaintext) -> PyResult<Self> {
        let plaintext = plaintext.value.clone();
        self.computed(py, move |scheme, a| ops::sub_plain(scheme, a, &plaintext))
    }

    #[pyo3(signature = (plaintext, *, rescale=true))]
    fn multiply_plain(&self, py: Python<'_>, plaintext: &Plaintext, rescale: bool) -> PyResult<Self> {
        let plaintext = plaintext.value.clone();
        self.computed(py, move |scheme, a| match rescale {
            true => ops::multiply_plain(scheme, a, &plaintext),
            false => ops::multiply_plain_unscaled(scheme, a, &plaintext),
        })
    }

    /// Returns Σ a_i·m_i of ciphertexts and plaintexts, rescaled once in CKKS.
    #[staticmethod]
    fn sum_of_plain_products(
        py: Python<'_>,
        terms: Vec<(PyRef<'_, Self>, PyRef<'_, Plaintext>)>,
    ) -> PyResult<Self> {
        let empty = || Failure::new("Empty", "a sum of products needs at least one term").raise(py);
        let scheme = Arc::clone(&terms.first().ok_or_else(empty)?.0.scheme);
        let terms: Vec<_> = terms.iter().map(|(a, m)| (a.value(), m.value.clone())).collect();
        let context = Arc::clone(&scheme);
        let value = run(py, move || ops::sum_of_plain_products(&scheme, &terms))?;
        Ok(Self::new(&context, value))
    }

    /// Returns Σ a_i·b_i of ciphertexts, relinearised once.
    #[staticmethod]
    fn sum_of_products(
        py: Python<'_>,
        terms: Vec<(PyRef<'_, Self>, PyRef<'_, Self>)>,
        keys: &EvaluationKeys,
    ) -> PyResult<Self> {
        let empty = || Failure::new("Empty", "a sum of products needs at least one term").raise(py);
        let scheme = Arc::clone(&terms.first().ok_or_else(empty)?.0.scheme);
        let terms: Vec<_> = terms.iter().map(|(a, b)| (a.value(), b.value())).collect();
        let (context, keys) = (Arc::clone(&scheme), Arc::clone(&keys.keys));
        let value = run(py, move || ops::sum_of_products(&scheme, &terms, &keys))?;
        Ok(Self::new(&context, value))
    }

    /// Returns Σ c_i·a_i + c of CKKS for real constants, rescaled once.
    #[staticmethod]
    #[pyo3(signature = (terms, constant=0.0))]
    fn linear_combination(
        py: Python<'_>,
        terms: Vec<(f64, PyRef<'_, Self>)>,
        constant: f64,
    ) -> PyResult<Self> {
        let empty = || Failure::new("Empty", "a linear combination needs at least one term").raise(py);
        let scheme = Arc::clone(&terms.first().ok_or_else(empty)?.1.scheme);
        let terms: Vec<_> = terms.iter().map(|(factor, a)| (*factor, a.value())).collect();
        let context = Arc::clone(&scheme);
        let value = run(py, move || ops::linear_combination(&scheme, &terms, constant))?;
        Ok(Self::new(&context, value))
    }

    /// Returns k·a for an integer k and a ciphertext a, without using a level.
    fn multiply_integer(&self, py: Python<'_>, factor: i64) -> PyResult<Self> {
        self.computed(py, move |scheme, a| ops::multiply_integer(scheme, a, factor))
    }

    fn add_constant(&self, py: Python<'_>, constant: Complex64) -> PyResult<Self> {
        self.computed(py, move |scheme, a| match a {
            Cipher::Ckks(a) => Ok(scheme.reals()?.evaluator.add_constant(a, constant)?.into()),
            _ => Err(mixed()),
        })
    }

    /// Multiplies the ciphertext by a constant: rescaled, or at a given scale and not rescaled.
    #[pyo3(signature = (constant, *, scale=None))]
    fn multiply_constant(&self, py: Python<'_>, constant: Complex64, scale: Option<f64>) -> PyResult<Self> {
        self.computed(py, move |scheme, a| match (a, scale) {
            (Cipher::Ckks(a), None) => Ok(scheme.reals()?.evaluator.multiply_constant(a, constant)?.into()),
            (Cipher::Ckks(a), Some(scale)) => {
                Ok(scheme.reals()?.evaluator.multiply_constant_unscaled(a, constant, scale)?.into())
            }
            _ => Err(mixed()),
        })
    }

    fn rescale(&self, py: Python<'_>) -> PyResult<Self> {
        self.computed(py, |scheme, a| match a {
            Cipher::Ckks(a) => Ok(scheme.reals()?.evaluator.rescale(a)?.into()),
            _ => Err(crate::scheme::wrong_scheme("a rescaling", "ckks", scheme.name())),
        })
    }

    /// Drops moduli of the ciphertext down to a level; the scale stays.
    fn drop_to(&self, py: Python<'_>, level: usize) -> PyResult<Self> {
        self.computed(py, move |scheme, a| match a {
            Cipher::Ckks(a) => Ok(scheme.reals()?.evaluator.drop_to(a, level)?.into()),
            _ => ops::level_to(scheme, a, level),
        })
    }

    /// Brings the ciphertext to a level at its canonical scale.
    fn level_to(&self, py: Python<'_>, level: usize) -> PyResult<Self> {
        self.computed(py, move |scheme, a| ops::level_to(scheme, a, level))
    }

    /// Brings the ciphertext to any scale at a lower level.
    fn set_scale(&self, py: Python<'_>, level: usize, scale: f64) -> PyResult<Self> {
        self.computed(py, move |scheme, a| match a {
            Cipher::Ckks(a) => Ok(scheme.reals()?.evaluator.set_scale(a, level, scale)?.into()),
            _ => Err(crate::scheme::wrong_scheme("a scale", "ckks", scheme.name())),
        })
    }

    /// Returns the ciphertext of the same message in BGV if it is one of BFV, in BFV if it is one of BGV.
    fn switched(&self, py: Python<'_>, context: &Context) -> PyResult<Self> {
        let (from, to, value) = (Arc::clone(&self.scheme), Arc::clone(&context.scheme), self.value());
        let value = run(py, move || unified::switched(&from, &to, &value))?;
        Ok(Self::new(&context.scheme, value))
    }

    /// Declares a tighter bound on the slots, which the caller knows.
    fn with_magnitude(&self, py: Python<'_>, magnitude: f64) -> PyResult<Self> {
        self.computed(py, move |scheme, a| match a {
            Cipher::Ckks(a) => Ok(scheme.reals()?.evaluator.with_magnitude(a, magnitude)?.into()),
            _ => Err(crate::scheme::wrong_scheme("a magnitude", "ckks", scheme.name())),
        })
    }

    /// Declares another number of slots: more, in which the numbers repeat, or fewer, where they repeated. Errors do not repeat: more slots see more
    /// of them.
    fn read_as(&self, py: Python<'_>, slots: usize) -> PyResult<Self> {
        self.computed(py, move |scheme, a| match a {
            Cipher::Ckks(a) => {
                let most = scheme.slots();
                if !slots.is_power_of_two() || slots > most {
                    let what = format!("slots = {slots}: take a power of two of at most {most}");
                    return Err(Failure::new("ShapeError", what));
                }
                let more = (slots as f64 / a.metadata().slots as f64).sqrt().max(1.0);
                let precision = a.metadata().precision;
                let precision = precision.with_deviation(precision.deviation() * more);
                let mut read = (**a).clone();
                read.set_metadata(Metadata { slots, precision, ..a.metadata().clone() });
                Ok(read.into())
            }
            _ => Err(crate::scheme::wrong_scheme("slots that repeat", "ckks", scheme.name())),
        })
    }

    /// Declares errors of at most `error` in every slot, as the caller knows: the estimate takes those of rotations for equal, and ignores
    /// steps that bring neighbours together.
    fn with_error(&self, py: Python<'_>, error: f64) -> PyResult<Self> {
        self.computed(py, move |scheme, a| match a {
            Cipher::Ckks(a) if error > 0.0 && error.is_finite() => {
                let metadata = a.metadata();
                let term = NoiseTerm::rounding().scaled(Log2::of(2.0 * error * metadata.scale));
                let mut known = (**a).clone();
                known.set_metadata(Metadata {
                    precision: metadata.precision.with_deviation(error),
                    ..metadata.clone()
                });
                known.set_noise(NoiseBound::dependent(term, a.noise().secret_degree));
                Ok(known.into())
            }
            Cipher::Ckks(_) => {
                Err(Failure::new("OutOfRange", format!("error = {error}: it must be positive and finite")))
            }
            _ => Err(crate::scheme::wrong_scheme("an error of slots", "ckks", scheme.name())),
        })
    }

    /// Declares that no slot of the ciphertext exceeds the bounds of the ciphertexts `others`.
    fn bounded_by(&self, py: Python<'_>, others: Vec<PyRef<'_, Self>>) -> PyResult<Self> {
        let magnitudes: Option<Vec<f64>> = others.iter().map(|other| other.magnitude()).collect();
        match magnitudes {
            Some(magnitudes) => self.with_magnitude(py, magnitudes.into_iter().fold(0.0, f64::max)),
            None => Ok(self.__copy__()),
        }
    }

    /// Rotates the slots of the ciphertext: slot i + steps moves to slot i.
    fn rotate(&self, py: Python<'_>, steps: i64, keys: &EvaluationKeys) -> PyResult<Self> {
        let exponent = ops::rotation_exponent(&self.scheme, steps);
        self.automorphism(py, exponent, keys)
    }

    /// Rotates the slots by several steps, which share one decomposition into digits.
    fn rotate_many(&self, py: Python<'_>, steps: Vec<i64>, keys: &EvaluationKeys) -> PyResult<Vec<Self>> {
        let (scheme, value, keys) = (Arc::clone(&self.scheme), self.value(), Arc::clone(&keys.keys));
        let rotated = run(py, move || {
            let exponents: Vec<u64> =
                steps.iter().map(|&steps| ops::rotation_exponent(&scheme, steps)).collect();
            ops::automorphisms(&scheme, &value, &exponents, &keys)
        })?;
        Ok(rotated.into_iter().map(|value| Self::new(&self.scheme, value)).collect())
    }

    /// Swaps the rows of a ciphertext of an exact scheme, conjugates the slots of CKKS.
    fn swap(&self, py: Python<'_>, keys: &EvaluationKeys) -> PyResult<Self> {
        self.automorphism(py, ops::swap_exponent(&self.scheme), keys)
    }

    /// Applies the automorphism X → X^`exponent` to the ciphertext.
    fn automorphism(&self, py: Python<'_>, exponent: u64, keys: &EvaluationKeys) -> PyResult<Self> {
        let keys = Arc::clone(&keys.keys);
        self.computed(py, move |scheme, a| ops::automorphism(scheme, a, exponent, &keys))
    }

    /// Evaluates the polynomial Σ c_i·x^i modulo t at the least depth.
    fn polynomial(&self, py: Python<'_>, coefficients: Vec<i64>, keys: &EvaluationKeys) -> PyResult<Self> {
        let keys = Arc::clone(&keys.keys);
        self.computed_slowly(py, move |scheme, a| {
            let polynomial = Polynomial::constants(&coefficients);
            match (scheme, a) {
                (Scheme::Bfv(exact), Cipher::Bfv(a)) => {
                    Ok(evaluate(&exact.evaluator, &polynomial, a, Method::Automatic, &keys)?.into())
                }
                (Scheme::Bgv(exact), Cipher::Bgv(a)) => {
                    Ok(evaluate(&exact.evaluator, &polynomial, a, Method::Automatic, &keys)?.into())
                }
                _ => Err(crate::scheme::wrong_scheme("a polynomial of integers", "bfv or bgv", "ckks")),
            }
        })
    }

    /// Evaluates a polynomial with real coefficients, in the power or the Chebyshev basis, on the slots.
    fn series(&self, py: Python<'_>, series: &Series, keys: &EvaluationKeys) -> PyResult<Self> {
        let (series, keys) = (series.series.clone(), Arc::clone(&keys.keys));
        self.computed_slowly(py, move |scheme, a| match a {
            Cipher::Ckks(a) => {
                let (key, evaluator) = (ops::relinearization(&keys)?, &scheme.reals()?.evaluator);
                // Arrays have checked the bounds of their numbers, which are narrower than those of ciphertexts.
                let x = declared_within(evaluator, &series, a)?;
                Ok(sunzi_circuits::series::evaluate(evaluator, &series, &x, key)?.into())
            }
            _ => Err(crate::scheme::wrong_scheme("a series of real numbers", "ckks", scheme.name())),
        })
    }

    fn __iadd__(&self, py: Python<'_>, other: &Self) -> PyResult<()> {
        self.set(self.add(py, other)?.value());
        Ok(())
    }

    fn __isub__(&self, py: Python<'_>, other: &Self) -> PyResult<()> {
        self.set(self.sub(py, other)?.value());
        Ok(())
    }

    /// Replaces the ciphertext by another: every operation in place does this.
    fn assign(&self, other: &Self) {
        self.set(other.value());
    }

    fn __copy__(&self) -> Self {
        Self::new(&self.scheme, self.value())
    }

    /// Returns the ciphertext itself: ciphertexts are shared until they change.
    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> Self {
        self.__copy__()
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let (scheme, value) = (Arc::clone(&self.scheme), self.value());
        let bytes = run(py, move || {
            Ok(match (&*scheme, &value) {
                (Scheme::Bfv(exact), Cipher::Bfv(c)) => wire::to_bytes(exact.evaluator.context(), &**c)?,
                (Scheme::Bgv(exact), Cipher::Bgv(c)) => wire::to_bytes(exact.evaluator.context(), &**c)?,
                (Scheme::Ckks(reals), Cipher::Ckks(c)) => wire::to_bytes(reals.evaluator.context(), &**c)?,
                _ => return Err(mixed()),
            })
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, context: &Context, bytes: Vec<u8>) -> PyResult<Self> {
        let scheme = Arc::clone(&context.scheme);
        run(py, move || {
            let value: Cipher = match &*scheme {
                Scheme::Bfv(exact) => {
                    let c: sunzi_bfv::Ciphertext = wire::from_bytes(exact.evaluator.context(), &bytes)?;
                    c.into()
                }
                Scheme::Bgv(exact) => {
                    let c: sunzi_bgv::Ciphertext = wire::from_bytes(exact.evaluator.context(), &bytes)?;
                    c.into()
                }
                Scheme::Ckks(reals) => {
                    let c: sunzi_ckks::Ciphertext = wire::from_bytes(reals.evaluator.context(), &bytes)?;
                    c.into()
                }
            };
            Ok(Self::new(&scheme, value))
        })
    }

    #[getter]
    fn context(&self) -> Context {
        Context { scheme: Arc::clone(&self.scheme) }
    }

    #[getter]
    fn level(&self) -> Option<usize> {
        match self.value() {
            Cipher::Bfv(_) => None,
            Cipher::Bgv(c) => Some(c.metadata().level()),
            Cipher::Ckks(c) => Some(c.metadata().level),
        }
    }

    #[getter]
    fn scale(&self) -> Option<f64> {
        match self.value() {
            Cipher::Ckks(c) => Some(c.metadata().scale),
            _ => None,
        }
    }

    /// Number of slots of the message, which repeats where there are more.
    #[getter]
    fn slots(&self) -> usize {
        match self.value() {
            Cipher::Ckks(c) => c.metadata().slots,
            _ => self.scheme.slots(),
        }
    }

    #[getter]
    fn bits_left(&self, py: Python<'_>) -> PyResult<f64> {
        ops::bits_left(&self.scheme, &self.value()).or_raise(py)
    }

    /// Number of bits after the binary point of a slot that are right, by the noise estimate.
    #[getter]
    fn precision(&self) -> Option<f64> {
        match self.value() {
            Cipher::Ckks(c) => Some(c.metadata().precision.bits()),
            _ => None,
        }
    }

    /// Bound on the absolute values of the slots that the computation implies.
    #[getter]
    fn magnitude(&self) -> Option<f64> {
        match self.value() {
            Cipher::Ckks(c) => Some(c.metadata().precision.magnitude()),
            _ => None,
        }
    }

    /// log2 of the bound on the noise of the ciphertext: the owner of the inputs may declare it to share a
    /// result.
    #[getter]
    fn noise(&self) -> f64 {
        let ring = self.scheme.rlwe().ring().expansion();
        said!(self.value(), |c| DeclaredNoise::of_own_run(c.noise(), ring).bits())
    }

    #[getter]
    fn parts(&self) -> usize {
        said!(self.value(), |c| c.parts().len())
    }

    #[getter]
    fn nbytes(&self) -> usize {
        said!(self.value(), |c| c.parts().iter().map(|p| size_of_val(p.words())).sum())
    }

    /// Returns text that lists the operations and the bits that each used.
    #[getter]
    fn trace(&self) -> String {
        said!(self.value(), |c| c.trace().to_string())
    }

    /// Returns the latest operations: name, how many times in a row, bits it spent, and bits left after it.
    #[getter]
    fn steps(&self) -> Vec<(&'static str, u32, f64, f64)> {
        let trace = said!(self.value(), |c| c.trace().clone());
        trace.steps().iter().map(|step| (step.operation, step.times, step.spent, step.left)).collect()
    }

    #[getter]
    fn key_id(&self) -> String {
        said!(self.value(), |c| c.key().to_string())
    }

    fn __repr__(&self) -> String {
        let (parts, kib) = (self.parts(), self.nbytes() >> 10);
        let key = said!(self.value(), |c| short(c.key()));
        let level = self.level().map_or(String::new(), |level| format!(", level {level}"));
        format!("<{} ciphertext of {parts} parts{level}, {kib} KiB, key {key}>", self.scheme.name())
    }
}
