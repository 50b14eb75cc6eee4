//! Module of CKKS bootstrapping for Python.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sunzi_circuits::bootstrap::{
    self, Blueprint, BootstrapError, Order, RealBlueprint, RealBootstrapKeys, RealBootstrapper, Set, Summary,
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

/// Returns a set of bootstrapping parameters by its name; `insecure-10` is the small one for tests at n =
/// 2^10, `insecure-10-9` that set with nine levels left, `insecure-10-9-first` that set with SlotsToCoeffs first, `insecure-10-9-first-s16`
/// that set for 16 slots.
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
    let (numbers, slots) = match numbers.split_once("-s") {
        Some((numbers, slots)) => (numbers, Some(slots.parse().ok()?)),
        None => (numbers, None),
    };
    let (numbers, order) = match numbers.strip_suffix("-first") {
        Some(numbers) => (numbers, Order::First),
        None => (numbers, Order::Last),
    };
    let (bits, levels) = numbers.split_once('-').unwrap_or((numbers, ""));
    let set = Set { order, ..Set::insecure_for_tests(bits.parse().ok()?) };
    let set = if levels.is_empty() { set } else { set.with_levels_left(levels.parse().ok()?) };
    Some(slots.map_or(set.clone(), |slots| set.for_slots(slots)))
}

/// Returns the name of a set by which [`named`] finds it.
fn name_of(set: &Set) -> String {
    let own = Set::insecure_for_tests(set.log2_degree);
    if set.name != own.name {
        return set.to_string();
    }
    let levels = Some(set.levels_left()).filter(|&levels| levels != own.levels_left());
    let levels = levels.map_or(String::new(), |levels| format!("-{levels}"));
    let first = if set.order == Order::First { "-first" } else { "" };
    let slots = set.slots.map_or(String::new(), |slots| format!("-s{slots}"));
    format!("insecure-{}{levels}{first}{slots}", set.log2_degree)
}

/// Returns the one name of a set, with this many levels left and for this many slots if numbers are given.
#[pyfunction]
#[pyo3(signature = (name, levels=None, slots=None))]
pub(crate) fn bootstrap_set(
    py: Python<'_>,
    name: &str,
    levels: Option<usize>,
    slots: Option<usize>,
) -> PyResult<String> {
    let mut set = named(name).or_raise(py)?;
    if let Some(levels) = levels {
        set = set.with_levels_left(levels);
    }
    if let Some(slots) = slots {
        set = set.for_slots(slots);
    }
    Ok(name_of(&set))
}

/// Number of slots of the messages that a set is for.
#[pyfunction]
pub(crate) fn bootstrap_slots(py: Python<'_>, set: &str) -> PyResult<usize> {
    let set = named(set).or_raise(py)?;
    Ok(set.slots.unwrap_or(1_usize.checked_shl(set.log2_degree.saturating_sub(1)).unwrap_or(usize::MAX)))
}

/// Lists all sets of bootstrapping parameters, each with its cost.
#[pyfunction]
pub(crate) fn bootstrap_sets(py: Python<'_>) -> PyResult<Vec<(String, String)>> {
    run(py, || {
        let line = |set: &Set| Ok::<_, BootstrapError>((set.name.to_owned(), Summary::new(set)?.to_string()));
        Ok(Set::shipped().iter().map(line).collect::<Result<_, _>>()?)
    })
}

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

/// A bootstrapper of ciphertexts of a whole ring, or of a real one.
enum Inner {
    Whole(Box<bootstrap::Bootstrapper>),
    Real(Box<RealBootstrapper>),
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
        Ok(Self::Whole(Box::new(bootstrap::Bootstrapper::new(&blueprint, progress)?)))
    }

    fn whole(&self) -> &bootstrap::Bootstrapper {
        match self {
            Self::Whole(whole) => whole,
            Self::Real(real) => real.whole(),
        }
    }

    fn blueprint(&self) -> &Blueprint {
        self.whole().blueprint()
    }

    fn key_bytes(&self) -> Result<usize, BootstrapError> {
        match self {
            Self::Whole(whole) => whole.blueprint().key_bytes(),
            Self::Real(real) => real.blueprint().key_bytes(),
        }
    }

    fn generate(
        &self,
        secret: &sunzi_rlwe::SecretKey,
        progress: impl FnMut(usize, usize) + Send,
    ) -> Result<Keys, Failure> {
        let rng = &mut from_os()?;
        Ok(match self {
            Self::Whole(whole) => {
                let keys = bootstrap::BootstrapKeys::generate(whole.blueprint(), secret, rng, progress)?;
                Keys::Whole(Box::new(keys))
            }
            Self::Real(real) => {
                let blueprint = real.blueprint();
                let keys = RealBootstrapKeys::generate(blueprint, secret, rng, progress)?;
                Keys::Real(Box::new((blueprint.clone(), keys)))
            }
        })
    }

    fn read(&self, bytes: &[u8]) -> Result<Keys, Failure> {
        Ok(match self {
            Self::Whole(whole) => {
                let keys = wire::from_bytes(whole.blueprint().context().rlwe(), bytes)?;
                Keys::Whole(Box::new(keys))
            }
            Self::Real(real) => {
                let blueprint = real.blueprint();
                Keys::Real(Box::new((blueprint.clone(), wire::from_bytes(blueprint, bytes)?)))
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
            _ => return Err(mixed()),
        }
        .into())
    }

    fn real(&self, a: &Cipher, keys: &Keys) -> Result<Cipher, Failure> {
        Ok(match (self, a, keys) {
            (Self::Whole(whole), Cipher::Ckks(a), Keys::Whole(keys)) => whole.bootstrap_real(a, keys)?,
            (Self::Real(real), Cipher::Ckks(a), Keys::Real(keys)) => real.bootstrap(a, &keys.1)?,
            _ => return Err(mixed()),
        }
        .into())
    }

    fn pair(&self, a: &Cipher, b: &Cipher, keys: &Keys) -> Result<[Cipher; 2], Failure> {
        let (Cipher::Ckks(a), Cipher::Ckks(b)) = (a, b) else { return Err(mixed()) };
        Ok(match (self, keys) {
            (Self::Whole(whole), Keys::Whole(keys)) => whole.bootstrap_real_pair([a, b], keys)?,
            (Self::Real(real), Keys::Real(keys)) => real.bootstrap_pair([a, b], &keys.1)?,
            _ => return Err(mixed()),
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
        self.inner.whole().byte_len()
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
