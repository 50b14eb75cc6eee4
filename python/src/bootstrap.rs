//! Module of CKKS bootstrapping for Python.

mod integers;
mod sets;
mod tables;

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sunzi_circuits::bootstrap::functional::{FunctionalBootstrapper, Messages};
use sunzi_circuits::bootstrap::{
    self, Blueprint, BootstrapError, Order, RealBlueprint, RealBootstrapKeys, RealBootstrapper, Set,
};
use sunzi_ckks as ckks;
use sunzi_rlwe::randomness::from_os;
use sunzi_rlwe::wire;

use crate::ciphertext::Ciphertext;
use crate::compute::{Progress, run};
use crate::context::Context;
use crate::error::{Failure, OrRaise as _};
use crate::keys::SecretKey;
use crate::scheme::{Cipher, Scheme, mixed};
pub(crate) use integers::{IntegerBatch, IntegerEvaluator};
pub(crate) use sets::{
    bootstrap_set, bootstrap_sets, bootstrap_slots, has_integers, integer_set, table_bits, table_set,
};
use sets::{name_of, named};
pub(crate) use tables::{MessageTable, decode_messages, encode_messages};

/// Makes the CKKS context of a set of bootstrapping parameters, or that of the real ring whose ciphertexts it bootstraps.
#[pyfunction]
#[pyo3(signature = (set, real_slots=false))]
pub(crate) fn bootstrap_context(py: Python<'_>, set: &str, real_slots: bool) -> PyResult<Context> {
    let set = named(set).or_raise(py)?;
    run(py, move || {
        let parameters = if real_slots { set.real_parameters()? } else { set.parameters()? };
        Ok(Context::of(Scheme::ckks(parameters)?))
    })
}

/// Number of levels that a ciphertext has left after a bootstrapping.
#[pyfunction]
pub(crate) fn bootstrap_levels_left(py: Python<'_>, context: &Context, set: &str) -> PyResult<usize> {
    let (scheme, set) = (Arc::clone(&context.scheme), named(set).or_raise(py)?);
    run(py, move || {
        let context = scheme.reals()?.evaluator.context();
        let levels = set.levels()?;
        let expected = if context.has_real_slots() { levels.residual } else { levels.coeffs_to_slots } + 1;
        match context.depth() + 1 {
            got if got == expected => Ok(set.levels_left()),
            got => Err(BootstrapError::ContextMismatch { expected, got }.into()),
        }
    })
}

/// A bootstrapper of ciphertexts of a whole ring, of a real one, or of messages by tables.
enum Inner {
    Whole(Box<bootstrap::Bootstrapper>),
    Real(Box<RealBootstrapper>),
    Tables(Box<FunctionalBootstrapper>),
}

/// Keys of a bootstrapper, of the same kind.
enum Keys {
    Whole(Box<bootstrap::BootstrapKeys>),
    Real(Box<(RealBlueprint, RealBootstrapKeys)>),
}

impl Inner {
    fn new(
        context: &ckks::Context,
        set: &Set,
        slots: usize,
        progress: impl Fn(usize, usize) + Sync,
    ) -> Result<Self, BootstrapError> {
        if context.has_real_slots() {
            let blueprint = RealBlueprint::new(context, set, slots)?;
            return Ok(Self::Real(Box::new(RealBootstrapper::new(&blueprint, progress)?)));
        }
        let blueprint = Blueprint::new(context, set, slots)?;
        if set.tables.is_some() {
            return Ok(Self::Tables(Box::new(FunctionalBootstrapper::new(&blueprint, progress)?)));
        }
        Ok(Self::Whole(Box::new(bootstrap::Bootstrapper::new(&blueprint, progress)?)))
    }

    fn blueprint(&self) -> &Blueprint {
        match self {
            Self::Whole(whole) => whole.blueprint(),
            Self::Real(real) => real.whole().blueprint(),
            Self::Tables(tables) => tables.blueprint(),
        }
    }

    fn byte_len(&self) -> usize {
        match self {
            Self::Whole(whole) => whole.byte_len(),
            Self::Real(real) => real.whole().byte_len(),
            Self::Tables(tables) => tables.byte_len(),
        }
    }

    /// Returns the bootstrapper of messages.
    fn tables(&self) -> Result<&FunctionalBootstrapper, Failure> {
        match self {
            Self::Tables(tables) => Ok(tables),
            _ => Err(self.other_set("one for tables, as Context.for_tables makes")),
        }
    }

    /// Makes the error for a set that an operation is not for.
    fn other_set(&self, expected: &str) -> Failure {
        let got = name_of(self.blueprint().set());
        BootstrapError::Set { what: "the set", got, expected: expected.to_owned() }.into()
    }

    /// Makes the error for operands that do not belong together, or for real numbers in a set for tables.
    fn mixed(&self) -> Failure {
        match self {
            Self::Tables(_) => self.other_set("one without tables, as Context.for_bootstrapping makes"),
            _ => mixed(),
        }
    }

    fn key_bytes(&self) -> Result<usize, BootstrapError> {
        match self {
            Self::Real(real) => real.blueprint().key_bytes(),
            _ => self.blueprint().key_bytes(),
        }
    }

    fn generate(
        &self,
        secret: &sunzi_rlwe::SecretKey,
        progress: impl FnMut(usize, usize) + Send,
    ) -> Result<Keys, Failure> {
        let rng = &mut from_os()?;
        Ok(match self {
            Self::Real(real) => {
                let blueprint = real.blueprint();
                let keys = RealBootstrapKeys::generate(blueprint, secret, rng, progress)?;
                Keys::Real(Box::new((blueprint.clone(), keys)))
            }
            _ => {
                let keys = bootstrap::BootstrapKeys::generate(self.blueprint(), secret, rng, progress)?;
                Keys::Whole(Box::new(keys))
            }
        })
    }

    fn read(&self, bytes: &[u8]) -> Result<Keys, Failure> {
        Ok(match self {
            Self::Real(real) => {
                let blueprint = real.blueprint();
                Keys::Real(Box::new((blueprint.clone(), wire::from_bytes(blueprint, bytes)?)))
            }
            _ => {
                let keys = wire::from_bytes(self.blueprint().context().rlwe(), bytes)?;
                Keys::Whole(Box::new(keys))
            }
        })
    }

    fn refined(&self, a: &Cipher, rounds: usize, keys: &Keys) -> Result<Cipher, Failure> {
        Ok(match (self, a, keys) {
            (Self::Whole(whole), Cipher::Ckks(a), Keys::Whole(keys)) => {
                whole.bootstrap_refined(a, rounds, keys)?
            }
            (Self::Real(real), Cipher::Ckks(a), Keys::Real(keys)) => {
                real.bootstrap_refined(a, rounds, &keys.1)?
            }
            _ => return Err(self.mixed()),
        }
        .into())
    }

    fn real(&self, a: &Cipher, keys: &Keys) -> Result<Cipher, Failure> {
        Ok(match (self, a, keys) {
            (Self::Whole(whole), Cipher::Ckks(a), Keys::Whole(keys)) => whole.bootstrap_real(a, keys)?,
            (Self::Real(real), Cipher::Ckks(a), Keys::Real(keys)) => real.bootstrap(a, &keys.1)?,
            _ => return Err(self.mixed()),
        }
        .into())
    }

    fn pair(&self, a: &Cipher, b: &Cipher, keys: &Keys) -> Result<[Cipher; 2], Failure> {
        let (Cipher::Ckks(a), Cipher::Ckks(b)) = (a, b) else { return Err(mixed()) };
        Ok(match (self, keys) {
            (Self::Whole(whole), Keys::Whole(keys)) => whole.bootstrap_real_pair([a, b], keys)?,
            (Self::Real(real), Keys::Real(keys)) => real.bootstrap_pair([a, b], &keys.1)?,
            _ => return Err(self.mixed()),
        }
        .map(Cipher::from))
    }
}

impl Keys {
    fn byte_len(&self) -> usize {
        match self {
            Self::Whole(keys) => keys.byte_len(),
            Self::Real(keys) => keys.1.byte_len(),
        }
    }
}

/// A CKKS bootstrapping without its keys.
#[pyclass(frozen, module = "sunzi._native")]
pub(crate) struct Bootstrapper {
    scheme: Arc<Scheme>,
    inner: Arc<Inner>,
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
            let context = scheme.reals()?.evaluator.context();
            let inner = Inner::new(context, &set, slots, |done, total| progress.tell(done, total))?;
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
        self.inner.key_bytes().or_raise(py)
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
            let keys = inner.generate(&secret, |done, total| progress.tell(done, total))?;
            progress.finish()?;
            Ok(BootstrapKeys { scheme: Arc::clone(&scheme), keys: Arc::new(keys) })
        })
    }

    /// Keys of this bootstrapping from their bytes.
    fn read_keys(&self, py: Python<'_>, bytes: Vec<u8>) -> PyResult<BootstrapKeys> {
        let (scheme, inner) = (Arc::clone(&self.scheme), Arc::clone(&self.inner));
        run(py, move || {
            Ok(BootstrapKeys { scheme: Arc::clone(&scheme), keys: Arc::new(inner.read(&bytes)?) })
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
        a.computed_slowly(py, move |_, a| inner.refined(a, rounds, &keys))
    }

    /// Bootstraps a ciphertext of real slots.
    fn bootstrap_real(&self, py: Python<'_>, a: &Ciphertext, keys: &BootstrapKeys) -> PyResult<Ciphertext> {
        let (inner, keys) = (Arc::clone(&self.inner), Arc::clone(&keys.keys));
        a.computed_slowly(py, move |_, a| inner.real(a, &keys))
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
        let [a, b] = a.all_computed_slowly(py, move |_, a| inner.pair(a, &b, &keys))?;
        Ok((a, b))
    }

    /// Results of tables of the messages in a ciphertext, one for each table; those in real parts of slots alone if `only_real` says so.
    #[pyo3(signature = (a, tables, keys, *, only_real=false))]
    fn apply(
        &self,
        py: Python<'_>,
        a: &Ciphertext,
        tables: Vec<PyRef<'_, MessageTable>>,
        keys: &BootstrapKeys,
        only_real: bool,
    ) -> PyResult<Vec<Ciphertext>> {
        let (inner, keys) = (Arc::clone(&self.inner), Arc::clone(&keys.keys));
        let tables = tables.iter().map(|table| Arc::clone(&table.table)).collect();
        a.list_computed_slowly(py, move |_, a| inner.results(a, tables, only_real, &keys))
    }

    /// Two messages as one, for a table of pairs; `upper` is the modulus of a.
    fn joined(&self, py: Python<'_>, a: &Ciphertext, b: &Ciphertext, upper: usize) -> PyResult<Ciphertext> {
        let (inner, b) = (Arc::clone(&self.inner), b.value());
        a.computed_slowly(py, move |_, a| inner.joined((a, Messages::new(upper)?), &b))
    }

    /// Refuses a ciphertext whose noise may be beyond the next message of this modulus.
    fn check_messages(&self, py: Python<'_>, a: &Ciphertext, modulus: usize) -> PyResult<()> {
        self.inner.check_messages(&a.value(), modulus).or_raise(py)
    }
}

/// All keys of a bootstrapping; they contain no secret.
#[pyclass(frozen, module = "sunzi._native")]
pub(crate) struct BootstrapKeys {
    scheme: Arc<Scheme>,
    keys: Arc<Keys>,
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
        let bytes = run(py, move || {
            Ok(match &*keys {
                Keys::Whole(keys) => wire::to_bytes(scheme.rlwe(), &**keys)?,
                Keys::Real(keys) => wire::to_bytes(&keys.0, &keys.1)?,
            })
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Keys of a whole ring from their bytes; those of a real ring take a bootstrapper, which knows the ring that they bootstrap in.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, context: &Context, bytes: Vec<u8>) -> PyResult<Self> {
        let scheme = Arc::clone(&context.scheme);
        run(py, move || {
            let keys = Keys::Whole(Box::new(wire::from_bytes(scheme.rlwe(), &bytes)?));
            Ok(Self { scheme: Arc::clone(&scheme), keys: Arc::new(keys) })
        })
    }
}
