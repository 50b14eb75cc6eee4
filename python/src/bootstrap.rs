//! Module of CKKS bootstrapping for Python.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sunzi_circuits::bootstrap::{self, Blueprint, BootstrapError, Order, Set, Summary};
use sunzi_rlwe::randomness::from_os;
use sunzi_rlwe::wire;

use crate::ciphertext::Ciphertext;
use crate::compute::{Progress, run};
use crate::context::Context;
use crate::error::{Failure, OrRaise as _};
use crate::keys::SecretKey;
use crate::scheme::{Cipher, Scheme, mixed};

/// Returns a set of bootstrapping parameters by its name; `insecure-10` is the small one for tests at n =
/// 2^10, `insecure-10-9` that set with nine levels left, `insecure-10-9-first` that set with SlotsToCoeffs first.
fn named(name: &str) -> Result<Set, Failure> {
    let unknown = || {
        let names = Set::shipped().map(|set| set.name).join(", ");
        let message = format!("there is no bootstrapping set {name:?}: take one of {names}");
        Failure::new("UnknownSet", message)
    };
    small(name).or_else(|| Set::named(name)).ok_or_else(unknown)
}

fn small(name: &str) -> Option<Set> {
    let numbers = name.strip_prefix("insecure-")?;
    let (numbers, order) = match numbers.strip_suffix("-first") {
        Some(numbers) => (numbers, Order::First),
        None => (numbers, Order::Last),
    };
    let (bits, levels) = numbers.split_once('-').unwrap_or((numbers, ""));
    let set = Set { order, ..Set::insecure_for_tests(bits.parse().ok()?) };
    Some(if levels.is_empty() { set } else { set.with_levels_left(levels.parse().ok()?) })
}

/// Returns the one name of a set, with this many levels left if a number is given.
#[pyfunction]
#[pyo3(signature = (name, levels=None))]
pub(crate) fn bootstrap_set(py: Python<'_>, name: &str, levels: Option<usize>) -> PyResult<String> {
    let set = named(name).or_raise(py)?;
    let set = match levels {
        Some(levels) => set.with_levels_left(levels),
        None => set,
    };
    if small(name).is_none() {
        return Ok(set.to_string());
    }
    let first = if set.order == Order::First { "-first" } else { "" };
    Ok(levels
        .map_or_else(|| name.to_owned(), |levels| format!("insecure-{}-{levels}{first}", set.log2_degree)))
}

/// Lists all sets of bootstrapping parameters, each with its cost.
#[pyfunction]
pub(crate) fn bootstrap_sets(py: Python<'_>) -> PyResult<Vec<(String, String)>> {
    run(py, || {
        let line = |set: &Set| Ok::<_, BootstrapError>((set.name.to_owned(), Summary::new(set)?.to_string()));
        Ok(Set::shipped().iter().map(line).collect::<Result<_, _>>()?)
    })
}

/// Makes the CKKS context of a set of bootstrapping parameters.
#[pyfunction]
pub(crate) fn bootstrap_context(py: Python<'_>, set: &str) -> PyResult<Context> {
    let set = named(set).or_raise(py)?;
    run(py, move || Ok(Context::of(Scheme::ckks(set.parameters()?)?)))
}

/// Number of levels that a ciphertext has left after a bootstrapping.
#[pyfunction]
pub(crate) fn bootstrap_levels_left(py: Python<'_>, context: &Context, set: &str) -> PyResult<usize> {
    let (scheme, set) = (Arc::clone(&context.scheme), named(set).or_raise(py)?);
    run(py, move || {
        let context = scheme.reals()?.evaluator.context();
        Ok(Blueprint::new(context, &set, context.max_slots())?.levels_left())
    })
}

/// A CKKS bootstrapping without its keys.
#[pyclass(frozen, module = "sunzi._native")]
pub(crate) struct Bootstrapper {
    scheme: Arc<Scheme>,
    inner: Arc<bootstrap::Bootstrapper>,
}

#[pymethods]
impl Bootstrapper {
    #[new]
    #[pyo3(signature = (context, set, slots, progress=None))]
    fn new(
        py: Python<'_>,
        context: &Context,
        set: &str,
        slots: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let (scheme, set) = (Arc::clone(&context.scheme), named(set).or_raise(py)?);
        run(py, move || {
            let progress = Progress::new(progress);
            let blueprint = Blueprint::new(scheme.reals()?.evaluator.context(), &set, slots)?;
            let inner = bootstrap::Bootstrapper::new(&blueprint, |done, total| progress.tell(done, total))?;
            progress.finish()?;
            Ok(Self { scheme: Arc::clone(&scheme), inner: Arc::new(inner) })
        })
    }

    /// Number of levels that a ciphertext has left after bootstrapping.
    #[getter]
    fn levels_left(&self) -> usize {
        self.inner.blueprint().levels_left()
    }

    /// Number of levels that a bootstrapping takes.
    #[getter]
    fn levels_taken(&self) -> usize {
        let levels = self.inner.blueprint().levels();
        levels.coeffs_to_slots - self.levels_left()
    }

    /// Lowest level that a ciphertext may have before bootstrapping.
    #[getter]
    fn lowest_level(&self) -> usize {
        self.inner.blueprint().set().lowest_level()
    }

    /// Whether SlotsToCoeffs comes first, where two real messages are bootstrapped as one without loss of precision.
    #[getter]
    fn slots_to_coeffs_first(&self) -> bool {
        self.inner.blueprint().set().order == Order::First
    }

    #[getter]
    fn log2_failure(&self) -> f64 {
        self.inner.blueprint().log2_failure()
    }

    #[getter]
    fn slots(&self) -> usize {
        self.inner.blueprint().slots()
    }

    #[getter]
    fn nbytes(&self) -> usize {
        self.inner.byte_len()
    }

    /// Number of bytes that the keys of a bootstrapping will take in memory.
    #[getter]
    fn key_bytes(&self, py: Python<'_>) -> PyResult<usize> {
        self.inner.blueprint().key_bytes().or_raise(py)
    }

    #[pyo3(signature = (secret, progress=None))]
    fn generate_keys(
        &self,
        py: Python<'_>,
        secret: &SecretKey,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<BootstrapKeys> {
        let (inner, secret) = (Arc::clone(&self.inner), Arc::clone(&secret.key));
        let scheme = Arc::clone(&self.scheme);
        run(py, move || {
            let progress = Progress::new(progress);
            let keys = bootstrap::BootstrapKeys::generate(
                inner.blueprint(),
                &secret,
                &mut from_os()?,
                |done, total| progress.tell(done, total),
            )?;
            progress.finish()?;
            Ok(BootstrapKeys { scheme: Arc::clone(&scheme), keys: Arc::new(keys) })
        })
    }

    #[pyo3(signature = (a, keys, *, rounds=1))]
    fn bootstrap(
        &self,
        py: Python<'_>,
        a: &Ciphertext,
        keys: &BootstrapKeys,
        rounds: usize,
    ) -> PyResult<Ciphertext> {
        let (inner, keys) = (Arc::clone(&self.inner), Arc::clone(&keys.keys));
        a.computed_slowly(py, move |_, a| match a {
            Cipher::Ckks(a) => Ok(inner.bootstrap_refined(a, rounds, &keys)?.into()),
            _ => Err(mixed()),
        })
    }

    /// Bootstraps a ciphertext of real slots.
    fn bootstrap_real(&self, py: Python<'_>, a: &Ciphertext, keys: &BootstrapKeys) -> PyResult<Ciphertext> {
        let (inner, keys) = (Arc::clone(&self.inner), Arc::clone(&keys.keys));
        a.computed_slowly(py, move |_, a| match a {
            Cipher::Ckks(a) => Ok(inner.bootstrap_real(a, &keys)?.into()),
            _ => Err(mixed()),
        })
    }

    /// Bootstraps two ciphertexts of real slots as one.
    fn bootstrap_real_pair(
        &self,
        py: Python<'_>,
        a: &Ciphertext,
        b: &Ciphertext,
        keys: &BootstrapKeys,
    ) -> PyResult<(Ciphertext, Ciphertext)> {
        let (inner, keys, b) = (Arc::clone(&self.inner), Arc::clone(&keys.keys), b.value());
        let [a, b] = a.all_computed_slowly(py, move |_, a| match (a, &b) {
            (Cipher::Ckks(a), Cipher::Ckks(b)) => {
                Ok(inner.bootstrap_real_pair([a, b], &keys)?.map(Cipher::from))
            }
            _ => Err(mixed()),
        })?;
        Ok((a, b))
    }
}

/// All keys of a bootstrapping; they contain no secret.
#[pyclass(frozen, module = "sunzi._native")]
pub(crate) struct BootstrapKeys {
    scheme: Arc<Scheme>,
    keys: Arc<bootstrap::BootstrapKeys>,
}

#[pymethods]
impl BootstrapKeys {
    #[getter]
    fn context(&self) -> Context {
        Context { scheme: Arc::clone(&self.scheme) }
    }

    #[getter]
    fn nbytes(&self) -> usize {
        self.keys.byte_len()
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let (scheme, keys) = (Arc::clone(&self.scheme), Arc::clone(&self.keys));
        let bytes = run(py, move || Ok(wire::to_bytes(scheme.rlwe(), &*keys)?))?;
        Ok(PyBytes::new(py, &bytes))
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, context: &Context, bytes: Vec<u8>) -> PyResult<Self> {
        let scheme = Arc::clone(&context.scheme);
        run(py, move || {
            let keys: bootstrap::BootstrapKeys = wire::from_bytes(scheme.rlwe(), &bytes)?;
            Ok(Self { scheme: Arc::clone(&scheme), keys: Arc::new(keys) })
        })
    }
}
